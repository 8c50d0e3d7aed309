"""Tables of text: columns align to the side that is asked for."""

import ast
from pathlib import Path

import pytest

from localsvm._text_table import aligned

ROOT = Path(__file__).parents[1]
CELLS = [["name", "kind", "n"], ["a", "b", "100"], ["ccccc", "", "7"]]


def test_columns_go_left_unless_told():
    assert aligned(CELLS) == ["name   kind  n", "a      b     100", "ccccc        7"]


def test_the_last_side_holds_for_further_columns():
    right = ["name   kind    n", "a         b  100", "ccccc          7"]
    assert aligned(CELLS, "lr") == aligned(CELLS, "lrr") == right


def test_lines_have_an_indent_and_no_blanks_at_the_end():
    assert aligned([["a", "bb"], ["a", ""]], indent="  ") == ["  a  bb", "  a"]


def test_no_rows_are_no_lines():
    assert aligned([]) == []


@pytest.mark.parametrize("sides", ["llll", "lrlr"])
def test_more_sides_than_columns_are_refused(sides):
    with pytest.raises(ValueError, match="zip"):
        aligned(CELLS, sides)


def test_ragged_rows_are_refused():
    with pytest.raises(ValueError, match="zip"):
        aligned([["a"], ["b", "c"]])


def test_nobody_else_aligns_cells():
    """Tables are printed by one module; padding by hand would be another."""
    padding = {
        path.relative_to(ROOT).as_posix()
        for folder in ("src", "papers", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("ljust", "rjust")
    }
    # `tune` prints its own table.
    assert padding <= {"src/localsvm/_text_table.py", "src/localsvm/tune/_result.py"}

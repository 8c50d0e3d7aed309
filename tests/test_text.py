"""Text to print: columns align to the side that is asked for, and nothing does harm."""

import ast
import json
from pathlib import Path

import pytest

from localsvm._text import aligned, printable

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
    assert padding <= {"src/localsvm/_text.py", "src/localsvm/tune/_result.py"}


@pytest.mark.parametrize(
    "character",
    ["\x1b", "\r", "\x00", "\b", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028"],
)
def test_what_a_terminal_obeys_is_written_out(character):
    found = printable(f"a{character}b")
    assert found == f"a\\u{ord(character):04x}b"
    assert json.loads(f'"{found}"') == f"a{character}b"


def test_half_a_character_can_be_printed():
    assert printable("a\ud800b").encode() == b"a\\ud800b"


def test_all_else_stays():
    text = "tab\tline\nümlaut Größe 北京 नमस्ते \u200d 👩‍🔬 \\u001b"
    assert printable(text) == text

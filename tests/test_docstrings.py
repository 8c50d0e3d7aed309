"""Docstrings of the reference, as numpydoc's validation reads them."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import localsvm

PAGE = Path(__file__).parents[1] / "docs" / "api" / "index.md"
NAMES = re.findall(r"^   ((?:\w+\.)?\w+)$", PAGE.read_text("utf-8"), re.M)
# A parameter that is not documented, not there, in a wrong place, without type or
# description; a result without a section; nothing at all.
CODES = {"PR01", "PR02", "PR03", "PR04", "PR07", "RT01", "YD01", "GL08"}


def find(name):
    """Object of a name of the reference."""
    folder, _, last = name.rpartition(".")
    home = importlib.import_module(f"localsvm.{folder}") if folder else localsvm
    return getattr(home, last)


def is_record(item):
    """Whether callers read it and never make one: its fields are Attributes."""
    return "\nAttributes\n" in inspect.getdoc(item) and hasattr(
        item, "__dataclass_fields__"
    )


# Their methods are those of scikit-learn's NearestNeighbors.
SEARCHES = {"ShortListNeighbors", "KernelNeighbors"}


def members(item):
    """The object itself, and what its class defines for users."""
    yield item
    if inspect.isclass(item) and item.__name__ not in SEARCHES:
        for name, member in vars(item).items():
            if not name.startswith("_") and inspect.isfunction(member):
                yield member


def problems(item):
    validate = pytest.importorskip("numpydoc.validate").validate
    found = validate(f"{item.__module__}.{item.__qualname__}")["errors"]
    forgiven = {"PR01"} if inspect.isclass(item) and is_record(item) else set()
    return [error for error in found if error[0] in CODES - forgiven]


def undocumented_fields(item):
    text = inspect.getdoc(item)
    header = re.findall(r"^(\w[\w, ]*) : ", text, re.M)
    documented = {name for line in header for name in line.split(", ")}
    return set(item.__dataclass_fields__) - documented


@pytest.mark.parametrize("name", NAMES)
def test_numpydoc_finds_nothing_missing(name):
    item = find(name)
    found = {each.__qualname__: problems(each) for each in members(item)}
    assert not {name: errors for name, errors in found.items() if errors}
    if inspect.isclass(item) and is_record(item):
        public = {each for each in undocumented_fields(item) if each[0] != "_"}
        assert not public


def test_the_reference_has_names():
    assert len(NAMES) > 60


def test_a_parameter_without_description_is_noticed(monkeypatch):
    text = localsvm.LocalSVC.__doc__
    for entry in ("    tol : float, default=1e-3\n", "    degree : int, default=3\n"):
        assert entry in text
    cut = text.replace("    degree : int, default=3\n", "")
    monkeypatch.setattr(localsvm.LocalSVC, "__doc__", cut)
    assert {code for code, _ in problems(localsvm.LocalSVC)} & CODES

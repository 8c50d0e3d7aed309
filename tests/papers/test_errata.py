"""Every test that the list of printed mistakes names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ERRATA = (ROOT / "docs" / "papers" / "errata.md").read_text()
NAMED = re.compile(r"`(?P<file>tests/[\w/]+\.py)|(?:`|::)(?P<test>test_\w+)")


def named_tests():
    """Pairs of file and test; a test without file is of the file named last."""
    pairs, file = [], None
    for found in NAMED.finditer(ERRATA):
        file = found["file"] or file
        if found["test"]:
            pairs.append((file, found["test"]))
    return pairs


def test_five_papers_have_mistakes_that_tests_check():
    assert ERRATA.count("\n## ") == 5
    assert len(named_tests()) > 50


@pytest.mark.parametrize(("file", "name"), sorted(set(named_tests())))
def test_named_test_exists(file, name):
    assert f"def {name}(" in (ROOT / file).read_text()

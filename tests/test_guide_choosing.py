"""The snippets of the guide to choosing parameters run as they are."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "choosing.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippet_prints_what_was_chosen(snippet, capsys):
    exec(snippet, {})
    printed = capsys.readouterr().out
    assert "C'" in printed

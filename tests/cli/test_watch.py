"""Progress on a terminal, and none elsewhere."""

import sys

import pytest

from localsvm._progress import stage
from localsvm.cli._screen import Screen
from localsvm.cli._watch import watching


def show(quiet=False):
    with watching(Screen(as_json=False, quiet=quiet), "Fitting", total=2) as watch:
        with stage("choose"), stage("solve"):
            pass
        watch.advance(1)


@pytest.fixture
def terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")


def test_stages_are_shown_on_a_terminal(terminal, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "rich.progress.Progress.update",
        lambda self, task, *, description: seen.append(description),
    )
    show()
    stages = ["choose", "choose, solve", "choose"]
    assert seen == [*(f"Fitting: {name}" for name in stages), "Fitting"]
    out, err = capsys.readouterr()
    assert out == ""
    assert "Fitting" in err


def test_nothing_is_shown_when_quiet(terminal, capsys):
    show(quiet=True)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_in_a_file(capsys):
    show()
    assert capsys.readouterr() == ("", "")

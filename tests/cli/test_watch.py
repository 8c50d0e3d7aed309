"""Progress on a terminal, and none elsewhere."""

import sys

import pytest

from localsvm._progress import stage
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching


def show(quiet=False):
    with watching(Screen("fit", as_json=False, quiet=quiet), "Fitting"), stage("solve"):
        pass


@pytest.fixture
def be_terminal(monkeypatch):
    """To be called in the test: until then standard error is another stream."""
    monkeypatch.setenv("TERM", "xterm")
    return lambda: monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_stages_and_steps_are_shown_on_a_terminal(be_terminal, capsys):
    be_terminal()
    screen = Screen("fit", as_json=False, quiet=False)
    with watching(screen, "Fitting", total=2) as watch:
        (task,) = watch._bar.tasks
        with stage("choose"), stage("solve"):
            assert task.description == "Fitting: choose, solve"
        assert task.description == "Fitting"
        watch.advance(1)
        assert (task.completed, task.total) == (1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Fitting" in err


def test_nothing_is_shown_when_quiet(be_terminal, capsys):
    be_terminal()
    show(quiet=True)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_in_a_file(capsys):
    show()
    assert capsys.readouterr() == ("", "")

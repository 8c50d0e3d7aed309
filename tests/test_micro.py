"""The comparison of micro-benchmarks: what counts as a loss, and what is counted."""

import subprocess
import sys

import micro
import pytest


def test_a_tenth_more_is_a_loss():
    before = {"a": 1000, "b": 1000, "c": 1000, "gone": 1}
    after = {"a": 1101, "b": 1100, "c": 10, "new": 5}
    assert micro.losses(before, after) == ["a"]


@pytest.fixture
def compared(monkeypatch):
    counts = {"x": {"fit": 100}, "y": {"fit": 120}}
    monkeypatch.setattr(micro, "build", lambda commit: commit)
    monkeypatch.setattr(micro, "measure", counts.__getitem__)

    def compare(*commits):
        monkeypatch.setattr(sys, "argv", ["micro.py", "compare", *commits])
        with pytest.raises(SystemExit) as end:
            micro.main()
        return end.value.code

    return compare


def test_the_exit_code_tells_a_loss(compared, capsys):
    assert compared("x", "y") == 1
    assert "1.200  LOSS" in capsys.readouterr().out
    assert compared("y", "x") == 0
    assert "LOSS" not in capsys.readouterr().out


def test_dumps_are_read_in_order(tmp_path):
    head = "events: Ir\n\n"
    for number, name in ((2, "second task"), (10, "third"), (1, "first")):
        (tmp_path / f"counts.{number}").write_text(
            f"desc: Trigger: Client Request: {name}\n{head}1 2\ntotals: {number}5\n"
        )
    (tmp_path / "counts.11").write_text(f"desc: Trigger: Program termination\n{head}")
    found = micro._counts(tmp_path)
    assert list(found.items()) == [("first", 15), ("second task", 25), ("third", 105)]


def test_commits_are_built_by_their_content(tmp_path, monkeypatch):
    """A commit by another name is the same build; one that fails leaves no mark."""
    monkeypatch.setattr(micro, "BUILDS", tmp_path)
    words = ["git", "-C", str(micro.ROOT), "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no git checkout")
    folder = tmp_path / done.stdout.strip()
    folder.mkdir()
    (folder / "done").touch()
    assert micro.build("HEAD") == folder / "package"


def test_every_task_runs():
    for name, task in micro.tasks().items():
        assert task() is not None, name

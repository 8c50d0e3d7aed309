"""What the README shows runs, and what it links to exists."""

import doctest
import re
import shlex

import pytest
from tables import ROOT

README = ROOT / "README.md"


def test_python_of_the_quick_start_prints_what_is_shown():
    result = doctest.testfile(str(README), module_relative=False, verbose=False)
    assert result.attempted >= 8
    assert result.failed == 0


def test_commands_run_as_printed_in_an_empty_folder(tmp_path, monkeypatch):
    testing = pytest.importorskip("typer.testing")
    from localsvm.cli._app import app

    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^\$ localsvm (.*)$", README.read_text(), re.M)
    assert len(commands) == 2
    for command in commands:
        result = testing.CliRunner().invoke(
            app, shlex.split(command), prog_name="localsvm"
        )
        assert result.exit_code == 0, result.output
    assert (tmp_path / "income.lsvm").exists()


def test_links_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text())
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_readme_is_short():
    assert len(README.read_text().splitlines()) <= 140

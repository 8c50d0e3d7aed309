import os
import shlex
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import localsvm
from localsvm import cli
from localsvm.cli._app import COMMANDS, app


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_version():
    result = call("--version")
    assert result.exit_code == 0
    assert result.output == f"localsvm {localsvm.__version__}\n"


def test_without_command_the_help_is_shown():
    result = call()
    assert result.exit_code == 2
    assert "predict" in result.output


each_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)


@each_command
def test_every_command_has_help_and_an_example(command):
    result = CliRunner().invoke(app, [command.name, "--help"], terminal_width=200)
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert f"Example: {command.example}" in text
    assert command.example.startswith(f"localsvm {command.name}")


@each_command
def test_the_list_shows_the_first_line_of_the_help(command):
    assert command.load().help.splitlines()[0] == command.summary
    listed = CliRunner().invoke(app, ["--help"], terminal_width=200)
    assert " ".join(command.summary.split()[:4]) in listed.stdout


@each_command
def test_the_examples_are_well_formed(command):
    _, name, *arguments = shlex.split(command.example)
    assert command.load().make_context(name, arguments).params


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["--version"], {}),
        (["--help"], {}),
        ([], {"_LOCALSVM_COMPLETE": "complete_bash", "COMP_WORDS": "localsvm f"}),
    ],
    ids=["version", "help", "completion"],
)
def test_what_needs_no_command_imports_none(arguments, variables):
    code = """
import sys
from localsvm.cli import main
try:
    main()
except SystemExit:
    pass
heavy = {"numpy", "scipy", "sklearn", "pandas", "pyarrow"} & set(sys.modules)
sys.exit(f"imported {heavy}" if heavy else 0)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **variables, "COMP_CWORD": "1"},
    )
    assert result.returncode == 0, result.stderr
    assert "fit" in result.stdout or localsvm.__version__ in result.stdout


def test_unknown_command_is_a_usage_error():
    result = call("nothing")
    assert result.exit_code == 2
    assert "No such command" in result.output


def test_module_is_the_command():
    command = [sys.executable, "-m", "localsvm", "--version"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout == f"localsvm {localsvm.__version__}\n"


def test_missing_extra_gives_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "localsvm.cli._app")
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert "pip install 'localsvm[cli]'" in str(stop.value)

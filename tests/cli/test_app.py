import shlex
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import localsvm
from localsvm import cli
from localsvm.cli._app import _COMMANDS, app


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_version():
    result = call("--version")
    assert result.exit_code == 0
    assert result.output == f"localsvm {localsvm.__version__}\n"


def test_without_command_the_help_is_shown():
    result = call()
    assert result.exit_code == 2
    assert "papers" in result.output


COMMANDS = [*_COMMANDS.items()]


@pytest.mark.parametrize(
    ("command", "example"), COMMANDS, ids=[each.__name__ for each, _ in COMMANDS]
)
def test_every_command_has_help_and_an_example(command, example):
    result = CliRunner().invoke(app, [command.__name__, "--help"], terminal_width=200)
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert f"Example: {example}" in text
    assert example.startswith(f"localsvm {command.__name__}")


@pytest.mark.parametrize(
    ("command", "example"), COMMANDS, ids=[each.__name__ for each, _ in COMMANDS]
)
def test_the_examples_are_well_formed(command, example):
    _, name, *arguments = shlex.split(example)
    parser = typer.main.get_command(app).commands[name]
    assert parser.make_context(name, arguments).params


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

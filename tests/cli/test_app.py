import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import localsvm
from localsvm import cli
from localsvm.cli import _completion
from localsvm.cli._app import COMMANDS, app
from localsvm.cli._lazy import Command, Group


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


ALL = [
    command
    for each in COMMANDS
    for command in (each, *(each.commands if isinstance(each, Group) else ()))
]
RUN = [each for each in ALL if isinstance(each, Command)]
each_command = pytest.mark.parametrize("command", RUN, ids=lambda each: each.name)


@each_command
def test_every_command_has_help_and_an_example(command):
    words = shlex.split(command.example)
    path = words[1 : words.index(command.name) + 1]
    result = CliRunner().invoke(app, [*path, "--help"], terminal_width=200)
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert f"Example: {command.example}" in text
    assert words[0] == "localsvm"


@each_command
def test_the_list_shows_the_first_line_of_the_help(command):
    assert command.load().help.splitlines()[0] == command.summary
    group = [] if command in COMMANDS else ["federated"]
    listed = CliRunner().invoke(app, [*group, "--help"], terminal_width=200)
    assert " ".join(command.summary.split()[:4]) in listed.stdout


@each_command
def test_the_examples_are_well_formed(command):
    words = shlex.split(command.example)
    arguments = words[words.index(command.name) + 1 :]
    assert command.load().make_context(command.name, arguments).params


@each_command
def test_every_option_stands_in_a_panel(command):
    options = [
        each for each in command.load().params if each.param_type_name != "argument"
    ]
    loose = {each.name for each in options if not each.rich_help_panel}
    assert loose <= {"help"}


@each_command
def test_help_texts_are_sentences(command):
    for option in command.load().params:
        if option.name != "help":
            assert option.help[0].isupper() or ":" in option.help or option.metavar
            assert not option.help.startswith(("Of ", "For "))


def test_a_group_lists_its_commands():
    result = CliRunner().invoke(app, ["federated", "--help"], terminal_width=200)
    assert result.exit_code == 0
    for name in ("recipe", "share", "merge"):
        assert name in result.stdout
    assert CliRunner().invoke(app, ["federated"]).exit_code == 2


def completing(line):
    """Environment in which bash asks how the line may go on."""
    words = line.split(" ")
    return {
        "_LOCALSVM_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["--version"], {}),
        (["--help"], {}),
        ([], completing("localsvm f")),
        ([], completing("localsvm fit people.csv --meth")),
        ([], completing("localsvm fit --method ")),
        ([], completing("localsvm federated share --eps")),
    ],
    ids=["version", "help", "command", "option", "value", "option of a group"],
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
        env=os.environ | variables,
    )
    assert result.returncode == 0, result.stderr
    shown = (localsvm.__version__, "fit", "--method", "staged", "--epsilon")
    assert any(word in result.stdout for word in shown)


def test_shells_complete_the_options_of_the_commands():
    kept = Path(_completion.__file__).with_name("_options.json").read_text("utf-8")
    assert kept == _completion.text(), "run `python -m localsvm.cli._completion`"


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

"""Errors, warnings, interrupts and broken pipes of any command."""

import warnings

import pytest
import typer
from typer.testing import CliRunner

from localsvm import StagedSVC
from localsvm._extras import require
from localsvm.cli._group import Commands, misuse
from localsvm.exceptions import DataError, DataWarning


def make_app(action):
    app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)

    @app.command()
    def go(rows: int = 1):
        action()

    @app.command()
    def other():
        pass

    return app


def call(action, *arguments):
    return CliRunner().invoke(make_app(action), ["go", *arguments])


def raiser(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DataError("column 'a'\n  is not there."), "column 'a' is not there."),
        (
            FileNotFoundError(2, "No such file or directory", "a.csv"),
            "a.csv: no such file or directory.",
        ),
        (OSError("disk on fire"), "disk on fire"),
        (MemoryError("Unable to allocate"), "not enough memory. Unable to allocate"),
    ],
)
def test_data_problems_are_a_line_and_code_1(error, line):
    result = call(raiser(error))
    assert result.exit_code == 1
    assert result.stderr == f"error: {line}\n"
    assert result.stdout == ""


def test_missing_extras_give_the_install_command():
    result = call(lambda: require("no_such_package", "onnx", "The export"))
    assert result.exit_code == 1
    assert result.stderr.startswith("error: The export needs no_such_package")
    assert result.stderr.endswith("pip install 'localsvm[onnx]'\n")


@pytest.mark.parametrize(
    "error", [KeyError("a"), TypeError("b"), ImportError("c"), ValueError("d")]
)
def test_our_mistakes_come_with_their_traceback(error):
    assert call(raiser(error)).exception is error


def test_a_refused_parameter_is_a_line_and_code_2():
    result = call(lambda: StagedSVC(C=-1).fit([[0.0], [1.0]], [0, 1]))
    assert result.exit_code == 2
    assert result.stderr.startswith("error: The 'C' parameter of StagedSVC must be ")
    assert len(result.stderr.splitlines()) == 1


def test_remedies_are_options():
    error = DataError("is not utf-8; pass {remedy}.", parameter="where", value="a=b c")
    assert call(raiser(error)).stderr == "error: is not utf-8; pass --where 'a=b c'.\n"

    def action():
        found = {"key": "text"}
        warnings.warn(
            DataWarning("{remedy}", parameter="kinds", value=found), stacklevel=1
        )

    assert call(action).stderr == "warning: --column-type key=text\n"


def test_misuse_is_a_line_and_code_2():
    result = call(lambda: misuse("out.lsvm exists."))
    assert (result.exit_code, result.stderr) == (2, "error: out.lsvm exists.\n")


def test_wrong_options_are_a_line_that_names_the_help():
    result = call(lambda: None, "--rows", "many")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: Invalid value for '--rows'")
    assert result.stderr.endswith("See: root go --help\n")
    assert len(result.stderr.splitlines()) == 1


def test_interrupt_is_code_130():
    result = call(raiser(KeyboardInterrupt()))
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_warnings_are_shown_once_each_without_their_place():
    def action():
        for _ in range(2):
            warnings.warn("scale\nthe features", UserWarning, stacklevel=1)
        warnings.warn("will change", FutureWarning, stacklevel=1)

    result = call(action)
    assert (result.exit_code, result.stderr) == (0, "warning: scale the features\n")


def test_other_code_gets_the_exception():
    command = typer.main.get_command(make_app(raiser(ValueError("bad"))))
    with pytest.raises(ValueError, match="bad"):
        command.main(["go"], standalone_mode=False)

"""Commands and options by the names of the release before."""

import json
from pathlib import Path

import pytest

from localsvm.cli._old_names import in_new_names
from localsvm.export import describe_file


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("inspect a.lsvm", "info a.lsvm"),
        ("share a.csv --name b", "federated share a.csv --name b"),
        ("fit a.csv --set C=1 --set=tol=0", "fit a.csv --param C=1 --param=tol=0"),
        ("fit a.csv --kind b=text", "fit a.csv --column-type b=text"),
        ("export a.lsvm --onnx b.onnx", "export a.lsvm --out b.onnx"),
        ("fit --read delimiter=; a.csv", "fit --delimiter=; a.csv"),
        ("fit a --read missing_labels=drop", "fit a --missing-labels=drop"),
        ("fit a --read=header=no --read header=yes", "fit a --no-header --header"),
    ],
)
def test_old_names_become_new_ones(old, new):
    found, warnings = in_new_names(old.split())
    assert found == new.split()
    assert warnings
    assert all("the next release no longer knows" in each for each in warnings)


@pytest.mark.parametrize(
    "line", ["", "info a --json", "explain a b -- --set", "--help"]
)
def test_other_words_stay(line):
    assert in_new_names(line.split()) == (line.split(), [])


def test_an_old_name_works_and_warns(call):
    result = call("inspect", "people.lsvm", "--json")
    assert json.loads(result.stdout)["command"] == "info"
    assert result.stderr == (
        "warning: `localsvm inspect` is `localsvm info` now; the next release no "
        "longer knows the old name.\n"
    )


def test_an_old_option_works_and_warns(call):
    text = Path("people.csv").read_text().replace(",", ";")
    Path("people.txt").write_text(text)
    fit = ("fit", "people.txt", "-t", "happy", "-o", "new.lsvm", "-m", "clustered")
    result = call(*fit, "--read", "format=csv", "--set", "n_regions=3")
    assert result.exit_code == 0, result.output
    assert "warning: `--read` is `--format` now" in result.stderr
    assert describe_file("new.lsvm").params["model__n_regions"] == 3

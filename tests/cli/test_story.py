"""The first commands that the start page shows."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from adult_story import COMMANDS
from tables import ROOT

from localsvm.data import read_table
from localsvm.export import load


def first_commands():
    """Commands of the first shell block of the start page, as they are printed."""
    text = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    block = next(
        block for block in re.findall(r"```\n(.*?)```", text, re.S) if "$ " in block
    )
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def alone(call, tmp_path):
    """Call the command in an empty folder."""
    for path in tmp_path.iterdir():
        path.unlink()
    return call


def test_the_first_commands_run_as_printed_in_an_empty_folder(alone):
    runtime = pytest.importorskip("onnxruntime")
    told = {}
    for command in first_commands():
        program, name, *options = shlex.split(command)
        assert program == "localsvm"
        result = alone(name, *options, "--quiet")
        assert result.exit_code == 0, result.output
        told[name] = result.stdout
    assert "On rows that it had not seen" in told["fit"]
    assert "Predicted class" in told["explain"]
    assert "contribution" in told["explain"]
    assert told["report"].startswith("667 rows that were not in the fit; 1,333 of")
    assert Path("report.html").exists()

    rows = read_table("adult.csv.gz", target="income", where="split=test").X
    session = runtime.InferenceSession("income.onnx")
    columns = {
        entry.name: rows[[entry.name]].to_numpy(
            dtype=np.float32 if "float" in entry.type else object, na_value=missing
        )
        for entry in session.get_inputs()
        for missing in [np.nan if "float" in entry.type else ""]
    }
    labels = session.run(["label"], columns)[0]
    assert (labels == load("income.lsvm").predict(rows)).all()
    assert set(labels) == {"<=50K", ">50K"}


def test_the_readme_shows_the_commands_of_its_record():
    assert first_commands() == list(COMMANDS)


def test_a_sample_is_a_table_that_is_not_replaced(alone):
    result = alone("sample")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Table: adult.csv.gz (")
    assert "2,000 rows and 16 columns" in result.stdout
    assert read_table("adult.csv.gz", target="income").X.shape == (2000, 15)
    again = alone("sample")
    assert again.exit_code == 2
    assert "adult.csv.gz exists" in again.stderr
    assert alone("sample", "adult", "-o", "people.csv.gz").exit_code == 0
    assert Path("people.csv.gz").read_bytes() == Path("adult.csv.gz").read_bytes()


def test_an_unknown_sample_is_named(alone):
    result = alone("sample", "iris")
    assert result.exit_code == 2
    assert "There is no sample 'iris'; expected one of 'adult'." in result.stderr

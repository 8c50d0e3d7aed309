"""The three commands that the README shows, on a sample of their table."""

import shlex

import numpy as np
import pytest
from adult_story import COMMANDS

from localsvm.data import read_table
from localsvm.export import load


def test_three_commands_give_a_model_that_runs_anywhere(call):
    runtime = pytest.importorskip("onnxruntime")
    told = []
    for command in COMMANDS:
        result = call(*shlex.split(command)[1:], "--quiet")
        assert result.exit_code == 0, result.output
        told.append(result.stdout)
    assert "On rows that it had not seen" in told[0]
    assert "Predicted class" in told[1]
    assert "contribution" in told[1]

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


def test_the_readme_shows_these_commands():
    from tables import ROOT

    text = (ROOT / "README.md").read_text()
    for command in COMMANDS:
        assert f"$ {command}\n" in text

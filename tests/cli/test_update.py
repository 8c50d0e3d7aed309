"""``localsvm update``: rows in and out of a model file."""

import json

import pandas as pd
import pytest

import localsvm


@pytest.fixture
def model(call):
    result = call(
        *("fit", "people.csv", "--target", "happy", "--method", "clustered"),
        *("--param", "n_regions=4", "--param", "updatable=true"),
        *("-o", "model.lsvm", "--quiet"),
    )
    assert result.exit_code == 0, result.output
    return "model.lsvm"


def n_rows(model):
    return localsvm.load(model)[-1]._kept.rows.n_rows


def test_rows_come_and_go(call, model):
    people, others = pd.read_csv("people.csv"), pd.read_csv("others.csv")
    people.head(5).to_csv("gone.csv", index=False)
    others.head(3).to_csv("new.csv", index=False)
    before = n_rows(model)
    result = call("update", model, "--add", "new.csv", "--remove", "gone.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("3 rows added, 5 removed; ")
    assert n_rows(model) == before - 2
    result = call(
        *("update", model, "--add", "gone.csv", "--remove", "new.csv"),
        *("--json", "--checkpoint"),
    )
    document = json.loads(result.stdout)
    assert (document["n_added"], document["n_removed"]) == (5, 3)
    assert document["duality_gap"] <= 1e-3
    assert n_rows(model) == before


def test_absent_rows_are_an_error(call, model):
    pd.read_csv("others.csv").head(3).to_csv("gone.csv", index=False)
    before = n_rows(model)
    result = call("update", model, "--remove", "gone.csv")
    assert result.exit_code == 1
    assert "gone.csv: remove has 3 rows that are not in the model" in result.stderr
    assert n_rows(model) == before


def test_there_must_be_something_to_do(call, model):
    result = call("update", model)
    assert result.exit_code == 2
    assert "--add or --remove" in result.stderr


def test_small_models_say_what_they_lack(call):
    result = call("update", "people.lsvm", "--add", "others.csv")
    assert result.exit_code == 1
    assert "updatable=true" in result.stderr.replace("True", "true")

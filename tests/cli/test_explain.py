"""``localsvm explain``."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from localsvm.export import load
from localsvm.inspect import contributions, explain


def test_the_explanation_is_the_librarys(call):
    result = call("explain", "people.lsvm", "people.csv", "--row", "7")
    people = pd.read_csv("people.csv")
    expected = explain(load("people.lsvm"), people.iloc[7])
    assert result.exit_code == 0, result.output
    assert result.stdout == (
        f"Row 7, labelled {people['happy'][7]} in the table\n{expected}\n"
    )
    assert "town" in result.stdout


def test_several_rows_as_json(call):
    command = ("explain", "people.lsvm", "people.csv", "--row", "3", "--row", "250")
    found = json.loads(call(*command, "--json").stdout)["rows"]
    people = pd.read_csv("people.csv")
    predicted = load("people.lsvm").predict(people)
    assert [each["row"] for each in found] == [3, 250]
    assert [each["predicted_class"] for each in found] == predicted[[3, 250]].tolist()
    assert [each["label"] for each in found] == people["happy"][[3, 250]].tolist()


def test_rows_of_later_batches(call, streamed):
    command = ("explain", "people.lsvm", "people.csv", "--row", "150", "--json")
    (found,) = json.loads(call(*command).stdout)["rows"]
    expected = explain(load("people.lsvm"), pd.read_csv("people.csv").iloc[150])
    assert found["decision_value"] == pytest.approx(expected.decision_value)


def test_rows_are_counted_among_those_chosen(call):
    people = pd.read_csv("people.csv").assign(part=["a", "b"] * 150)
    people.to_csv("parts.csv", index=False)
    command = ("explain", "people.lsvm", "parts.csv", "--where", "part=b", "--json")
    (found,) = json.loads(call(*command, "--row", "2").stdout)["rows"]
    (same,) = json.loads(
        call("explain", "people.lsvm", "people.csv", "--row", "5", "--json").stdout
    )["rows"]
    assert found == same | {"row": 2}


def test_a_row_is_chosen_by_its_key(call):
    people = pd.read_csv("people.csv")
    people.assign(id=people.index + 1000).to_csv("keys.csv", index=False)
    command = ("explain", "people.lsvm", "keys.csv", "--where", "id=1005", "--json")
    (found,) = json.loads(call(*command).stdout)["rows"]
    (same,) = json.loads(
        call("explain", "people.lsvm", "people.csv", "--row", "5", "--json").stdout
    )["rows"]
    assert found == same | {"row": 0}


def test_rows_must_be_chosen_and_few(call):
    result = call("explain", "people.lsvm", "people.csv")
    assert result.exit_code == 2
    assert "Choose a row: --where COLUMN=VALUE" in result.stderr
    result = call("explain", "people.lsvm", "people.csv", "--where", "town=Ulm")
    assert result.exit_code == 1
    assert "--where leaves more than 10 rows; expected a value that" in result.stderr


def test_columns_may_be_fixed(call):
    command = ("explain", "people.lsvm", "people.csv", "--row", "7", "--json")
    (free,) = json.loads(call(*command).stdout)["rows"]
    moved = {shift["name"] for shift in free["border"]["shifts"]}
    name = sorted(moved)[0]
    fixed = ("--immutable", f"{name}, town", "--immutable", "town")
    (found,) = json.loads(call(*command, *fixed).stdout)["rows"]
    changes = found["changes"] + (found["border"] or {"shifts": []})["shifts"]
    assert not {change["name"] for change in changes} & {name, "town"}


def test_a_misspelt_fixed_column_is_named(call):
    command = ("explain", "people.lsvm", "people.csv", "--row", "7")
    result = call(*command, "--immutable", "twon")
    assert result.exit_code == 1
    assert "--immutable twon is not a column of the model" in result.stderr
    assert "did you mean 'town'?" in result.stderr


def test_rows_without_labels_and_sparse_ones(call):
    pd.read_csv("people.csv").drop(columns="happy").to_csv("new.csv", index=False)
    assert call("explain", "people.lsvm", "new.csv", "--row", "0").stdout.startswith(
        "Row 0\n"
    )
    X = np.random.default_rng(0).standard_normal((200, 3))
    dump_svmlight_file(X, X[:, 0] > 0, "a.svm", zero_based=False)
    call("fit", "a.svm", "-o", "a.lsvm", "-m", "clustered")
    result = call("explain", "a.lsvm", "a.svm", "--row", "1")
    assert result.exit_code == 0, result.output
    assert "x0" in result.stdout


@pytest.mark.parametrize(("row", "code"), [("300", 1), ("-1", 2), ("x", 2)])
def test_rows_that_are_not_there(call, row, code):
    result = call("explain", "people.lsvm", "people.csv", "--row", row)
    assert result.exit_code == code
    assert result.stderr.startswith("error: ")


def test_contributions_of_all_rows(call, streamed):
    command = ("explain", "people.lsvm", "people.csv", "--all", "-o", "parts.csv")
    result = call(*command, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n_rows"] == 300
    found, people = pd.read_csv("parts.csv"), pd.read_csv("people.csv")
    model = load("people.lsvm")
    expected = contributions(model, people)
    np.testing.assert_array_equal(found["prediction"], model.predict(people))
    decisions = model.decision_function(people)
    np.testing.assert_allclose(found["decision"], decisions, atol=1e-12)
    parts = found.filter(like="contribution_")
    assert list(parts) == [f"contribution_{name}" for name in expected.names]
    np.testing.assert_allclose(parts, expected.values, atol=1e-12)
    total = found["base"] + parts.sum(axis=1) + found["together"]
    np.testing.assert_allclose(total, decisions, atol=1e-12)


def test_contributions_to_the_predicted_of_several_classes(call):
    X = np.random.default_rng(0).standard_normal((300, 3))
    table = pd.DataFrame(X, columns=list("abc")).assign(kind=X.argmax(axis=1))
    table.to_csv("kinds.csv", index=False)
    call("fit", "kinds.csv", "-t", "kind", "-o", "kinds.lsvm", "-m", "clustered")
    result = call("explain", "kinds.lsvm", "kinds.csv", "--all")
    assert result.exit_code == 0, result.output
    found, model = pd.read_csv(io.StringIO(result.stdout)), load("kinds.lsvm")
    decisions = model.decision_function(table)
    np.testing.assert_allclose(found["decision"], decisions.max(axis=1), atol=1e-12)
    np.testing.assert_array_equal(found["prediction"], model.predict(table))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--all", "--row", "1"], "--all writes all rows"),
        (["--all", "--immutable", "age"], "leave out --row, --immutable"),
        (["--row", "1", "-o", "a.csv"], "-o is the table of --all"),
        (["--all", "--json"], "--json needs a file for the contributions"),
        (["--all", "-o", "people.csv"], "people.csv exists"),
        (["--all", "-o", "a.txt"], "unknown kind of table"),
    ],
)
def test_contributions_that_cannot_be_written(call, words, message):
    result = call("explain", "people.lsvm", "people.csv", *words)
    assert result.exit_code == 2
    assert message in result.stderr

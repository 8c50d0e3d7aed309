"""Methods that take a table as codes, from the fit to the graph."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from localsvm.estimators import METHODS
from localsvm.export import load, onnx_inputs
from localsvm.inspect import explain
from people_data import make_people
from serve_data import client_of

METHODS_OF_CODES = [method.name for method in METHODS if method.takes_codes]


def make_table(n_rows, seed=0):
    """People with every kind of column, values missing and a number for a name."""
    table = make_people(n_rows, seed)
    rng = np.random.default_rng(seed)
    table["job"] = rng.choice([12, 35, 99], n_rows)
    table["since"] = pd.date_range("2020-01-01", periods=n_rows, freq="37h")
    table["spent"] = rng.choice(["0%", "1 - 10%", "11% up"], n_rows)
    score = (table["age"] - 50) / 15 + (table["income"] - 50) / 15
    score += (table["town"] == "Ulm") + (table["job"] == 35) * 2.0
    score -= (table["spent"] == "11% up") * 2.0
    table["happy"] = np.where(score > 0.3, "yes", "no")
    table["income"] = table["income"].where(rng.random(n_rows) > 0.1)
    table["town"] = table["town"].where(rng.random(n_rows) > 0.1)
    return table[["town", "job", "since", "spent", "age", "income", "happy"]]


@pytest.fixture(params=METHODS_OF_CODES)
def fit(request, call):
    """Fit the method to a table in the folder, and give the command."""
    make_table(300).to_csv("table.csv", index=False)
    make_table(60, 1).to_csv("new.csv", index=False)

    def run(*options):
        command = ("fit", "table.csv", "-t", "happy", "-m", request.param)
        result = call(
            *command, "-o", "new.lsvm", "--column-type", "job=category", *options
        )
        assert result.exit_code == 0, result.output
        return load("new.lsvm")

    return run


def test_the_estimator_is_told_of_codes(fit):
    model = fit()
    encoder, estimator = model
    assert encoder.encoding == "codes"
    assert {each.name: each.kind for each in encoder.columns_} == {
        "town": "category",
        "job": "category",
        "since": "date",
        "spent": "ordered",
        "age": "number",
        "income": "number",
    }
    mask = encoder.categorical_features_
    assert mask.tolist() == [True, True] + [False] * 7
    assert_array_equal(estimator.categorical_features, mask)
    people = make_table(300)
    assert model.score(people, people["happy"]) > 0.8


def test_renamed_levels_change_nothing(fit):
    people = make_table(300)
    before = fit().decision_function(people)
    names = {"Ulm": "A", "Bonn": "Z", "Kiel": "M"}
    renamed = people.assign(town=people["town"].map(names))
    renamed.to_csv("table.csv", index=False)
    after = fit("--force").decision_function(renamed)
    assert people["town"].value_counts().is_unique
    assert_array_equal(after, before)


def test_rows_are_predicted_in_any_form(fit, call):
    model = fit()
    new = make_table(60, 1)
    new.loc[:5, "town"] = "Rome"
    new.loc[6:9, "spent"] = "12% or so"
    mixed = new[new.columns[::-1]].assign(more=1)
    mixed.to_csv("mixed.csv", index=False)
    result = call("predict", "new.lsvm", "mixed.csv", "-o", "found.csv")
    assert result.exit_code == 0, result.output
    assert_array_equal(pd.read_csv("found.csv")["prediction"], model.predict(new))
    mixed.drop(columns="age").to_csv("less.csv", index=False)
    result = call("predict", "new.lsvm", "less.csv", "-o", "less-found.csv")
    assert result.exit_code == 1
    assert "has no column 'age'" in result.stderr


def test_scores_and_report(fit, call):
    fit("--no-refit")
    scores = call("evaluate", "new.lsvm", "table.csv", "--json")
    assert json.loads(scores.stdout)["accuracy"]["value"] > 0.7
    result = call("report", "new.lsvm", "table.csv", "-o", "report.html")
    assert result.exit_code == 0, result.output
    page = Path("report.html").read_text(encoding="utf-8")
    assert "ordered" in page
    assert "HistGradientBoosting" in page


def test_changes_name_levels_and_stay_in_range(fit, call):
    model = fit()
    rows = [word for row in range(40) for word in ("--row", str(row))]
    found = call("explain", "new.lsvm", "table.csv", *rows, "--json")
    people = make_table(300).drop(columns="happy")
    numbers = people[["age", "income"]]
    seen = set()
    for row in json.loads(found.stdout)["rows"]:
        shifts = [] if row["border"] is None else row["border"]["shifts"]
        for shift in [*row["changes"], *shifts]:
            name, to = shift["name"], shift["to"]
            seen.add(name)
            if name in numbers:
                assert numbers[name].min() <= to <= numbers[name].max()
                assert name != "age" or to == int(to)
            else:
                assert to in set(people[name].dropna().astype(str))
            changed = people.astype({"job": object}).iloc[[row["row"]]]
        for change in row["changes"]:
            again = changed.assign(**{change["name"]: change["to"]})
            assert model.predict(again)[0] == change["label"]
    assert {"town", "job", "age"} <= seen <= set(people)


def test_contributions_sum_to_the_decision(fit, call):
    model = fit()
    people = make_table(300).drop(columns="happy")
    people.iloc[:1].fillna({"town": "Rome"}).to_csv("one.csv", index=False)
    found = call("explain", "new.lsvm", "one.csv", "--row", "0")
    assert people["spent"][0] in found.stdout
    for row, each in enumerate(explain(model, people[:10])):
        sums = sum(column.contribution for column in each.columns) + each.intercept
        assert sums == pytest.approx(each.decision_value)
        decision = model.decision_function(people[row : row + 1])[0]
        assert each.decision_value == pytest.approx(decision)
        assert {column.name for column in each.columns} == set(people)


def test_a_server_answers(fit):
    model = fit()
    rows = make_table(60, 1).drop(columns="happy").astype({"since": str})
    plain = json.loads(rows.to_json(orient="records"))
    answer = client_of(model).post("/explain", {"rows": plain[:3]})
    assert answer.status_code == 200, answer.text
    labels = [each["predicted_class"] for each in answer.json()["explanations"]]
    assert labels == model.predict(rows[:3]).tolist()


def test_the_graph_agrees(fit, call):
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model = fit()
    result = call("export", "new.lsvm", "-o", "new.onnx")
    assert result.exit_code == 0, result.output
    new = make_table(60, 1).drop(columns="happy")
    inputs = onnx_inputs(onnx.load("new.onnx"), new)
    label, scores = runtime.InferenceSession("new.onnx").run(
        ["label", "scores"], inputs
    )
    assert_array_equal(label, model.predict(new))
    assert_allclose(scores.ravel(), model.decision_function(new), 1e-5, 1e-5)


def test_a_method_of_features_has_no_ordered_columns(call):
    make_table(100).to_csv("table.csv", index=False)
    command = ("fit", "table.csv", "-t", "happy", "-m", "clustered", "-o", "new.lsvm")
    result = call(*command, "--column-type", "spent=ordered")
    assert result.exit_code == 2
    assert (
        "--column-type spent=ordered: not a kind for ClusteredSVC; expected"
        in result.stderr
    )

"""``localsvm predict`` and ``localsvm evaluate``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import localsvm
from localsvm.export import load, save
from localsvm.inspect import score_model


@pytest.fixture
def expected(call):
    return load("people.lsvm").predict(pd.read_csv("people.csv"))


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_predictions_are_the_models(call, expected, name):
    result = call("predict", "people.lsvm", "people.csv", "-o", name)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"300 rows: {name}\n"
    read = pd.read_parquet if name.endswith("parquet") else pd.read_csv
    found = read(name)
    assert list(found.columns) == ["prediction"]
    assert found["prediction"].tolist() == expected.tolist()


def test_batches_give_the_same(call, expected, streamed):
    call("predict", "people.lsvm", "people.csv", "-o", "out.csv", "--keep", "age")
    found = pd.read_csv("out.csv")
    assert found["prediction"].tolist() == expected.tolist()
    assert found["age"].tolist() == pd.read_csv("people.csv")["age"].tolist()


def test_standard_output_has_the_table_alone(call, expected):
    result = call("predict", "people.lsvm", "people.csv")
    assert result.stdout.splitlines() == ["prediction", *expected]
    assert result.stderr == ""


def test_columns_are_kept_as_they_stand(call):
    people = pd.read_csv("people.csv", dtype=str).head(3)
    people["key"] = ["007", "1.50", "1e3"]
    people["note"] = ["a,b", "c", "d"]
    people.to_csv("new.csv", index=False)
    result = call(
        *("predict", "people.lsvm", "new.csv", "--scores"),
        *("--keep", "key", "--keep", "income", "--keep", "note"),
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "key,income,note,prediction,score_yes"
    assert lines[1].startswith(f'007,{people["income"][0]},"a,b",')
    assert [line.partition(",")[0] for line in lines[1:]] == ["007", "1.50", "1e3"]


def test_a_star_keeps_all_columns(call, streamed):
    people = pd.read_csv("people.csv", dtype=str).head(100)
    people["key"] = "007"
    people.to_csv("new.csv", index=False)
    result = call("predict", "people.lsvm", "new.csv", "-o", "out.csv", "--keep", "*")
    assert result.exit_code == 0, result.output
    found = pd.read_csv("out.csv", dtype=str)
    pd.testing.assert_frame_equal(found[people.columns], people)
    assert list(found.columns) == [*people.columns, "prediction"]
    again = call("predict", "people.lsvm", "out.csv", "--keep", "*")
    assert again.exit_code == 2
    assert "--keep prediction: the predictions have that name" in again.stderr


def test_scores_and_probabilities(call):
    fit = ("fit", "people.csv", "-t", "happy", "-o", "mix.lsvm", "-m", "mixture")
    call(*fit)
    call("predict", "mix.lsvm", "people.csv", "-o", "out.csv", "--proba", "--scores")
    found, model = pd.read_csv("out.csv"), load("mix.lsvm")
    people = pd.read_csv("people.csv")
    np.testing.assert_allclose(
        found[["proba_no", "proba_yes"]], model.predict_proba(people), atol=1e-12
    )
    np.testing.assert_allclose(found["score_yes"], model.decision_function(people))


def test_costs_and_flags(call):
    odd = pd.read_csv("people.csv").assign(income=lambda rows: rows["income"] + 0.0)
    odd.loc[0, "income"] = 1e9
    odd.to_csv("odd.csv", index=False)
    options = ("--proba", "--flags", "--cost", "yes:no=5", "-o", "out.csv")
    result = call("predict", "people.lsvm", "odd.csv", *options)
    assert result.exit_code == 0, result.output
    found = pd.read_csv("out.csv")
    dear = np.where(found["proba_yes"] > 1 / 6, "yes", "no")
    np.testing.assert_array_equal(found["prediction"], dear)
    assert found["unfamiliar"][0]
    assert found["unfamiliar"].mean() < 0.05
    np.testing.assert_array_equal(found["unfamiliar"], found["familiarity"] <= 0.01)


def test_a_model_without_held_out_rows(call):
    model = load("people.lsvm")
    model[-1]._forget_held_out()
    save(model, "old.lsvm")
    for option, words in (
        (("--proba",), "--proba: old.lsvm gives no probabilities"),
        (("--cost", "yes:no=5"), "--cost: old.lsvm gives no probabilities"),
        (("--flags",), "--flags: old.lsvm keeps no training rows"),
    ):
        result = call("predict", "old.lsvm", "people.csv", *option)
        assert result.exit_code == 2
        assert words in result.stderr


def test_columns_may_be_in_any_order_and_more(call, expected):
    people = pd.read_csv("people.csv")[["town", "income", "age"]].assign(other="x")
    people.to_csv("new.csv", index=False)
    result = call("predict", "people.lsvm", "new.csv")
    assert result.stdout.splitlines()[1:] == list(expected)


def test_codes_that_look_like_numbers_are_read_as_at_the_fit(call):
    rng = np.random.default_rng(0)
    code = rng.choice(["01", "02", "03", "10"], 300)
    rows = pd.DataFrame({"code": code, "y": np.where(code < "03", "low", "high")})
    rows.to_csv("codes.csv", index=False)
    fit = ("fit", "codes.csv", "-t", "y", "-o", "codes.lsvm", "-m", "clustered")
    call(*fit, "--column-type", "code=category")
    found = json.loads(call("evaluate", "codes.lsvm", "codes.csv", "--json").stdout)
    assert found["accuracy"]["value"] == 1.0
    predicted = call("predict", "codes.lsvm", "codes.csv").stdout.splitlines()[1:]
    assert predicted == rows["y"].tolist()


def test_rows_can_be_chosen(call):
    people = pd.read_csv("people.csv").assign(part=["a", "b"] * 150)
    people.to_csv("new.csv", index=False)
    result = call("predict", "people.lsvm", "new.csv", "--where", "part=b", "--json")
    assert result.exit_code == 2
    out = ("-o", "out.csv", "--json")
    result = call("predict", "people.lsvm", "new.csv", "--where", "part=b", *out)
    found = json.loads(result.stdout)
    assert (found["predictions"], found["n_rows"]) == ("out.csv", 150)


@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_rows_can_be_chosen_by_a_column_of_the_model(call, request, way):
    if way == "streamed":
        request.getfixturevalue("streamed")
    people = pd.read_csv("people.csv")
    part = people[people["town"] == "Ulm"]
    expected = load("people.lsvm").predict(part).tolist()
    predict = ("predict", "people.lsvm", "people.csv", "--where", "town=Ulm")
    assert call(*predict).stdout.splitlines()[1:] == expected
    evaluate = ("evaluate", "people.lsvm", "people.csv", "--where", "town=Ulm")
    found = json.loads(call(*evaluate, "--training-rows", "--json", "-q").stdout)
    assert found["n_rows"] == len(part)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--cost", "yes=3"), 2, "--cost yes=3 should be TRUE:PREDICTED=COST"),
        (("--cost", "yes:no=x"), 2, "with a number as cost; the classes are no, yes"),
        (("--cost", "yes:no=-3"), 2, "an error that costs less than the right answer"),
        (("--keep", "agge"), 1, "people.csv: The table has no column 'agge'; close"),
        (("--keep", "prediction"), 2, "the predictions have that name"),
        (("-o", "out.xlsx"), 2, "unknown kind of table"),
        (("-o", "people.csv"), 2, "people.csv exists"),
        (("--where", "town=Rom"), 1, "no row with 'Rom' in column 'town'"),
    ],
)
def test_what_is_wrong_is_said(call, options, code, words):
    result = call("predict", "people.lsvm", "people.csv", *options)
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stdout == ""


def test_a_wrong_value_late_in_a_file_leaves_nothing(call, streamed):
    people = pd.read_csv("people.csv", dtype=str)
    people.loc[200, "town"] = None
    people.loc[201, "age"] = "old"
    people.to_csv("new.csv", index=False)
    result = call("predict", "people.lsvm", "new.csv", "-o", "out.csv")
    assert result.exit_code == 1
    assert "'old' in row 61" in result.stderr
    assert "Rows are counted from row 140 on here." in result.stderr
    assert not [path for path in Path().iterdir() if "out.csv" in path.name]


def test_evaluate_scores_the_rows(call):
    result = call("evaluate", "people.lsvm", "others.csv", "--json")
    people = pd.read_csv("others.csv")
    scores = score_model(load("people.lsvm"), people, people["happy"])
    found = json.loads(result.stdout)
    assert found.pop("command") == "evaluate"
    assert (found.pop("schema"), found.pop("localsvm")) == (1, localsvm.__version__)
    headline = found.pop("rows")["headline"]
    assert headline == "100 rows, none of which was in the fit."
    assert found.pop("model") == "people.lsvm"
    assert found.pop("data") == "others.csv"
    assert found == json.loads(json.dumps(scores.to_dict()))
    text = call("evaluate", "people.lsvm", "others.csv").stdout
    assert text == f"{headline}\n\n{scores}\n"


def test_evaluate_takes_another_target(call):
    people = pd.read_csv("others.csv").rename(columns={"happy": "glad"})
    people.to_csv("new.csv", index=False)
    result = call("evaluate", "people.lsvm", "new.csv")
    assert result.exit_code == 1
    assert "has no column 'happy'" in result.stderr
    assert call("evaluate", "people.lsvm", "new.csv", "-t", "glad").exit_code == 0


def test_evaluate_takes_the_rows_that_are_chosen(call):
    people = pd.read_csv("others.csv").assign(part=["a"] * 40 + ["b"] * 60)
    people.to_csv("new.csv", index=False)
    command = ("evaluate", "people.lsvm", "new.csv", "--where", "part=a", "--json")
    found = json.loads(call(*command).stdout)
    part = people.head(40)
    right = load("people.lsvm").predict(part) == part["happy"]
    assert found["n_rows"] == 40
    assert found["accuracy"]["value"] == pytest.approx(right.mean())


def test_sparse_rows_of_fewer_columns_are_filled_up(call):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.5)
    dump_svmlight_file(X, X[:, 0] > 0, "a.svm", zero_based=False)
    call("fit", "a.svm", "-o", "sparse.lsvm", "-m", "clustered")
    Path("b.svm").write_text("1 1:2.5\n0 1:-2.5\n")
    result = call("predict", "sparse.lsvm", "b.svm")
    assert result.stdout.splitlines() == ["prediction", "1", "0"]

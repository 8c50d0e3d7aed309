"""``localsvm fit``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import localsvm
from localsvm.data import TableEncoder
from localsvm.export import describe_file, load
from people_data import make_people

FIT = ("fit", "people.csv", "-t", "happy", "-o", "new.lsvm", "-m", "clustered")


def files():
    return {path.name for path in Path().iterdir()}


def test_the_model_is_a_pipeline_of_all_rows(call):
    result = call(*FIT, "--param", "n_regions=3", "--seed", "5", "--jobs", "2")
    assert result.exit_code == 0, result.output
    model = load("new.lsvm")
    assert list(model.named_steps) == ["table", "model"]
    assert isinstance(model[0], TableEncoder)
    assert (model[1].n_regions, model[1].random_state, model[1].n_jobs) == (3, 5, 2)
    assert model[1].region_sizes_.sum() == 300
    assert "On rows that it had not seen:\n60 rows" in result.stdout
    assert "localsvm explain new.lsvm people.csv --row 0" in result.stdout


def test_notes_tell_where_it_comes_from_but_not_the_folder(call):
    source = Path("people.csv").absolute()
    call("fit", source, *FIT[2:], "--seed", "1", "--where", "town=Ulm")
    notes = describe_file("new.lsvm").notes
    people = pd.read_csv(source)
    people = people[people["town"] == "Ulm"]
    assert notes["source"] == "people.csv"
    assert notes["created_by"] == f"localsvm {localsvm.__version__}"
    assert notes["target"] == "happy"
    assert notes["where"] == "town=Ulm"
    assert notes["seed"] == 1
    assert (notes["n_rows"], notes["n_columns"]) == (len(people), 2)
    assert notes["classes"] == people["happy"].value_counts().to_dict()
    held_out = notes["held_out"]
    assert held_out["n_rows"] == round(0.2 * len(people))
    assert held_out["accuracy"]["low"] < held_out["accuracy"]["value"]
    assert str(source.parent) not in Path("new.lsvm").read_bytes().decode("latin-1")


def test_json_is_all_of_standard_output(call):
    result = call(*FIT, "--json")
    found = json.loads(result.stdout)
    assert found["model"] == "new.lsvm"
    assert found["bytes"] == Path("new.lsvm").stat().st_size
    assert found["method"] == "ClusteredSVC"
    assert found["held_out"]["n_rows"] == 60
    assert found["notes"] == describe_file("new.lsvm").notes


def test_the_score_is_of_rows_that_were_not_fitted(call):
    """Labels that cannot be learnt but by heart show it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.permutation(400) / 1.7, "y": rng.integers(0, 2, 400)}
    )
    frame.to_csv("noise.csv", index=False)
    command = ("fit", "noise.csv", "-t", "y", "-o", "new.lsvm", "--json", "-m", "local")
    found = json.loads(call(*command, "--param", "C=1e6", "--param", "gamma=50").stdout)
    assert found["held_out"]["accuracy"]["value"] < 0.65


def test_without_held_out_rows_there_is_no_score(call):
    found = json.loads(call(*FIT, "--json", "--test-size", "0").stdout)
    assert found["held_out"] is None
    assert "held_out" not in found["notes"]


def test_a_test_table_is_scored_on_instead(call):
    make_people(50, seed=1).to_csv("test.csv", index=False)
    found = json.loads(call(*FIT, "--json", "--test", "test.csv").stdout)
    assert found["held_out"]["n_rows"] == 50
    assert found["notes"]["n_rows"] == 300


def test_auto_chooses_once_and_refits_what_it_chose(call):
    result = call(*FIT[:-2], "--json")
    assert json.loads(result.stdout)["method"] == "StagedSVC"
    model = load("new.lsvm")[1]
    assert model.C != "auto"
    assert model.fit_report_.get("choose", 0) < 0.05 * sum(model.fit_report_.values())


def test_columns_are_dropped_and_of_the_kind_that_is_said(call):
    people = pd.read_csv("people.csv", dtype=str)
    people["zip"] = [f"{i % 9:03d}" for i in range(len(people))]
    people.to_csv("people.csv", index=False)
    call(*FIT, "--column-type", "zip=category", "--drop", "town")
    columns = {column.name: column for column in load("new.lsvm")[0].columns_}
    assert set(columns) == {"age", "income", "zip"}
    assert columns["zip"].categories[0] == "000"


def test_reading_options_are_remembered(call):
    people = pd.read_csv("people.csv")
    people.to_csv("people.txt", index=False, sep=";", decimal=",")
    options = ("--delimiter", ";", "--decimal", ",", "--format", "csv")
    result = call("fit", "people.txt", *FIT[2:], *options)
    assert result.exit_code == 0, result.output
    noted = ["format=csv", "delimiter=;", "decimal=,"]
    assert describe_file("new.lsvm").notes["read"] == noted
    evaluate = ("evaluate", "new.lsvm", "people.txt", "--training-rows")
    assert call(*evaluate).exit_code == 0


def test_a_german_table_needs_no_options(call):
    people = pd.read_csv("people.csv").assign(plz=[f"{i % 9:05}" for i in range(300)])
    people["income"] += 1000.25
    days = pd.date_range("2024-01-01", periods=100).repeat(3)
    people["datum"] = days.strftime("%d.%m.%Y")
    people["tag"] = days.strftime("%d/%m/%Y")
    people.to_csv("people.csv", index=False, sep=";", decimal=",")
    result = call(*FIT, "--column-type", "tag=date")
    assert result.exit_code == 0, result.output
    assert "warning" not in result.stderr
    kinds = {column.name: column.kind for column in load("new.lsvm")[0].columns_}
    assert kinds == {
        "age": "number",
        "income": "number",
        "town": "category",
        "plz": "category",
        "datum": "date",
        "tag": "date",
    }
    people[:1].to_csv("one.csv", index=False, sep=";", decimal=",")
    found = call("predict", "new.lsvm", "one.csv")
    assert found.stdout.split() == ["prediction", people["happy"][0]]


def test_numbers_of_the_rows_are_left_out_of_all_fits(call):
    people = pd.read_csv("people.csv").assign(lfd_nr=range(300, 0, -1))
    people.to_csv("people.csv", index=False)
    warned = call(*FIT).stderr
    assert warned.count("warning:") == 1
    assert "is left out" in warned
    encoder = load("new.lsvm")[0]
    assert "lfd_nr" not in encoder.get_feature_names_out()
    assert encoder.kinds == {"lfd_nr": "drop"}
    kept = call(*FIT, "--column-type", "lfd_nr=number", "--force")
    assert "lfd_nr" not in kept.stderr
    assert "lfd_nr" in load("new.lsvm")[0].get_feature_names_out()


def test_a_bug_in_a_fit_shows_its_traceback(call, monkeypatch):
    def fit(self, X, y):
        int("abc")

    monkeypatch.setattr(localsvm.ClusteredSVC, "fit", fit)
    result = call(*FIT)
    assert isinstance(result.exception, ValueError)
    assert "error:" not in result.stderr


def test_more_regions_than_rows_is_a_line(call):
    result = call(*FIT, "--param", "n_regions=1000")
    assert result.exit_code == 1
    assert "n_regions=1000" in result.stderr.splitlines()[-1]


def test_rows_without_a_label_are_left_out_if_asked(call):
    people = pd.read_csv("people.csv")
    people.loc[:9, "happy"] = None
    people.to_csv("people.csv", index=False)
    assert "pass --missing-labels drop" in call(*FIT).stderr
    option = ("--missing-labels", "drop")
    result = call(*FIT, *option)
    assert result.exit_code == 0, result.output
    assert describe_file("new.lsvm").notes["n_rows"] == 290
    assert call("predict", "new.lsvm", "people.csv").exit_code == 0


def test_a_folder_of_parquet_files_is_one_table(call):
    people = pd.read_csv("people.csv")
    Path("people").mkdir()
    people[:200].to_parquet("people/1.parquet")
    people[200:].to_parquet("people/2.parquet")
    result = call("fit", "people", *FIT[2:])
    assert result.exit_code == 0, result.output
    assert describe_file("new.lsvm").notes["n_rows"] == 300
    found = call("predict", "new.lsvm", "people").stdout
    assert found == call("predict", "new.lsvm", "people.csv").stdout


def test_labels_with_leading_zeros_stay_strings_in_other_tables(call):
    people = pd.read_csv("people.csv")
    people["happy"] = people["happy"].map({"yes": "01", "no": "10"})
    people.to_csv("people.csv", index=False)
    assert call(*FIT).exit_code == 0
    rare = people[people["happy"] == "10"]
    rare.to_csv("rare.csv", index=False)
    result = call("evaluate", "new.lsvm", "rare.csv", "--training-rows")
    assert result.exit_code == 0, result.output


def test_sparse_rows_have_no_encoder(call):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.5)
    dump_svmlight_file(X, X[:, 0] > 0, "a.svm", zero_based=False)
    result = call("fit", "a.svm", "-o", "new.lsvm", "-m", "clustered")
    assert result.exit_code == 0, result.output
    assert type(load("new.lsvm")).__name__ == "ClusteredSVC"
    assert describe_file("new.lsvm").notes["target"] is None
    assert call("evaluate", "new.lsvm", "a.svm", "--training-rows").exit_code == 0


def test_the_same_seed_gives_the_same_file(call):
    for name in ("one.lsvm", "two.lsvm"):
        call("fit", "people.csv", "-t", "happy", "-o", name, "-m", "clustered")
    model = load("one.lsvm")
    people = pd.read_csv("people.csv")
    scores = [load(f).decision_function(people) for f in ("one.lsvm", "two.lsvm")]
    assert (scores[0] == scores[1]).all()
    assert model.predict(people).tolist() == load("two.lsvm").predict(people).tolist()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (FIT[:4], 2),
        ((*FIT, "--param", "C=-1"), 2),
        ((*FIT, "--column-type", "age=colour"), 2),
        ((*FIT, "--colour", "1"), 2),
        ((*FIT, "--header", "maybe"), 2),
        ((*FIT, "--where", "town"), 2),
        ((*FIT, "--test", "no.csv"), 1),
        (("fit", "people.csv", "-o", "new.lsvm"), 2),
        (("fit", "people.csv", "-t", "income", "-o", "new.lsvm"), 1),
        (("fit", "no.csv", "-t", "income", "-o", "new.lsvm"), 1),
    ],
)
def test_what_is_wrong_is_a_line_and_leaves_nothing(call, arguments, code):
    before = files()
    result = call(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) == 1
    assert files() == before


@pytest.mark.parametrize(
    ("settings", "gate"),
    [
        (("gate__levels=2",), "SoftmaxGate(levels=2)"),
        (("gate=paper", "gate__tau=0.5"), "PaperGate(tau=0.5)"),
        (("gate=paper",), "'paper'"),
    ],
)
def test_parameters_of_a_gate_are_set(call, settings, gate):
    texts = [text for setting in settings for text in ("--param", setting)]
    result = call(*FIT, "-m", "mixture", *texts)
    assert result.exit_code == 0, result.output
    assert repr(load("new.lsvm").named_steps["model"].gate) == gate


def test_a_model_is_not_replaced_unless_forced(call):
    before = Path("people.lsvm").read_bytes()
    command = ("fit", "people.csv", "-t", "happy", "-o", "people.lsvm", "-m", "mixture")
    result = call(*command)
    assert result.exit_code == 2
    assert "people.lsvm exists" in result.stderr
    assert Path("people.lsvm").read_bytes() == before
    assert call(*command, "--force").exit_code == 0
    assert Path("people.lsvm").read_bytes() != before


def test_a_class_of_one_row_can_be_learnt(call):
    people = pd.read_csv("people.csv")
    people.loc[7, "happy"] = "perhaps"
    people.to_csv("people.csv", index=False)
    assert call(*FIT).exit_code == 0
    assert load("new.lsvm").classes_.tolist() == ["no", "perhaps", "yes"]

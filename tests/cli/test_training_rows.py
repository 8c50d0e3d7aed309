"""Rows of a fit are recognised, and never scored as if they were new."""

import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from localsvm.data import read_table
from localsvm.export import load_file

GOLDEN = Path(__file__).parents[1] / "export" / "golden" / "table-1.lsvm"
EVALUATE = ("evaluate", "people.lsvm", "people.csv")
REPORT = ("report", "people.lsvm", "people.csv", "-o", "report.html")
FIT = ("fit", "people.csv", "-t", "happy", "-o", "new.lsvm", "-m", "clustered")


@pytest.fixture
def parts(call):
    """A table whose rows of part a are those of the model a.lsvm."""
    people = pd.read_csv("people.csv").assign(part=["a", "b"] * 150)
    people.to_csv("parts.csv", index=False)
    fit = ("fit", "parts.csv", *FIT[2:4], "-o", "a.lsvm", *FIT[6:])
    result = call(*fit, "--where", "part=a")
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("command", [EVALUATE, REPORT], ids=["evaluate", "report"])
def test_training_rows_alone_are_refused(call, command):
    result = call(*command)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    for words in ("all 300 rows were in the fit", "held-out", "--training-rows"):
        assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not Path("report.html").exists()


def test_training_rows_are_scored_on_demand_and_called_so(call):
    first = "TRAINING ROWS: all of these 300 rows were in the fit"
    told = call(*EVALUATE, "--training-rows").stdout
    assert told.startswith(first)
    found = json.loads(call(*EVALUATE, "--training-rows", "--json").stdout)
    assert list(found)[3] == "rows"
    assert found["rows"]["are"] == "training"
    assert (found["rows"]["n_in_fit"], found["n_rows"]) == (300, 300)
    assert call(*REPORT, "--training-rows").stdout.startswith(first)
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.index(first) < page.index("Accuracy")
    assert "test row" not in page


def test_only_other_rows_of_a_mixture_are_scored(call, parts):
    mixed = call("evaluate", "a.lsvm", "parts.csv")
    others = call("evaluate", "a.lsvm", "parts.csv", "--where", "part=b")
    headlines = [each.stdout.partition("\n")[0] for each in (mixed, others)]
    assert headlines == [
        "150 rows that were not in the fit; 150 of 300 rows were, and are left out.",
        "150 rows, none of which was in the fit.",
    ]
    assert mixed.stdout.partition("\n")[2] == others.stdout.partition("\n")[2]
    found = json.loads(call("evaluate", "a.lsvm", "parts.csv", "--json").stdout)
    assert found["rows"]["are"] == "unseen"
    assert (found["rows"]["n_given"], found["rows"]["n_scored"]) == (300, 150)
    everything = ("evaluate", "a.lsvm", "parts.csv", "--training-rows", "--json")
    found = json.loads(call(*everything).stdout)
    assert (found["rows"]["are"], found["n_rows"]) == ("mixed", 300)


def test_a_report_scores_other_rows_and_finds_those_of_the_fit(call, parts):
    result = call("report", "a.lsvm", "parts.csv", "-o", "a.html", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["n_rows"] == 150
    page = Path("a.html").read_text(encoding="utf-8")
    assert "150 rows, none of which was in the fit." in page
    assert "HistGradientBoosting" in page


def test_rows_are_recognised_in_any_file_and_type(call, parts):
    people = pd.read_csv("parts.csv")
    people["age"] = people["age"].astype(np.float32)
    people["income"] = people["income"].astype(np.float32)
    people["town"] = people["town"].astype("category")
    people = people[people.columns[::-1]].sample(frac=1, random_state=0)
    people.to_parquet("parts.parquet", index=False)
    people.head(120).to_csv("some.csv", index=False)
    for name in ("parts.parquet", "some.csv"):
        found = json.loads(call("evaluate", "a.lsvm", name, "--json").stdout)["rows"]
        expected = read_table(name, target="happy", where="part=a").X.shape[0]
        assert found["n_in_fit"] == expected
        assert found["n_scored"] == found["n_given"] - expected


def test_the_label_is_part_of_a_row(call):
    people = pd.read_csv("people.csv")
    people["happy"] = people["happy"].map({"yes": "no", "no": "yes"})
    people.to_csv("turned.csv", index=False)
    result = call("evaluate", "people.lsvm", "turned.csv")
    assert result.stdout.startswith("300 rows, none of which was in the fit.")


def test_rows_that_equal_others_by_chance_are_scored(call):
    rng = np.random.default_rng(0)
    for name in ("old.csv", "new.csv"):
        frame = pd.DataFrame(rng.integers(0, 2, (400, 4)), columns=list("abcd"))
        frame["y"] = (frame["a"] + frame["b"] + rng.integers(0, 2, 400)) % 2
        frame.to_csv(name, index=False)
    call("fit", "old.csv", "-t", "y", "-o", "old.lsvm", "-m", "clustered")
    found = json.loads(call("evaluate", "old.lsvm", "new.csv", "--json").stdout)
    assert found["rows"]["are"] == "unseen"
    assert found["rows"]["n_in_fit"] > 300
    assert found["n_rows"] == 400
    assert "no more than chance explains" in found["rows"]["headline"]


def test_sparse_rows_are_recognised(call):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.7)
    y = X[:, 0] > 0
    dump_svmlight_file(X[:120], y[:120], "a.svm", zero_based=False)
    dump_svmlight_file(X, y, "all.svm", zero_based=False)
    call("fit", "a.svm", "-o", "new.lsvm", "-m", "clustered")
    found = json.loads(call("evaluate", "new.lsvm", "all.svm", "--json").stdout)
    assert found["n_rows"] == 80
    assert call("evaluate", "new.lsvm", "a.svm").exit_code == 1


def test_a_file_without_a_record_says_so(call, parts):
    fit = ("fit", "parts.csv", *FIT[2:4], "-o", "b.lsvm", *FIT[6:], "--no-row-sketch")
    call(*fit, "--where", "part=a")
    assert load_file("b.lsvm").fitted_rows is None
    result = call("evaluate", "b.lsvm", "parts.csv")
    assert "b.lsvm has no record of the rows" in result.stdout.partition("\n")[0]
    given = ("report", "b.lsvm", "parts.csv", "--train", "a.csv", "--json")
    people = pd.read_csv("parts.csv")
    people[people["part"] == "a"].to_csv("a.csv", index=False)
    found = json.loads(call(*given, "-o", "b.html", "--no-peers").stdout)
    assert found["rows"]["n_in_fit"] == 150


def test_files_of_earlier_versions_are_read(call):
    shutil.copy(GOLDEN, "old.lsvm")
    assert load_file("old.lsvm").fitted_rows is None
    assert call("info", "old.lsvm").exit_code == 0


def proposals(result):
    """Commands that a fit proposes, but for the server."""
    lines = [line.strip() for line in result.stdout.splitlines()]
    words = [shlex.split(line)[1:] for line in lines if line.startswith("localsvm ")]
    return {each[0]: each for each in words if each[0] != "serve"}


def test_a_fit_to_all_rows_proposes_no_report(call):
    result = call(*FIT)
    assert "report" not in proposals(result)
    assert "For a report, give labelled rows" in result.stdout


def rounded(text):
    """Document whose numbers do not depend on the order of the rows."""
    return json.loads(text, parse_float=lambda digits: round(float(digits), 12))


def test_held_out_rows_can_be_reported_on(call):
    """The same table may be given: the other rows are recognised."""
    result = call(*FIT, "--no-refit", "--json")
    held_out = rounded(result.stdout)["held_out"]
    assert json.loads(result.stdout)["notes"]["n_rows"] == 240
    found = rounded(call("evaluate", "new.lsvm", "people.csv", "--json").stdout)
    assert {name: found[name] for name in held_out} == held_out


@pytest.mark.parametrize(
    ("options", "n_scored"),
    [
        (["--no-refit"], 60),
        (["--where", "town=Ulm"], None),
        (["--test", "test table.csv"], 50),
    ],
    ids=["no-refit", "where", "test"],
)
def test_proposed_commands_run_on_rows_that_were_not_fitted(call, options, n_scored):
    people = pd.read_csv("people.csv")
    people.tail(50).to_csv("test table.csv", index=False)
    people.head(250).to_csv("people.csv", index=False)
    if options == ["--no-refit"]:
        people.to_csv("people.csv", index=False)
    result = call(*FIT, *options)
    assert result.exit_code == 0, result.output
    commands = proposals(result)
    assert set(commands) == {"predict", "explain", "report", "export"}
    for command in commands.values():
        done = call(*command)
        assert done.exit_code == 0, done.output
        assert "TRAINING ROWS" not in done.output
        if command[0] == "report" and n_scored:
            assert done.stdout.startswith(f"{n_scored} rows")


def test_a_test_table_of_training_rows_is_refused(call):
    pd.read_csv("people.csv").head(50).to_csv("test.csv", index=False)
    for command in (FIT, ("compare", "clustered", "people.csv", "-t", "happy")):
        result = call(*command, "--test", "test.csv")
        assert result.exit_code == 1, result.output
        assert "test.csv: all 50 rows are in people.csv, too" in result.stderr
    assert not Path("new.lsvm").exists()


def test_training_rows_in_a_test_table_are_left_out(call):
    people = pd.read_csv("people.csv")
    people.head(250).to_csv("people.csv", index=False)
    people.tail(80).to_csv("test.csv", index=False)
    result = call(*FIT, "--test", "test.csv", "--json")
    assert "test.csv: 50 rows that were not in the fit; 30 of 80" in result.stderr
    assert json.loads(result.stdout)["held_out"]["n_rows"] == 50


def test_other_rows_than_those_of_the_fit_are_not_compared_on(call, parts):
    """Peers that get other rows than the model had would not be peers."""
    people = pd.read_csv("parts.csv")
    people[people["part"] == "a"].head(100).to_csv("some.csv", index=False)
    report = ("report", "a.lsvm", "parts.csv", "--where", "part=b", "-o", "a.html")
    result = call(*report, "--train", "some.csv")
    assert "No comparison with other classifiers" in result.stderr
    assert "HistGradientBoosting" not in Path("a.html").read_text(encoding="utf-8")

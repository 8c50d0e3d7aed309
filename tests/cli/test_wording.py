"""Messages of the library in the words of the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file


def write_files():
    people = pd.read_csv("people.csv")
    Path("delimiters.csv").write_text("age;a,happy\n1;2,5\n")
    people.to_csv("nameless.csv", index=False, header=False)
    people.assign(day="01/02/2024").to_csv("days.csv", index=False)
    people.assign(town="Köln").to_csv("latin.csv", index=False, encoding="latin-1")
    people.to_csv("wide.csv", index=False, encoding="utf-16")
    people.assign(key=[f"k{i}x" for i in range(300)]).to_csv("keys.csv", index=False)
    numbers = people[["age", "income"]].to_numpy()
    y = (people["happy"] == "yes").to_numpy(dtype=int)
    dump_svmlight_file(numbers, y, "a.svm", zero_based=False)
    parts = {"X_train": numbers, "y_train": y, "X_test": numbers, "y_test": y}
    np.savez("parts.npz", **parts)


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ("delimiters.csv", (), "; pass --delimiter , or --delimiter ';'."),
        ("latin.csv", (), "pass --encoding latin-1 if"),
        ("wide.csv", (), "pass --encoding utf-16."),
        ("a.svm", (), "expected no --target, got 'happy'."),
        ("parts.npz", (), "expected --where split=train or --where split=test."),
        (
            "people.csv",
            ("--column-type", "agge=number"),
            "--column-type agge=number is not possible",
        ),
        (
            "days.csv",
            ("--column-type", "day=date"),
            "pass --column-type day=date:%d/%m/%Y or --column-type",
        ),
        ("people.csv", ("--format", "xml"), "cannot be read with --format "),
        ("people.csv", ("--delimiter", ";;"), "with --delimiter ';;'"),
    ],
)
def test_errors_name_options(call, source, options, words):
    write_files()
    result = call("fit", source, "-t", "happy", "-o", "new.lsvm", *options)
    assert result.exit_code == 1
    assert words in result.stderr


@pytest.mark.parametrize("option", ["where", "drop"])
def test_sparse_rows_have_no_columns_to_name(call, option):
    write_files()
    result = call("fit", "a.svm", "-o", "new.lsvm", f"--{option}", "a=b")
    assert f"expected no --{option}." in result.stderr


def test_warnings_name_options(call):
    write_files()
    fit = ("-t", "happy", "-o", "new.lsvm", "-m", "clustered", "--test-size", "0")
    warned = call("fit", "keys.csv", *fit).stderr
    assert "and is left out: new rows will have new values. Keep it with" in warned
    assert "--column-type key=text." in warned
    assert Path("new.lsvm").exists()
    first = Path("nameless.csv").read_text().splitlines()[0].split(",")[1]
    warned = call("evaluate", "people.lsvm", "nameless.csv", "-t", first).stderr
    assert "Pass --no-header if the file has no line of names." in warned

"""``localsvm report``."""

import json
from pathlib import Path

import pandas as pd

from localsvm.export import describe_file

REPORT = ("report", "people.lsvm", "others.csv", "-o", "report.html")


def test_the_report_is_a_page(call):
    result = call(*REPORT, "--title", "Who is happy?")
    assert result.exit_code == 0, result.output
    headline, _, written = result.stdout.splitlines()
    assert headline == "100 rows, none of which was in the fit."
    assert written.startswith("Report: report.html (")
    assert "No comparison with other classifiers" in result.stderr
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Who is happy?" in page
    assert "people.lsvm" in page
    assert call(*REPORT).exit_code == 2


def test_training_rows_are_given_or_found(call):
    people = pd.read_csv("people.csv").assign(part=["a", "b"] * 150)
    people.to_csv("parts.csv", index=False)
    fit = ("fit", "parts.csv", "-t", "happy", "-o", "a.lsvm", "-m", "clustered")
    call(*fit, "--where", "part=a")
    report = ("report", "a.lsvm", "parts.csv", "--where", "part=b", "-o", "found.html")
    result = call(*report)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "HistGradientBoosting" in Path("found.html").read_text(encoding="utf-8")
    given = (*REPORT, "--train", "parts.csv", "--json", "--no-peers")
    result = call(*given)
    assert json.loads(result.stdout)["n_rows"] == 100
    assert "HistGradientBoosting" not in Path("report.html").read_text("utf-8")


def test_the_page_speaks_of_what_was_done(call):
    """No keys of files, and nothing that nobody asked for."""
    fit = ("fit", "people.csv", "-t", "happy", "-o", "auto.lsvm")
    assert call(*fit).exit_code == 0
    noted = describe_file("auto.lsvm").notes["chosen"]
    assert "C" in noted
    call("report", "auto.lsvm", "others.csv", "-o", "auto.html")
    page = Path("auto.html").read_text(encoding="utf-8")
    for words in ("asked not to compare", "Set by the user", "n_rows", "created_by"):
        assert words not in page.partition('id="report-data"')[0]
    for words in ("number of rows", "chosen on held-out rows", "fitted by"):
        assert words in page
    assert "Chosen by the fit" not in page
    assert "merge equal rows" in page

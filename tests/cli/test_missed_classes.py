"""A class that is never predicted is named, with what may help."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from localsvm.export import load

FIT = ("fit", "rare.csv", "-t", "kind", "-o", "rare.lsvm", "-m", "clustered")
WORDS = "Never predicted: class 'fraud' ({} rows, recall 0)."
REMEDY = "Fit with --class-weight balanced to find more of rare classes."


@pytest.fixture
def rare(call):
    """Rows of a class of two per cent, and others of the same kind."""
    rng = np.random.default_rng(0)
    for name, n_rows in (("rare.csv", 1000), ("more.csv", 500)):
        frame = pd.DataFrame(rng.standard_normal((n_rows, 3)), columns=list("abc"))
        is_fraud = rng.random(n_rows) < 0.02
        frame["a"] += is_fraud
        frame["kind"] = np.where(is_fraud, "fraud", "usual")
        frame.to_csv(name, index=False)
    return call


def test_fit_evaluate_and_report_name_the_class(rare):
    result = rare(*FIT, "--param", "n_regions=1")
    assert f"{WORDS.format(4)} {REMEDY}" in result.stdout.splitlines()
    n_fraud = (pd.read_csv("more.csv")["kind"] == "fraud").sum()
    told = rare("evaluate", "rare.lsvm", "more.csv").stdout
    assert f"{WORDS.format(n_fraud)} {REMEDY}" in told.splitlines()
    found = json.loads(rare("evaluate", "rare.lsvm", "more.csv", "--json").stdout)
    assert found["missed_classes"] == ["fraud"]
    rare("report", "rare.lsvm", "more.csv", "-o", "rare.html")
    page = Path("rare.html").read_text(encoding="utf-8")
    assert "Never predicted: class" in page
    assert "class_weight=" in page


def test_the_remedy_helps(rare):
    result = rare(*FIT, "--class-weight", "balanced", "--param", "n_regions=1")
    assert "Never" not in result.stdout
    assert load("rare.lsvm")[-1].class_weight == "balanced"
    found = json.loads(rare("evaluate", "rare.lsvm", "more.csv", "--json").stdout)
    assert found["missed_classes"] == []
    assert found["classes"][0]["recall"]["value"] > 0.5


def test_an_unknown_weight_is_refused(rare):
    result = rare(*FIT, "--class-weight", "heavy")
    assert result.exit_code == 2
    assert "class_weight" in result.stderr

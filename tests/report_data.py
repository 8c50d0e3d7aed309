"""Models and pages of reports for tests."""

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from localsvm import ClusteredSVC
from localsvm.data import TableEncoder, make_xor, read_table, sample_path

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script><script>alert(3)</script>",
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd",
    "$x_{1} \\frac{ $ % & # {{ 7 * 7 }} {% raw %}",
    "x" * 5000,
    "nul \x00 tab \t",
    "日本語 🌲",
)


def xor_model(n_train=400, n_test=200):
    """Clustered SVM of two features; its training and test rows."""
    X, y = make_xor(n_train + n_test, random_state=0)
    model = ClusteredSVC(4, random_state=0).fit(X[:n_train], y[:n_train])
    return model, (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])


def census_model():
    """Pipeline on the rows of a real table, with twenty regions."""
    train, test = (
        read_table(sample_path("adult"), target="income", where=f"split={part}")
        for part in ("train", "test")
    )
    steps = [("table", TableEncoder()), ("model", ClusteredSVC(20, random_state=0))]
    model = Pipeline(steps).fit(train.X, train.y)
    return model, (train.X, train.y), (test.X, test.y)


def hostile_model():
    """Pipeline on a table whose columns, values and labels would break a page."""
    rng = np.random.default_rng(0)
    n_rows = 600
    code = rng.integers(0, 3, n_rows)
    table = pd.DataFrame(
        {
            name: rng.standard_normal(n_rows) + code * (k == 0) * 2
            for k, name in enumerate(HOSTILE)
        }
    )
    table["words"] = np.array(HOSTILE[:6], dtype=object)[(code * 2) % 6]
    y = np.array([HOSTILE[0], HOSTILE[5], HOSTILE[3]], dtype=object)[code]
    y = np.where(rng.random(n_rows) < 0.1, HOSTILE[0], y)
    model = Pipeline(
        [("table", TableEncoder()), ("model", ClusteredSVC(3, random_state=0))]
    ).fit(table[:400], y[:400])
    return model, (table[:400], y[:400]), (table[400:], y[400:])

"""Write the golden model files that are missing, with what they answer.

Run after a class or a version of the format is added::

    python tests/export/make_golden.py

Files that are there are left alone: every later version of the library has to read them
and to answer the same.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.pipeline import Pipeline

sys.path.insert(0, str(Path(__file__).parents[1]))

import localsvm
from localsvm import ClusteredSVC
from localsvm.data import RowSketch, TableEncoder, row_hashes
from model_file_data import fitted, rows_of

VERSION = 1
FOLDER = Path(__file__).with_name("golden")
EXPECTED = FOLDER / f"expected-{VERSION}.json"
CASES = (
    *("soft-classes", "soft-single", "soft-csr", "joint", "mapped", "hard-kmeans"),
    *("hard-pddp", "hard-threshold", "clustered-cv", "anchors", "coordinates"),
    *("local", "local-center", "local-csr", "local-poly", "local-shrink"),
    *("local-linear", "local-cv", "neighbor", "neighbor-list", "mixture"),
    *("mixture-paper", "mixture-levels", "reduced", "reduced-linear", "reduced-csr"),
    *("clusters", "clusters-full", "stream", "stream-learned", "staged-quantile"),
    *("staged-cells", "staged-sum-codes", "metric", "metric-diagonal", "pipeline"),
    *("pipeline-scalers", "table", "sigmoid", "isotonic", "columns"),
    *("additive", "additive-categories"),
    *("calibrated-signs", "calibrated-classes", "calibrated-missing"),
)
ROWS = FOLDER / "fitted-rows-2.lsvm"
_N_ROWS = 8


def golden_path(case):
    """Where the file of a case is."""
    return FOLDER / f"{case}-{VERSION}.lsvm"


def plain_answers(model, X):
    """Labels and numbers that a model gives, as lists."""
    found = {}
    methods = ("predict", "decision_function", "predict_proba", "transform")
    for name in (*methods, "predict_set", "familiarity"):
        if hasattr(model, name) and not (name == "transform" and "predict" in found):
            values = getattr(model, name)(X)
            dense = values.toarray() if sparse.issparse(values) else values
            found[name] = np.asarray(dense).tolist()
    return found


def model_of_rows():
    """Model of a table with columns of every kind, its rows and labels."""
    number = np.r_[0, np.arange(39)] / 8
    X = pd.DataFrame(
        {
            "number": np.where(number == 2, np.nan, number),
            "word": np.where(number > 2, "ä", "b"),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(number // 1, "D"),
            "yes": number > 3,
        }
    )
    y = np.where(number % 1 < 0.5, "low", "high")
    steps = [("table", TableEncoder()), ("model", ClusteredSVC(2, random_state=0))]
    model = Pipeline(steps)
    return model.fit(X, y), X, y


def main():
    """Write what is missing."""
    FOLDER.mkdir(exist_ok=True)
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    for case in CASES:
        if case not in expected:
            localsvm.save(fitted(case), golden_path(case), notes={"case": case})
            expected[case] = plain_answers(fitted(case), rows_of(case)[:_N_ROWS])
    if not ROWS.exists():
        model, X, y = model_of_rows()
        sketch = RowSketch.of(row_hashes(X, y, model[0]))
        localsvm.save(model, ROWS, fitted_rows=sketch)
    lines = [f"{json.dumps(case)}: {json.dumps(expected[case])}" for case in expected]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

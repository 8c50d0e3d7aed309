"""Probabilities, prediction sets and familiarity on all data sets.

``python benchmarks/probabilities.py [--data-sets ...] [--again]``

At most 10,000 training rows and 5,000 test rows of each data set, standardised by the
training rows. Log loss and Brier score (the sum over the classes, on average over the
rows) of each method as it is fitted, of CalibratedClassifierCV with five folds around
the same method, and of LightGBM with its defaults; CPU seconds of the fit. Coverage of
sets that promise 90 %, over all test rows, and the lowest over classes and over regions
with at least 50 test rows. Share of test rows with a familiarity of at most 1 %; of
test rows one of whose columns, drawn for each row, was moved by five standard
deviations; of rows all of whose columns were permuted; and of rows of another data set,
cut or repeated to as many columns. Results are saved as they come.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from records import Row, resume, save
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from localsvm import AdditiveSVC, ClusteredSVC, LocalSVC
from localsvm.data import benchmark_names, load_benchmark

NAME = "probabilities"
_TRAIN_ROWS, _TEST_ROWS = 10_000, 5000
_FOLDS = 5
_COVERAGE, _ALARM = 0.9, 0.01
_FEWEST = 50
# Six fits of as many tables take an hour.
_WIDE = ("mnist", "usps", "isolet", "leukemia", "indian_pines", "covtype")
_OTHER = {"usps": "mnist"}
METHODS = {
    "ClusteredSVC": ClusteredSVC(random_state=0),
    "LocalSVC": LocalSVC(random_state=0),
    "AdditiveSVC": AdditiveSVC(random_state=0),
}
ALL = (*METHODS, "LightGBM")
Split = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def load(name: str) -> Split:
    """Standardised rows and labels; classes of few rows are left out."""
    data = load_benchmark(name)
    X, y = data.X_train, data.y_train
    if data.X_test is None:
        if name == "indian_pines":
            X, y = X[y > 0], y[y > 0]
        parts = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        X, X_test, y, y_test = parts
    else:
        X_test, y_test = data.X_test, data.y_test
    rng = np.random.default_rng(0)
    train, test = (rng.permutation(len(each)) for each in (y, y_test))
    X, y = X[train[:_TRAIN_ROWS]], y[train[:_TRAIN_ROWS]]
    X_test, y_test = X_test[test[:_TEST_ROWS]], y_test[test[:_TEST_ROWS]]
    labels, counts = np.unique(y, return_counts=True)
    kept = labels[counts >= _FOLDS]
    X, y = X[np.isin(y, kept)], y[np.isin(y, kept)]
    X_test, y_test = X_test[np.isin(y_test, kept)], y_test[np.isin(y_test, kept)]
    scaler = StandardScaler().fit(X.astype(np.float64))
    X, X_test = (
        scaler.transform(each.astype(np.float64)).astype(np.float32)
        for each in (X, X_test)
    )
    return X, y, X_test, y_test


def scores(model: Any, split: Split, seconds: float) -> Row:
    """Log loss, Brier score and accuracy on the test rows."""
    _, _, X, y = split
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    truth = y[:, np.newaxis] == model.classes_
    return {
        "log_loss": round(float(log_loss(y, found, labels=model.classes_)), 4),
        "brier": round(float(np.square(found - truth).sum(axis=1).mean()), 4),
        "accuracy": round(100 * float((model.predict(X) == y).mean()), 2),
        "seconds": round(seconds, 3),
    }


def timed_fit(model: Any, split: Split) -> tuple[Any, float]:
    """Fit, and the CPU seconds that it took."""
    start = time.process_time()
    fitted = model.fit(split[0], split[1])
    return fitted, time.process_time() - start


def least(covered: NDArray[np.bool_], group: NDArray[Any]) -> float | None:
    """Lowest coverage of a group with enough rows."""
    shares = [
        covered[group == each].mean()
        for each in np.unique(group)
        if np.count_nonzero(group == each) >= _FEWEST
    ]
    return round(100 * float(min(shares)), 1) if shares else None


def coverage(model: Any, split: Split) -> Row:
    """How often sets hold the class, over all rows, classes and regions."""
    _, _, X, y = split
    sets = model.predict_set(X, _COVERAGE)
    covered = sets[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    found = {
        "coverage": round(100 * float(covered.mean()), 1),
        "least_of_class": least(covered, y),
        "set_size": round(float(sets.sum(axis=1).mean()), 2),
    }
    if hasattr(model, "region"):
        found["least_of_region"] = least(covered, model.region(X))
    return found


def alarms(model: Any, split: Split, name: str) -> Row:
    """Share of rows that are unfamiliar: fresh, changed, and of other data."""
    X = split[2]
    rng = np.random.default_rng(1)
    shifted = X.copy()
    column = rng.integers(X.shape[1], size=len(X))
    shifted[np.arange(len(X)), column] += 5.0
    permuted = rng.permuted(X, axis=1)
    other = load(_OTHER.get(name, "usps"))[2]
    other = np.resize(other[:2000], (min(2000, len(other)), X.shape[1]))
    rows = {"fresh": X, "shifted": shifted, "permuted": permuted, "other": other}
    return {
        f"alarms_{what}": round(
            100 * float((model.familiarity(each) <= _ALARM).mean()), 1
        )
        for what, each in rows.items()
    }


def measure(name: str, method: str) -> Row:
    """All figures of a method, or of LightGBM."""
    split = load(name)
    if method == "LightGBM":
        model = LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)
        fitted, seconds = timed_fit(model, split)
        return scores(fitted, split, seconds)
    fitted, seconds = timed_fit(METHODS[method], split)
    found = scores(fitted, split, seconds) | coverage(fitted, split)
    if method == "ClusteredSVC":
        found |= alarms(fitted, split, name)
    share = sum(fitted.fit_report_.get(n, 0.0) for n in ("calibrate", "familiarity"))
    stages = sum(v for v in fitted.fit_report_.values() if isinstance(v, float))
    found["share_of_fit"] = round(100 * share / stages, 1)
    for ensemble in (True, False):
        wrapped = CalibratedClassifierCV(METHODS[method], cv=_FOLDS, ensemble=ensemble)
        other, seconds = timed_fit(wrapped, split)
        key = "averaged" if ensemble else "wrapped"
        own = scores(other, split, seconds)
        found |= {f"{key}_{what}": value for what, value in own.items()}
    return found


def write(rows: dict[tuple[str, str], Row]) -> None:
    """Save in the order of the data sets and methods."""
    order = sorted(rows, key=lambda key: (key[0], list(ALL).index(key[1])))
    save(
        NAME,
        "python benchmarks/probabilities.py",
        [rows[key] for key in order],
        data=sorted({key[0] for key in order}),
        train_rows=_TRAIN_ROWS,
        test_rows=_TEST_ROWS,
        promised_coverage=_COVERAGE,
        alarm_level=_ALARM,
        threads=1,
    )


def main() -> None:
    """Measure what the results file lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", nargs="*", default=benchmark_names())
    parser.add_argument("--methods", nargs="*", choices=ALL, default=list(ALL))
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = {(row["data_set"], row["method"]): row for row in resume(NAME)}
    for name in asked.data_sets:
        for method in asked.methods:
            if (name, method) in rows and not asked.again:
                continue
            if method == "AdditiveSVC" and name in _WIDE:
                continue
            found = {"data_set": name, "method": method, **measure(name, method)}
            rows[name, method] = found
            write(rows)
            print(*found.values(), flush=True)


if __name__ == "__main__":
    main()

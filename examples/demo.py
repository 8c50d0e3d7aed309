"""Our classifiers beside LinearSVC and SVC, on digits and two spirals.

Prints accuracy and times, explains one prediction, and saves a picture. It takes less
than a minute; nearly all of that is SVC's.
"""

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from localsvm import ClusteredSVC, LocalSVC, StagedSVC
from localsvm.data import bayes_2spiral, make_2spiral
from localsvm.inspect import RegionMapDisplay, explain

SHADES = np.array(list(" .:-=+*#%@"))


@dataclass(frozen=True)
class Split:
    X_train: NDArray[np.float64]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]

    def scaled(self, scaler: Any) -> "Split":
        scaler.fit(self.X_train)
        return Split(
            scaler.transform(self.X_train),
            self.y_train,
            scaler.transform(self.X_test),
            self.y_test,
        )


@dataclass(frozen=True)
class Measurement:
    model: Any
    accuracy: float
    fit_seconds: float
    predict_seconds: float


def digits_split() -> Split:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    return Split(X_train, y_train, X_test, y_test)


def spiral_split(n_rows: int) -> Split:
    return Split(
        *make_2spiral(n_rows, random_state=0), *make_2spiral(4000, random_state=1)
    )


def measure(model: Any, split: Split) -> Measurement:
    start = time.perf_counter()
    model.fit(split.X_train, split.y_train)
    fitted = time.perf_counter()
    predicted = model.predict(split.X_test)
    done = time.perf_counter()
    accuracy = float((predicted == split.y_test).mean())
    return Measurement(model, accuracy, fitted - start, done - fitted)


def compare(models: list[Any], split: Split) -> list[Measurement]:
    """Fit and time the models, and print a table with SVC as the yardstick."""
    results = [measure(model, split) for model in models]
    svc = next(result for result in results if isinstance(result.model, SVC))
    width = max(len(str(result.model)) for result in results)
    print(f"{'':<{width}}  accuracy    fit s  fit / SVC  predict us/row")
    for result in results:
        print(
            f"{result.model!s:<{width}}  {result.accuracy:8.4f} "
            f"{result.fit_seconds:8.3f} {result.fit_seconds / svc.fit_seconds:10.3f} "
            f"{1e6 * result.predict_seconds / len(split.y_test):15.1f}"
        )
    return results


def compare_on_digits() -> tuple[Split, list[Measurement]]:
    split = digits_split().scaled(MinMaxScaler())
    print(
        f"1. Handwritten digits, 10 classes: {len(split.y_train)} rows to fit, "
        f"{len(split.y_test)} to test,\n   64 pixels scaled to [0, 1]. "
        "At this size SVC is quick to fit; it is slow to predict.\n"
        "   The fit of StagedSVC has the choice of all its parameters in it.\n"
    )
    models = [
        LinearSVC(random_state=0),
        SVC(C=10),
        ClusteredSVC(random_state=0),
        LocalSVC(random_state=0),
        StagedSVC(random_state=0),
    ]
    return split, compare(models, split)


def explain_a_digit(split: Split, linear: Any, clustered: Any) -> None:
    """Take a row that the linear model gets wrong and the clustered one right."""
    right = clustered.predict(split.X_test) == split.y_test
    wrong = linear.predict(split.X_test) != split.y_test
    row = int(np.argmax(2 * (right & wrong) + right))
    x, label = split.X_test[row], split.y_test[row]
    print(
        f"\n2. Why? Test row {row} is a {label}; LinearSVC says "
        f"{linear.predict([x])[0]}, ClusteredSVC says {clustered.predict([x])[0]}.\n"
    )
    for line in SHADES[(x.reshape(8, 8) * 9).astype(int)]:
        print("   " + "".join(np.repeat(line, 2)))
    names = [f"row {r} column {c}" for r in range(1, 9) for c in range(1, 9)]
    print(f"\n{explain(clustered, x, feature_names=names)}")


def compare_on_spirals(n_rows: int) -> tuple[Split, list[Measurement]]:
    raw = spiral_split(n_rows)
    best = (bayes_2spiral(raw.X_test) == raw.y_test).mean()
    print(
        f"\n3. Two noisy spirals: {n_rows} rows to fit, {len(raw.y_test)} to test, "
        "2 features scaled to unit variance.\n   C and gamma of SVC and n_clusters=800 "
        "are the best of a small grid, on other rows; LocalSVC\n   has its defaults. "
        f"The best possible accuracy on the test rows is {best:.4f}.\n"
    )
    models = [
        LinearSVC(random_state=0),
        SVC(C=10, gamma=300, cache_size=1000),
        ClusteredSVC(random_state=0),
        ClusteredSVC(n_clusters=min(800, n_rows // 15), random_state=0),
        LocalSVC(random_state=0),
        StagedSVC(random_state=0),
    ]
    split = raw.scaled(StandardScaler())
    return split, compare(models, split)


def save_picture(model: Any, split: Split, path: Path) -> None:
    figure, ax = plt.subplots(figsize=(8, 8), layout="constrained")
    RegionMapDisplay.from_estimator(
        model,
        split.X_test,
        split.y_test,
        ax=ax,
        grid_resolution=400,
        center_kw={"s": 14, "marker": "o"},
        row_kw={"s": 6},
    )
    ax.set(
        aspect="equal",
        xticks=[],
        yticks=[],
        title=f"ClusteredSVC: {model.n_regions_} regions and the boundary they make",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".tmp")
    figure.savefig(unfinished, format="png", dpi=110)
    os.replace(unfinished, path)
    print(f"\n4. The regions and the boundary of ClusteredSVC on the spirals: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=15_000, help="rows of the spirals")
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    options = parser.parse_args()
    digits, (linear, _, clustered, *_) = compare_on_digits()
    explain_a_digit(digits, linear.model, clustered.model)
    spirals, (_, _, clustered, *_) = compare_on_spirals(options.rows)
    save_picture(clustered.model, spirals, options.output / "regions.png")


if __name__ == "__main__":
    main()

"""The ten tasks of the staged SVM: rows as published, nothing prepared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from localsvm.data import load_benchmark

COVTYPE_TEST_ROWS = 25_000


@dataclass(frozen=True)
class Task:
    """A data set, its labels and how many of its training rows are used.

    Parameters
    ----------
    data_set : str
    floor : float or None
        Least test accuracy in percent that the staged SVM has to reach.
    label : {"own", "odd", "second"}
        The labels as they are, whether they are odd, or whether they are 2.
    n_train : int or None
        Training rows; None is all.
    standardise : bool
        Whether the columns are standardised, as in the task's published figures.
    """

    data_set: str
    floor: float | None
    label: str = "own"
    n_train: int | None = None
    standardise: bool = False


TASKS = {
    "mnist_odd_even": Task("mnist", 99.1, "odd"),
    "mnist": Task("mnist", 98.6),
    "ijcnn1": Task("ijcnn1", 98.6),
    "covtype_2_50k": Task("covtype", 92.5, "second", 50_000),
    "covtype_2_100k": Task("covtype", 94.5, "second", 100_000),
    "covtype_7_50k": Task("covtype", 91.0, "own", 50_000),
    "usps": Task("usps", 95.7),
    "isolet": Task("isolet", 95.2),
    "svmguide1": Task("svmguide1", 96.7, standardise=True),
    "adult": Task("adult", 85.0),
    "covtype_2_556k": Task("covtype", None, "second"),
}


@dataclass(frozen=True)
class Split:
    """Training and test rows of a task, float32."""

    X_train: NDArray[np.float32]
    y_train: NDArray[Any]
    X_test: NDArray[np.float32]
    y_test: NDArray[Any]


def load(name: str) -> Split:
    """Rows and labels of a task; covtype is split at random, always alike."""
    task = TASKS[name]
    data = load_benchmark(task.data_set)
    X_train, y_train = data.X_train, data.y_train
    if data.X_test is None:
        order = np.random.default_rng(0).permutation(len(y_train))
        test, train = order[:COVTYPE_TEST_ROWS], order[COVTYPE_TEST_ROWS:]
        X_test, y_test = X_train[test], y_train[test]
        X_train, y_train = X_train[train], y_train[train]
    else:
        X_test, y_test = data.X_test, data.y_test
    X_train, y_train = X_train[: task.n_train], y_train[: task.n_train]
    X_train, X_test = (np.asarray(X, dtype=np.float32) for X in (X_train, X_test))
    if task.standardise:
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return Split(X_train, _labels(task, y_train), X_test, _labels(task, y_test))


def _labels(task: Task, y: NDArray[Any]) -> NDArray[Any]:
    if task.label == "odd":
        return y % 2
    return (y == 2).astype(int) if task.label == "second" else y

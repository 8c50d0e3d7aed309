"""Tasks on which the classifiers meet their peers: arrays, and tables of raw columns.

Rows to fit are a stratified sample of at most ``MOST_TRAINING_ROWS``, rows to score of
at most ``MOST_TEST_ROWS``. Where no split is published, a stratified quarter is scored.
Values are as published; identifiers and free text are left out, for all methods alike.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from records import use_shared_data
from sklearn.model_selection import train_test_split

from localsvm.data import benchmark_file, load_benchmark

MOST_TRAINING_ROWS = 6000
MOST_TEST_ROWS = 10_000

use_shared_data()


@dataclass(frozen=True)
class Task:
    """A data set and its labels.

    Parameters
    ----------
    data_set : str
    label : {"own", "odd", "second", "positive"}
        Labels as they are; whether they are odd; whether they are 2; as they are, of
        the rows whose label is above 0.
    is_table : bool
        Whether it is a file of raw columns.
    left_out : tuple
        Columns that are not used: numbers of an array, names of a table.
    dates : tuple of str
        Columns of dates.
    """

    data_set: str
    label: str = "own"
    is_table: bool = False
    left_out: tuple[int | str, ...] = ()
    dates: tuple[str, ...] = ()

    @property
    def file(self) -> Path | str:
        """The file, or the name of a data set that may have to be downloaded."""
        if self.is_table:
            folder = Path(os.environ["LOCALSVM_DATA"])
            return folder / "tables" / f"{self.data_set}.csv.gz"
        return benchmark_file(self.data_set) or self.data_set


def _table(name: str, left_out: str = "", dates: tuple[str, ...] = ()) -> Task:
    return Task(name, "own", True, (left_out,) if left_out else (), dates)


_JAIL = ("compas_screening_date", "c_jail_in", "c_jail_out")
_CHARGE = ("c_offense_date", "c_arrest_date")

# leukemia is left out: 34 rows to score tell nothing of methods that differ by points
TASKS = {
    **{
        name: Task(name)
        for name in (
            "iris",
            "wine",
            "sonar",
            "glass",
            "heart",
            "liver",
            "ionosphere",
            "svmguide2",
        )
    },
    "breast": Task("breast", left_out=(0,)),
    **{name: Task(name) for name in ("vehicle", "fourclass", "vowel", "svmguide1")},
    "ijcnn1": Task("ijcnn1"),
    "covtype_2": Task("covtype", "second"),
    "covtype_7": Task("covtype"),
    "adult": Task("adult"),
    "credit_scoring": _table("credit_scoring"),
    "compas": _table("compas", "id", (*_JAIL, *_CHARGE)),
    "support2": _table("support2", "sno"),
    "mpls_stops": _table("mpls_stops", "idNum", ("date",)),
    "nyc_flights": _table("nyc_flights", "", ("time_hour",)),
    "caravan_insurance": _table("caravan_insurance"),
    "diamonds_cut": _table("diamonds_cut"),
    "loans_grade": _table("loans_grade", "emp_title"),
    "portal_rodents": _table("portal_rodents", "record_id"),
    "ames_neighborhood": _table("ames_neighborhood"),
    "mnist_odd_even": Task("mnist", "odd"),
    "usps": Task("usps"),
    "indian_pines": Task("indian_pines", "positive"),
    "mnist": Task("mnist"),
    "isolet": Task("isolet"),
}


@dataclass(frozen=True)
class Split:
    """Rows to fit and to score: matrices or frames, labels from 0 on."""

    X_train: Any
    y_train: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]
    dates: tuple[str, ...] = ()

    @property
    def is_table(self) -> bool:
        """Whether the rows are frames of raw columns."""
        return isinstance(self.X_train, pd.DataFrame)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y_train.max()) + 1

    @property
    def cells(self) -> int:
        """Columns times problems: what the cost of many methods grows by."""
        problems = 1 if self.n_classes == 2 else self.n_classes
        return int(self.X_train.shape[1]) * problems


def load(name: str, seed: int) -> Split:
    """Split of a task by a seed."""
    task = TASKS[name]
    X, y, X_test, y_test = _table_rows(task) if task.is_table else _array_rows(task)
    classes = np.unique(y)
    y = np.searchsorted(classes, y)
    if X_test is None:
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=0.25, stratify=y, random_state=seed
        )
    else:
        y_test = np.searchsorted(classes, y_test)
    X, y = _sample(X, y, MOST_TRAINING_ROWS, seed)
    X_test, y_test = _sample(X_test, y_test, MOST_TEST_ROWS, seed)
    return Split(X, y, X_test, y_test, task.dates)


def _sample(X: Any, y: NDArray[Any], most: int, seed: int) -> tuple[Any, NDArray[Any]]:
    """At most so many rows, with the shares of the classes kept."""
    if len(y) <= most:
        return X, y
    kept, _ = train_test_split(
        np.arange(len(y)), train_size=most, stratify=y, random_state=seed
    )
    return (X.iloc[kept] if isinstance(X, pd.DataFrame) else X[kept]), y[kept]


def _table_rows(task: Task) -> tuple[Any, NDArray[Any], None, None]:
    frame = pd.read_csv(
        task.file, keep_default_na=False, na_values=[""], low_memory=False
    )
    target = frame.columns[-1]
    X = frame.drop(columns=[target, *task.left_out])
    return X, frame[target].to_numpy(), None, None


def _array_rows(task: Task) -> tuple[Any, ...]:
    data = load_benchmark(task.data_set)
    X, y, X_test, y_test = data.X_train, data.y_train, data.X_test, data.y_test
    if task.label == "positive":
        X, y = X[y > 0], y[y > 0]
    kept = [k for k in range(X.shape[1]) if k not in task.left_out]
    X = np.asarray(X[:, kept], dtype=float)
    if X_test is None:
        return X, _labels(task, y), None, None
    X_test = np.asarray(X_test[:, kept], dtype=float)
    return X, _labels(task, y), X_test, _labels(task, y_test)


def _labels(task: Task, y: NDArray[Any]) -> NDArray[Any]:
    if task.label == "odd":
        return y % 2
    return (y == 2).astype(int) if task.label == "second" else y

"""Training and test rows of a run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from localsvm.data import Benchmark
from papers._definition import Data, Part, Split, describe


@dataclass(frozen=True, eq=False)
class TrainTest:
    """Prepared rows, and what the preparation took.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : ndarray
    seconds, cpu_seconds : float
    """

    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class _Last:
    """The last value that was made, for the same question asked again."""

    def __init__(self) -> None:
        self._question: Any = None
        self._answer: Any = None

    def get(self, question: Any, make: Any) -> Any:
        if question != self._question:
            # Two large data sets at a time would take twice the memory.
            self._question = self._answer = None
            self._answer = make()
            self._question = question
        return self._answer


_last_loaded = _Last()
_last_prepared = _Last()


def rows_of(data: Data, split: Split, seed: int) -> TrainTest:
    """Load, split and prepare rows; those of the last call are kept."""
    drawn = seed if split.is_drawn else None
    question = json.dumps([describe(data), describe(split), drawn])
    rows: TrainTest = _last_prepared.get(question, lambda: _make(data, split, seed))
    return rows


def synthetic(
    make: Callable[..., Any], n_train: int, n_test: int, seed: int = 0, **options: Any
) -> Benchmark:
    """Draw training and test rows of a synthetic problem; for ``Data.load``.

    Parameters
    ----------
    make : callable
        Such as :func:`localsvm.data.make_xor`: takes a number of rows and
        ``random_state``.
    n_train, n_test : int
    seed : int, default=0
        Of the training rows; that of the test rows is 10000 more.
    **options
        Further arguments of ``make``.
    """
    X_train, y_train = make(n_train, random_state=seed, **options)
    X_test, y_test = make(n_test, random_state=seed + 10_000, **options)
    return Benchmark(make.__name__, X_train, y_train, X_test, y_test, None, "drawn")


def _make(data: Data, split: Split, seed: int) -> TrainTest:
    question = json.dumps([describe(data.load), describe(data.options)])
    loaded = _last_loaded.get(question, lambda: data.load(**data.options))
    parts = _split_rows(_as_benchmark(loaded), split, seed)
    start, cpu_start = time.perf_counter(), time.process_time()
    X_train, X_test = _prepare(data.prepare, parts)
    return TrainTest(
        X_train,
        parts.y_train,
        X_test,
        parts.y_test,
        seconds=time.perf_counter() - start,
        cpu_seconds=time.process_time() - cpu_start,
    )


def _as_benchmark(loaded: Any) -> Benchmark:
    if isinstance(loaded, Benchmark):
        return loaded
    X, y = loaded
    return Benchmark("", X, y, None, None, None, "")


def _split_rows(data: Benchmark, split: Split, seed: int) -> TrainTest:
    if split.kind == "given":
        return _given(data, split, seed)
    X, y = data.X_train, data.y_train
    if data.X_test is not None and data.y_test is not None:
        X, y = np.concatenate([X, data.X_test]), np.concatenate([y, data.y_test])
    if split.kind == "random":
        test, train = _random(len(y), split, seed)
    else:
        train, test = _fold(y, split, seed)
    return TrainTest(X[train], y[train], X[test], y[test])


def _given(data: Benchmark, split: Split, seed: int) -> TrainTest:
    if data.X_test is None or data.y_test is None:
        raise ValueError(
            f"Data set {data.name!r} has no split of its own; expected a Split of kind "
            "'random' or 'folds'."
        )
    train = _draw(len(data.y_train), split.n_train, seed)
    test = _draw(len(data.y_test), split.n_test, seed)
    return TrainTest(
        data.X_train[train], data.y_train[train], data.X_test[test], data.y_test[test]
    )


def _draw(n_rows: int, n_wanted: int | None, seed: int) -> Any:
    if n_wanted is None:
        return slice(None)
    _check_enough(n_rows, n_wanted)
    return np.random.default_rng(seed).permutation(n_rows)[:n_wanted]


def _random(n_rows: int, split: Split, seed: int) -> tuple[Any, Any]:
    if split.n_test is None:
        raise ValueError("A random split needs n_test; found None.")
    n_train = n_rows - split.n_test if split.n_train is None else split.n_train
    _check_enough(n_rows, split.n_test + n_train)
    order = np.random.default_rng(seed).permutation(n_rows)
    return order[: split.n_test], order[split.n_test : split.n_test + n_train]


def _fold(y: NDArray[Any], split: Split, seed: int) -> tuple[Any, Any]:
    shuffle, fold = divmod(seed, split.n_folds)
    folds = StratifiedKFold(split.n_folds, shuffle=True, random_state=shuffle)
    train, test = list(folds.split(np.zeros(len(y)), y))[fold]
    return train[: split.n_train], test[: split.n_test]


def _check_enough(n_rows: int, n_wanted: int) -> None:
    if n_wanted > n_rows:
        raise ValueError(f"{n_wanted} rows are wanted, but there are {n_rows}.")


def _prepare(
    steps: Sequence[Part], rows: TrainTest
) -> tuple[NDArray[Any], NDArray[Any]]:
    X_train, X_test = rows.X_train, rows.X_test
    for step in steps:
        transformer = step.make(seed=0)
        X_train = transformer.fit_transform(X_train, rows.y_train)
        X_test = transformer.transform(X_test)
    return np.ascontiguousarray(X_train), np.ascontiguousarray(X_test)

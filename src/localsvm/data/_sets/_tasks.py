"""The two-class tasks of the papers, made from the benchmark data sets."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from localsvm.data._sets._benchmarks import (
    Benchmark,
    benchmark_names,
    load_benchmark,
    npz_file,
)
from localsvm.data._sets._labels import odd_even, one_vs_rest, pair

_Rows = NDArray[Any]
_Binary = NDArray[np.int64]


def _relabelled(
    rule: Callable[[NDArray[Any]], _Binary],
) -> Callable[[_Rows, NDArray[Any]], tuple[_Rows, _Binary]]:
    return lambda X, y: (X, rule(y))


@dataclass(frozen=True)
class _Task:
    """A data set, which rows and labels are taken, and how rows are prepared."""

    data_set: str
    select: Callable[[_Rows, NDArray[Any]], tuple[_Rows, _Binary]]
    unit_norm: bool = True
    divide_by: float = 1.0
    n_test: int | None = None


_positive = _relabelled(partial(one_vs_rest, label=1))
_mnist = partial(_Task, "mnist", divide_by=255.0)

_TASKS: Mapping[str, _Task] = {
    "svmguide1": _Task("svmguide1", _positive),
    "ijcnn1": _Task("ijcnn1", _positive),
    "usps_odd_even": _Task("usps", _relabelled(odd_even)),
    "mnist_odd_even": _mnist(_relabelled(odd_even)),
    "mnist_3v8": _mnist(partial(pair, first=3, second=8)),
    "mnist_4v9": _mnist(partial(pair, first=4, second=9)),
    "covtype_2_vs_rest": _Task(
        "covtype",
        _relabelled(partial(one_vs_rest, label=2)),
        unit_norm=False,
        n_test=25_000,
    ),
}


def task_names() -> list[str]:
    """List the names that :func:`load_task` knows.

    Returns
    -------
    list of str
        The names, in the order of the papers' tables.
    """
    return list(_TASKS)


def load_task(
    name: str,
    *,
    unit_norm: bool | None = None,
    seed: int = 0,
    data_home: str | os.PathLike[str] | None = None,
) -> Benchmark:
    """Load a two-class task, prepared as in its paper.

    Parameters
    ----------
    name : str
        One of :func:`task_names`.
    unit_norm : bool, default=None
        Whether each row is divided by its Euclidean norm. None does what the paper
        does: yes for all tasks but ``covtype_2_vs_rest``.
    seed : int, default=0
        Seed of the split of ``covtype_2_vs_rest``; the other tasks have a canonical
        split and ignore it.
    data_home : path-like, default=None
        Passed to :func:`load_benchmark`.

    Returns
    -------
    Benchmark
        Rows as C-contiguous float32, labels as int64 0 and 1. Label 1 is the odd
        digits, the second digit of a pair, class 2 of covtype, or the data set's own
        label 1.

    Notes
    -----
    The tasks on svmguide1, ijcnn1, usps and mnist are those of Gu and Han (2013),
    Table 1; unit norm is their Section 4.2. MNIST pixels are divided by 255 first.
    The paper counts 917 USPS test rows; here it is the standard 2007.

    covtype is the task of Segata and Blanzieri (2008, Section 3.3), unscaled. With
    ``order = numpy.random.default_rng(seed).permutation(n_rows)`` its test rows are
    the first 25000 of ``order`` and its train rows the others, in that order, so the
    first n train rows are a random subset.
    """
    if name not in _TASKS:
        raise ValueError(f"Unknown task {name!r}. Known names: {', '.join(_TASKS)}.")
    task = _TASKS[name]
    data = load_benchmark(task.data_set, data_home=data_home)
    if task.n_test is not None:
        train, test = _random_split(data, task.n_test, seed)
    elif data.X_test is None or data.y_test is None:
        raise ValueError(f"{task.data_set} has no test rows, which {name!r} needs.")
    else:
        train, test = (data.X_train, data.y_train), (data.X_test, data.y_test)
    to_unit_norm = task.unit_norm if unit_norm is None else unit_norm
    X_train, y_train = _prepare(task, *train, unit_norm=to_unit_norm)
    X_test, y_test = _prepare(task, *test, unit_norm=to_unit_norm)
    return Benchmark(
        name, X_train, y_train, X_test, y_test, data.feature_names, data.source
    )


def benchmark_file(name: str) -> Path | None:
    """Find the file that a data set or a task is read from.

    Parameters
    ----------
    name : str
        One of :func:`benchmark_names` or :func:`task_names`.

    Returns
    -------
    pathlib.Path or None
        None if there is no file and the data set has to be downloaded.

    Raises
    ------
    ValueError
        If the name is unknown.

    See Also
    --------
    load_benchmark : Reads it.
    """
    data_set = _TASKS[name].data_set if name in _TASKS else name
    if data_set not in benchmark_names():
        known = ", ".join([*benchmark_names(), *_TASKS])
        raise ValueError(f"Unknown data set or task {name!r}. Known names: {known}.")
    return npz_file(data_set)


def _random_split(
    data: Benchmark, n_test: int, seed: int
) -> tuple[tuple[_Rows, NDArray[Any]], tuple[_Rows, NDArray[Any]]]:
    n_rows = len(data.X_train)
    if n_rows <= n_test:
        raise ValueError(f"{data.name}: n_rows={n_rows} should be > n_test={n_test}.")
    order = np.random.default_rng(seed).permutation(n_rows)
    test, train = order[:n_test], order[n_test:]
    X, y = data.X_train, data.y_train
    return (X[train], y[train]), (X[test], y[test])


def _prepare(
    task: _Task, X: _Rows, y: NDArray[Any], *, unit_norm: bool
) -> tuple[NDArray[np.float32], _Binary]:
    rows, labels = task.select(X, y)
    prepared = np.array(rows, dtype=np.float32, order="C")
    prepared /= np.float32(task.divide_by)
    return (normalize(prepared, copy=False) if unit_norm else prepared), labels

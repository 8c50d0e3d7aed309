"""The runs behind Tables I to IV: classifiers by the number of training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from localsvm.data import load_benchmark, load_task, one_vs_rest
from papers._definition import Data, Method, Part, Run, Selection, Split
from papers._experiment import Size
from papers.mlsvm import methods
from papers.mlsvm.measures import complexity

SMOKE_CUTS = "100 and 500 training rows, 500 test rows, one repetition"
_FEW_ROWS = 1000
_UNCOUNTED = (methods.LSVM, methods.LSVM_1, methods.ONE_STEP)
_N_FOREST = 581_012
_PCA = Part(
    "sklearn.decomposition.PCA", {"n_components": 60, "svd_solver": "covariance_eigh"}
)


@dataclass(frozen=True)
class Task:
    """Rows, training sizes and methods of a pair of tables.

    Parameters
    ----------
    data : Data
    sizes : mapping of str to int or None
        Numbers of training rows by their names; None is all.
    methods : sequence of Method
    n_test : int or None
        Test rows at size standard; None is the given test set.
    repetitions : mapping of str to int
        At size standard by the name of the training size.
    fewer : mapping of str to mapping, default={}
        Other repetitions of single methods, by name and by training size.
    search_rows : mapping of str to int, default={}
        Most rows that the choice of a setting sees above 1000, by the name of the
        method.
    kernel_prepare : sequence of Part, default=()
        What is done to the rows for the kernel SVM at size standard.
    """

    data: Data
    sizes: Mapping[str, int | None]
    methods: Sequence[Method]
    n_test: int | None
    repetitions: Mapping[str, int]
    fewer: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    search_rows: Mapping[str, int] = field(default_factory=dict)
    kernel_prepare: Sequence[Part] = ()


def load_forest() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load covtype, class 2 against the others."""
    data = load_benchmark("covtype")
    return data.X_train.astype(np.float32), one_vs_rest(data.y_train, 2)


_DIGIT_METHODS = (
    methods.linear_svm((0.01, 0.1, 1.0)),
    methods.linear_svm_1(),
    methods.kernel_svm((1.0, 10.0), (0.005, 0.01, 0.02)),
    methods.boosted_svm((0.01, 0.1, 1.0)),
    methods.boosted_svm_1(),
    methods.printed_mixture((0.1, 1.0)),
    methods.one_step_mixture((0.1, 1.0)),
    methods.softmax_mixture((0.03, 0.1, 0.3)),
)
_FOREST_METHODS = (
    methods.linear_svm((0.1, 1.0, 10.0)),
    methods.kernel_svm((1.0, 10.0, 100.0), (0.1, 0.3, 1.0, 3.0)),
    methods.boosted_svm((0.1, 1.0, 10.0)),
    methods.printed_mixture((1.0, 10.0)),
    methods.one_step_mixture((1.0, 10.0)),
    methods.softmax_mixture((1.0, 10.0), n_regions=(1, 3, 10)),
)
_SIZES = {"100": 100, "500": 500, "1000": 1000, "5000": 5000, "10000": 10_000}
DIGITS = Task(
    data=Data(load_task, {"name": "mnist_odd_even", "unit_norm": False}),
    sizes={**_SIZES, "All": None},
    methods=_DIGIT_METHODS,
    n_test=None,
    repetitions={**dict.fromkeys(_SIZES, 3), "All": 1},
    fewer={
        methods.BOOSTED: {"All": 0},
        methods.BOOSTED_1: {"5000": 0, "10000": 0, "All": 0},
    },
    search_rows={method.name: 2000 for method in _DIGIT_METHODS},
    kernel_prepare=(_PCA,),
)
FOREST = Task(
    data=Data(load_forest, prepare=(Part("sklearn.preprocessing.MinMaxScaler"),)),
    sizes=_SIZES,
    methods=_FOREST_METHODS,
    n_test=20_000,
    repetitions=dict.fromkeys(_SIZES, 5),
    search_rows={methods.SVM: 2000},
)


def digit_runs(size: Size) -> list[Run]:
    """Odd against even digits (Tables I and II)."""
    return _runs(DIGITS, size)


def counted_digit_runs(size: Size) -> list[Run]:
    """Those of them whose complexity is told."""
    return [run for run in digit_runs(size) if run.measures]


def forest_runs(size: Size) -> list[Run]:
    """Cover type 2 against the others (Tables III and IV)."""
    return _runs(FOREST, size)


def counted_forest_runs(size: Size) -> list[Run]:
    """Those of them whose complexity is told."""
    return [run for run in forest_runs(size) if run.measures]


def _runs(task: Task, size: Size) -> list[Run]:
    names = ("100", "500") if size == Size.SMOKE else tuple(task.sizes)
    return [
        _run(task, method, name, size, seed)
        for name in names
        for method in task.methods
        for seed in range(_repetitions(task, method, name, size))
    ]


def _repetitions(task: Task, method: Method, name: str, size: Size) -> int:
    if size == Size.SMOKE:
        return 1
    if size == Size.FULL:
        return 1 if task.sizes[name] is None else 10
    return task.fewer.get(method.name, {}).get(name, task.repetitions[name])


def _run(task: Task, method: Method, name: str, size: Size, seed: int) -> Run:
    data = task.data
    if method.name == methods.SVM and size == Size.STANDARD:
        data = replace(data, prepare=(*data.prepare, *task.kernel_prepare))
    return Run(
        group=f"{method.name} | {name}",
        data=data,
        method=method,
        split=_split(task, task.sizes[name], size),
        selection=_selection(task, method, task.sizes[name], size),
        seed=seed,
        measures=() if method.name in _UNCOUNTED else (complexity,),
    )


def _split(task: Task, n_train: int | None, size: Size) -> Split:
    if task.n_test is None:
        return Split(n_train=n_train, n_test=500 if size == Size.SMOKE else None)
    all_others = _N_FOREST - (n_train or 0)
    n_test = {Size.SMOKE: 500, Size.STANDARD: task.n_test, Size.FULL: all_others}
    return Split("random", n_train=n_train, n_test=n_test[size])


def _selection(
    task: Task, method: Method, n_train: int | None, size: Size
) -> Selection:
    # A fifth of few rows says too little.
    is_small = n_train is not None and n_train <= _FEW_ROWS
    if size == Size.FULL or (size == Size.STANDARD and is_small):
        return Selection()
    return Selection(n_folds=1, max_rows=task.search_rows.get(method.name))

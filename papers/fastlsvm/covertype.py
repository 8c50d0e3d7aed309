"""The runs behind Table 3: CoverType, with more and more training rows."""

from collections.abc import Sequence
from dataclasses import replace

from localsvm.data import load_task
from papers._definition import Data, Method, Part, Run, Selection, Split
from papers._experiment import Size
from papers.fastlsvm import methods
from papers.fastlsvm.methods import Grid

_THOUSANDS = (1, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 250, 300)
_MORE_THOUSANDS = (350, 400, 450, 500, 556)
ALL_ROWS = tuple(round(1000 * n) for n in (*_THOUSANDS, *_MORE_THOUSANDS))
MOST_SVM_ROWS = 100_000
_STANDARD_ROWS = tuple(round(1000 * n) for n in (1, 2, 3, 5, 10, 20, 30, 50, 100, 556))
_ROWS = {
    Size.SMOKE: (1000,),
    Size.STANDARD: _STANDARD_ROWS,
    Size.FULL: ALL_ROWS,
}
_MOST_SVM_ROWS = {Size.SMOKE: 1000, Size.STANDARD: 20_000, Size.FULL: MOST_SVM_ROWS}
_POWERS = [2.0**power for power in range(-10, 11)]
_SHARES = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
_STANDARD_SHARES = (0.0025, 0.01, 0.04, 0.16)
_MOST_NEIGHBORS = 500
_UNIT_RANGE = Part("sklearn.preprocessing.MinMaxScaler")
_NEAREST = Method(
    "1-NN", Part("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 1})
)


def covertype_runs(size: Size) -> list[Run]:
    """SVM, FastLSVM and the nearest neighbour for each number of rows."""
    return [
        Run(
            group=f"{method.name} | {n_rows}",
            data=Data(load_task, {"name": "covtype_2_vs_rest"}, (_UNIT_RANGE,)),
            method=method,
            split=Split(n_train=n_rows, n_test=500 if size == Size.SMOKE else None),
            selection=_selection(method, n_rows, size),
        )
        for n_rows in _ROWS[size]
        for method in _methods_for(n_rows, size)
    ]


def _methods_for(n_rows: int, size: Size) -> list[Method]:
    grid = _grid(n_rows, size)
    fast = methods.fast_lsvm("RBF", grid)
    if size == Size.FULL:
        fast = methods.tried_one_by_one(fast)
    with_svm = n_rows <= _MOST_SVM_ROWS[size]
    svm = [replace(methods.exact_svm("RBF", grid), name="SVM")] if with_svm else []
    nearest = [_NEAREST] if size == Size.FULL or n_rows <= MOST_SVM_ROWS else []
    return [*svm, replace(fast, name="FastLSVM"), *nearest]


def _grid(n_rows: int, size: Size) -> Grid:
    if size == Size.FULL:
        return Grid(_POWERS, _POWERS, _neighbors(n_rows, _SHARES))
    sizes = _neighbors(n_rows, _STANDARD_SHARES)
    few = list(dict.fromkeys(min(k, _MOST_NEIGHBORS) for k in sizes))
    return Grid((1.0, 8.0, 64.0), [2.0**0, 2.0**-2, 2.0**-4, 2.0**-6], few)


def _neighbors(n_rows: int, shares: Sequence[float]) -> list[int]:
    # Two neighbours are the nearest one; fewer are no SVM.
    return [k for share in reversed(shares) if (k := round(share * n_rows)) >= 2]


def _selection(method: Method, n_rows: int, size: Size) -> Selection | None:
    if method is _NEAREST:
        return None
    if size == Size.FULL:
        return Selection()
    costs_much = method.estimator.path == "localsvm.ReducedSVC" and n_rows > 5000
    return Selection(n_folds=1 if costs_much else 3)

"""Which rows are held out: folds, and rows that are set aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from localsvm.rows._distinct import hash_rows
from localsvm.rows._records import Rows


class Fold(NamedTuple):
    """Rows to train on and rows to test on, by their ascending numbers."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def stratified_folds(class_index: NDArray[np.int32], n_folds: int) -> list[Fold]:
    """Folds that take the rows of each class in turn; all classes are trained on.

    Rows in random order give random folds. scikit-learn's ``StratifiedKFold`` cuts each
    class into runs instead, and tests on classes of a single row.
    """
    fold = np.empty(len(class_index), dtype=np.intp)
    for label in np.unique(class_index):
        members = np.flatnonzero(class_index == label)
        fold[members] = np.arange(len(members)) % n_folds
    folds = [
        Fold(np.flatnonzero(fold != number), np.flatnonzero(fold == number))
        for number in np.unique(fold)
    ]
    return _with_all_classes(folds, class_index)


def held_out_first(
    class_index: NDArray[np.int32], n_rows: int, n_test: int
) -> list[Fold]:
    """Test on the first rows, train on the next up to ``n_rows``; one fold or none.

    The rows are in random order. A row whose class would be missing is trained on; if
    that leaves none to test on, there is no fold.
    """
    index = np.arange(n_rows)
    return _with_all_classes([Fold(index[n_test:], index[:n_test])], class_index)


def held_out_by_content(X: Any, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Whether each row is set aside; equal rows always share their side."""
    if fraction == 0:
        return np.zeros(X.shape[0], dtype=bool)
    return np.asarray(hash_rows(X, seed) / 2.0**64 < fraction)


def split_folds(cv: Any, X: Any, y: NDArray[Any]) -> list[Fold]:
    """Folds of a parameter ``cv``, as scikit-learn's searches read it."""
    splitter = check_cv(cv, y, classifier=True)
    return [Fold(train, test) for train, test in splitter.split(X, y)]


def split_weighted(
    cv: Any, rows: Rows, classes: NDArray[Any]
) -> tuple[Rows, list[Fold]]:
    """Rows of positive penalty weight, and the folds of ``cv`` among them.

    Splits that are given as numbers count all rows; a splitter never sees the others.
    """
    present = rows.penalty_weight > 0
    kept = rows.take(np.flatnonzero(present))
    folds = split_folds(cv, kept.X, classes[kept.class_index])
    if cv is None or isinstance(cv, Integral) or hasattr(cv, "split"):
        return kept, folds
    position = np.cumsum(present) - 1
    return kept, [
        Fold(*(position[side[present[side]]] for side in map(np.asarray, fold)))
        for fold in folds
    ]


def out_of_fold(
    decisions: NDArray[np.float64],
    folds: Sequence[Fold],
    decide: Callable[[Fold], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Replace the decisions of all test rows by those of models without them.

    scikit-learn's ``cross_val_predict`` needs every row in a test set, so no class of a
    single row.

    Parameters
    ----------
    decisions : ndarray of shape (n_rows, n_outputs)
        Of a model of all rows; kept for rows that no fold tests.
    folds : list of Fold
    decide : callable
        Fits the training rows of a fold and decides its test rows.
    """
    unseen = decisions.copy()
    for fold in folds:
        unseen[fold.test] = decide(fold)
    return unseen


def _with_all_classes(
    folds: Sequence[Fold], class_index: NDArray[np.int32]
) -> list[Fold]:
    """Train on rows whose class would be missing; drop folds without test rows."""
    kept = []
    for train, test in folds:
        unseen = ~np.isin(class_index[test], class_index[train])
        if not unseen.all():
            kept.append(Fold(np.sort(np.append(train, test[unseen])), test[~unseen]))
    return kept

"""Rows of a table for training and for testing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.data import Table

Index = NDArray[np.intp]


def split_rows(table: Table, test_size: float, seed: int) -> tuple[Table, Table]:
    """Training and test rows, with classes in their proportions in both.

    scikit-learn's ``train_test_split(stratify=)`` refuses a class of a single row; here
    that row is for training.
    """
    _, classes = np.unique(np.asarray(table.y), return_inverse=True)
    order = stratified_order(classes, np.random.default_rng(seed))
    n_test = max(1, round(test_size * len(order)))
    return take_rows(table, np.sort(order[:-n_test])), take_rows(table, order[-n_test:])


def take_rows(table: Table, index: Index) -> Table:
    """Take some rows of a table."""
    rows = table.X[index] if sparse.issparse(table.X) else table.X.iloc[index]
    return Table(rows, np.asarray(table.y)[index], table.source)


def stratified_order(class_index: Index, rng: np.random.Generator) -> Index:
    """Shuffle so that every beginning and every end has the classes in proportion.

    One row of every class comes first, then a second one, so that small beginnings
    have all classes, and no end takes the last row of a class.
    """
    counts = np.bincount(class_index)
    offset = rng.uniform(size=len(counts))[class_index]
    rank = _rank_in_class(class_index, rng)
    key = (rank + offset) / counts[class_index]
    first = rank < 2
    key[first] = rank[first] - 2 + offset[first] / 2
    return np.argsort(key, kind="stable")


def _rank_in_class(class_index: Index, rng: np.random.Generator) -> Index:
    """Position of each row in a random order of the rows of its class."""
    counts = np.bincount(class_index)
    start = np.cumsum(counts) - counts
    shuffled = rng.permutation(len(class_index))
    by_class = shuffled[np.argsort(class_index[shuffled], kind="stable")]
    rank = np.empty(len(class_index), dtype=np.intp)
    rank[by_class] = np.arange(len(class_index)) - start[class_index[by_class]]
    return rank

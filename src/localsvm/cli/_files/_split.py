"""Rows of a table for training and for testing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.data import Table
from localsvm.rows import stratified_order

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

"""Training and test rows of a command."""

import numpy as np
import pandas as pd
from scipy import sparse

from localsvm.cli._files._split import split_rows, stratified_order
from localsvm.data import Table


def _classes(*counts):
    return np.random.default_rng(7).permutation(np.repeat(range(len(counts)), counts))


def test_order_is_a_permutation_with_classes_in_proportion_at_both_ends(seed):
    class_index = _classes(700, 250, 50)
    order = stratified_order(class_index, np.random.default_rng(seed))
    assert sorted(order) == list(range(1000))
    for part in (order[:200], order[:500], order[-200:]):
        counts = np.bincount(class_index[part], minlength=3)
        expected = np.array([0.7, 0.25, 0.05]) * len(part)
        assert np.all(np.abs(counts - expected) <= 3)


def test_order_begins_with_all_classes_and_ends_with_no_last_row(seed):
    class_index = _classes(500, 2, 1, 1)
    order = stratified_order(class_index, np.random.default_rng(seed))
    assert set(class_index[order[:4]]) == {0, 1, 2, 3}
    assert set(class_index[order[4:]]) == {0, 1}


def test_orders_differ_by_seed():
    class_index = _classes(50, 50)
    first, second = (
        stratified_order(class_index, np.random.default_rng(seed)) for seed in (0, 1)
    )
    assert np.any(first != second)


def test_every_row_is_in_one_part():
    labels = _classes(60, 39, 1)
    numbers = np.arange(100.0).reshape(-1, 1)
    for X in (pd.DataFrame(numbers), sparse.csr_array(numbers)):
        train, test = split_rows(Table(X, labels, "rows"), 0.2, 3)
        assert train.X.shape == (80, 1)
        assert test.X.shape == (20, 1)
        found = [
            np.ravel(each.X.toarray() if sparse.issparse(X) else each.X)
            for each in (train, test)
        ]
        assert sorted(np.concatenate(found)) == list(range(100))
        np.testing.assert_array_equal(test.y, labels[found[1].astype(int)])
        assert 2 not in test.y

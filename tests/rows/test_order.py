"""Orders of rows whose beginnings and ends are samples of every class."""

import numpy as np
import pytest

from localsvm.rows import stratified_order


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


def test_classes_without_rows_change_nothing():
    class_index = _classes(9, 0, 3)
    order = stratified_order(class_index, np.random.default_rng(0))
    assert set(class_index[order[:2]]) == {0, 2}
    assert sorted(order) == list(range(12))


@pytest.mark.parametrize("other", [0, 1])
def test_the_seed_decides_the_order(other):
    class_index = _classes(50, 50)
    first, second = (
        stratified_order(class_index, np.random.default_rng(s)) for s in (0, other)
    )
    assert np.array_equal(first, second) == (other == 0)

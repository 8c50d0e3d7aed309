"""Weights of columns by swaps against a loop over rows and columns."""

import numpy as np
import pytest
from scipy import sparse

from localsvm import ReducedSVC
from localsvm.estimators._regional import swap_metric
from localsvm.rows import Rows, distinct_rows
from oracles import swap_metric as oracle


def as_rows(X, weight=None):
    weight = np.ones(X.shape[0]) if weight is None else weight
    return Rows.weighted(X, np.zeros(X.shape[0], dtype=np.int32), weight, 2)


def make_rows(n=120, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 5))


def decide(X):
    return np.column_stack([X[:, 0] * X[:, 1] + 0.1 * X[:, 2], np.sin(X[:, 3])])


@pytest.mark.parametrize("groups", [(), [[1, 3]], [[0, 4], [2, 1]]])
@pytest.mark.parametrize("power", [0.5, 1.0])
def test_changes_are_those_of_a_loop(groups, power, seed):
    X = make_rows(seed=seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, 120)
    order, _ = distinct_rows(X, weight, 7)
    listed = [column for group in groups for column in group]
    parts = [*groups, *([each] for each in range(5) if each not in listed)]
    expected = oracle.changes(decide, X[order], weight[order], parts, 5)
    found = swap_metric(decide, as_rows(X, weight), groups, seed=7, power=power)
    np.testing.assert_allclose(found.changes, expected, rtol=1e-12, atol=1e-12)
    shares = np.maximum(expected / expected.max(), 1e-3) ** power
    np.testing.assert_allclose(found.weights, shares, rtol=1e-12)


def test_columns_of_a_group_move_together():
    """Alone each of two opposite columns changes much, together they change nothing."""
    X = make_rows()
    X[:, 1] = -X[:, 0]

    def opposite(rows):
        return rows[:, 0] + rows[:, 1] + 0.01 * rows[:, 2]

    alone = swap_metric(opposite, as_rows(X))
    assert alone.weights[:2].min() == 1
    together = swap_metric(opposite, as_rows(X), [[0, 1]])
    assert together.weights[2] == 1
    np.testing.assert_allclose(together.weights[:2], 1e-3**0.5)


def test_order_and_copies_of_rows_do_not_matter():
    X = make_rows()
    times = np.random.default_rng(1).integers(1, 4, 120)
    expected = swap_metric(decide, as_rows(X, times.astype(float)))
    repeated = np.repeat(X, times, axis=0)
    order = np.random.default_rng(2).permutation(len(repeated))
    found = swap_metric(decide, as_rows(repeated[order]))
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-12)
    plain = swap_metric(decide, as_rows(X))
    assert not np.allclose(plain.changes, expected.changes)


def test_at_most_300_rows_are_swapped_and_the_seed_chooses_them():
    X, counts = make_rows(1000), []

    def counting(rows):
        counts.append(len(rows))
        return decide(rows)

    first = swap_metric(counting, as_rows(X), seed=0)
    assert counts == [300] * 6
    other = swap_metric(decide, as_rows(X), seed=1)
    assert not np.allclose(first.changes, other.changes)
    np.testing.assert_allclose(first.weights, other.weights, rtol=0.5)


def test_rows_given_are_not_changed_and_sparse_ones_are_the_same():
    X = make_rows() * (np.random.default_rng(3).random((120, 5)) < 0.5)
    before = X.copy()
    expected = swap_metric(decide, as_rows(X))
    np.testing.assert_array_equal(X, before)
    found = swap_metric(decide, as_rows(sparse.csr_array(X)))
    np.testing.assert_array_equal(found.weights, expected.weights)


@pytest.mark.parametrize("n_rows", [1, 50])
def test_constant_decisions_leave_all_columns_alike(n_rows):
    found = swap_metric(lambda X: np.ones(len(X)), as_rows(make_rows(n_rows)))
    np.testing.assert_array_equal(found.changes, 0)
    np.testing.assert_array_equal(found.weights, 1)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 5]], "the column 5; expected 0 to 4"),
        ([[-1]], "the column -1; expected 0 to 4"),
        ([[0, 1], [1, 2]], "the column 1 twice; expected each at most once"),
    ],
)
def test_bad_groups_are_named(groups, message):
    with pytest.raises(ValueError, match=message):
        swap_metric(decide, as_rows(make_rows()), groups)


def test_weights_find_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 12))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    train, test = slice(600), slice(600, 1200)
    plain = ReducedSVC(kernel="laplace").fit(X[train], y[train])
    weights = swap_metric(plain.decision_function, as_rows(X[train]), power=1.0).weights
    assert weights[:2].min() > 2 * weights[2:].max()
    weighted = ReducedSVC(kernel="laplace").fit(X[train] * weights, y[train])
    gain = weighted.score(X[test] * weights, y[test]) - plain.score(X[test], y[test])
    assert gain > 0.1

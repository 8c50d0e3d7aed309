from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from examples import examples
from localsvm.federated import min_size
from localsvm.federated._protection._rare_values import (
    hide_rare_values,
    indicator_groups,
)
from localsvm.federated._protection._small_clusters import Coarsening


def hidden(columns, k, groups=()):
    rows = np.array(columns, dtype=float).T
    return hide_rare_values(rows, np.ones(len(rows)), list(groups), k)


def hidden_slowly(values, k):
    """The rule again, for one column."""
    count = Counter(values)
    common = sorted(value for value in count if count[value] >= k)
    n_rare = sum(count[value] < k for value in values)
    if not common or not 0 < n_rare < 2 * k:
        return list(values)
    return [min(common, key=lambda each: abs(each - value)) for value in values]


columns = st.lists(st.integers(-2, 5), min_size=8, max_size=30)


@given(values=columns, k=st.integers(2, 4))
@examples(300)
def test_few_rare_values_become_the_nearest_common_one(values, k):
    assert hidden([values], k).T[0].tolist() == hidden_slowly(values, k)


@given(
    category=st.lists(st.integers(-1, 3), min_size=10, max_size=40),
    k=st.integers(2, 5),
    seed=st.integers(0, 100),
)
@examples(200)
def test_what_is_left_is_common_or_among_many_and_stays(category, k, seed):
    rng = np.random.default_rng(seed)
    indicators = (np.array(category) == np.arange(4)[:, np.newaxis]).astype(float)
    number = rng.integers(0, 6, len(category)).astype(float)
    groups = [np.arange(1, 5)]
    once = hidden([number, *indicators], k, groups)
    for column, before in zip(once.T, [number, *indicators], strict=True):
        count = Counter(column.tolist())
        rare = [value for value in column if count[value] < k]
        assert not rare or len(rare) >= 2 * k
        if len(count) == 1:  # leaves as it is
            assert (before == column[0]).sum() >= k
    assert (once[:, 1:].sum(axis=1) <= 1).all()
    np.testing.assert_array_equal(hidden(once.T, k, groups), once)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([5, 4, 1], [6, 4, 0]),
        ([9, 0, 1], [10, 0, 0]),
        ([4, 5, 1], [4, 6, 0]),
        ([4, 4, 4], [4, 4, 4]),
        ([3, 3, 3, 2], [0, 0, 0, 0]),  # none is common
    ],
)
def test_rare_categories_become_the_most_frequent_one(before, after):
    rows = np.repeat(np.eye(len(before)), before, axis=0)
    groups = indicator_groups(rows)
    assert hidden(rows.T, 4, groups).sum(axis=0).tolist() == after


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_adjacent_indicators_that_exclude_each_other_are_one_group(storage):
    town = np.eye(3)[[0, 1, 2, 0, 1, 0]]
    sex = np.eye(2)[[0, 1, 0, 1, 0, 1]]
    age = np.arange(6.0)[:, np.newaxis]
    flag = np.array([[0, 1, 0, 0, 0, 1]]).T
    X = np.hstack([town, sex, age, flag, age, town])
    groups = indicator_groups(storage(X))
    assert [group.tolist() for group in groups] == [[0, 1, 2], [3, 4], [8, 9, 10]]


def test_explicit_zeros_of_sparse_rows_do_not_matter():
    X = sparse.csr_array(np.eye(4)[[0, 1, 2, 3, 0]])
    X.data[1] = 0.0
    (group,) = indicator_groups(X)
    assert group.tolist() == [0, 1, 2, 3]


@given(
    n_rows=st.integers(20, 60),
    n_common=st.integers(0, 30),
    share=st.floats(0, 1),
    seed=st.integers(0, 1000),
)
@examples(100)
def test_two_common_values_have_the_release_of_many_rare_ones(
    n_rows, n_common, share, seed
):
    """So no release tells for sure that anybody carries a rare value."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(n_rows + n_common)
    values[n_rows:] = 0.25
    n, k = len(values), 10
    n_low = k + int(share * (n - 2 * k))
    mean, deviation = values.mean(), values.std()
    odds = np.sqrt((n - n_low) / n_low)
    two = np.full(n, mean + deviation / odds)
    two[:n_low] = mean - deviation * odds
    coarsening = Coarsening(min_size(k), "diag", 1, [])
    ours, theirs = (
        coarsening.apply(
            np.str_("one"), each[:, np.newaxis], np.zeros(n, dtype=int), np.ones(n)
        ).summary
        for each in (values, two)
    )
    np.testing.assert_array_equal(ours.weight, theirs.weight)
    np.testing.assert_allclose(ours.covariance, theirs.covariance)
    np.testing.assert_allclose(ours.mean, theirs.mean)

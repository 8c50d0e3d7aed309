"""Bins of number and category columns."""

import numpy as np
import pytest

from additive_data import mixed_table
from localsvm.estimators._additive import learn_bins
from localsvm.exceptions import DataError


def learn(column, weight=None, category=False, **settings):
    """Bins of one column, and the codes of its rows."""
    X = np.asarray(column, dtype=float)[:, None]
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    bins = learn_bins(X, weight, np.array([category]), **settings)
    return bins, bins.encode(X)[0]


def assert_equal(left, right):
    for name in left.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def test_bins_of_a_number_have_equal_weight():
    bins, codes = learn(np.random.default_rng(0).normal(size=4800))
    assert len(bins.cuts) == 47
    assert np.ptp(np.bincount(codes)) <= 2
    np.testing.assert_array_equal(np.bincount(codes, minlength=49), bins.weight)


def test_frequent_values_stand_alone_and_others_share():
    rng = np.random.default_rng(0)
    column = np.where(rng.random(2000) < 0.5, 7.0, rng.uniform(0, 20, 2000))
    _, codes = learn(column)
    (own,) = np.unique(codes[column == 7])
    assert (column[codes == own] == 7).all()
    shared = np.bincount(codes)[np.unique(codes[column != 7])]
    assert len(shared) > 20
    assert shared.min() >= 8
    assert shared.max() < 60


def test_bins_hold_eight_rows_by_weight():
    column = np.arange(40.0)
    assert np.bincount(learn(column)[1]).tolist() == [8] * 5
    assert np.bincount(learn(column, np.full(40, 2.0))[1]).tolist() == [4] * 10
    # A frequent value whose neighbours are too few: they share its bin.
    assert len(np.unique(learn([0.0] * 5 + [1.0] * 60 + [2.0] * 35)[1])) == 2


def test_few_rows_are_still_cut():
    assert np.bincount(learn(np.arange(12.0))[1]).tolist() == [3] * 4
    assert np.bincount(learn(np.arange(12.0), np.full(12, 1e-3))[1]).tolist() == [3] * 4


def test_edges_lie_between_the_values():
    close = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, 2.0), (1.0, close), (-1e308, 1e308), (0.0, 5e-324)):
        bins, codes = learn([low] * 20 + [high] * 20)
        assert low <= bins.cuts[0] < high
        assert codes.tolist() == [0] * 20 + [1] * 20


def test_levels_are_ordered_by_weight_and_rare_ones_share_a_bin():
    column = [5.0] * 30 + [2.0] * 50 + [9.0] * 7 + [4.0] * 3 + [np.nan] * 2
    bins, codes = learn(column, category=True)
    assert codes.tolist() == [1] * 30 + [0] * 50 + [2] * 10 + [3] * 2
    np.testing.assert_array_equal(bins.encode(np.array([[7.0], [np.nan]])), [[2, 3]])
    assert bins.weight.tolist() == [50, 30, 10, 2]


def test_missing_values_have_the_last_bin_whether_seen_or_not():
    bins, _ = learn(np.arange(100.0))
    missing = bins.encode(np.array([[np.nan]]))[0, 0]
    assert missing == bins.n_bins[0] - 1
    assert bins.weight[missing] == 0


def test_many_levels_take_two_bytes():
    bins, codes = learn(np.repeat(np.arange(300.0), 8), category=True)
    assert codes.dtype == np.uint16
    assert bins.n_bins[0] == 302
    with pytest.raises(DataError, match=r"column 0 has 65600 levels.*at most 65534"):
        learn(np.arange(65_600.0), np.full(65_600, 8.0), category=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weight_two_is_the_row_twice_and_zero_its_absence(dtype):
    X, _, categorical = mixed_table()
    X = X.astype(dtype)
    weight = np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), weight)
    by_weight = learn_bins(X, weight.astype(float), categorical)
    by_rows = learn_bins(X[rows], np.ones(len(rows)), categorical)
    assert_equal(by_weight, by_rows)


def test_order_of_rows_does_not_matter():
    X, _, categorical = mixed_table()
    order = np.random.default_rng(1).permutation(len(X))
    weight = np.ones(len(X))
    assert_equal(
        learn_bins(X, weight, categorical), learn_bins(X[order], weight, categorical)
    )


def test_increasing_maps_and_new_names_leave_all_rows_in_their_bins():
    X, _, categorical = mixed_table()
    # Two levels of equal weight, which names alone would put in order.
    X[:, 3] = np.repeat([0.0, 1.0, 2.0], 200)
    mapped = X.copy()
    mapped[:, 0] = np.exp(X[:, 0])
    mapped[:, 1] = X[:, 1] ** 3
    mapped[:, 2] = 8 - X[:, 2]
    mapped[:, 3] = np.array([10.0, -3.0, 2.0])[X[:, 3].astype(int)]
    codes = [
        learn_bins(each, np.ones(len(X)), categorical).encode(each)
        for each in (X, mapped)
    ]
    np.testing.assert_array_equal(*codes)


def test_threads_do_not_change_the_codes():
    X, _, categorical = mixed_table(9000)
    bins = learn_bins(X, np.ones(len(X)), categorical)
    np.testing.assert_array_equal(bins.encode(X, 1), bins.encode(X, 3))


def test_more_bins_are_finer():
    column = np.random.default_rng(0).normal(size=5000)
    n_cuts = [len(learn(column, max_bins=size)[0].cuts) for size in (2, 16, 300)]
    assert n_cuts == [1, 15, 299]
    assert learn(column, max_bins=300)[1].dtype == np.uint16

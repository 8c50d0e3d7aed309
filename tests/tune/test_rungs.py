"""Test rows, validation rows and rungs."""

import itertools

import numpy as np
import pytest

from localsvm.tune._rungs import n_test_rows, plan_rungs, stratified_order


def _classes(*counts):
    return np.random.default_rng(7).permutation(np.repeat(range(len(counts)), counts))


def _plan(class_index, n_test=0, seed=0):
    rng = np.random.default_rng(seed)
    order = stratified_order(class_index, rng)
    pool = order[: len(order) - n_test]
    return pool, plan_rungs(pool, class_index, rng)


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


@pytest.mark.parametrize(
    ("test_size", "n_rows", "n_classes", "expected"),
    [
        (0.2, 1000, 2, 200),
        (0.2, 1_000_000, 2, 20_000),
        (50_000, 1_000_000, 2, 50_000),
        (0.2, 4, 2, 1),
        (0.5, 10, 8, 1),
    ],
)
def test_number_of_test_rows(test_size, n_rows, n_classes, expected):
    assert n_test_rows(test_size, n_rows, n_classes) == expected


def test_too_few_rows_or_too_many_test_rows_are_refused():
    with pytest.raises(ValueError, match="found 3 rows of 2 classes"):
        n_test_rows(0.2, 3, 2)
    with pytest.raises(ValueError, match="test_size=8 should be <= 7"):
        n_test_rows(8, 10, 2)


@pytest.mark.parametrize("n_rows", [12, 300, 2500, 9000, 60_000])
def test_no_row_is_trained_on_and_scored_and_none_comes_from_outside(n_rows):
    class_index = _classes(n_rows // 2, n_rows - n_rows // 2)
    pool, rungs = _plan(class_index, n_test=n_rows // 5)
    for rung in rungs:
        for split in rung.splits:
            assert not set(split.train) & set(split.validation)
            assert set(split.train) | set(split.validation) <= set(pool)
            assert len(split.validation) > 0


@pytest.mark.parametrize("n_rows", [2500, 9000, 60_000])
def test_rungs_grow_by_three_from_a_few_hundred_rows(n_rows):
    _, rungs = _plan(_classes(n_rows // 2, n_rows - n_rows // 2))
    sizes = np.array([rung.n_rows for rung in rungs])
    assert 250 <= sizes[0] < 750
    # Folds of the same rows may differ by one.
    growth = [g for g in sizes[1:] / sizes[:-1] if g > 1.01]
    assert growth == pytest.approx([3] * len(growth), rel=0.02)
    assert len(growth) >= 1


def test_lower_rungs_are_parts_of_higher_ones():
    _, rungs = _plan(_classes(30_000, 30_000))
    for below, above in itertools.pairwise(rungs):
        (low,), (high,) = below.splits, above.splits
        assert set(low.train) < set(high.train)
        assert set(low.validation) <= set(high.validation)


@pytest.mark.parametrize("n_rows", [300, 2500])
def test_folds_at_the_top_score_every_row_but_one_of_each_class_once(n_rows):
    class_index = _classes(n_rows // 2, n_rows - n_rows // 2)
    _, rungs = _plan(class_index)
    folds = [rung for rung in rungs if len(rung.splits) == 5][-1].splits
    scored = np.concatenate([split.validation for split in folds])
    assert len(set(scored)) == len(scored) == n_rows - 2
    counts = [np.bincount(class_index[split.validation]) for split in folds]
    assert np.ptp(counts, axis=0).max() <= 1


def test_a_rung_of_folds_has_those_of_the_rung_below():
    _, rungs = _plan(_classes(60, 60))
    assert [len(rung.splits) for rung in rungs] == [2, 5, 15]
    for below, above in itertools.pairwise(rungs):
        assert above.splits[: len(below.splits)] == below.splits


def test_every_training_part_has_all_classes(seed):
    class_index = _classes(40, 2, 1, 1)
    _, rungs = _plan(class_index, n_test=8, seed=seed)
    for rung in rungs:
        for split in rung.splits:
            assert set(class_index[split.train]) == {0, 1, 2, 3}


def test_more_classes_than_folds_are_spread_over_the_folds():
    class_index = _classes(*[2] * 50)
    _, rungs = _plan(class_index)
    sizes = [len(split.validation) for split in rungs[1].splits]
    assert sizes == [10] * 5

"""The choice of the penalty on held-out rows."""

import time

import numpy as np
import pytest

from additive_data import mixed_table
from localsvm.estimators._additive import (
    AdditiveSettings,
    bin_rows,
    choose_penalty,
    fit_additive,
    learn_bins,
)
from localsvm.estimators._additive.search import PENALTIES
from localsvm.estimators._join import calibrated_losses
from localsvm.rows import Rows, stratified_folds
from localsvm.solvers import RunLimits

LIMITS = RunLimits(tol=1e-6, max_iter=50)


def prepare(n_rows=600, n_classes=2, flip=0.0):
    X, y, categorical = mixed_table(n_rows, n_classes)
    noisy = np.random.default_rng(3).random(n_rows) < flip
    y = np.where(noisy, 1 - y, y).astype(np.int32)
    rows = Rows.weighted(X, y, np.ones(n_rows), n_classes)
    bins = learn_bins(X, rows.sample_weight, categorical)
    return bin_rows(rows, bins, seed=0), bins


@pytest.mark.parametrize("n_classes", [2, 3])
def test_penalty_has_the_smallest_held_out_loss(n_classes):
    rows, bins = prepare(n_classes=n_classes)
    found = choose_penalty(rows, bins, "squared_hinge", LIMITS)
    folds = stratified_folds(rows.class_index, 3)
    tried = sorted(found.losses)
    assert min(found.losses, key=found.losses.get) == found.C
    assert tried == list(PENALTIES["squared_hinge"][: len(tried)])
    # All but the last are improvements, and only the best one has its decisions.
    assert (np.diff([found.losses[C] for C in tried])[:-1] <= 0).all()
    decisions = np.concatenate(
        [
            fit_additive(
                *rows.take(fold.train).arguments(bins),
                AdditiveSettings(found.C),
                LIMITS,
            ).model.decide_codes(rows.codes[:, fold.test])
            for fold in folds
        ]
    )
    np.testing.assert_allclose(found.decisions, decisions, atol=5e-2)
    own = rows.class_index[found.held_out]
    weight = rows.penalty_weight[found.held_out]
    losses = calibrated_losses(decisions, own, weight)
    assert found.losses[found.C] == pytest.approx(
        np.average(losses, weights=weight), rel=1e-2
    )


def test_noise_asks_for_a_small_penalty():
    clear, noisy = (
        choose_penalty(*prepare(1500, flip=flip), "logistic", LIMITS).C
        for flip in (0.0, 0.35)
    )
    assert noisy < clear


def test_many_rows_are_held_out_once():
    rows, bins = prepare(25_000)
    n_rows = len(rows.class_index)
    assert n_rows > 10_000
    found = choose_penalty(rows, bins, "squared_hinge", LIMITS, [1.0])
    np.testing.assert_array_equal(found.held_out, np.arange(n_rows // 5))


def test_time_that_is_over_leaves_the_first_penalty():
    limits = RunLimits(tol=1e-6, max_iter=50, deadline=time.perf_counter())
    found = choose_penalty(*prepare(), "squared_hinge", limits)
    assert list(found.losses) == [0.03]
    assert found.C == 0.03


def test_classes_of_one_row_leave_nothing_to_hold_out():
    rows, bins = prepare()
    pair = np.array([np.flatnonzero(rows.class_index == label)[0] for label in (0, 1)])
    found = choose_penalty(rows.take(pair), bins, "squared_hinge", LIMITS)
    assert (found.C, found.losses, found.decisions.shape) == (1.0, {}, (0, 1))


def test_rows_of_equal_bins_are_merged_by_class():
    X, y, _ = mixed_table()
    rows = Rows.weighted(X[:, [3]], y, np.arange(600) % 2 + 1.0, 2)
    bins = learn_bins(rows.X, rows.sample_weight, np.array([True]))
    merged = bin_rows(rows, bins, seed=0)
    assert sorted(zip(merged.codes[0], merged.class_index, strict=True)) == [
        (level, label) for level in range(3) for label in range(2)
    ]
    assert merged.penalty_weight.sum() == 900

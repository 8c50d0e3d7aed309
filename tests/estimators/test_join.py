"""The weighted sum of decisions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from localsvm.estimators._join import (
    Join,
    calibrated_losses,
    learn_join,
    log_losses,
    spread,
)


def two_terms(n_rows=400, n_classes=2, seed=0):
    """Two noisy views of the class, of very different size, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows).astype(np.int32)
    truth = np.eye(n_classes)[y] if n_classes > 2 else 2.0 * y[:, None] - 1
    views = [100 * (truth + rng.normal(0, 1.5, truth.shape))]
    views.append(0.01 * (truth + rng.normal(0, 2.5, truth.shape)))
    views.append(rng.normal(size=truth.shape))
    return views, y


@pytest.mark.parametrize("n_classes", [2, 4])
def test_join_minimises_the_penalised_logistic_loss(n_classes):
    views, y = two_terms(n_classes=n_classes)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    join = learn_join(views, y, weight, drop_small=False)
    sizes = np.array([spread(view, weight) for view in views])

    def objective(unknowns):
        total = sum(
            b * view / size
            for b, view, size in zip(unknowns[:3], views, sizes, strict=True)
        )
        losses = log_losses(total + unknowns[3:], y)
        return (
            np.average(losses, weights=weight)
            + 0.005 * np.square(unknowns[:3] - 1).sum()
        )

    own = objective(np.concatenate([join.weights * sizes, join.bias]))
    start = np.concatenate([np.ones(3), np.zeros(views[0].shape[1])])
    bounds = [(0, None)] * 3 + [(None, None)] * views[0].shape[1]
    best = minimize(objective, start, bounds=bounds, method="Powell").fun
    assert own <= best + 1e-6


def test_one_term_is_nearly_a_logistic_regression():
    (view, *_), y = two_terms(2000)
    join = learn_join([view], y, np.ones(len(y)))
    oracle = LogisticRegression(C=1e6).fit(view, y)
    assert join.weights[0] == pytest.approx(oracle.coef_[0, 0], rel=0.05)
    assert join.bias[0] == pytest.approx(oracle.intercept_[0], abs=0.05)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_of_two_equals_the_row_twice(n_classes):
    views, y = two_terms(200, n_classes)
    twice = np.repeat(np.arange(200), 1 + (np.arange(200) % 2))
    weight = 1.0 + (np.arange(200) % 2)
    by_weight = learn_join(views, y, weight, drop_small=False)
    by_rows = learn_join(
        [view[twice] for view in views], y[twice], np.ones(len(twice)), drop_small=False
    )
    queries = [view[:20] for view in views]
    np.testing.assert_allclose(
        by_weight.apply(queries), by_rows.apply(queries), rtol=1e-4
    )


def test_noise_is_dropped_and_the_better_view_leads():
    views, y = two_terms(4000)
    join = learn_join(views, y, np.ones(len(y)))
    shares = join.shares(views, np.ones(len(y)))
    assert join.weights[2] == 0
    assert shares[0] > shares[1] > 0.05
    assert shares.sum() == pytest.approx(1)


def test_the_bias_moves_the_threshold_of_a_rare_class():
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=4000) < 0.1).astype(np.int32)
    # All decisions are below zero: the plain sign never predicts the rare class.
    view = (1.5 * y - 3 + 0.4 * rng.normal(size=4000))[:, None]
    join = learn_join([view], y, np.ones(4000))
    assert ((join.apply([view])[:, 0] > 0) == y).mean() > 0.95


def test_calibrated_losses_do_not_depend_on_the_scale():
    (view, *_), y = two_terms()
    losses = [calibrated_losses(s * view, y, np.ones(len(y))) for s in (1, 1e4)]
    np.testing.assert_allclose(*losses, rtol=1e-5)


def test_unused_terms_are_not_added():
    join = Join(np.array([2.0, 0.0]), np.array([1.0]))
    broken = np.full((2, 1), np.nan)
    np.testing.assert_array_equal(join.apply([np.ones((2, 1)), broken]), [[3], [3]])

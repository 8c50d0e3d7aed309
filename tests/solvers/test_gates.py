"""The gate's M-step: Eq. 13 and 14 of the mixture's paper, and the convex form."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from conftest import store
from localsvm.solvers import (
    GateRows,
    RowTargets,
    center_gate_loss,
    center_logits,
    fit_center_gate,
    fit_linear_gate,
    gate_loss,
)
from oracles import mixture


def make_targets(seed, n=60, d=4, n_components=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    q = rng.dirichlet(np.ones(n_components), n)
    return X, q * rng.uniform(0.2, 2.0, (n, 1))


def targets_of(X, q, n_jobs=None):
    origin = np.asarray(X.mean(axis=0)).ravel()
    return RowTargets(GateRows(X, origin, 1.7, n_jobs), q)


def test_gradient_of_linear_gate_by_finite_differences(seed, storage):
    X, q = make_targets(seed)
    rng = np.random.default_rng(seed)
    coef, intercept = rng.standard_normal((3, 4)), rng.standard_normal(3)

    def loss(theta):
        weights = theta.reshape(3, 5)
        return gate_loss(X, q, weights[:, :-1], weights[:, -1])[0]

    _, by_coef, by_intercept = gate_loss(store(X, storage), q, coef, intercept)
    found = np.column_stack([by_coef, by_intercept]).ravel()
    expected = approx_fprime(np.column_stack([coef, intercept]).ravel(), loss, 1e-7)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_gradient_of_centres_by_central_differences(seed):
    """Eq. 14 with the factor 2 tau, joint in all centres."""
    X, q = make_targets(seed)
    tau, step = 0.6, 1e-5
    centers = np.random.default_rng(seed).standard_normal((3, 4))
    found = center_gate_loss(targets_of(X, q), centers, tau)[1]
    expected = np.empty_like(centers)
    for place in np.ndindex(centers.shape):
        moved = np.zeros_like(centers)
        moved[place] = step
        above = center_gate_loss(targets_of(X, q), centers + moved, tau)[0]
        below = center_gate_loss(targets_of(X, q), centers - moved, tau)[0]
        expected[place] = (above - below) / (2 * step)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_centre_gate_is_a_linear_softmax():
    X, _ = make_targets(0)
    centers = np.random.default_rng(3).standard_normal((3, 4))
    found = mixture.shares(X, *center_logits(centers, 0.8))
    np.testing.assert_allclose(
        found, mixture.center_shares(X, centers, 0.8, 1.0), atol=1e-14
    )


def test_printed_gradient_of_one_component_alone_is_another():
    """Minimising only term j of Eq. 13 is not the joint problem."""
    X, q = make_targets(0)
    centers = np.random.default_rng(4).standard_normal((3, 4))
    joint = center_gate_loss(targets_of(X, q), centers, 0.5)[1][0]
    alone = center_gate_loss(targets_of(X, q * [1, 0, 0]), centers, 0.5)[1][0]
    assert np.abs(joint - alone).max() > 1


def test_many_steps_reach_the_optimum(seed, storage):
    X, q = make_targets(seed)
    start = np.zeros((3, 4)), np.zeros(3)
    targets = targets_of(store(X, storage), q)
    found = fit_linear_gate(targets, start, ridge=0.0, max_iter=1000)
    assert gate_loss(X, q, *found)[0] == pytest.approx(mixture.best_gate(X, q), 1e-9)


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_no_number_of_steps_is_worse_than_the_start(max_iter, seed):
    X, q = make_targets(seed)
    rng = np.random.default_rng(seed)
    start = 5 * rng.standard_normal((3, 4)), rng.standard_normal(3)
    found = fit_linear_gate(targets_of(X, q), start, ridge=0.0, max_iter=max_iter)
    assert gate_loss(X, q, *found)[0] < gate_loss(X, q, *start)[0]
    centers = 3 * rng.standard_normal((3, 4))
    moved = fit_center_gate(targets_of(X, q), centers, 0.5, max_iter=max_iter)
    before = center_gate_loss(targets_of(X, q), centers, 0.5)[0]
    assert center_gate_loss(targets_of(X, q), moved, 0.5)[0] < before


def test_ridge_shrinks_the_weights_but_not_the_intercepts():
    X, q = make_targets(1)
    start = np.ones((3, 4)), np.zeros(3)
    coef, intercept = fit_linear_gate(targets_of(X, q), start, ridge=1e8, max_iter=200)
    assert np.abs(coef).max() < 1e-4
    # Intercepts alone give Eq. 12: the mean responsibilities.
    shares = np.exp(intercept) / np.exp(intercept).sum()
    np.testing.assert_allclose(shares, q.sum(axis=0) / q.sum(), atol=1e-4)


def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9000, 3)).astype(np.float32)
    q = rng.dirichlet(np.ones(4), 9000).astype(np.float32)
    start = rng.standard_normal((4, 3)), rng.standard_normal(4)
    found = [
        fit_linear_gate(targets_of(X, q, n_jobs), start, ridge=0.0, max_iter=5)
        for n_jobs in (1, 2, 3)
    ]
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))

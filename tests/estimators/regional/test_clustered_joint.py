"""ClusteredSVC with all classes in one problem."""

import numpy as np
import pytest

from localsvm import ClusteredSVC
from localsvm.data import make_xor
from oracles.local_svm import make_classes

JOINT = {"n_regions": 4, "multi_class": "crammer_singer", "random_state": 0}


def test_no_multiple_of_the_weights_is_better():
    X, y = make_classes(150, 3)
    model = ClusteredSVC(**JOINT, C=1.0, tol=1e-9, max_iter=100_000).fit(X, y)
    assert model.duality_gap_ < 1e-8
    scores = model.decision_function(X)
    constant = model.intercept_scaling_
    norm = 0.0
    for regions, shared, unit in (
        (model.coef_, model.global_coef_, 1.0),
        (model.intercept_, model.global_intercept_, constant),
    ):
        norm += (((regions - shared) ** 2).sum() + (shared**2).sum()) / unit**2
    least = 0.5 * norm + _loss(scores, y)
    for factor in (0.99, 1.01):
        assert 0.5 * factor**2 * norm + _loss(factor * scores, y) > least


def _loss(scores, y):
    rows = np.arange(len(y))
    others = scores + 1.0
    others[rows, y] -= 1.0
    return (others.max(axis=1) - scores[rows, y]).sum()


def test_two_classes_are_one_task_either_way():
    X, y = make_xor(200, random_state=0)
    joint = ClusteredSVC(**JOINT).fit(X, y)
    plain = ClusteredSVC(**JOINT | {"multi_class": "ovr"}).fit(X, y)
    np.testing.assert_array_equal(
        joint.decision_function(X), plain.decision_function(X)
    )


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_weights_and_order_do_not_matter(n_jobs):
    X, y = make_classes(120, 3)
    weight = np.random.default_rng(0).integers(0, 3, 120)
    tight = {"tol": 1e-10, "max_iter": 100_000, "n_jobs": n_jobs}
    weighted = ClusteredSVC(**JOINT, **tight).fit(X, y, weight)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(120), weight))
    repeated = ClusteredSVC(**JOINT, **tight).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-4
    )


@pytest.mark.parametrize("parameters", [{"n_nearest": 1}, {"loss": "squared_hinge"}])
def test_needs_soft_assignment_and_the_hinge(parameters):
    X, y = make_classes(30, 3)
    with pytest.raises(ValueError, match=r"crammer_singer.*needs n_nearest > 1"):
        ClusteredSVC(**JOINT, **parameters).fit(X, y)


def test_leave_one_out_takes_the_signs_of_the_duals():
    X, y = make_classes(100, 3)
    model = ClusteredSVC(**JOINT)
    unseen = model.fit_leave_one_out(X, y)
    seen = model.decision_function(X)
    rows = np.arange(100)
    lead = [
        scores[rows, y] - np.where(np.eye(3)[y] == 1, -np.inf, scores).max(axis=1)
        for scores in (unseen, seen)
    ]
    assert (lead[0] <= lead[1] + 1e-9).all()
    assert (lead[0] < lead[1] - 0.1).any()

from dataclasses import replace

import numpy as np
import pytest

from conftest import store
from localsvm.kernels import Kernel
from localsvm.solvers._gradients import local_gradients
from oracles.local_models import (
    make_models,
    mean_decisions,
    numeric_gradients,
    pair_decisions,
)

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=9.0),
    Kernel("poly", gamma=9.0, degree=1, coef0=0.5),
    Kernel("poly", gamma=9.0, degree=2),
    Kernel("poly", gamma=9.0, degree=3, coef0=1.0),
    Kernel("laplace", gamma=9.0),
]
TWO = [(0, 1), (0, 1), (0, 1)]
SEVERAL = [(0, 1, 2, 3), (1, 3), (0, 2, 3), (2,)]
SIZES = [11, 7, 20, 0]


def make_rows(seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3)) * (rng.random((60, 3)) < 0.7)
    return X.astype(dtype)


def make_problem(classes, seed, n_queries=40):
    """Rows, models, and queries that are routed to all of the models."""
    models = make_models(60, SIZES[: len(classes)], classes, seed)
    route = np.random.default_rng(seed).permutation(np.arange(n_queries) % len(classes))
    return make_rows(seed), models, make_rows(seed + 50)[:n_queries], route


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_classes_have_the_gradient_of_the_decision(kernel, seed):
    support_rows, models, X, route = make_problem(TWO, seed)
    expected = numeric_gradients(
        lambda rows: models.decide(support_rows, kernel, 2, rows, route, 1), X
    )
    found = local_gradients(models, support_rows, kernel, 2, X, route)
    assert found.shape == (40, 1, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_several_classes_have_that_of_their_mean_decision(kernel, seed):
    support_rows, models, X, route = make_problem(SEVERAL, seed)
    found = local_gradients(models, support_rows, kernel, 4, X, route)
    assert found.shape == (40, 4, 3)
    for model, gamma in enumerate(models.gamma):
        routed = X[route == model]
        used = replace(kernel, gamma=gamma)

        def decide(rows, model=model, used=used):
            decisions = pair_decisions(models, model, used, support_rows, rows)
            return mean_decisions(decisions, len(rows), 4)

        np.testing.assert_allclose(
            found[route == model],
            numeric_gradients(decide, routed),
            rtol=1e-6,
            atol=1e-6,
        )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_neighborhood_of_one_class_has_no_gradient(n_classes):
    classes = [(1,), (0, 1), (0,)]
    support_rows, models, X, route = make_problem(classes, 0)
    found = local_gradients(models, support_rows, KERNELS[1], n_classes, X, route)
    np.testing.assert_array_equal(found[route != 1], 0)
    assert found[route == 1][:, : n_classes // 2].all()


def test_absent_classes_have_no_gradient():
    support_rows, models, X, route = make_problem(SEVERAL, 0)
    found = local_gradients(models, support_rows, KERNELS[1], 4, X, route)
    np.testing.assert_array_equal(found[route == 1][:, [0, 2]], 0)
    np.testing.assert_array_equal(found[route == 1][:, 1], -found[route == 1][:, 3])
    assert found[route == 1][:, 1].all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [TWO, SEVERAL])
def test_storage_does_not_change_the_gradients(kernel, dtype, classes, storage):
    support_rows, models, X, route = make_problem(classes, 0)
    n_classes = 2 if classes is TWO else 4
    support_rows, X = support_rows.astype(dtype), X.astype(dtype)
    wide = support_rows.astype(np.float64), X.astype(np.float64)
    expected = local_gradients(models, wide[0], kernel, n_classes, wide[1], route)
    found = local_gradients(
        models,
        store(support_rows, storage),
        kernel,
        n_classes,
        store(X, storage),
        route,
    )
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

"""Several penalties on one kernel matrix against a fit for each of them."""

import numpy as np
import pytest

from localsvm.kernels import Kernel, kernel_matrix
from localsvm.rows import Rows
from localsvm.solvers import LocalKernel, fit_neighborhoods, score_penalties
from oracles.neighborhoods import TIGHT, make_rows

PENALTIES = [0.1, 1.0, 30.0]
KERNELS = [Kernel("rbf", gamma=0.5), Kernel("laplace", gamma=0.05)]


def scores_by_fits(rows, queries, kernel):
    every = np.arange(rows.n_rows, dtype=np.int32)[np.newaxis]
    route = np.zeros(len(queries), dtype=np.int64)
    return [
        fit_neighborhoods(rows, every, LocalKernel(kernel, C), TIGHT).decide(
            rows.X, kernel, rows.n_classes, queries, route, 1
        )
        for C in PENALTIES
    ]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_a_fit_per_penalty(kernel, n_classes, seed):
    rows, X = make_rows(seed, n_classes=n_classes)
    queries = np.random.default_rng(seed).standard_normal((30, 3))
    found = score_penalties(
        kernel_matrix(kernel, X), kernel(queries, X), rows, PENALTIES, TIGHT
    )
    expected = scores_by_fits(rows, queries, kernel)
    assert found.shape == (3, 30, 1 if n_classes == 2 else 3)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_classes_without_weight_are_in_no_pair():
    rows, X = make_rows(0, n_classes=4)
    weight = np.where(rows.class_index == 2, 0.0, rows.penalty_weight)
    rows = Rows.weighted(X, rows.class_index, weight, 4)
    kernel = KERNELS[1]
    found = score_penalties(
        kernel_matrix(kernel, X), kernel(X, X), rows, PENALTIES, TIGHT
    )
    assert (found[:, :, 2] == -1).all()
    np.testing.assert_allclose(found, scores_by_fits(rows, X, kernel), atol=1e-6)


def test_one_class_is_refused():
    rows, X = make_rows(0)
    alone = Rows.weighted(X, rows.class_index, (rows.class_index == 1) * 1.0, 2)
    with pytest.raises(ValueError, match="weight in 1 classes; expected two"):
        score_penalties(np.eye(90), np.eye(90), alone, PENALTIES, TIGHT)

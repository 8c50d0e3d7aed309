"""SVMs of neighbourhoods that learn what is to be added to known decisions."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold

from conftest import store
from localsvm.solvers import (
    LocalKernel,
    Status,
    cross_validate_neighborhoods,
    fit_neighborhoods,
)
from oracles import kernel_svm
from oracles.neighborhoods import (
    KERNELS,
    RBF,
    TIGHT,
    make_cover,
    make_queries,
    make_rows,
)


def make_prior(n, n_classes, seed):
    n_outputs = 1 if n_classes == 2 else n_classes
    return np.random.default_rng(seed).standard_normal((n, n_outputs))


def oracle_scores(rows, X, members, kernel, queries, query_prior):
    return kernel_svm.scores(
        kernel,
        X[members],
        rows.class_index[members],
        2.0 * rows.penalty_weight[members],
        rows.n_classes,
        queries,
        rows.prior[members],
        query_prior,
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_models_match_the_quadratic_programmes(kernel, n_classes, seed):
    rows, X = make_rows(seed, n=60, n_classes=n_classes)
    rows = replace(rows, prior=make_prior(60, n_classes, seed))
    neighborhoods, _ = make_cover(X, seed)
    models = fit_neighborhoods(rows, neighborhoods, LocalKernel(kernel, 2.0), TIGHT)
    assert models.endings.count(Status.converged) == len(neighborhoods)
    assert (models.relative_gap <= 1e-6).all()
    queries, route = make_queries(X, len(neighborhoods), seed)
    prior = make_prior(len(queries), n_classes, seed + 10)
    found = models.decide(X, kernel, n_classes, queries, route, 1, prior)
    for model, members in enumerate(neighborhoods):
        routed = route == model
        expected = oracle_scores(
            rows, X, members, kernel, queries[routed], prior[routed]
        )
        np.testing.assert_allclose(found[routed], expected, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_held_out_rows_match_the_quadratic_programmes(n_classes, seed):
    rows, X = make_rows(seed, n=60, n_classes=n_classes)
    rows = replace(rows, prior=make_prior(60, n_classes, seed))
    neighborhoods, assigned = make_cover(X, seed)
    folds = list(KFold(3, shuffle=True, random_state=seed).split(X))
    (*found,) = cross_validate_neighborhoods(
        rows, neighborhoods, assigned, folds, LocalKernel(RBF, 2.0), TIGHT
    )
    for (train, test), scores in zip(folds, found, strict=True):
        for row, score in zip(test, scores[0], strict=True):
            members = neighborhoods[assigned[row]]
            kept = members[np.isin(members, train)]
            one = slice(row, row + 1)
            expected = oracle_scores(rows, X, kept, RBF, X[one], rows.prior[one])
            np.testing.assert_allclose(score, expected[0], atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_prior_of_zero_is_none(n_classes, storage):
    rows, X = make_rows(1, n_classes=n_classes, storage=storage)
    neighborhoods, _ = make_cover(X, 1)
    queries, route = make_queries(X, len(neighborhoods), 1)
    zeros = make_prior(len(X), n_classes, 0) * 0
    plain, zero = (
        fit_neighborhoods(
            replace(rows, prior=prior), neighborhoods, LocalKernel(RBF, 2.0), TIGHT
        ).decide(rows.X, RBF, n_classes, store(queries, storage), route, 1, of_queries)
        for prior, of_queries in ((None, None), (zeros, zeros[: len(queries)]))
    )
    np.testing.assert_array_equal(plain, zero)


@pytest.mark.parametrize("shape", [(89, 1), (90, 2)])
def test_prior_of_another_shape_is_refused(shape):
    rows, X = make_rows(1)
    neighborhoods, _ = make_cover(X, 1)
    local = LocalKernel(RBF, 2.0)
    with pytest.raises(ValueError, match="prior needs one entry per row and output"):
        fit_neighborhoods(
            replace(rows, prior=np.zeros(shape)), neighborhoods, local, TIGHT
        )
    models = fit_neighborhoods(rows, neighborhoods, local, TIGHT)
    with pytest.raises(ValueError, match="prior needs one entry per row and output"):
        models.decide(X, RBF, 2, X, np.zeros(90, dtype=np.int64), 1, np.zeros(shape))

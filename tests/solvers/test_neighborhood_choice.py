from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from localsvm.kernels import Kernel
from localsvm.rows import Rows
from localsvm.solvers import (
    KernelOptions,
    LocalKernel,
    cross_validate_neighborhoods,
    fit_neighborhoods,
)
from oracles import kernel_svm
from oracles.neighborhoods import (
    RBF,
    TIGHT,
    make_cover,
    make_queries,
    make_rows,
    oracle_scores,
)


def test_local_gamma_of_a_kernel_without_width_is_refused():
    with pytest.raises(ValueError, match="kernel of distances"):
        LocalKernel(Kernel("poly"), 1.0, local_gamma=True).to_core()


@pytest.mark.parametrize("name", ["rbf", "laplace"])
def test_local_gamma_follows_the_distances_to_the_centre(name, storage):
    rows, X = make_rows(0, storage=storage)
    neighborhoods, _ = make_cover(X, 0)
    local = LocalKernel(Kernel(name, gamma=3.0), 1.0, local_gamma=True)
    models = fit_neighborhoods(rows, neighborhoods, local, KernelOptions())
    for members, gamma, only in zip(
        neighborhoods, models.gamma, models.only_class, strict=True
    ):
        own = kernel_svm.local_gamma(X[members], name)
        expected = 3.0 * own if only < 0 else 0
        assert gamma == pytest.approx(expected, rel=1e-9)


def test_local_gamma_leaves_out_copies_of_the_centre():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [2.0], [3.0]])
    label = np.array([0, 1, 0, 1, 0, 1, 0], dtype=np.int32)
    local = LocalKernel(Kernel("rbf"), 1.0, local_gamma=True)
    for members, expected in ([*range(7)], 1 / 4), ([*range(4)], 1.0):
        models = fit_neighborhoods(
            Rows.weighted(X, label, np.ones(7), 2),
            np.array([members], dtype=np.int32),
            local,
            KernelOptions(),
        )
        assert models.gamma[0] == expected


def test_models_use_their_own_gamma(seed):
    rows, X = make_rows(seed)
    neighborhoods, _ = make_cover(X, seed)
    local = LocalKernel(RBF, 2.0, local_gamma=True)
    models = fit_neighborhoods(rows, neighborhoods, local, TIGHT)
    queries, route = make_queries(X, len(neighborhoods), seed)
    found = models.decide(X, RBF, 2, queries, route, 1)
    for model, members in enumerate(neighborhoods):
        own = replace(RBF, gamma=0.5 * kernel_svm.local_gamma(X[members]))
        expected = oracle_scores(rows, X, members, own, 2.0, queries[route == model])
        np.testing.assert_allclose(found[route == model], expected, atol=1e-5)


@pytest.mark.parametrize(("n_classes", "n_folds"), [(2, 3), (3, 2)])
def test_each_neighborhood_chooses_its_factors(n_classes, n_folds, seed):
    rows, X = make_rows(seed, n=60, n_classes=n_classes)
    neighborhoods, _ = make_cover(X, seed)
    grid = {"C": (0.1, 3.0), "gamma": (0.3, 5.0)}
    local = LocalKernel(
        RBF, 2.0, C_factors=grid["C"], gamma_factors=grid["gamma"], n_folds=n_folds
    )
    models = fit_neighborhoods(rows, neighborhoods, local, TIGHT)
    queries, route = make_queries(X, len(neighborhoods), seed)
    found = models.decide(X, RBF, n_classes, queries, route, 1)
    chosen = set()
    for model, members in enumerate(neighborhoods):
        if models.only_class[model] >= 0:
            assert models.C[model] == 0
            continue
        data = X[members], rows.class_index[members], rows.penalty_weight[members]
        C_factor, gamma_factor = kernel_svm.choose_factors(
            RBF, 2.0, *data, n_classes, grid, n_folds
        )
        assert models.C[model] == pytest.approx(2.0 * C_factor)
        assert models.gamma[model] == pytest.approx(0.5 * gamma_factor)
        own = replace(RBF, gamma=0.5 * gamma_factor)
        expected = oracle_scores(
            rows, X, members, own, 2.0 * C_factor, queries[route == model]
        )
        np.testing.assert_allclose(found[route == model], expected, atol=1e-5)
        chosen.add((C_factor, gamma_factor))
    assert len(chosen) > 2


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "splitter",
    [
        KFold(3, shuffle=True, random_state=0),
        ShuffleSplit(3, test_size=0.5, train_size=0.3, random_state=0),
    ],
)
def test_cross_validation_matches_training_again(n_classes, splitter):
    """ShuffleSplit tests a row in several folds, or in none."""
    rows, X = make_rows(0, n_classes=n_classes)
    neighborhoods, labels = make_cover(X, 0)
    folds = list(splitter.split(X))
    local = LocalKernel(RBF, 2.0, C_factors=(0.5, 4.0), gamma_factors=(1.0, 2.0))
    found = cross_validate_neighborhoods(
        rows, neighborhoods, labels, folds, local, TIGHT
    )
    assert len(found) == 3
    for (train, test), scores in zip(folds, found, strict=True):
        assert scores.shape == (4, len(test), 1 if n_classes == 2 else n_classes)
        settings = [(gamma, C) for gamma in (0.5, 1.0) for C in (1.0, 8.0)]
        for setting, (gamma, C) in enumerate(settings):
            kernel = replace(RBF, gamma=gamma)
            for model in np.unique(labels[test]):
                members = np.intersect1d(neighborhoods[model], train)
                asked = labels[test] == model
                expected = oracle_scores(rows, X, members, kernel, C, X[test[asked]])
                np.testing.assert_allclose(scores[setting, asked], expected, atol=1e-5)


def test_local_gamma_is_that_of_the_rows_that_are_trained_on():
    rows, X = make_rows(0)
    neighborhoods, labels = make_cover(X, 0)
    ((train, test),) = ShuffleSplit(1, test_size=0.5, random_state=0).split(X)
    local = LocalKernel(RBF, 2.0, local_gamma=True)
    (scores,) = cross_validate_neighborhoods(
        rows, neighborhoods, labels, [(train, test)], local, TIGHT
    )
    for row, score in zip(test, scores[0], strict=True):
        listed = neighborhoods[labels[row]]
        members = np.intersect1d(listed, train)
        around_center = X[np.append(listed[0], members)]
        own = replace(RBF, gamma=0.5 * kernel_svm.local_gamma(around_center))
        expected = oracle_scores(rows, X, members, own, 2.0, X[[row]])
        np.testing.assert_allclose(score, expected[0], atol=1e-5)


def test_neighborhoods_may_differ_in_size():
    rows, X = make_rows(0)
    neighborhoods, _ = make_cover(X, 0)
    train = np.arange(len(X) - 20)
    queries = np.arange(len(X) - 20, len(X))
    trained = [np.intersect1d(listed, train) for listed in neighborhoods[:2]]
    ragged = [
        np.append(trained[0], queries[:13]).astype(np.int32),
        np.append(trained[1], queries[13:]).astype(np.int32),
    ]
    assigned = np.full(len(X), -1, dtype=np.int32)
    assigned[queries] = np.arange(20) >= 13
    (scores,) = cross_validate_neighborhoods(
        rows, ragged, assigned, [(train, queries)], LocalKernel(RBF, 2.0), TIGHT
    )
    for query, score in zip(queries, scores[0], strict=True):
        members = trained[assigned[query]]
        expected = oracle_scores(rows, X, members, RBF, 2.0, X[[query]])
        np.testing.assert_allclose(score, expected[0], atol=1e-5)


def test_a_fold_that_leaves_a_neighborhood_empty_scores_zero():
    rows, X = make_rows(0)
    neighborhoods, labels = make_cover(X, 0)
    listed = neighborhoods[0]
    train = np.setdiff1d(np.arange(len(X)), listed)
    (scores,) = cross_validate_neighborhoods(
        rows, neighborhoods, labels, [(train, listed)], LocalKernel(RBF, 1.0), TIGHT
    )
    assert not scores[0, labels[listed] == 0].any()

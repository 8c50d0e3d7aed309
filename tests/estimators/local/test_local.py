"""LocalSVC against scikit-learn's SVC, one per neighbourhood."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from data_sets import loaded
from localsvm import LocalSVC
from localsvm.cluster import NeighborhoodCover
from localsvm.data import load_benchmark
from localsvm.estimators import NeighborSVC
from localsvm.kernels import Kernel
from oracles import kernel_svm
from oracles.local_svm import (
    KERNELS,
    TIGHT,
    assert_same_winners,
    fast_lsvm,
    make_classes,
)


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_one_neighbourhood_of_all_rows_is_the_global_svm(kernel, n_classes):
    X, y = make_classes(100, n_classes)
    queries, _ = make_classes(200, n_classes, seed=1)
    model = LocalSVC(100, n_assigned=100, **kernel, **TIGHT).fit(X, y)
    assert model.n_regions_ == 1
    peer = SVC(
        **kernel_svm.as_svc(kernel), tol=1e-5, decision_function_shape="ovr"
    ).fit(X, y)
    scores = peer.decision_function(queries)
    np.testing.assert_allclose(model.decision_function(queries), scores, atol=1e-3)
    assert_same_winners(model.predict(queries), scores)


def test_one_neighbourhood_of_a_real_set_is_the_global_svm(kernel):
    data = loaded(load_benchmark, "svmguide1")
    scaler = StandardScaler().fit(data.X_train)
    some = np.random.default_rng(0).permutation(len(data.X_train))[:500]
    X, y = scaler.transform(data.X_train[some]), data.y_train[some]
    queries = scaler.transform(data.X_test[:500])
    model = LocalSVC(500, n_assigned=500, **kernel, **TIGHT).fit(X, y)
    peer = SVC(**kernel_svm.as_svc(kernel), tol=1e-5).fit(X, y)
    assert model.n_regions_ == 1
    np.testing.assert_allclose(
        model.decision_function(queries), peer.decision_function(queries), atol=1e-3
    )


def test_intercept_does_not_depend_on_rounding():
    """All duals lie at bounds, unless one misses its bound by the last bit."""
    X = np.array([[7, 1, -12], [-23, 1, -7], [-3, -13, 12], [6, -10, -7]])
    X = np.r_[X, [[5, 1, -1], [2, -7, -25], [-2, -9, 20], [-9, -8, 0]]] / 10
    y = np.arange(8) % 2
    peer = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    for seed in range(10):
        model = LocalSVC(
            8, n_assigned=8, kernel="linear", C=1.0, tol=1e-8, random_state=seed
        ).fit(X, y)
        np.testing.assert_allclose(
            model.decision_function(X), peer.decision_function(X), atol=1e-6
        )


def test_neighbourhoods_too_large_for_a_matrix_use_a_cache():
    X, y = make_classes(2100, 2)
    model = LocalSVC(2100, gamma=0.3, C=1.0, cache_size=1.0, **TIGHT).fit(X, y)
    peer = SVC(gamma=0.3, C=1.0, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), peer.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize(("route", "n_assigned"), [("row", 4), ("center", None)])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_model_is_an_svc_per_neighbourhood(route, n_assigned, n_classes, kernel):
    X, y = make_classes(120, n_classes)
    queries, _ = make_classes(100, n_classes, seed=1)
    model = LocalSVC(
        16, n_assigned=n_assigned, route=route, random_state=3, **kernel, **TIGHT
    ).fit(X, y)
    assert model.n_regions_ > 10
    scores = fast_lsvm(model, X, y, queries)
    np.testing.assert_allclose(model.decision_function(queries), scores, atol=1e-3)
    assert_same_winners(model.predict(queries), scores)


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_local_width_is_the_median_distance_to_the_centre(factor):
    X, y = make_classes(100, 3)
    gamma = "local" if factor == 1 else ("local", factor)
    model = LocalSVC(20, gamma=gamma, random_state=0, **TIGHT).fit(X, y)
    scores = fast_lsvm(model, X, y, X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-3)
    assert len(np.unique(model.region_gamma_)) == model.n_regions_
    assert model.gamma_ == factor


def test_local_margins_are_at_least_the_global_one():
    """Theorem 2: fewer rows of a separable problem leave a margin as wide or wider."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    side = X @ [1.0, 0.5]
    X, y = X[np.abs(side) > 0.05], (side > 0)[np.abs(side) > 0.05]
    hard = {"kernel": "linear", "C": 1e5, "tol": 1e-4, "max_iter": 10_000_000}
    one = LocalSVC(len(X), n_assigned=len(X), **hard).fit(X, y)
    local = LocalSVC(30, random_state=0, **hard).fit(X, y)
    assert local.n_constant_regions_ < local.n_regions_
    norms = [np.linalg.norm(m.local_coef(X)[0][:, 0], axis=1) for m in (one, local)]
    assert (norms[1] <= 1.001 * norms[0]).all()
    assert np.median(norms[1]) < 0.9 * norms[0][0]


@pytest.mark.parametrize("k", [5, 40])
def test_a_query_meets_no_more_rows_than_a_neighbourhood_has(k):
    X, y = make_classes(500, 2)
    model = LocalSVC(k, random_state=0).fit(X, y)
    n_support = np.diff(model._model.models.support_start)
    assert 0 < n_support.max() <= k


@pytest.mark.parametrize("n_classes", [2, 3])
def test_neighbourhood_of_one_class_answers_with_it(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(150) % n_classes
    X = rng.standard_normal((150, 2)) + 30 * np.c_[np.cos(2 * y), np.sin(2 * y)]
    model = LocalSVC(10, random_state=0).fit(X, y)
    assert model.n_constant_regions_ == model.n_regions_
    for attribute in (model.n_support_, model.region_gamma_, model.region_C_):
        assert not attribute.any()
    own = np.where(y[:, np.newaxis] == np.arange(n_classes), 1.0, -1.0)
    scores = own[:, 1] if n_classes == 2 else own
    np.testing.assert_array_equal(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("route", ["row", "center"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ash": 3.0}])
@pytest.mark.parametrize("gamma", ["local", "scale"])
def test_weight_equals_repetition(route, class_weight, gamma, three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    model = LocalSVC(
        20,
        gamma=gamma,
        route=route,
        class_weight=class_weight,
        neighbors="kd_tree",
        random_state=0,
        tol=1e-9,
    )
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.n_regions_ > 10
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-6
    )
    assert weight[weighted.center_indices_].all()
    plain = clone(model).fit(X, y)
    assert np.abs(weighted.decision_function(X) - plain.decision_function(X)).max() > 1


def test_class_weight_is_a_weight_of_the_rows(three_classes):
    X, y = three_classes
    classes, counts = np.unique(y, return_counts=True)
    share = len(y) / (3 * counts)
    fit = {"neighbors": "kd_tree", "random_state": 0}
    factor = np.where(y == "ash", 2.0, np.where(y == "cedar", 0.5, 1.0))
    for class_weight, weight in (
        ({"ash": 2.0, "cedar": 0.5}, factor),
        ("balanced", share[np.searchsorted(classes, y)]),
    ):
        model = LocalSVC(30, class_weight=class_weight, **fit).fit(X, y)
        peer = LocalSVC(30, **fit).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(
            model.decision_function(X), peer.decision_function(X)
        )


@pytest.mark.parametrize("route", ["row", "center"])
def test_order_of_the_rows_does_not_change_a_bit(route, kernel, three_classes):
    X, y = (part[:120] for part in three_classes)
    order = np.random.default_rng(0).permutation(len(X))
    model = LocalSVC(20, route=route, random_state=0, **kernel)
    straight, shuffled = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    np.testing.assert_array_equal(
        straight.decision_function(X), shuffled.decision_function(X)
    )
    np.testing.assert_array_equal(
        straight.center_indices_, order[shuffled.center_indices_]
    )


def test_random_state_chooses_the_centres(two_moons):
    X, y = two_moons
    centers = [
        LocalSVC(20, random_state=seed).fit(X, y).center_indices_
        for seed in (0, np.random.RandomState(0), 1)
    ]
    np.testing.assert_array_equal(centers[0], centers[1])
    assert set(centers[0]) != set(centers[2])


def test_center_route_keeps_no_more_than_it_needs():
    X, y = make_classes(2000, 2)
    X[:, 0] += 3 * y
    row, center = (
        LocalSVC(40, route=route, random_state=0).fit(X, y)
        for route in ("row", "center")
    )
    np.testing.assert_array_equal(row.center_indices_, center.center_indices_)
    assert len(pickle.dumps(center._model.router)) < 0.4 * len(
        pickle.dumps(row._model.router)
    )
    nearest = pairwise_distances(X, X[center.center_indices_]).argmin(axis=1)
    np.testing.assert_array_equal(center.region(X), nearest)
    assert (row.region(X) != nearest).any()
    assert row.region(X).max() == row.n_regions_ - 1


@pytest.mark.parametrize(
    ("gamma", "expected"), [("scale", None), ("auto", 1 / 4), (0.7, 0.7)]
)
def test_width_is_that_of_svc(gamma, expected):
    X, y = make_classes(200, 2)
    for kernel in ("rbf", "poly"):
        model = LocalSVC(40, kernel=kernel, gamma=gamma).fit(X, y)
        width = 1 / (4 * X.var()) if expected is None else expected
        used = model.region_gamma_[model.region_gamma_ > 0]
        np.testing.assert_allclose(used, width, rtol=1e-12)
        assert model.gamma_ == pytest.approx(width, rel=1e-12)
    if gamma == "scale":
        model = LocalSVC(40, kernel="laplace", gamma=gamma).fit(X, y)
        distances = pairwise_distances(X, metric="manhattan")
        distances = distances[np.triu_indices(200, 1)]
        assert model.gamma_ == pytest.approx(0.1 / np.median(distances), rel=1e-12)
        for gamma, factor in (("local", 1.0), (("local", 0.5), 0.5)):
            local = LocalSVC(40, kernel="poly", gamma=gamma).fit(X, y)
            used = local.region_gamma_[local.region_gamma_ > 0]
            np.testing.assert_allclose(used, factor * width)


@pytest.mark.parametrize("estimator", [LocalSVC, NeighborSVC])
def test_scaled_penalty_is_ten_by_the_mean_of_the_kernel(estimator):
    X, y = make_classes(200, 2)
    weight = np.random.default_rng(0).integers(0, 3, 200).astype(float)
    norms = np.average((X**2).sum(axis=1), weights=weight)
    powers = np.average(((X**2).sum(axis=1) * 0.5 + 1) ** 3, weights=weight)
    for kernel, expected in (
        ({}, 10.0),
        ({"kernel": "laplace"}, 10.0),
        ({"kernel": "linear"}, 10 / norms),
        ({"kernel": "poly", "gamma": 0.5, "coef0": 1.0}, 10 / powers),
    ):
        model = estimator(40, **kernel, random_state=0).fit(X, y, weight)
        assert pytest.approx(expected, rel=1e-12) == model.C_
        same = estimator(40, C=model.C_, **kernel, random_state=0).fit(X, y, weight)
        np.testing.assert_array_equal(
            same.decision_function(X), model.decision_function(X)
        )


@pytest.mark.parametrize("unit", [2.0**-9, 2.0**8])
def test_local_width_needs_no_unit(unit, three_classes):
    X, y = three_classes
    order = np.random.default_rng(0).permutation(len(X))
    fit = {"n_assigned": 1, "random_state": 0}  # every row is a centre
    model = LocalSVC(30, **fit).fit(X, y)
    scaled = LocalSVC(30, **fit).fit(X[order] * unit, y[order])
    np.testing.assert_allclose(
        scaled.decision_function(X * unit), model.decision_function(X), atol=1e-2
    )
    np.testing.assert_array_equal(scaled.predict(X * unit), model.predict(X))


def test_local_grid_of_one_setting_is_that_setting(three_classes):
    X, y = three_classes
    chosen = LocalSVC(
        30, C=2.0, local_grid={"C": [5.0], "gamma": [0.5]}, random_state=0
    ).fit(X, y)
    direct = LocalSVC(30, C=10.0, gamma=("local", 0.5), random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        chosen.decision_function(X), direct.decision_function(X)
    )
    np.testing.assert_array_equal(chosen.region_C_, direct.region_C_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_local_grid_takes_the_factors_with_the_fewest_errors(n_classes):
    X, y = make_classes(90, n_classes)
    grid = {"C": [0.01, 0.1, 3.0], "gamma": [0.2, 4.0]}
    unsorted = {name: factors[::-1] for name, factors in grid.items()}
    model = LocalSVC(
        24, n_assigned=24, local_grid=unsorted, random_state=0, **TIGHT
    ).fit(X, y)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    cover = NeighborhoodCover(24, n_assigned=24, random_state=seed).fit(X)
    for m, near in enumerate(cover.neighborhoods_):
        if model.region_C_[m] == 0:
            continue
        kernel = Kernel("rbf", kernel_svm.local_gamma(X[near]))
        C, gamma = kernel_svm.choose_factors(
            kernel, 10.0, X[near], y[near], np.ones(24), n_classes, grid, n_folds=3
        )
        assert model.region_C_[m] == pytest.approx(10.0 * C)
        assert model.region_gamma_[m] == pytest.approx(kernel.gamma * gamma)
    assert len(np.unique(model.region_C_[model.region_C_ > 0])) > 1


def test_local_grid_follows_the_data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (800, 2))
    fine = X[:, 0] < 0
    cells = np.floor(8 * X[:, 0]) + np.floor(8 * X[:, 1])
    y = np.where(fine, cells % 2, X[:, 1] > 0).astype(int)
    y[~fine & (rng.random(800) < 0.2)] ^= 1
    grid = {"C": [0.1, 10.0], "gamma": [0.2, 1.0, 20.0]}
    model = LocalSVC(100, C=1.0, gamma=5.0, local_grid=grid, random_state=0).fit(X, y)
    inside = np.abs(X[model.center_indices_, 0]) > 0.4
    left = X[model.center_indices_, 0] < 0
    assert (model.region_gamma_[inside & left] == 100.0).mean() > 0.8
    assert (model.region_gamma_[inside & ~left] < 100.0).mean() > 0.7
    assert set(model.region_gamma_) <= {1.0, 5.0, 100.0}
    assert set(model.region_C_) <= {0.1, 10.0}

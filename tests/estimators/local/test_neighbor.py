"""NeighborSVC against an SVC on the neighbours of each query."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.svm import SVC

from conftest import store
from localsvm import LocalSVC
from localsvm.cluster import ShortListNeighbors, TreeNeighbors
from localsvm.estimators import NeighborSVC
from oracles import kernel_svm
from oracles.local_svm import (
    KERNELS,
    TIGHT,
    assert_same_winners,
    feature_distances,
    make_classes,
    svc_parameters,
    svm_scores,
)


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


def knn_svm(model, X, y, queries):
    """Eq. 1: an SVC on the nearest rows of each query."""
    n_classes = len(set(y))
    distances = feature_distances(model, queries, X)
    scores = []
    for query, distance in zip(queries, distances, strict=True):
        near = np.argsort(distance)[: model.n_neighbors]
        svc = svc_parameters(model, X[near])
        scores.append(svm_scores(svc, X[near], y[near], query[None], n_classes)[0])
    return np.array(scores).squeeze()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_model_is_an_svc_per_query(n_classes, kernel):
    X, y = make_classes(150, n_classes)
    queries, _ = make_classes(60, n_classes, seed=1)
    model = NeighborSVC(20, **kernel, **TIGHT).fit(X, y)
    scores = knn_svm(model, X, y, queries)
    np.testing.assert_allclose(model.decision_function(queries), scores, atol=1e-3)
    assert_same_winners(model.predict(queries), scores)


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_local_width_is_the_median_distance_to_the_nearest(factor):
    X, y = make_classes(150, 3)
    queries, _ = make_classes(40, 3, seed=1)
    model = NeighborSVC(20, gamma=("local", factor), **TIGHT).fit(X, y)
    scores = knn_svm(model, X, y, queries)
    np.testing.assert_allclose(model.decision_function(queries), scores, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_rows_as_neighbours_is_the_global_svm(n_classes, kernel):
    X, y = make_classes(80, n_classes)
    queries, _ = make_classes(30, n_classes, seed=1)
    model = NeighborSVC(80, **kernel, **TIGHT).fit(X, y)
    peer = SVC(**kernel_svm.as_svc(kernel), tol=1e-5).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(queries), peer.decision_function(queries), atol=1e-3
    )


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [1e-3, 10.0])
def test_two_neighbours_are_the_nearest_neighbour_rule(n_classes, kernel, C):
    X, y = make_classes(300, n_classes)
    queries, _ = make_classes(1000, n_classes, seed=1)
    model = NeighborSVC(2, kernel=kernel, C=C, tol=1e-9).fit(X, y)
    nearest = KNeighborsClassifier(1).fit(X, y)
    np.testing.assert_array_equal(model.predict(queries), nearest.predict(queries))


def test_one_neighbour_is_the_nearest_neighbour_rule(three_classes):
    X, y = three_classes
    model = NeighborSVC(1).fit(X[:120], y[:120])
    nearest = KNeighborsClassifier(1).fit(X[:120], y[:120])
    np.testing.assert_array_equal(model.predict(X[120:]), nearest.predict(X[120:]))


def test_local_svm_with_every_row_a_centre_decides_alike(kernel):
    X, y = make_classes(100, 3)
    fast = LocalSVC(15, n_assigned=1, random_state=0, **kernel).fit(X, y)
    assert fast.n_regions_ == 100
    exact = NeighborSVC(15, random_state=0, **kernel).fit(X, y)
    np.testing.assert_allclose(
        fast.decision_function(X), exact.decision_function(X), atol=1e-12
    )


def test_short_list_of_all_rows_is_exact():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 8)) * np.arange(8, 0, -1)
    y = (X[:, 0] * X[:, 1] + 5 * X[:, 6] > 0).astype(int)
    queries = rng.standard_normal((50, 8)) * np.arange(8, 0, -1)
    exact = NeighborSVC(20, random_state=0).fit(X, y).decision_function(queries)
    scores = [
        NeighborSVC(
            20,
            neighbors=ShortListNeighbors(PCA(2), n_candidates=n_candidates),
            random_state=0,
        )
        .fit(X, y)
        .decision_function(queries)
        for n_candidates in (200, 1000, 60)
    ]
    np.testing.assert_array_equal(scores[0], exact)
    np.testing.assert_array_equal(scores[1], exact)
    assert (np.sign(scores[2]) == np.sign(exact)).mean() > 0.8
    assert (scores[2] != exact).any()


@pytest.mark.parametrize(
    "neighbors",
    ["auto", "brute", TreeNeighbors(), NearestNeighbors(algorithm="ball_tree")],
    ids=str,
)
def test_exact_searches_agree(neighbors, three_classes):
    X, y = three_classes
    models = [
        NeighborSVC(20, neighbors=search, random_state=0).fit(X, y)
        for search in ("kd_tree", neighbors)
    ]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))


def test_n_jobs_does_not_change_a_bit(kernel):
    X, y = make_classes(300, 3)
    scores = [
        NeighborSVC(20, random_state=0, n_jobs=n_jobs, **kernel)
        .fit(X, y)
        .decision_function(X)
        for n_jobs in (1, 2, 4)
    ]
    np.testing.assert_array_equal(scores[1], scores[0])
    np.testing.assert_array_equal(scores[2], scores[0])


def test_queries_are_decided_in_blocks():
    X, y = make_classes(60, 3)
    queries, _ = make_classes(4500, 3, seed=1)
    model = NeighborSVC(6, random_state=0, neighbors="kd_tree").fit(X, y)
    scores = model.decision_function(queries)
    assert scores.shape == (4500, 3)
    for first in (0, 4000, 4096, 4400):
        part = slice(first, first + 100)
        np.testing.assert_array_equal(
            model.decision_function(queries[part]), scores[part]
        )


@pytest.mark.parametrize("class_weight", [None, "balanced", {"ash": 3.0}])
@pytest.mark.parametrize("gamma", ["local", "scale"])
def test_weight_equals_repetition(class_weight, gamma, three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    model = NeighborSVC(
        20,
        gamma=gamma,
        class_weight=class_weight,
        neighbors="kd_tree",
        random_state=0,
        tol=1e-9,
    )
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-6
    )
    plain = clone(model).fit(X, y)
    assert np.abs(weighted.decision_function(X) - plain.decision_function(X)).max() > 1


def test_order_of_the_rows_does_not_change_a_bit(kernel, three_classes):
    X, y = three_classes
    order = np.random.default_rng(0).permutation(len(X))
    model = NeighborSVC(20, random_state=0, **kernel)
    straight, shuffled = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    np.testing.assert_array_equal(
        straight.decision_function(X), shuffled.decision_function(X)
    )


def test_storage_does_not_change_the_scores(storage, kernel, three_classes):
    X, y = three_classes
    X = X * (np.abs(X) > 0.5)
    stored, queries = store(X, storage), store(X[:50], storage)
    model = NeighborSVC(20, random_state=0, tol=1e-9, **kernel)
    dense, other = clone(model).fit(X, y), clone(model).fit(stored, y)
    expected = dense.decision_function(X[:50])
    for fitted, rows in ((other, queries), (other, X[:50]), (dense, queries)):
        np.testing.assert_allclose(fitted.decision_function(rows), expected, atol=1e-6)


def test_float32_stays_float32(kernel, three_classes):
    X, y = three_classes
    X = X.astype(np.float32)
    model = NeighborSVC(20, random_state=0, **kernel, **TIGHT)
    narrow, wide = (clone(model).fit(rows, y) for rows in (X, X.astype(np.float64)))
    scores = narrow.decision_function(X[:50])
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, wide.decision_function(X[:50]), atol=2e-3)


def test_fitted_attributes_tell_the_story(three_classes):
    X, y = three_classes
    frame = pd.DataFrame(np.r_[X, X], columns=list("abcde"))
    model = NeighborSVC().fit(frame, np.r_[y, y])
    assert model.n_neighbors_ == 100
    assert NeighborSVC(300).fit(frame, np.r_[y, y]).n_neighbors_ == 240
    assert list(model.classes_) == ["ash", "birch", "cedar"]
    assert list(model.feature_names_in_) == list("abcde")
    assert model.n_iter_ == 1
    assert hasattr(model.search_, "kneighbors")
    assert set(model.fit_report_) == {
        *("merge", "index"),
        *("calibrate", "familiarity"),
    }
    assert model.score(frame, np.r_[y, y]) > 0.8


def test_saved_model_decides_alike(three_classes):
    X, y = three_classes
    model = NeighborSVC(20, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    expected = model.decision_function(X[:30])
    np.testing.assert_array_equal(again.decision_function(X[:30]), expected)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: model.decision_function(X[:30]), range(8)):
            np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
@pytest.mark.parametrize("n_queries", [50, 5000])
def test_iteration_limit_warns_once_per_call(method, n_queries):
    X, y = make_classes(80, 2)
    queries, _ = make_classes(n_queries, 2, seed=1)
    model = NeighborSVC(20, max_iter=1, neighbors="kd_tree").fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(model, method)(queries)
    assert [warning.category for warning in caught] == [ConvergenceWarning]
    assert f"of {n_queries} problems stopped at max_iter=1" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_no_iteration_limit_is_silent(three_classes):
    X, y = three_classes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NeighborSVC(20, C=1e4, tol=1e-9, max_iter=10_000_000).fit(X, y)
        model.predict(X[:50])


def test_queries_without_time_are_answered_by_the_heaviest_class():
    X, y = make_classes(300, 3)
    weight = np.random.default_rng(0).random(300)
    model = NeighborSVC(20, max_time=1e-9, random_state=0).fit(X, y, weight)
    with pytest.warns(ConvergenceWarning, match="stopped at max_time=1e-09"):
        answers = model.predict(X)
    mass = np.zeros((300, 3))
    for label in range(3):
        own = (y == label) * weight
        mass[:, label] = own[model.neighborhood(X)].sum(axis=1)
    np.testing.assert_array_equal(answers, mass.argmax(axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unlimited = model.set_params(max_time=None).decision_function(X)
        limited = model.set_params(max_time=1e3).decision_function(X)
    np.testing.assert_array_equal(limited, unlimited)

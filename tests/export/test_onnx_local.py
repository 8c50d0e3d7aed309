"""ONNX graphs of kernel SVMs on neighbourhoods."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC

from localsvm import LocalSVC, ReducedSVC
from localsvm.cluster import ShortListNeighbors
from localsvm.estimators import LocalSVCCV
from localsvm.export import to_onnx
from localsvm.export._onnx._families._local import _neighborhoods
from onnx_data import (
    assert_same,
    assert_same_beside_borders,
    open_session,
    run,
    run_session,
)

MODELS = {
    "rbf": LocalSVC(30),
    "laplace": LocalSVC(30, kernel="laplace"),
    "laplace_center": LocalSVC(30, kernel="laplace", route="center", gamma=0.05),
    "laplace_one": LocalSVC(250, n_assigned=250, kernel="laplace"),
    "linear": LocalSVC(30, kernel="linear"),
    "poly": LocalSVC(30, kernel="poly", coef0=1.0, degree=2),
    "homogeneous": LocalSVC(30, kernel="poly", degree=3, route="center"),
    "center": LocalSVC(30, route="center", gamma=0.5),
    "center_linear": LocalSVC(30, kernel="linear", route="center"),
    "few_vectors": LocalSVC(6, n_assigned=2, route="center"),
    "few_vectors_poly": LocalSVC(6, n_assigned=2, kernel="poly", coef0=1.0),
    "tree": LocalSVC(30, neighbors="kd_tree"),
    "one": LocalSVC(250, n_assigned=250),
    "one_linear": LocalSVC(250, n_assigned=250, kernel="linear"),
    "local_grid": LocalSVC(30, local_grid={"gamma": [0.5, 2.0]}),
    "shrink": LocalSVC(30, shrink=1.0),
    "shrink_one": LocalSVC(250, n_assigned=250, shrink=1.0),
    "linear_global": LocalSVC(
        30, shrink=0.3, global_model=LogisticRegression(), route="center"
    ),
    "searched": LocalSVCCV(Cs=[10.0], n_neighbors=[30], cv=2, route="center"),
}


@pytest.fixture(scope="module")
def components():
    """Digits in ten dimensions: no two rows are equally far from a third."""
    X, y = load_digits(return_X_y=True)
    return PCA(10, random_state=0).fit_transform(X) / 16, y


@pytest.mark.parametrize("name", MODELS)
def test_labels_are_those_of_the_model(name, components):
    X, y = components
    model = MODELS[name].set_params(random_state=0).fit(X[:300], y[:300])
    assert_same(model, X[:600], "float64")
    assert_same_beside_borders(model, X[:600], "float64", 10)
    assert_same(model, X[:600], "float32", 1e-5)


@pytest.mark.parametrize("name", ["center", "center_linear", "homogeneous", "poly"])
def test_support_vectors_that_are_fetched(name, components, monkeypatch):
    """As it is done where a row needs a few of very many."""
    monkeypatch.setattr(_neighborhoods, "_MOST_VECTORS_PER_USED", 0)
    X, y = components
    model = MODELS[name].set_params(random_state=0).fit(X[:300], y[:300])
    assert_same(model, X[:600], "float64")


@pytest.mark.parametrize(
    "name", ["rbf", "laplace", "few_vectors", "one", "shrink", "shrink_one"]
)
def test_two_classes(name, components):
    X, y = components
    model = MODELS[name].set_params(random_state=0).fit(X[:300], y[:300] % 2)
    assert_same(model, X[:600], "float64")
    assert_same_beside_borders(model, X[:600], "float32", 20)


@pytest.mark.parametrize("name", ["rbf", "laplace", "center_linear"])
def test_queries_are_rounded_to_the_type_of_the_training_rows(name, components):
    X, y = components
    model = MODELS[name].set_params(random_state=0)
    model.fit(X[:300].astype(np.float32), y[:300])
    assert_same(model, X[:900], "float64", 1e-5)
    assert_same(model, X[:900], "float32", 1e-5)
    session = open_session(to_onnx(model, dtype="float64"))
    rounded = X.astype(np.float32).astype(np.float64)
    found, expected = (run_session(session, each)["scores"] for each in (X, rounded))
    np.testing.assert_array_equal(found, expected)


def test_the_first_of_equally_near_rows_answers_where_all_are_compared():
    X, y = load_digits(return_X_y=True)
    model = LocalSVC(60, neighbors="brute", random_state=0).fit(X[:900] / 16, y[:900])
    assert_same(model, X / 16, "float64")


@pytest.mark.parametrize("neighbors", ["kd_tree", "brute"])
def test_copies_of_a_row_in_two_classes(neighbors, components):
    """The search chooses one of them, and duals that cancel are a tie."""
    X, y = components
    twice = np.concatenate([X[:200], X[:100]])
    for n_classes in (2, 10):
        other = np.concatenate([y[:200], y[:100] + 1]) % n_classes
        model = LocalSVC(8, n_assigned=4, neighbors=neighbors, random_state=0)
        model.fit(twice, other)
        session, rows = open_session(to_onnx(model, dtype="float64")), X[200:]
        found, expected = run_session(session, rows), model.decision_function(rows)
        np.testing.assert_array_equal(found["label"], model.predict(rows))
        # A tie is broken by the rounding of either: whole votes of few rows move.
        moved = (found["scores"] - expected).reshape(len(rows), -1)
        np.testing.assert_allclose(moved, np.round(moved), atol=1e-11)
        assert np.mean(np.round(moved).any(axis=1)) < 0.01


def test_neighbourhoods_of_one_class(components):
    X, y = components
    far = np.where((y == 0)[:, np.newaxis], X + 100, X)[y < 3]
    model = LocalSVC(10, random_state=0).fit(far[:300], y[y < 3][:300])
    assert 0 < model.n_constant_regions_ < model.n_regions_
    assert_same(model, far, "float64")
    two = y[y < 3] == 0
    constant = LocalSVC(5, random_state=0).fit(far[:300], two[:300])
    assert constant.n_constant_regions_ == constant.n_regions_
    assert_same(constant, far, "float64")


def test_sparse_rows_are_stored_densely(components):
    from scipy.sparse import csr_array

    X, y = components
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    model = LocalSVC(30, random_state=0).fit(csr_array(X[:300]), y[:300])
    assert_same(model, X[:600], "float64", 1e-9)


def test_far_from_the_origin(components):
    X, y = components
    model = LocalSVC(30, random_state=0).fit(X[:300] + 1e4, y[:300])
    assert_same(model, X[:900] + 1e4, "float64", 1e-6)
    assert_same_beside_borders(model, X[:900] + 1e4, "float64", 30)


def test_global_model_that_does_not_know_all_classes(components):
    X, y = components
    model = LocalSVC(30, shrink=1.0, random_state=0).fit(X[:300], y[:300])
    for known in (y[:300] < 4, y[:300] < 2):
        part = LogisticRegression().fit(X[:300][known], y[:300][known])
        object.__setattr__(model._model.prior, "classifier", part)
        assert_same(model, X[:600], "float64")


def test_search_of_its_own_is_refused(components):
    X, y = components
    for neighbors in (
        ShortListNeighbors(PCA(2), n_candidates=40),
        NearestNeighbors(metric="manhattan"),
    ):
        model = LocalSVC(30, neighbors=neighbors).fit(X[:300], y[:300])
        with pytest.raises(TypeError, match=r"neighbors=.*own way"):
            to_onnx(model)
    model = LocalSVC(30, neighbors=NearestNeighbors(metric="euclidean"))
    assert_same(model.fit(X[:300], y[:300]), X[:600], "float64")


@pytest.mark.parametrize("global_model", [SVC(), ReducedSVC()])
def test_global_model(global_model, components):
    X, y = components
    model = LocalSVC(30, shrink=1.0, global_model=global_model, random_state=0)
    model.fit(X[:300], y[:300])
    if isinstance(global_model, SVC):
        with pytest.raises(TypeError, match="global_model=SVC"):
            to_onnx(model)
    else:
        assert_same(model, X[:600], "float64")


def test_arithmetic_of_float32_is_near(components):
    X, y = components[0].astype(np.float32), components[1]
    model = LocalSVC(30, random_state=0).fit(X[:300], y[:300])
    found = run(to_onnx(model, arithmetic="float32"), X)
    assert (found["label"] == model.predict(X)).mean() > 0.999

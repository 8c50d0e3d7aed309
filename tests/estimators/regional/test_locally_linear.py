import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import Birch, KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from conftest import store
from localsvm import ClusteredSVC
from localsvm.data import make_xor
from localsvm.estimators import LocallyLinearSVC
from localsvm.inspect import RegionMapDisplay, explain
from oracles import linear_svm, locally_linear

TIGHT = {"tol": 1e-10, "max_iter": 100_000}
CODINGS = ["inverse_distance", "local_coordinates"]
coding = pytest.mark.parametrize("coding", CODINGS)


@coding
def test_xor_needs_anchors(coding):
    X, y = make_xor(400, random_state=0)
    model = LocallyLinearSVC(10, coding=coding, random_state=0).fit(X, y)
    assert model.score(*make_xor(4000, random_state=1)) >= 0.97


def anchors_of(model):
    return model.clusterer_.cluster_centers_


@coding
@pytest.mark.parametrize("n_nearest", [3, 12])
@pytest.mark.parametrize("bias", [0.0, 1.0, 0.5])
def test_decisions_are_those_of_the_expanded_problem(
    coding, n_nearest, bias, two_moons
):
    X, y = two_moons
    model = LocallyLinearSVC(
        12,
        n_nearest=n_nearest,
        coding=coding,
        C=2.0,
        fit_intercept=bias > 0,
        intercept_scaling=bias or 1.0,
        random_state=0,
        **TIGHT,
    ).fit(X, y)
    queries = X + np.random.default_rng(1).normal(0, 0.3, X.shape)

    def codes_of(rows):
        return locally_linear.dense_codes(rows, anchors_of(model), n_nearest, coding)

    expected = locally_linear.decide(X, y, queries, codes_of, 2.0, bias)
    np.testing.assert_allclose(model.decision_function(queries), expected, atol=1e-4)


@coding
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_objective_is_the_least(coding, loss, two_moons):
    X, y = two_moons
    model = LocallyLinearSVC(
        6, n_nearest=4, coding=coding, C=3.0, loss=loss, random_state=0, **TIGHT
    ).fit(X, y)
    bias = model.intercept_scaling_
    codes = locally_linear.dense_codes(X, anchors_of(model), 4, coding)
    expanded = linear_svm.expand(linear_svm.with_bias(X, bias), codes)
    sign, C = np.where(y == 1, 1.0, -1.0), np.full(len(y), 3.0)
    _, best = linear_svm.solve(expanded, sign, C, loss)
    w = np.hstack([model.coef_[:, 0], model.intercept_ / bias]).ravel()
    value = linear_svm.objective(w, expanded, sign, C, loss)
    assert value == pytest.approx(best, rel=1e-5)


@coding
def test_several_classes_are_one_against_the_rest(coding, three_classes):
    X, y = three_classes
    fit = {"coding": coding, "C": 0.5, "random_state": 0, **TIGHT}
    model = LocallyLinearSVC(10, n_nearest=4, **fit).fit(X, y)
    assert model.decision_function(X).shape == (len(X), 3)
    for column, label in enumerate(model.classes_):
        one = LocallyLinearSVC(10, n_nearest=4, **fit).fit(X, y == label)
        np.testing.assert_allclose(
            model.decision_function(X)[:, column], one.decision_function(X), atol=1e-4
        )


@coding
def test_one_anchor_is_a_linear_svm(coding, two_moons):
    X, y = two_moons
    model = LocallyLinearSVC(1, coding=coding, C=1.0, intercept_scaling=1.0, **TIGHT)
    peer = LinearSVC(loss="hinge", tol=1e-10, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(model.fit(X, y).coef_[0], peer.coef_, atol=1e-4)
    np.testing.assert_allclose(
        model.decision_function(X), peer.decision_function(X), atol=1e-4
    )


def test_one_nearest_anchor_is_one_svm_per_region(two_moons):
    X, y = two_moons
    fit = {"C": 1.0, "random_state": 0, **TIGHT}
    model = LocallyLinearSVC(5, n_nearest=1, **fit).fit(X, y)
    peer = ClusteredSVC(5, n_nearest=1, global_reg=np.inf, **fit).fit(X, y)
    np.testing.assert_array_equal(model.region(X), peer.region(X))
    np.testing.assert_allclose(
        model.decision_function(X), peer.decision_function(X), atol=1e-5
    )


@coding
def test_decision_is_continuous_with_all_anchors(coding, two_moons):
    X, y = two_moons
    model = LocallyLinearSVC(8, n_nearest=8, coding=coding, random_state=0).fit(X, y)
    path = np.linspace([-1.5, -1.5], [2.5, 2.0], 20_001)
    assert np.abs(np.diff(model.decision_function(path))).max() < 0.02


@coding
def test_rows_on_the_anchors_are_decided_by_them(coding, two_moons):
    X, y = two_moons
    model = LocallyLinearSVC(8, coding=coding, random_state=0).fit(X, y)
    anchors = anchors_of(model)
    own = np.einsum("ij,ij->i", model.coef_[:, 0], anchors) + model.intercept_[:, 0]
    tolerance = 1e-5 if coding == "inverse_distance" else 0.05
    np.testing.assert_allclose(
        model.decision_function(anchors), own, atol=tolerance * np.abs(own).max()
    )


@coding
@pytest.mark.parametrize("n_classes", [2, 3])
def test_local_coef_is_the_function_that_decides(coding, n_classes, three_classes):
    X, y = three_classes
    if n_classes == 2:
        y = np.where(y == "ash", "ash", "other")
    model = LocallyLinearSVC(10, coding=coding, random_state=0).fit(X, y)
    coef, intercept = model.local_coef(X)
    value = np.einsum("ipj,ij->ip", coef, X) + intercept
    np.testing.assert_allclose(value.squeeze(), model.decision_function(X), atol=1e-9)
    _, weights = model.region(X, return_weights=True)
    np.testing.assert_allclose(weights.sum(axis=1), 1)


def test_there_is_no_global_model(two_moons):
    model = LocallyLinearSVC(6, random_state=0).fit(*two_moons)
    assert not hasattr(model, "global_coef_")
    assert model.coef_.shape == (6, 1, 2)


@coding
@pytest.mark.parametrize("unit", [1e-3, 250.0])
def test_default_model_does_not_depend_on_the_unit(coding, unit, two_moons):
    X, y = two_moons
    centers = X[::40]
    plain, scaled = (
        LocallyLinearSVC(
            len(centers),
            coding=coding,
            clusterer=KMeans(init=centers * scale, n_init=1, max_iter=1),
            random_state=0,
            **TIGHT,
        ).fit(X * scale, y)
        for scale in (1.0, unit)
    )
    np.testing.assert_allclose(
        scaled.decision_function(X * unit), plain.decision_function(X), atol=1e-5
    )


@coding
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_does_not_change_the_model(coding, dtype, storage, three_classes):
    X, y = three_classes
    X = (X * (np.abs(X) > 0.5)).astype(dtype)
    fit = {"coding": coding, "C": 0.1, "random_state": 0}
    dense = LocallyLinearSVC(6, **fit).fit(X, y)
    other = LocallyLinearSVC(6, **fit).fit(store(X, storage), y)
    tolerance = 1e-8 if dtype == np.float64 else 2e-2
    found = other.decision_function(store(X, storage))
    np.testing.assert_allclose(
        found, dense.decision_function(X), rtol=tolerance, atol=tolerance
    )
    assert found.dtype == dtype
    assert other.coef_.dtype == dtype


@coding
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_rows_are_decided_as_in_a_batch(coding, dtype, three_classes):
    X, y = three_classes
    X = X.astype(dtype)
    model = LocallyLinearSVC(40, coding=coding, random_state=0).fit(X, y)
    singly = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(40)])
    atol = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(singly, model.decision_function(X)[:40], atol=atol)


@coding
@pytest.mark.parametrize("n_classes", [2, 3])
def test_n_jobs_does_not_change_a_bit(coding, n_classes, three_classes):
    rng = np.random.default_rng(0)
    X = np.tile(three_classes[0], (12, 1))
    X += rng.standard_normal(X.shape)
    y = np.tile(three_classes[1], 12)
    if n_classes == 2:
        y = y == "ash"
    serial, parallel = (
        LocallyLinearSVC(20, coding=coding, random_state=3, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(serial.coef_, parallel.coef_)
    np.testing.assert_array_equal(
        serial.decision_function(X), parallel.decision_function(X)
    )


@coding
@pytest.mark.parametrize("n_regions", [7, 500])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ash": 3.0}])
def test_weight_equals_repetition(coding, n_regions, class_weight, three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    fit = {"coding": coding, "class_weight": class_weight, "random_state": 0, **TIGHT}
    weighted = LocallyLinearSVC(n_regions, **fit).fit(X, y, sample_weight=weight)
    repeated = LocallyLinearSVC(n_regions, **fit).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert weighted.n_regions_ == min(n_regions, np.count_nonzero(weight))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-4
    )


def test_class_weight_moves_the_boundary(two_moons):
    X, y = two_moons
    share = [
        LocallyLinearSVC(8, C=0.01, class_weight={1: weight}, random_state=0)
        .fit(X, y)
        .predict(X)
        .mean()
        for weight in (0.2, 1.0, 5.0)
    ]
    assert share[0] < share[1] < share[2]


@pytest.mark.parametrize(
    "clusterer", [KMeans(n_init=1, random_state=0), Birch(threshold=0.1)], ids=repr
)
def test_any_clusterer_with_predict_serves(clusterer, two_moons):
    X, y = two_moons
    model = LocallyLinearSVC(9, clusterer=clusterer, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.n_regions_ == 9
    assert not hasattr(clusterer, "labels_")


def test_fitted_attributes_tell_the_story(three_classes):
    X, y = three_classes
    model = LocallyLinearSVC(6, random_state=0).fit(X, y)
    assert model.coef_.shape == (6, 3, 5)
    assert model.intercept_.shape == (6, 3)
    assert model.region_sizes_.sum() == len(X)
    assert model.duality_gap_ <= 1e-3
    assert 1 <= model.n_iter_ <= 1000
    assert set(model.fit_report_) == {
        *("cluster", "assign", "solve"),
        *("calibrate", "familiarity"),
    }
    assert model.n_support_.shape == model.classes_.shape
    assert (model.n_support_ > 0).all()
    assert (model.n_support_ <= np.unique(y, return_counts=True)[1]).all()


def test_frames_and_scikit_learn_tools(three_classes):
    X, y = three_classes
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(5)])
    pipeline = make_pipeline(StandardScaler(), LocallyLinearSVC(random_state=0))
    grid = {"locallylinearsvc__n_regions": [1, 8]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(frame, y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(frame), search.predict(frame))


@coding
def test_explanation_adds_up(coding, three_classes):
    X, y = three_classes
    model = LocallyLinearSVC(10, coding=coding, random_state=0).fit(X, y)
    for x in X[:20]:
        found = explain(model, x)
        total = found.contributions.sum() + found.intercept
        assert found.decision_value == pytest.approx(total)
        assert found.region_weights.sum() == pytest.approx(1)
        assert found.n_region_rows == model.region_sizes_[found.regions[0]]
        assert f"region {found.regions[0]} (share" in str(found)


def test_negative_weights_are_explained_too(three_classes):
    X, y = three_classes
    model = LocallyLinearSVC(10, coding="local_coordinates", random_state=0).fit(X, y)
    _, weights = model.region(X, return_weights=True)
    row = int(weights.min(axis=1).argmin())
    found = explain(model, X[row])
    np.testing.assert_array_equal(found.region_weights, weights[row])
    share = weights[row].min() / np.abs(weights[row]).sum()
    assert f"({share:.2f})" in str(found)


def test_picture_shows_the_anchors(two_moons):
    import matplotlib as mpl

    mpl.use("Agg")
    X, y = two_moons
    model = LocallyLinearSVC(6, random_state=0).fit(X, y)
    display = RegionMapDisplay.from_estimator(model, X, y, grid_resolution=40)
    np.testing.assert_array_equal(display.centers, anchors_of(model))
    display.figure_.clear()

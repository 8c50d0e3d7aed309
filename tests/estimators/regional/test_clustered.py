import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import Birch, BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from conftest import store
from localsvm import ClusteredSVC
from localsvm.cluster import CODE_CUT
from localsvm.data import make_xor
from oracles import linear_svm

TIGHT = {"tol": 1e-10, "max_iter": 100_000}
PAPER = {"n_nearest": 1, "intercept_scaling": 1.0, "random_state": 0}
N_NEAREST = [8, 1]


@pytest.mark.parametrize("n_nearest", N_NEAREST)
def test_xor_needs_regions(n_nearest):
    X, y = make_xor(400, random_state=0)
    X_test, y_test = make_xor(4000, random_state=1)
    model = ClusteredSVC(n_regions=4, n_nearest=n_nearest, random_state=0)
    assert model.fit(X, y).score(X_test, y_test) >= 0.97
    assert LinearSVC().fit(X, y).score(X_test, y_test) < 0.8


def test_hard_model_minimises_equation_3(two_moons):
    X, y = two_moons
    model = ClusteredSVC(5, C=2.0, global_reg=3.0, **PAPER, **TIGHT).fit(X, y)
    region = model.region(X)
    codes = linear_svm.coupled_codes(region, 5, 3.0)
    expanded = linear_svm.expand(linear_svm.with_bias(X, 1.0), codes)
    sign = np.where(y == 1, 1.0, -1.0)
    _, best = linear_svm.solve(expanded, sign, np.full(len(y), 2.0))
    w = np.append(model.global_coef_[0], model.global_intercept_)
    w_l = np.hstack([model.coef_[:, 0], model.intercept_])
    value = 1.5 * w @ w + 0.5 * ((w_l - w) ** 2).sum()
    margin = sign * model.decision_function(X)
    value += 2.0 * np.maximum(0, 1 - margin).sum()
    assert value == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(w, w_l.sum(axis=0) / (3.0 + 5), atol=1e-8)
    rows = np.arange(len(X))
    np.testing.assert_allclose(
        model.decision_function(X),
        np.einsum("ij,ij->i", model.coef_[region, 0][rows], X)
        + model.intercept_[region, 0],
        atol=1e-12,
    )


def test_soft_decision_mixes_the_nearest_regions(two_moons):
    X, y = two_moons
    model = ClusteredSVC(12, n_nearest=3, random_state=0).fit(X, y)
    regions, weights = model.region(X, return_weights=True)
    centers = model.clusterer_.cluster_centers_
    distance = ((X[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(regions, np.argsort(distance, axis=1)[:, :3])
    tau = 2.0 / distance.min(axis=1).mean()
    near = np.take_along_axis(distance, regions, axis=1)
    expected = np.maximum(np.exp(-tau * (near - near[:, :1])) - CODE_CUT, 0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(weights, expected, atol=1e-9)
    own = model.coef_ - model.global_coef_
    value = X @ model.global_coef_[0] + model.global_intercept_
    for slot in range(3):
        region = regions[:, slot]
        local = np.einsum("ij,ij->i", own[region, 0], X)
        local += (model.intercept_ - model.global_intercept_)[region, 0]
        value += weights[:, slot] * local
    np.testing.assert_allclose(model.decision_function(X), value, atol=1e-9)


@pytest.mark.parametrize("n_nearest", N_NEAREST)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_local_coef_is_the_function_that_decides(n_nearest, n_classes, three_classes):
    X, y = three_classes
    if n_classes == 2:
        y = np.where(y == "ash", "ash", "other")
    model = ClusteredSVC(6, n_nearest=n_nearest, random_state=0).fit(X, y)
    coef, intercept = model.local_coef(X)
    value = np.einsum("ipj,ij->ip", coef, X) + intercept
    decision = model.decision_function(X)
    np.testing.assert_allclose(value.squeeze(), decision, atol=1e-9)


def test_infinite_global_reg_is_one_svm_per_region(two_moons):
    X, y = two_moons
    model = ClusteredSVC(3, C=1.0, global_reg=np.inf, **PAPER, **TIGHT).fit(X, y)
    assert not model.global_coef_.any()
    for region in range(3):
        member = model.region(X) == region
        if len(set(y[member])) == 1:
            continue
        peer = LinearSVC(loss="hinge", tol=1e-10, max_iter=1_000_000)
        peer.fit(X[member], y[member])
        np.testing.assert_allclose(model.coef_[region], peer.coef_, atol=1e-4)


def test_soft_with_one_region_is_a_linear_svm(two_moons):
    X, y = two_moons
    model = ClusteredSVC(1, C=1.0, global_reg=np.inf, intercept_scaling=1.0, **TIGHT)
    peer = LinearSVC(loss="hinge", tol=1e-10, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(model.fit(X, y).coef_[0], peer.coef_, atol=1e-4)


@pytest.mark.parametrize("n_nearest", N_NEAREST)
@pytest.mark.parametrize("unit", [1e-3, 250.0])
def test_default_model_does_not_depend_on_the_unit(n_nearest, unit, two_moons):
    X, y = two_moons
    model = ClusteredSVC(6, n_nearest=n_nearest, random_state=0, **TIGHT).fit(X, y)
    centers = model.clusterer_.cluster_centers_
    scaled = ClusteredSVC(
        n_nearest=n_nearest,
        clusterer=KMeans(6, init=centers * unit, n_init=1, max_iter=1),
        random_state=0,
        **TIGHT,
    ).fit(X * unit, y)
    same = ClusteredSVC(
        n_nearest=n_nearest,
        clusterer=KMeans(6, init=centers, n_init=1, max_iter=1),
        random_state=0,
        **TIGHT,
    ).fit(X, y)
    np.testing.assert_allclose(
        scaled.decision_function(X * unit), same.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("n_nearest", N_NEAREST)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_does_not_change_the_model(n_nearest, dtype, storage, three_classes):
    X, y = three_classes
    X = (X * (np.abs(X) > 0.5)).astype(dtype)
    fit = {"n_nearest": n_nearest, "random_state": 0}
    dense = ClusteredSVC(6, **fit).fit(X, y)
    other = ClusteredSVC(6, **fit).fit(store(X, storage), y)
    rtol = 1e-9 if dtype == np.float64 else 2e-2
    np.testing.assert_allclose(
        other.decision_function(store(X, storage)),
        dense.decision_function(X),
        rtol=rtol,
        atol=rtol,
    )


def test_sparse_with_duplicate_entries_is_summed(two_moons):
    from scipy import sparse

    X, y = two_moons
    halves = sparse.csr_array(X / 2)
    doubled = sparse.csr_array(
        (
            np.repeat(halves.data, 2),
            np.repeat(halves.indices, 2),
            halves.indptr * 2,
        ),
        shape=X.shape,
    )
    assert not doubled.has_canonical_format
    model = ClusteredSVC(4, random_state=0).fit(doubled, y)
    expected = ClusteredSVC(4, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(doubled), expected.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("n_nearest", N_NEAREST)
def test_float32_stays_float32(n_nearest, three_classes):
    X, y = three_classes
    model = ClusteredSVC(6, n_nearest=n_nearest, random_state=0)
    model.fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    assert model.clusterer_.cluster_centers_.dtype == np.float32
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    assert model.decision_function(X).dtype == np.float64


@pytest.mark.parametrize("n_nearest", N_NEAREST)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("global_reg", [1.0, np.inf])
def test_n_jobs_does_not_change_a_bit(n_nearest, n_classes, global_reg, three_classes):
    X, y = (np.tile(part, (12, 1)) for part in (three_classes[0], three_classes[1]))
    X = X.reshape(-1, 5) + np.random.default_rng(0).standard_normal((len(X), 5))
    y = np.tile(three_classes[1], 12)
    if n_classes == 2:
        y = y == "ash"
    serial, parallel = (
        ClusteredSVC(
            20,
            n_nearest=n_nearest,
            global_reg=global_reg,
            random_state=3,
            n_jobs=n_jobs,
        ).fit(X, y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(serial.coef_, parallel.coef_)
    np.testing.assert_array_equal(serial.intercept_, parallel.intercept_)
    np.testing.assert_array_equal(
        serial.decision_function(X), parallel.decision_function(X)
    )


def test_fits_in_parallel_threads_equal_serial_ones(three_classes):
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_info

    X, y = three_classes
    before = [pool["num_threads"] for pool in threadpool_info()]

    def fit(seed):
        return ClusteredSVC(8, random_state=seed).fit(X, y).coef_

    serial = [fit(seed) for seed in range(12)]
    with ThreadPoolExecutor(4) as pool:
        parallel = list(pool.map(fit, range(12)))
    for one, other in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


@pytest.mark.parametrize("n_nearest", N_NEAREST)
def test_row_order_does_not_matter(n_nearest, three_classes):
    X, y = three_classes
    order = np.random.default_rng(0).permutation(len(X))
    fit = {"n_nearest": n_nearest, "random_state": 0, **TIGHT}
    straight = ClusteredSVC(6, **fit).fit(X, y)
    shuffled = ClusteredSVC(6, **fit).fit(X[order], y[order])
    np.testing.assert_array_equal(
        straight.clusterer_.cluster_centers_, shuffled.clusterer_.cluster_centers_
    )
    np.testing.assert_allclose(
        straight.decision_function(X), shuffled.decision_function(X), atol=1e-5
    )


@pytest.mark.parametrize("n_nearest", N_NEAREST)
@pytest.mark.parametrize("n_regions", ["auto", 7])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ash": 3.0}])
def test_weight_equals_repetition(n_nearest, n_regions, class_weight, three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    fit = {"n_nearest": n_nearest, "class_weight": class_weight, "random_state": 0}
    weighted = ClusteredSVC(n_regions, **fit, **TIGHT).fit(X, y, sample_weight=weight)
    repeated = ClusteredSVC(n_regions, **fit, **TIGHT).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert weighted.n_regions_ > 1
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-5
    )


def test_class_without_weight_keeps_its_place(three_classes):
    X, y = three_classes
    weight = (y != "birch").astype(float)
    model = ClusteredSVC(6, random_state=0).fit(X, y, sample_weight=weight)
    assert list(model.classes_) == ["ash", "birch", "cedar"]
    assert model.decision_function(X).shape == (len(X), 3)
    assert "birch" not in model.predict(X)


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(5, n_init=1),
        MiniBatchKMeans(5, n_init=1),
        BisectingKMeans(5),
        Birch(n_clusters=5),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
@pytest.mark.parametrize("n_nearest", N_NEAREST)
def test_any_clusterer_with_predict_serves(clusterer, n_nearest, two_moons):
    X, y = two_moons
    if "random_state" in clusterer.get_params():
        clusterer.set_params(random_state=0)
    model = ClusteredSVC(n_nearest=n_nearest, clusterer=clusterer, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.95
    assert not hasattr(clusterer, "labels_")
    assert model.region(X).max() < model.n_regions_


def test_integer_n_clusters_is_given_to_the_clusterer(two_moons):
    X, y = two_moons
    model = ClusteredSVC(3, clusterer=KMeans(9, n_init=1)).fit(X, y)
    assert model.n_regions_ == 3
    assert ClusteredSVC(clusterer=KMeans(9, n_init=1)).fit(X, y).n_regions_ == 9


def test_region_never_seen_is_decided_by_the_global_vector(two_moons):
    X, y = two_moons

    class Halves(KMeans):
        def predict(self, X):
            return np.where(X[:, 0] > 50, 7, (X[:, 0] > 0.5)).astype(int)

    model = ClusteredSVC(n_nearest=1, clusterer=Halves(2, n_init=1)).fit(X, y)
    far = np.array([[99.0, 0.0]])
    expected = far @ model.global_coef_[0] + model.global_intercept_
    np.testing.assert_allclose(model.decision_function(far), expected)


def test_auto_number_of_regions_grows_with_distinct_rows():
    rng = np.random.default_rng(0)
    sizes = {}
    for n in (30, 300, 3000):
        X = rng.standard_normal((n, 3))
        y = X[:, 0] > 0
        sizes[n] = ClusteredSVC(random_state=0).fit(X, y).n_regions_
    assert sizes == {30: 1, 300: 15, 3000: 55}


def test_fitted_attributes_tell_the_story(three_classes):
    X, y = three_classes
    model = ClusteredSVC(6, random_state=0).fit(X, y)
    assert model.coef_.shape == (6, 3, 5)
    assert model.intercept_.shape == (6, 3)
    assert model.global_coef_.shape == (3, 5)
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
    assert model.n_features_in_ == 5


def test_frames_keep_their_column_names(three_classes):
    X, y = three_classes
    names = [f"f{j}" for j in range(5)]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = ClusteredSVC(4, random_state=0).fit(frame, y)
        assert list(model.feature_names_in_) == names
        assert model.predict(frame).shape == y.shape


def test_works_inside_scikit_learn_tools(three_classes):
    X, y = three_classes
    pipeline = make_pipeline(StandardScaler(), ClusteredSVC(random_state=0))
    search = GridSearchCV(pipeline, {"clusteredsvc__n_regions": [1, 8]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.6
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_predict_in_threads_equals_serial(three_classes):
    from concurrent.futures import ThreadPoolExecutor

    X, y = three_classes
    model = ClusteredSVC(6, random_state=0).fit(X, y)
    expected = model.decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        for decision in pool.map(lambda _: model.decision_function(X), range(16)):
            np.testing.assert_array_equal(decision, expected)

"""LocalSVC in use: any storage, any number of threads, saved and loaded."""

import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from conftest import store
from localsvm import LocalSVC
from localsvm._threads import single_threaded_libraries
from localsvm.cluster import KernelNeighbors, TreeNeighbors
from localsvm.kernels import Kernel

KERNELS = {
    "linear": {"kernel": "linear", "C": 1.0},
    "rbf": {"kernel": "rbf"},
    "laplace": {"kernel": "laplace"},
    "homogeneous": {"kernel": "poly", "C": 1.0, "gamma": 0.2},
    "inhomogeneous": {"kernel": "poly", "C": 1.0, "gamma": 0.2, "coef0": 1.0},
}
ROUTES = ["row", "center"]


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture
def some_rows(three_classes):
    return tuple(part[:120] for part in three_classes)


def library_threads():
    return [pool["num_threads"] for pool in threadpool_info()]


@pytest.mark.parametrize("route", ROUTES)
def test_float32_stays_float32(route, kernel, some_rows):
    X, y = some_rows
    X = X.astype(np.float32)
    model = LocalSVC(20, route=route, random_state=0, tol=1e-5, **kernel)
    narrow, wide = (clone(model).fit(rows, y) for rows in (X, X.astype(np.float64)))
    scores = narrow.decision_function(X)
    assert scores.dtype == np.float32
    assert narrow.decision_function(X.astype(np.float64)).dtype == np.float32
    assert wide.decision_function(X).dtype == np.float64
    np.testing.assert_array_equal(narrow.center_indices_, wide.center_indices_)
    np.testing.assert_allclose(scores, wide.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("route", ROUTES)
def test_storage_does_not_change_the_model(route, storage, kernel, some_rows):
    X, y = (part[:80] for part in some_rows)
    X = X * (np.abs(X) > 0.5)
    stored = store(X, storage)
    model = LocalSVC(20, route=route, random_state=0, tol=1e-9, **kernel)
    dense, other = clone(model).fit(X, y), clone(model).fit(stored, y)
    expected = dense.decision_function(X)
    for fitted, queries in ((other, stored), (other, X), (dense, stored)):
        np.testing.assert_allclose(
            fitted.decision_function(queries), expected, atol=1e-6
        )
    np.testing.assert_array_equal(other.center_indices_, dense.center_indices_)


def test_zeros_that_are_stored_change_nothing(some_rows):
    X, y = some_rows
    X = X * (np.abs(X) > 0.5)
    full = sparse.csr_array(np.ones_like(X))
    full.data[:] = X.ravel()
    assert full.nnz > np.count_nonzero(X)
    stored = full, store(X, "csr_array")
    models = [LocalSVC(20, random_state=0).fit(rows, y) for rows in stored]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))


@pytest.mark.parametrize(
    ("route", "local_grid"),
    [("row", None), ("center", {"C": [0.1, 1.0], "gamma": [1.0, 2.0]})],
)
def test_n_jobs_does_not_change_a_bit(route, local_grid, kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    model = LocalSVC(30, route=route, local_grid=local_grid, random_state=0, **kernel)
    models = [clone(model).set_params(n_jobs=n).fit(X, y) for n in (1, 2, 4)]
    queries = rng.standard_normal((900, 3))
    scores = [model.decision_function(queries) for model in models]
    for model, other in zip(models[1:], scores[1:], strict=True):
        np.testing.assert_array_equal(other, scores[0])
        for name in ("center_indices_", "region_C_", "region_gamma_", "n_support_"):
            expected = getattr(models[0], name)
            np.testing.assert_array_equal(getattr(model, name), expected)


def test_predict_in_threads_equals_serial(some_rows):
    X, y = some_rows
    models = [LocalSVC(20, route=route, random_state=0).fit(X, y) for route in ROUTES]
    expected = [model.decision_function(X) for model in models]
    with ThreadPoolExecutor(4) as pool:
        for call, decision in enumerate(
            pool.map(lambda call: models[call % 2].decision_function(X), range(16))
        ):
            np.testing.assert_array_equal(decision, expected[call % 2])


def test_fits_in_threads_equal_serial_ones(some_rows):
    X, y = some_rows
    before = library_threads()

    def fit(seed):
        return LocalSVC(20, random_state=seed).fit(X, y).decision_function(X)

    serial = [fit(seed) for seed in range(6)]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(serial, pool.map(fit, range(6)), strict=True):
            np.testing.assert_array_equal(one, other)
    assert library_threads() == before


def test_libraries_are_limited_and_restored_by_any_threads():
    """OpenBLAS obeys one thread, which need be neither the first nor the last here."""
    before, within = library_threads(), []
    inside, both, left, end = (threading.Event() for _ in range(4))

    def enter_first():
        with single_threaded_libraries():
            within.extend(library_threads())
            inside.set()
            both.wait(20)
        left.set()
        end.wait(20)

    first = threading.Thread(target=enter_first)
    first.start()
    inside.wait(20)
    with single_threaded_libraries():
        both.set()
        left.wait(20)
        within.extend(library_threads())
    after = library_threads()
    end.set()
    first.join()
    assert set(within) == {1}
    assert after == before


def test_search_runs_on_as_many_threads_as_asked_for(some_rows):
    seen = []

    class Watched(NearestNeighbors):
        def kneighbors(self, *args, **kwargs):
            seen.extend(library_threads())
            return super().kneighbors(*args, **kwargs)

    LocalSVC(20, neighbors=Watched(algorithm="brute"), n_jobs=1).fit(*some_rows)
    assert seen
    assert set(seen) == {1}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "neighbors",
    ["auto", "brute", TreeNeighbors(), NearestNeighbors(algorithm="ball_tree")],
    ids=str,
)
def test_exact_searches_agree(route, neighbors, three_classes):
    X, y = three_classes
    tree, other = (
        LocalSVC(30, neighbors=search, route=route, random_state=0).fit(X, y)
        for search in ("kd_tree", neighbors)
    )
    np.testing.assert_array_equal(tree.center_indices_, other.center_indices_)
    np.testing.assert_array_equal(tree.decision_function(X), other.decision_function(X))
    assert not hasattr(neighbors, "n_samples_fit_")
    assert not hasattr(neighbors, "tree_")


@pytest.mark.parametrize("route", ROUTES)
def test_polynomial_neighbours_are_near_in_feature_space(route, some_rows):
    X, y = some_rows
    fit = {"kernel": "poly", "gamma": 0.2, "route": route, "random_state": 0}
    search = KernelNeighbors(Kernel("poly", gamma=0.2))
    models = [
        LocalSVC(20, neighbors=neighbors, **fit).fit(X, y)
        for neighbors in ("auto", "brute", search, NearestNeighbors())
    ]
    scores = [model.decision_function(X) for model in models]
    np.testing.assert_array_equal(scores[1], scores[0])
    np.testing.assert_array_equal(scores[2], scores[0])
    assert np.abs(scores[3] - scores[0]).max() > 0.1
    linear = LocalSVC(20, kernel="poly", degree=1, neighbors="kd_tree").fit(X, y)
    assert linear.predict(X).shape == y.shape


def test_attributes_tell_the_story(three_classes):
    X, y = three_classes
    X, y = np.r_[X, X[:40]], np.r_[y, y[:40]]
    model = LocalSVC(30, random_state=0, tol=1e-4).fit(X, y)
    n = model.n_regions_
    assert list(model.classes_) == ["ash", "birch", "cedar"]
    assert (model.n_neighbors_, model.n_assigned_, model.n_features_in_) == (30, 7, 5)
    for name in ("region_sizes_", "center_indices_", "region_gamma_", "region_C_"):
        assert getattr(model, name).shape == (n,)
    assert model.region_sizes_.sum() == 240
    assert (model.region_sizes_ >= 1).all()
    assert (model.region_sizes_ <= 7).all()
    regions = model.region(X)
    assert regions.shape == (280,)
    np.testing.assert_array_equal(np.bincount(regions[:240]), model.region_sizes_)
    np.testing.assert_array_equal(regions[model.center_indices_], np.arange(n))
    assert len(set(model.center_indices_)) == n
    solved = model.region_C_ > 0
    assert (~solved).sum() == model.n_constant_regions_
    assert (model.region_C_[solved] == 10.0).all()
    assert (model.C_, model.gamma_) == (10.0, 1.0)
    n_support = np.diff(model._model.models.support_start)
    assert (n_support[solved] >= 2).all()
    assert (n_support <= 30).all()
    support = np.unique(model._model.models.support)
    assert model.n_support_.sum() == len(support)
    assert (model.n_support_ > 0).all()
    assert (model.n_support_ <= np.unique(y[:240], return_counts=True)[1]).all()
    assert 0 < model.violation_ <= 1e-4
    assert 0 <= model.duality_gap_ < 1e-2
    assert model.n_iter_ > 10
    assert set(model.fit_report_) == {
        *("merge", "cover", "solve", "route"),
        *("calibrate", "familiarity"),
    }
    assert all(seconds >= 0 for seconds in model.fit_report_.values())


@pytest.mark.parametrize(
    ("n_samples", "n_neighbors", "expected"),
    [(60, "auto", (60, 15)), (300, "auto", (100, 25)), (60, 3, (3, 1))],
)
def test_default_sizes_fit_the_number_of_rows(n_samples, n_neighbors, expected):
    X = np.random.default_rng(0).standard_normal((n_samples, 2))
    model = LocalSVC(n_neighbors).fit(X, X[:, 0] > X[:, 1] ** 2)
    assert (model.n_neighbors_, model.n_assigned_) == expected


def test_frames_keep_their_column_names(some_rows):
    X, y = some_rows
    names = [f"f{j}" for j in range(5)]
    expected = LocalSVC(20, random_state=0).fit(X, y).predict(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = LocalSVC(20, random_state=0).fit(frame, y)
        assert list(model.feature_names_in_) == names
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(model.predict(frame), expected)
        assert model.region(frame).shape == y.shape


def test_read_only_memory_serves(tmp_path, some_rows):
    X, y = some_rows
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert not mapped.flags.writeable
    model = LocalSVC(20, random_state=0).fit(mapped, y)
    expected = LocalSVC(20, random_state=0).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(model.decision_function(mapped), expected)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("storage", ["dense", "csr_int32"])
@pytest.mark.parametrize("name", ["rbf", "homogeneous"])
def test_saved_models_decide_alike(route, storage, name, tmp_path, some_rows):
    X, y = some_rows
    X = store(X, storage)
    model = LocalSVC(20, route=route, random_state=0, **KERNELS[name]).fit(X, y)
    expected = model.decision_function(X)
    joblib.dump(model, tmp_path / "model")
    for again in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model"),
        joblib.load(tmp_path / "model", mmap_mode="r"),
        clone(model).fit(X, y),
    ):
        np.testing.assert_array_equal(again.decision_function(X), expected)
    assert not hasattr(clone(model), "classes_")


def test_works_inside_scikit_learn_tools(three_classes):
    X, y = three_classes
    pipeline = make_pipeline(StandardScaler(), LocalSVC(random_state=0))
    search = GridSearchCV(pipeline, {"localsvc__n_neighbors": [20, 60]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.6


@pytest.mark.parametrize("route", ROUTES)
def test_iteration_limit_warns_once_with_violation_and_remedy(route, some_rows):
    model = LocalSVC(20, route=route, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*some_rows)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert f"of {model.n_regions_} problems stopped at max_iter=1" in text
    assert f"worst violation {model.violation_:.1e}" in text
    assert "Scale the features" in text
    assert caught[0].filename == __file__


def test_a_high_iteration_limit_reaches_any_tolerance():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 2, 60)
    model = LocalSVC(40, kernel="linear", C=1e3, tol=1e-9, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(max_iter=10_000_000).fit(X, y)
    assert model.violation_ <= 1e-9
    assert model.n_iter_ > 20_000
    with pytest.warns(ConvergenceWarning, match="stopped at the iteration limit "):
        model.set_params(max_iter=None).fit(X, y)
    assert model.n_iter_ == 20_000

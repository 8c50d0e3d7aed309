import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conftest import store
from localsvm.cluster import ThresholdClustering
from oracles.threshold import threshold_clusters

SETTINGS = [
    {"max_clusters": 12},
    {"max_clusters": 12, "center": "mean"},
    {"max_clusters": 1},
    {"max_clusters": 30, "threshold": 1.0, "center": "mean"},
    {"max_clusters": None, "threshold": 1.5},
    {"max_clusters": None, "threshold": 1.5, "center": "mean"},
]


def some_rows(n_samples=300, n_features=5, dtype=np.float64, seed=0):
    """Half of the entries zero, in three heaps."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    X += 4 * rng.integers(0, 3, (n_samples, 1))
    return (X * (rng.random(X.shape) < 0.5)).astype(dtype)


def some_weights(n_samples=300, seed=1):
    return np.random.default_rng(seed).integers(0, 4, n_samples)


def pairwise(X, Z):
    return np.linalg.norm(X.astype(float)[:, None] - Z.astype(float), axis=2)


def clusters_of(model):
    return (
        model.cluster_centers_,
        model.cluster_weights_,
        model.threshold_,
        model._sums,
    )


def assert_same_clusters(one, two):
    for left, right in zip(clusters_of(one), clusters_of(two), strict=True):
        np.testing.assert_array_equal(left, right, strict=True)


def assert_equals_oracle(model, X, weight):
    labels, clusters, threshold = threshold_clusters(
        X, weight, model.threshold or 0.0, model.max_clusters, model.center
    )
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(
        model.cluster_weights_, [cluster.weight for cluster in clusters]
    )
    tolerance = 1e-12 if X.dtype == np.float64 else 1e-5
    centers = np.array([cluster.center for cluster in clusters])
    assert model.cluster_centers_.dtype == X.dtype
    np.testing.assert_allclose(
        model.cluster_centers_, centers, rtol=tolerance, atol=tolerance
    )
    assert model.threshold_ == pytest.approx(threshold, rel=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("setting", SETTINGS)
def test_equals_the_slow_version(setting, dtype, storage):
    X, weight = some_rows(dtype=dtype), some_weights()
    model = ThresholdClustering(**setting).fit(store(X, storage), sample_weight=weight)
    assert_equals_oracle(model, X, weight)
    assert model.moved_to_.shape == (0,)


# Whole numbers: many distances are equal to one another and to the threshold.
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("max_clusters", "threshold"), [(9, 0.0), (None, 2.0)])
def test_ties_go_to_the_first_and_the_threshold_is_within(
    max_clusters, threshold, dtype, seed
):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (250, 4)).astype(dtype)
    model = ThresholdClustering(max_clusters, threshold=threshold).fit(X)
    assert_equals_oracle(model, X, np.ones(250))


def test_far_from_the_origin_float32_is_as_exact_as_the_rows():
    X = (some_rows() + 3000).astype(np.float32)
    for setting in SETTINGS:
        model = ThresholdClustering(**setting).fit(X)
        assert_equals_oracle(model, X, np.ones(300))


@pytest.mark.parametrize("center", ["leader", "mean"])
@pytest.mark.parametrize("max_clusters", [1, 2, 7, 40])
def test_there_are_never_more_clusters_than_allowed(max_clusters, center):
    model = ThresholdClustering(max_clusters, center=center)
    X = some_rows()
    threshold = 0.0
    for start in range(0, 300, 7):
        model.partial_fit(X[start : start + 7])
        assert len(model.cluster_centers_) <= max_clusters
        assert model.threshold_ >= threshold
        threshold = model.threshold_
    model.set_params(max_clusters=1).partial_fit(X[:1])
    assert len(model.cluster_centers_) == 1
    assert set(model.moved_to_) == {0}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("setting", SETTINGS)
def test_batches_give_the_bits_of_one_fit(setting, dtype):
    X, weight = some_rows(dtype=dtype), some_weights() + 0.3
    whole = ThresholdClustering(**setting).fit(X, sample_weight=weight)
    model = ThresholdClustering(**setting)
    labels = np.empty(0, dtype=np.int32)
    for batch in np.split(np.arange(300), [1, 30, 31, 180]):
        n_before = len(getattr(model, "cluster_centers_", ()))
        model.partial_fit(X[batch], sample_weight=weight[batch])
        assert len(model.moved_to_) == n_before
        labels = np.r_[model.moved_to_[labels], model.labels_]
    assert_same_clusters(whole, model)
    np.testing.assert_array_equal(whole.labels_, labels)


@pytest.mark.parametrize("setting", SETTINGS)
def test_weight_two_is_the_row_twice_in_a_row(setting):
    X, weight = some_rows(), some_weights()
    weighted = ThresholdClustering(**setting).fit(X, sample_weight=weight)
    repeated = ThresholdClustering(**setting).fit(np.repeat(X, weight, axis=0))
    tolerance = 1e-9 if weighted.center == "mean" else 0
    pairs = list(zip(clusters_of(weighted), clusters_of(repeated), strict=True))
    for one, two in pairs[:-1]:
        np.testing.assert_allclose(one, two, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(*pairs[-1], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weight), repeated.labels_)


@pytest.mark.parametrize("setting", SETTINGS)
def test_weight_zero_is_absence_and_labels_by_the_nearest_centre(setting):
    X, weight = some_rows(), np.minimum(1, some_weights())
    there, absent = weight > 0, weight == 0
    weighted = ThresholdClustering(**setting).fit(X, sample_weight=weight)
    fewer = ThresholdClustering(**setting).fit(X[there])
    assert_same_clusters(weighted, fewer)
    np.testing.assert_array_equal(weighted.labels_[there], fewer.labels_)
    nearest = pairwise(X[absent], weighted.cluster_centers_).argmin(axis=1)
    np.testing.assert_array_equal(weighted.labels_[absent], nearest)


@pytest.mark.parametrize("setting", SETTINGS)
def test_clusters_weigh_what_their_rows_weigh(setting):
    X, weight = some_rows(), some_weights()
    model = ThresholdClustering(**setting).fit(X, sample_weight=weight)
    mass = np.bincount(model.labels_, weights=weight)
    np.testing.assert_array_equal(model.cluster_weights_, mass)
    if model.center == "mean":
        for k, center in enumerate(model.cluster_centers_):
            own = model.labels_ == k
            np.testing.assert_allclose(
                center, np.average(X[own], axis=0, weights=weight[own])
            )


def test_leaders_keep_their_distance_and_rows_stay_within():
    X = some_rows()
    model = ThresholdClustering(None, threshold=1.5).fit(X)
    assert model.threshold_ == 1.5
    own = pairwise(X, model.cluster_centers_)[np.arange(300), model.labels_]
    assert own.max() <= 1.5
    centers = model.cluster_centers_
    apart = pairwise(centers, centers)[np.triu_indices(len(centers), 1)]
    assert apart.min() > 1.5
    first = [np.flatnonzero((center == X).all(axis=1))[0] for center in centers]
    assert (np.diff(first) > 0).all()


def test_the_nearest_centre_decides_and_not_the_farthest_as_printed():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (100, 2)) + np.repeat([[0.0, 0.0], [9.0, 9.0]], 50, axis=0)
    assert len(ThresholdClustering(None, threshold=4.0).fit(X).cluster_centers_) == 2
    centers = [X[0]]
    for row in X[1:]:
        if np.linalg.norm(row - centers, axis=1).max() > 4.0:
            centers.append(row)
    assert len(centers) == 51  # the first heap, and every row of the second


def test_dense_regions_keep_their_share_of_the_clusters():
    """By plain distances one cluster of fifty would take more than half of the rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5)) * np.where(np.arange(4000) % 2, 1, 3)[:, None]
    model = ThresholdClustering(50).fit(X)
    assert len(model.cluster_weights_) > 40
    assert model.cluster_weights_.max() < 600
    assert (model.cluster_weights_ == 1).sum() < 4


def test_threshold_stays_where_all_distinct_rows_fit():
    X = np.repeat(some_rows(20), 3, axis=0)
    model = ThresholdClustering(20).fit(X)
    assert model.threshold_ == 0
    np.testing.assert_array_equal(model.cluster_centers_, X[::3])
    np.testing.assert_array_equal(model.cluster_weights_, np.full(20, 3.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prediction_is_the_nearest_centre(storage, dtype):
    X, queries = some_rows(dtype=dtype), some_rows(dtype=dtype, seed=5)
    model = ThresholdClustering(15, n_jobs=2).fit(X)
    distance = pairwise(queries, model.cluster_centers_)
    predicted = model.predict(store(queries, storage))
    assert predicted.dtype == np.int32
    np.testing.assert_array_equal(predicted, distance.argmin(axis=1))


def test_rows_take_the_type_of_the_centres():
    X = some_rows()
    narrow = X.astype(np.float32)
    model = ThresholdClustering(9).fit(narrow[:100]).partial_fit(X[100:])
    assert_same_clusters(model, ThresholdClustering(9).fit(narrow))
    wide = ThresholdClustering(9).fit(X[:100])
    wide.partial_fit(sparse.csr_array(narrow[100:]))
    assert wide.cluster_centers_.dtype == np.float64
    assert model.predict(X).shape == wide.predict(narrow).shape == (300,)


def test_fit_begins_anew_and_earlier_arrays_stay():
    X = some_rows()
    model = ThresholdClustering(9, center="mean").fit(X[:150])
    before = clusters_of(model)
    copies = [np.copy(values) for values in before]
    model.partial_fit(X[150:])
    for values, copy in zip(before, copies, strict=True):
        np.testing.assert_array_equal(values, copy)
    assert_same_clusters(model.fit(X), clone(model).fit(X))


def test_pickled_model_goes_on():
    X = some_rows()
    model = ThresholdClustering(9, center="mean").fit(X[:150])
    copy = pickle.loads(pickle.dumps(model))
    assert_same_clusters(model.partial_fit(X[150:]), copy.partial_fit(X[150:]))
    np.testing.assert_array_equal(model.predict(X), copy.predict(X))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"max_clusters": 0}, r"'max_clusters' .* None or an int in the range \[1, "),
        ({"max_clusters": 2.5}, "'max_clusters' .* Got 2.5 instead"),
        ({"threshold": -1.0}, r"'threshold' .* in the range \[0, inf\). Got -1.0"),
        ({"threshold": float("inf")}, "'threshold' .* Got inf"),
        ({"center": "median"}, "'center' .* 'leader' or 'mean'. Got 'median'"),
        ({"max_clusters": None}, "max_clusters and threshold are both None"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters_are_named(setting, message, method):
    with pytest.raises(ValueError, match=message):
        getattr(ThresholdClustering(**setting), method)(some_rows())


def with_entry(value):
    X = some_rows()
    X[7, 2] = value
    return X


@pytest.mark.parametrize(
    ("X", "sample_weight", "message"),
    [
        (with_entry(np.nan), None, "contains NaN: .* row 7, column 2"),
        (with_entry(1e200), None, "not finite: X has entries too large"),
        (some_rows(), np.full(300, -1.0), "Negative values .* `sample_weight`"),
        (some_rows(), np.zeros(300), "at least one non-zero"),
        (some_rows(), np.ones(299), "inconsistent numbers of samples"),
        (some_rows(), np.full(300, 1e308), r"sample_weight has values up to 1e\+308"),
        (np.zeros((300, 5)), np.full(300, 1e308), "too large for the weighted sums"),
    ],
)
@pytest.mark.parametrize("center", ["leader", "mean"])
def test_bad_input_is_named_and_changes_nothing(X, sample_weight, message, center):
    model = ThresholdClustering(5, center=center)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, sample_weight=sample_weight)
    with pytest.raises(NotFittedError):
        model.predict(some_rows())
    model.fit(some_rows())
    before = dict(vars(model))
    for method in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            method(X, sample_weight=sample_weight)
        assert all(vars(model)[name] is value for name, value in before.items())


def test_rows_of_another_width_or_range_are_refused():
    model = ThresholdClustering(5).fit(some_rows(dtype=np.float32))
    for method in (model.partial_fit, model.predict):
        with pytest.raises(ValueError, match="X has 4 features"):
            method(some_rows(n_features=4))
        with pytest.raises(ValueError, match="entries too large for their squares"):
            method(with_entry(1e60))


# The rows are scanned for many seconds: nothing of that may be seen.
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from localsvm.cluster import ThresholdClustering
X = np.random.default_rng(0).standard_normal((300_000, 50))
model = ThresholdClustering(3000).fit(X[:500])
before = dict(vars(model))
copies = {name: np.copy(value) for name, value in before.items()}
def interrupt():
    time.sleep(0.5)
    print(time.process_time(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    model.partial_fit(X)
except KeyboardInterrupt:
    print(time.process_time(), flush=True)
    assert vars(model).keys() == before.keys()
    for name, value in vars(model).items():
        assert value is before[name] and np.array_equal(value, copies[name]), name
    sys.exit(0)
sys.exit(1)
"""


def test_interrupt_is_answered_and_changes_nothing():
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    sent, seen = (float(line) for line in run.stdout.split())
    assert seen - sent < 0.5  # seconds of CPU, as promised

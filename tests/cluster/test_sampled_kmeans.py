import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from conftest import store
from localsvm.cluster import SampledKMeans


@pytest.fixture
def blobs():
    X, _ = make_blobs(2000, n_features=6, centers=12, random_state=0)
    return X


def inertia(X, centers):
    return ((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum()


def test_quality_is_that_of_kmeans(blobs):
    ours = SampledKMeans(12, random_state=0).fit(blobs)
    peer = KMeans(12, n_init=1, random_state=0).fit(blobs)
    assert inertia(blobs, ours.cluster_centers_) <= 1.3 * peer.inertia_


def test_a_sample_is_enough(blobs):
    ours = SampledKMeans(12, max_samples=300, random_state=0).fit(blobs)
    assert ours.n_sampled_ == 300
    assert inertia(blobs, ours.cluster_centers_) <= 1.3 * (
        KMeans(12, n_init=1, random_state=0).fit(blobs).inertia_
    )


def test_labels_are_the_nearest_centres(blobs):
    model = SampledKMeans(12, random_state=0).fit(blobs)
    distance = ((blobs[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.labels_, distance.argmin(axis=1))
    np.testing.assert_array_equal(model.labels_, model.predict(blobs))


@pytest.mark.parametrize("max_samples", [None, 200])
def test_centres_do_not_depend_on_order_copies_or_threads(blobs, max_samples):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(blobs))
    order = rng.permutation(weight.sum())
    settings = {"max_samples": max_samples, "random_state": 7}
    weighted = SampledKMeans(9, **settings).fit(blobs, sample_weight=weight)
    repeated = SampledKMeans(9, n_jobs=2, **settings).fit(
        np.repeat(blobs, weight, axis=0)[order]
    )
    np.testing.assert_array_equal(weighted.cluster_centers_, repeated.cluster_centers_)


def test_another_seed_gives_other_centres(blobs):
    one, two = (
        SampledKMeans(5, max_samples=100, random_state=seed).fit(blobs)
        for seed in (0, 1)
    )
    assert not np.array_equal(one.cluster_centers_, two.cluster_centers_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_does_not_change_the_sample(blobs, storage, dtype):
    X = (blobs * (np.abs(blobs) > 1)).astype(dtype)
    dense = SampledKMeans(9, random_state=0).fit(X)
    other = SampledKMeans(9, random_state=0).fit(store(X, storage))
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(
        dense.cluster_centers_, other.cluster_centers_, atol=tolerance
    )
    assert other.cluster_centers_.dtype == dtype
    np.testing.assert_array_equal(other.labels_, other.predict(store(X, storage)))


def test_far_from_the_origin_float32_still_finds_the_nearest():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3))
    far = (X + 300).astype(np.float32)
    model = SampledKMeans(20, random_state=0).fit(far)
    wide = far.astype(np.float64)
    centers = model.cluster_centers_.astype(np.float64)
    distance = ((wide[:, None] - centers) ** 2).sum(axis=2)
    chosen = distance[np.arange(500), model.labels_]
    assert (chosen <= distance.min(axis=1) + 1e-3).all()


def test_auto_number_of_clusters():
    X = np.random.default_rng(0).standard_normal((900, 2))
    model = SampledKMeans("auto", random_state=0).fit(np.repeat(X, 3, axis=0))
    assert len(model.cluster_centers_) == 30

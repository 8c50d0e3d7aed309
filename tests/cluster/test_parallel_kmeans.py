"""k-means by passes over parts of the rows."""

from functools import reduce

import numpy as np
import pytest
from sklearn.cluster import KMeans

from conftest import store
from localsvm.cluster import ParallelKMeans, _parallel_kmeans as module


class Parts:
    """Rows in parts, which counts the passes."""

    def __init__(self, X, weight, edges):
        self.parts = [
            (X[first:last], weight[first:last])
            for first, last in zip(edges, [*edges[1:], len(X)], strict=True)
        ]
        self.stages = []

    def reduce(self, function, *arguments, stage):
        self.stages.append(stage)
        found = [function(*part, *arguments) for part in self.parts]
        return reduce(lambda first, second: first.merge(second), found)


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    centers = rng.uniform(-10, 10, (12, 3))
    sizes = rng.integers(4, 300, 12)
    return np.concatenate(
        [rng.normal(c, 0.2, (n, 3)) for c, n in zip(centers, sizes, strict=True)]
    )


def inertia(X, centers):
    return ((X[:, np.newaxis] - centers) ** 2).sum(axis=2).min(axis=1).sum()


def test_clusters_are_as_good_as_those_of_scikit_learn(blobs):
    ours, theirs = (
        np.median(
            [
                inertia(blobs, model(12, random_state=seed).fit(blobs).cluster_centers_)
                for seed in range(9)
            ]
        )
        for model in (ParallelKMeans, lambda k, **s: KMeans(k, n_init=1, **s))
    )
    assert ours <= 1.1 * theirs


def test_parts_do_not_matter(blobs):
    weight = np.random.default_rng(1).integers(0, 3, len(blobs)).astype(float)
    whole = ParallelKMeans(9, random_state=0).fit(blobs, sample_weight=weight)
    parts = Parts(blobs, weight, [0, 1, 100, 100, 700])
    found = ParallelKMeans(9, random_state=0).fit_passes(parts)
    np.testing.assert_allclose(found.cluster_centers_, whole.cluster_centers_)
    rounds = [f"round{number}" for number in range(1, 6)]
    lloyd = [f"lloyd{number}" for number in range(1, found.n_iter_ + 1)]
    assert parts.stages == ["first", *rounds, "share", *lloyd]


def test_few_candidates_are_drawn(blobs, monkeypatch):
    counts = []
    original = ParallelKMeans._choose
    monkeypatch.setattr(
        ParallelKMeans,
        "_choose",
        lambda self, rows, *rest: (
            counts.append(len(rows)) or original(self, rows, *rest)
        ),
    )
    for seed in range(20):
        ParallelKMeans(12, random_state=seed, max_iter=1).fit(blobs)
    assert 35 < np.mean(counts) < 75


def test_lloyd_goes_on_from_the_first_centres(blobs):
    model = ParallelKMeans(12, random_state=0, max_iter=300, tol=0.0).fit(blobs)
    labels = ((blobs[:, np.newaxis] - model.cluster_centers_) ** 2).sum(axis=2)
    means = [blobs[labels.argmin(axis=1) == k].mean(axis=0) for k in range(12)]
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-12)
    np.testing.assert_array_equal(model.labels_, labels.argmin(axis=1))
    assert model.inertia_ == pytest.approx(inertia(blobs, model.cluster_centers_))
    assert 1 <= model.n_iter_ < 300


def test_weight_equals_repetition(blobs):
    weight = np.random.default_rng(0).integers(0, 4, len(blobs))
    weighted = ParallelKMeans(9, random_state=0).fit(blobs, sample_weight=weight)
    repeated = ParallelKMeans(9, random_state=0).fit(np.repeat(blobs, weight, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)


def test_storage_and_threads_do_not_matter(blobs, storage, monkeypatch):
    blobs = blobs * (np.abs(blobs) > 1)
    expected = ParallelKMeans(9, random_state=0).fit(blobs).cluster_centers_
    monkeypatch.setattr(module, "_BLOCK_ROWS", 100)
    found = [
        ParallelKMeans(9, random_state=0, n_jobs=n_jobs).fit(store(blobs, storage))
        for n_jobs in (1, 3)
    ]
    np.testing.assert_array_equal(*(model.cluster_centers_ for model in found))
    np.testing.assert_allclose(found[0].cluster_centers_, expected)


def test_fewer_distinct_rows_than_clusters():
    X = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    model = ParallelKMeans(4, random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(model.cluster_centers_.ravel()), [0, 1, 2])
    with pytest.raises(ValueError, match=r"n_samples=15 should be >= n_clusters=16"):
        ParallelKMeans(16).fit(X)

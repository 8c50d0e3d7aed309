"""The first pass over blocks, and clusters of blocks."""

import numpy as np
import pytest
from scipy import sparse

from localsvm.cluster import PDDP
from localsvm.engine import Block, Blocks
from localsvm.passes import Survey, cluster_centers, survey_block
from localsvm.passes._clusterer import sum_clusters
from localsvm.rows import Rows, RowSample


def make_block(n_rows=60, seed=0, *, storage="dense"):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n_rows, 3)), 1)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, n_rows)]
    weight = rng.integers(0, 3, n_rows).astype(float)
    return Block(X if storage == "dense" else sparse.csr_array(X), y, weight)


def cut(block, place):
    return [
        Block(block.X[own], block.y[own], block.sample_weight[own])
        for own in (slice(place), slice(place, None))
    ]


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("limit", [0, 10, 100])
def test_merged_survey_is_that_of_the_whole(storage, limit):
    whole = make_block(storage=storage)
    expected = survey_block(whole, 3, limit)
    first, second = (survey_block(each, 3, limit) for each in cut(whole, 17))
    found = Survey.from_arrays(first.as_arrays()).merge(second)
    assert found.n_rows == 60
    np.testing.assert_allclose(found.mean_squared_norm, expected.mean_squared_norm)
    totals, wanted = found.content.totals, expected.content.totals
    np.testing.assert_array_equal(totals.classes, wanted.classes)
    np.testing.assert_allclose(totals.mass, wanted.mass)
    np.testing.assert_allclose(totals.counts, wanted.counts)
    np.testing.assert_array_equal(found.content.ends, expected.content.ends)
    np.testing.assert_allclose(found.content.scale_gamma, expected.content.scale_gamma)
    if not limit:
        assert found.sample is None
        return
    assert len(found.sample.hashes) <= limit
    np.testing.assert_array_equal(found.sample.hashes, expected.sample.hashes)
    np.testing.assert_allclose(found.sample.weight, expected.sample.weight)


def test_rows_in_memory_are_not_checked_again():
    block = make_block()
    index = np.searchsorted(["a", "b", "c"], block.y).astype(np.int32)
    rows = Rows.weighted(block.X, index, block.sample_weight, 3)
    found = Blocks.in_memory(rows, None).reduce(survey_block, stage="scan")
    assert found.content is None
    assert found.mean_squared_norm == survey_block(block).mean_squared_norm


def test_centres_of_a_clusterer_without_them_are_means():
    block = make_block()
    block = Block(block.X, block.y, np.ones(60))
    clusterer = PDDP(4).fit(block.X)
    labels = clusterer.predict(block.X)
    first, second = (sum_clusters(each, clusterer) for each in cut(block, 20))
    found = first.merge(second)
    for label in np.unique(labels):
        np.testing.assert_allclose(
            found.sums[label] / found.mass[label], block.X[labels == label].mean(axis=0)
        )
    rows = Rows.weighted(block.X, labels.astype(np.int32), block.sample_weight, 4)
    if not hasattr(clusterer, "cluster_centers_"):
        centers = cluster_centers(Blocks.in_memory(rows, None), clusterer)
        np.testing.assert_allclose(centers[0], block.X[labels == 0].mean(axis=0))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_arrays_are_the_sample(storage):
    X = np.random.default_rng(0).integers(0, 3, (80, 2)).astype(float)
    sample = RowSample.draw(storage(X), np.ones(80), 7, 5)
    found = RowSample.from_arrays(sample.as_arrays())
    assert (found.rows != sample.rows).sum() == 0
    np.testing.assert_array_equal(found.hashes, sample.hashes)
    assert found.limit == 5

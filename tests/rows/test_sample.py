"""Samples of rows that are drawn part by part."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from localsvm.cluster import SampledKMeans
from localsvm.rows._sample import RowSample


def make_rows(n=400, n_distinct=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_distinct, 3))[rng.integers(0, n_distinct, n)]
    return X, rng.integers(0, 3, n).astype(float)


def drawn_in_parts(X, weight, edges, limit, seed=7):
    sample = None
    for first, last in pairwise(edges):
        part = RowSample.draw(X[first:last], weight[first:last], seed, limit)
        sample = part if sample is None else sample.merge(part)
    return sample


@pytest.mark.parametrize("limit", [20, 1000])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_parts_do_not_matter(limit, storage):
    X, weight = make_rows()
    X = storage(X)
    whole = RowSample.draw(X, weight, 7, limit)
    for edges in ([0, 1, 200, 400], [0, 399, 400], [0, 100, 100, 400]):
        sample = drawn_in_parts(X, weight, edges, limit)
        assert (sample.rows != whole.rows).sum() == 0
        np.testing.assert_array_equal(sample.weight, whole.weight)
        np.testing.assert_array_equal(sample.hashes, whole.hashes)
        assert sample.n_distinct == whole.n_distinct


def test_weights_of_copies_are_added():
    X, weight = make_rows()
    sample = RowSample.draw(X, weight, 7, 1000)
    present = weight > 0
    assert sample.n_distinct == len(np.unique(X[present], axis=0))
    assert sample.weight.sum() == weight.sum()
    first = (sample.rows[0] == X).all(axis=1)
    assert sample.weight[0] == weight[first].sum()


def test_number_of_distinct_rows_is_estimated():
    X = np.random.default_rng(0).standard_normal((50_000, 2))
    sample = RowSample.draw(X, np.ones(len(X)), 3, 2000)
    assert len(sample.hashes) == 2000
    assert sample.n_distinct == pytest.approx(50_000, rel=0.06)


@pytest.mark.parametrize("n_clusters", [6, "auto"])
def test_centres_of_a_sample_are_those_of_the_rows(n_clusters):
    X, weight = make_rows(3000, 900)
    model = SampledKMeans(n_clusters, random_state=5)
    expected = model.fit(X, sample_weight=weight).cluster_centers_
    limit = model.sample_limit(len(X))
    sample = drawn_in_parts(X, weight, [0, 10, 1500, 3000], limit, model.sample_seed)
    found = SampledKMeans(n_clusters, random_state=5).fit_sample(sample)
    np.testing.assert_array_equal(found.cluster_centers_, expected)
    assert found.n_features_in_ == 3

"""Rows to summaries: hard and soft clusters, any clusterer, any order of rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from conftest import store
from localsvm.cluster import (
    SampledKMeans,
    summarize_classes,
    summarize_clusters,
    summarize_rows,
)
from oracles.gaussian_summary import summarize

KINDS = ["diag", "full", "none"]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4)) * (rng.random((150, 4)) > 0.4)
    return X + np.eye(4)[rng.integers(0, 4, 150)] * 3


def assert_is(summary, expected):
    np.testing.assert_allclose(summary.weight, expected[0], rtol=1e-12)
    np.testing.assert_allclose(summary.mean, expected[1], atol=1e-12)
    if expected[2] is None:
        assert summary.covariance is None
    else:
        np.testing.assert_allclose(summary.covariance, expected[2], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hard_clusters_have_the_moments_of_their_rows(rows, kind, storage, dtype):
    X = rows.astype(dtype)
    clusters = np.random.default_rng(1).integers(0, 7, len(X))
    clusters[clusters == 3] = 4  # nobody is in cluster 3
    expected = summarize(X.astype(np.float64), np.eye(7)[clusters], kind)
    summary = summarize_rows(store(X, storage), clusters, covariance=kind)
    assert summary.n_clusters == 6
    assert_is(summary, expected)
    assert summary.mean.dtype == np.float64


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_soft_clusters_share_their_rows(rows, kind, form):
    shares = np.random.default_rng(1).dirichlet(np.full(5, 0.3), len(rows))
    shares[:, 2] = 0
    weight = np.random.default_rng(2).uniform(0, 2, len(rows))
    expected = summarize(rows, shares * weight[:, None], kind)
    summary = summarize_rows(rows, form(shares), sample_weight=weight, covariance=kind)
    assert_is(summary, expected)


def test_weight_two_is_the_row_twice(rows, kind):
    rng = np.random.default_rng(1)
    clusters, weight = rng.integers(0, 4, len(rows)), rng.integers(0, 3, len(rows))
    weighted = summarize_rows(rows, clusters, sample_weight=weight, covariance=kind)
    repeated = summarize_rows(
        np.repeat(rows, weight, axis=0), np.repeat(clusters, weight), covariance=kind
    )
    assert_is(weighted, (repeated.weight, repeated.mean, repeated.covariance))


def test_cluster_of_rows_without_weight_is_left_out(rows, kind):
    summary = summarize_rows(
        rows[:4], [0, 1, 1, 2], sample_weight=[1, 0, 0, 2], covariance=kind
    )
    np.testing.assert_array_equal(summary.weight, [1, 2])
    np.testing.assert_array_equal(summary.mean, rows[[0, 3]])


def test_unknown_covariance_is_refused(rows):
    with pytest.raises(ValueError, match=r"one of 'diag', 'full', 'none'. Got 'tied'"):
        summarize_rows(rows, np.zeros(len(rows), int), covariance="tied")


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(6, n_init=1, random_state=0),
        SampledKMeans(6, random_state=0),
        AgglomerativeClustering(6),
    ],
    ids=lambda each: type(each).__name__,
)
def test_any_clusterer_is_summarised_by_its_labels(rows, kind, clusterer):
    summary = summarize_clusters(clusterer, rows, covariance=kind, label="ash")
    assert_is(summary, summarize(rows, np.eye(6)[clusterer.labels_], kind))
    assert summary.label.tolist() == ["ash"] * 6


@pytest.mark.parametrize("mixture", [GaussianMixture, BayesianGaussianMixture])
def test_mixture_is_summarised_by_its_responsibilities(rows, kind, mixture):
    model = mixture(n_components=4, covariance_type="diag", random_state=0)
    summary = summarize_clusters(model, rows, covariance=kind)
    assert_is(summary, summarize(rows, model.predict_proba(rows), kind))
    assert summary.weight.sum() == pytest.approx(len(rows))


def test_mixture_summary_is_that_of_its_last_step(rows):
    model = GaussianMixture(
        3, covariance_type="full", random_state=0, reg_covar=0, tol=1e-10, max_iter=5000
    )
    summary = summarize_clusters(model, rows, covariance="full")
    np.testing.assert_allclose(summary.mean, model.means_, atol=1e-4)
    np.testing.assert_allclose(summary.covariance, model.covariances_, atol=1e-3)


def test_rows_without_weight_are_not_seen(rows):
    weight = (np.arange(len(rows)) % 3 > 0).astype(float)
    for clusterer in (KMeans(5, n_init=1, random_state=0), AgglomerativeClustering(5)):
        weighted = summarize_clusters(clusterer, rows, sample_weight=weight)
        left_out = summarize_clusters(clusterer, rows[weight > 0])
        np.testing.assert_allclose(weighted.mean, left_out.mean)


def test_noise_rows_are_refused(rows):
    with pytest.raises(ValueError, match=r"DBSCAN gave the label -1 .* without noise"):
        summarize_clusters(DBSCAN(eps=0.01), rows)


def test_labels_of_the_wrong_form_are_refused(rows):
    class Strange:
        def fit(self, X):
            self.labels_ = np.zeros(3)
            return self

    with pytest.raises(
        ValueError, match=r"Strange.labels_ .* got shape \(3,\) and dtyp"
    ):
        summarize_clusters(Strange(), rows)


def same_bits(one, two):
    for name in ("weight", "mean", "covariance", "label"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_classes_do_not_depend_on_order_copies_or_threads(rows, kind):
    rng = np.random.default_rng(1)
    y = np.array(["ash", "birch", "cedar"])[rng.integers(0, 3, len(rows))]
    weight = rng.integers(0, 4, len(rows))
    order = rng.permutation(weight.sum())
    settings = {"covariance": kind, "seed": 7}
    clusterer = KMeans(4, n_init=1)
    weighted = summarize_classes(clusterer, rows, y, sample_weight=weight, **settings)
    repeated = summarize_classes(
        clusterer,
        np.repeat(rows, weight, axis=0)[order],
        np.repeat(y, weight)[order],
        n_jobs=3,
        **settings,
    )
    same_bits(weighted, repeated)
    assert weighted.label.tolist() == ["ash"] * 4 + ["birch"] * 4 + ["cedar"] * 4
    other = summarize_classes(clusterer, rows, y, covariance=kind, seed=8)
    assert not np.array_equal(other.mean, weighted.mean)


def test_small_class_has_as_many_clusters_as_rows(rows):
    y = np.arange(len(rows)) < 3
    for clusterer in (KMeans(20, n_init=1), GaussianMixture(20, reg_covar=1e-3)):
        summary = summarize_classes(clusterer, rows, y)
        assert (summary.label).sum() <= 3
        assert summary.weight[summary.label].sum() == pytest.approx(3)


def test_class_without_weight_has_no_cluster(rows):
    y = np.arange(len(rows)) % 3
    summary = summarize_classes(
        KMeans(4, n_init=1), rows, y, sample_weight=(y != 1).astype(float)
    )
    assert np.unique(summary.label).tolist() == [0, 2]

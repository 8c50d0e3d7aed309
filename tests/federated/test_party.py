import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from conftest import store
from federated_data import assert_same, blobs, share
from localsvm.federated import (
    Party,
    PartyRecord,
    SharedSummary,
    min_size,
    none,
    random_centers,
)

CENTERS = random_centers((0.0, 1.0), 8, n_features=3)


def test_small_clusters_do_not_leave_by_default():
    X, y = blobs(500)
    shared = Party("a", n_clusters=100).summarize(X, y)
    assert shared.parties[0].privacy == min_size(10, 5)
    assert shared.summary.weight.min() >= 10
    assert (shared.summary.weight % 5 == 0).all()


def test_the_record_does_not_tell_the_exact_count():
    X, y = blobs(507)
    (record,) = share("a", X, y, min_size(10, 5), n_clusters=4).parties
    assert record.rows % 5 == 0
    assert record.rows == pytest.approx(507, abs=25)


def test_no_class_has_more_clusters_than_asked_for():
    X, y = blobs(500)
    shared = share("a", X, y, n_clusters=7)
    _, count = np.unique(shared.summary.label, return_counts=True)
    assert (count <= 7).all()
    assert (count > 1).all()


@pytest.mark.parametrize("clusterer", [KMeans(3), GaussianMixture(3)])
def test_other_clusterers_can_be_given(clusterer):
    X, y = blobs(200)
    shared = share("a", X, y, clusterer=clusterer)
    assert shared.summary.n_clusters == 6
    assert shared.summary.weight.sum() == pytest.approx(200)


def test_neither_the_order_of_the_rows_nor_a_second_run_changes_anything():
    X, y = blobs(400)
    order = np.random.default_rng(0).permutation(400)
    first = share("a", X, y, min_size(), n_clusters=20)
    again = share("a", X[order], y[order], min_size(), n_clusters=20)
    assert_same(first, again)


@pytest.mark.parametrize("centers", [None, CENTERS])
def test_sparse_rows_give_the_clusters_of_dense_ones(storage, centers):
    X, y = blobs(300)
    X[X < 0.4] = 0
    parameters = {"centers": centers, "clusterer": KMeans(4, random_state=0)}
    dense = share("a", X, y, **parameters)
    other = share("a", store(X, storage), y, **parameters)
    np.testing.assert_allclose(other.summary.mean, dense.summary.mean, atol=1e-9)
    np.testing.assert_array_equal(other.summary.weight, dense.summary.weight)


def test_rows_go_to_the_nearest_centre():
    X, y = blobs(300)
    shared = share("a", X, y, centers=CENTERS)
    nearest = ((X[:, np.newaxis] - CENTERS) ** 2).sum(axis=2).argmin(axis=1)
    for label, cell, weight, mean in zip(
        shared.summary.label,
        shared.cells,
        shared.summary.weight,
        shared.summary.mean,
        strict=True,
    ):
        own = (y == label) & (nearest == cell)
        assert weight == own.sum()
        np.testing.assert_allclose(mean, X[own].mean(axis=0), atol=1e-12)


def test_other_centres_are_another_partition():
    X, y = blobs(100)
    digests = {
        share("a", X, y, centers=centers).partition
        for centers in (CENTERS, CENTERS[::-1], CENTERS[:-1], CENTERS + 1e-9)
    }
    assert len(digests) == 4


def test_later_changes_of_the_centres_do_not_matter():
    X, y = blobs(100)
    centers = CENTERS.copy()
    party = Party("a", centers=centers)
    centers[:] = 0
    assert party.summarize(X, y, none()).summary.n_clusters > 2


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("level", [none(), min_size()])
def test_names_of_columns_are_kept(frame, level):
    X, y = blobs(100)
    data = frame({name: X[:, i] for i, name in enumerate(["u", "v", "w"])})
    shared = share("a", data, y, level, n_clusters=3)
    assert shared.summary.feature_names == ("u", "v", "w")


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["x", "y"] * 50, dtype=object),
        pd.Series(["x", "y"] * 50).astype("category"),
        np.array([0, 1] * 50, dtype=np.uint8),
        np.array([0, 1] * 50, dtype=np.float32),
        [True, False] * 50,
    ],
)
def test_labels_of_many_types_are_kept(y):
    X, _ = blobs(100)
    shared = share("a", X, y, n_clusters=3)
    assert set(shared.summary.label.tolist()) == set(np.asarray(y).tolist())


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array(["x", 1] * 50, dtype=object), "all of one type"),
        (np.array([2**63, 1] * 50, dtype=np.uint64), "below 2"),
        (np.array(["x" * 300, "y"] * 50), "at most 200"),
        (np.linspace(0, 1, 100), "continuous"),
        (np.zeros((100, 2)), "1d array"),
    ],
)
def test_labels_that_no_file_can_keep_are_refused(y, words):
    X, _ = blobs(100)
    with pytest.raises((ValueError, TypeError), match=words):
        share("a", X, y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"name": ""}, "name of a party"),
        ({"name": "a\x1b[2J"}, "name of a party"),
        ({"name": 3}, "name of a party"),
        ({"n_clusters": 0}, "'n_clusters'"),
        ({"covariance": "tied"}, "'covariance'"),
        ({"clusterer": "kmeans"}, "'clusterer'"),
        ({"ledger": "file"}, "'ledger'"),
        ({"centers": [1.0, 2.0]}, "centers"),
        ({"centers": [[np.nan]]}, "centers contains NaN"),
    ],
)
def test_parameters_that_make_no_sense_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        Party(**{"name": "a"} | parameters)


def test_data_that_make_no_sense_are_named():
    X, y = blobs(100)
    with pytest.raises(ValueError, match="centers have 3 columns, but X has 2"):
        share("a", X[:, :2], y, centers=CENTERS)
    with pytest.raises(ValueError, match="'birch', which is not among"):
        share("a", X, y, classes=["ash", "cedar"])
    with pytest.raises(ValueError, match="privacy must be"):
        Party("a").summarize(X, y, "dp")
    with pytest.raises(ValueError, match="inconsistent numbers"):
        share("a", X, y[:-1])


def test_a_failed_release_is_not_counted():
    X, y = blobs(15)
    party = Party("a")
    with pytest.raises(ValueError, match="Each class has fewer than 100 rows"):
        party.summarize(X, y, min_size(50))
    party.summarize(X, np.zeros(15, dtype=int), min_size(5))


def test_a_shared_summary_needs_labels_and_parties():
    X, y = blobs(100)
    summary = share("a", X, y, n_clusters=3).summary
    record = PartyRecord("a", none(), rows=100.0)
    from dataclasses import replace

    with pytest.raises(ValueError, match="label"):
        SharedSummary(replace(summary, label=None), (record,))
    with pytest.raises(ValueError, match="PartyRecord"):
        SharedSummary(summary, ())
    with pytest.raises(ValueError, match="'a' is there twice"):
        SharedSummary(summary, (record, record))
    with pytest.raises(ValueError, match="rows"):
        PartyRecord("a", none(), rows=-1.0)
    assert repr(SharedSummary(summary, (record,))) == (
        f"SharedSummary({summary.n_clusters} clusters of 'a')"
    )

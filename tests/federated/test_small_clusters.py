import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federated_data import blobs, share
from localsvm.cluster import summarize_rows
from localsvm.cluster._gaussian_summary import GaussianSummary
from localsvm.federated import min_size, random_centers
from localsvm.federated._small_clusters import coarsen, join_small


def summary_of_groups(sizes, seed, covariance="diag", n_features=2):
    """Random rows of two classes in clusters of the given sizes, and the rows."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((len(cluster), n_features))
    label = np.where(np.arange(len(sizes)) % 2, "odd", "even")
    parts = []
    for name in ("even", "odd"):
        own = label[cluster] == name
        if own.any():
            _, number = np.unique(cluster[own], return_inverse=True)
            parts.append(
                summarize_rows(X[own], number, label=name, covariance=covariance)
            )
    return GaussianSummary.concatenated(parts), X, label[cluster]


@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=15),
    k=st.integers(2, 25),
    round_to=st.integers(1, 12),
    covariance=st.sampled_from(["diag", "full", "none"]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=150, deadline=None)
def test_no_cluster_is_small_and_no_row_is_lost(sizes, k, round_to, covariance, seed):
    summary, X, y = summary_of_groups(sizes, seed, covariance)
    least = max(k, 4) if covariance == "full" else k
    enough = [name for name in ("even", "odd") if (y == name).sum() >= least]
    if not enough:
        with pytest.raises(ValueError, match="fewer than"):
            coarsen(summary, None, min_size(k, round_to))
        return
    joined, _, dropped = join_small(summary, None, least)
    assert joined.weight.min() >= least
    assert joined.weight.sum() + sum(dropped.values()) == pytest.approx(len(X))
    assert set(joined.label) == set(enough)
    for name in enough:
        own = joined.label == name
        mean = joined.weight[own] @ joined.mean[own] / joined.weight[own].sum()
        np.testing.assert_allclose(mean, X[y == name].mean(axis=0), atol=1e-9)
    coarse = coarsen(summary, None, min_size(k, round_to))
    np.testing.assert_allclose(coarse.summary.weight % round_to, 0)
    assert coarse.summary.weight.min() >= round_to
    rounding = np.abs(coarse.summary.weight - joined.weight)
    assert (
        rounding <= np.where(joined.weight < round_to, round_to, round_to / 2)
    ).all()
    for name, rows in coarse.dropped.items():
        assert rows % round_to == 0
        assert abs(rows - dropped[name]) <= round_to / 2


@given(
    sizes=st.lists(st.integers(1, 8), min_size=2, max_size=12),
    k=st.integers(2, 12),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_joining_is_exact(sizes, k, seed):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    if len(cluster) < k:
        return
    X = rng.standard_normal((len(cluster), 2))
    summary = summarize_rows(X, cluster, covariance="full", label="one")
    joined, cells, _ = join_small(summary, np.arange(len(sizes)), k)
    # Every cluster went somewhere: find where by matching the totals.
    target = join_targets(summary, k)
    _, group = np.unique(target, return_inverse=True)
    expected = summarize_rows(X, group[cluster], covariance="full", label="one")
    np.testing.assert_allclose(joined.weight, expected.weight)
    np.testing.assert_allclose(joined.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(joined.covariance, expected.covariance, atol=1e-12)
    np.testing.assert_array_equal(cells, np.unique(target))


def join_targets(summary, least):
    """The rule again, slowly: the smallest cluster goes to the nearest one."""
    groups = [[i] for i in range(summary.n_clusters)]

    def weight(group):
        return summary.weight[group].sum()

    def mean(group):
        return summary.weight[group] @ summary.mean[group] / weight(group)

    while min(map(weight, groups)) < least:
        small = min(groups, key=lambda g: (weight(g), g[0]))
        others = [g for g in groups if g is not small]
        near = min(others, key=lambda g: np.sum((mean(g) - mean(small)) ** 2))
        groups = [g for g in others if g is not near] + [near + small]
        groups.sort(key=lambda g: g[0])
    target = np.empty(summary.n_clusters, dtype=int)
    for group in groups:
        target[group] = group[0]  # the one that the others were added to
    return target


def test_full_covariances_need_twice_as_many_rows_as_columns():
    X, y = blobs(400, n_features=12)
    shared = share("a", X, y, min_size(10, 1), n_clusters=30, covariance="full")
    assert shared.summary.weight.min() >= 24
    shared = share("a", X, y, min_size(10, 1), n_clusters=30, covariance="diag")
    assert 10 <= shared.summary.weight.min() < 24


def test_a_small_class_is_left_out_and_its_name_stays_at_home():
    X, y = blobs(200)
    y = y.astype("<U10")
    y[:7] = "rare"
    with pytest.warns(UserWarning, match=r"\{'rare': 5.0\} \(rounded\)"):
        shared = share("a", X, y, min_size(10), n_clusters=5)
    (record,) = shared.parties
    assert (record.dropped_rows, record.dropped_share) == (5, 5 / (record.rows + 5))
    assert "rare" not in str(shared)
    assert "about 5 rows" in str(shared)


def test_cells_stay_with_their_clusters():
    X, y = blobs(500)
    centers = random_centers((0.0, 1.0), 40, n_features=3)
    shared = share("a", X, y, min_size(10), centers=centers)
    for label in np.unique(y):
        own = shared.summary.label == label
        assert len(set(shared.cells[own].tolist())) == own.sum()
        at_home = np.linalg.norm(
            shared.summary.mean[own] - centers[shared.cells[own]], axis=1
        )
        assert at_home.max() < 0.6

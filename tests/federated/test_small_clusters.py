import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.mixture import GaussianMixture

from examples import examples
from federated_data import blobs, share
from localsvm.cluster import summarize_rows
from localsvm.federated import min_size, random_centers
from localsvm.federated._protection._small_clusters import Coarsening, join_small


def rows_in_groups(sizes, seed, n_features=2):
    """Random rows of one class, and the cluster of each."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    return rng.standard_normal((len(cluster), n_features)), cluster


def coarse(X, clusters, k, round_to=1, covariance="diag", cells=None):
    """Coarse clusters of the rows of one class."""
    coarsening = Coarsening(min_size(k, round_to), covariance, X.shape[1], [])
    return coarsening.apply(np.str_("one"), X, clusters, np.ones(X.shape[0]), cells)


@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=15),
    k=st.integers(2, 15),
    round_to=st.integers(1, 12),
    covariance=st.sampled_from(["diag", "full", "none"]),
    seed=st.integers(0, 1000),
)
@examples(150)
def test_no_cluster_is_small_and_no_row_is_lost(sizes, k, round_to, covariance, seed):
    X, cluster = rows_in_groups(sizes, seed)
    found = coarse(X, cluster, k, round_to, covariance)
    if len(X) < 2 * k:
        assert found.summary is None
        assert found.rows == len(X)
        return
    summary = found.summary
    exact = np.bincount(groups_of(X, cluster, 2 * k))
    assert exact.min() >= 2 * k
    assert exact.sum() == len(X)
    np.testing.assert_allclose(summary.weight % round_to, 0)
    assert summary.weight.min() >= round_to
    rounding = np.abs(summary.weight - exact)
    assert (rounding <= np.where(exact < round_to, round_to, round_to / 2)).all()
    assert summary.covariance_type == covariance
    summary.check_covariance()


@given(
    sizes=st.lists(st.integers(1, 8), min_size=2, max_size=12),
    k=st.integers(2, 6),
    covariance=st.sampled_from(["diag", "full", "none"]),
    seed=st.integers(0, 1000),
)
@examples(100)
def test_joined_clusters_have_the_moments_of_their_rows_but_for_rounding(
    sizes, k, covariance, seed
):
    X, cluster = rows_in_groups(sizes, seed)
    if len(X) < 2 * k:
        return
    found = coarse(X, cluster, k, covariance=covariance, cells=np.arange(len(sizes)))
    group = groups_of(X, cluster, 2 * k)
    exact = summarize_rows(X, group)
    deviation = np.sqrt(exact.covariance)
    np.testing.assert_array_equal(found.summary.weight, exact.weight)
    step = 8 * np.sqrt(2) * deviation / exact.weight[:, np.newaxis]
    assert (np.abs(found.summary.mean - exact.mean) <= step / 2 + 1e-12).all()
    target = join_targets(summarize_rows(X, cluster), 2 * k)
    np.testing.assert_array_equal(found.cells, np.unique(target))
    if covariance != "none":
        rounded = np.sqrt(found.summary.with_covariance("diag").covariance)
        np.testing.assert_array_equal(rounded, np.exp2(np.rint(np.log2(deviation))))


def groups_of(X, cluster, least):
    """Joined cluster of each row, in the order of the cells that give the names."""
    exact = summarize_rows(X, cluster)
    target = join_targets(exact, least)
    _, group = np.unique(target, return_inverse=True)
    return group[cluster]


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


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_cluster_joins_the_nearest(seed):
    X, cluster = rows_in_groups([1, 4, 2, 8, 3, 3, 1, 5], seed)
    summary = summarize_rows(X, cluster)
    target = join_small(summary.weight, summary.mean, 6)
    np.testing.assert_array_equal(target, join_targets(summary, 6))


def test_correlations_are_multiples_of_an_eighth():
    X, cluster = rows_in_groups([400], 0, n_features=3)
    X[:, 2] = X[:, 0] + 0.3 * X[:, 1]
    (matrix,) = coarse(X, cluster, 10, covariance="full").summary.covariance
    deviation = np.sqrt(np.diagonal(matrix))
    correlation = matrix / np.outer(deviation, deviation)
    np.testing.assert_allclose(correlation, np.corrcoef(X.T), atol=0.13)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-12
    X[:, 2] = X[:, 0] ** 2
    (matrix,) = coarse(X, cluster, 10, covariance="full").summary.covariance
    deviation = np.sqrt(np.diagonal(matrix))
    assert (matrix / np.outer(deviation, deviation) * 8 % 1 == 0).all()


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_shares_of_rows_in_clusters_are_counted(storage):
    """Rows that belong to several clusters: a share of one half counts half."""
    X, _ = rows_in_groups([60], 0)
    soft = np.full((60, 2), 0.5)
    both = coarse(storage(X), soft, 5).summary
    assert both.weight.tolist() == [30, 30]
    np.testing.assert_array_equal(both.mean[0], both.mean[1])
    X[:9, 0] = 0.125  # four and a half rows of each cluster
    X[9:, 0] = 0
    summary = coarse(storage(X), soft, 5).summary
    assert (summary.mean[:, 0] == 0).all()


def test_soft_clusterers_are_coarsened():
    X, y = blobs(400)
    shared = share("a", X, y, min_size(10), clusterer=GaussianMixture(4))
    assert shared.summary.weight.min() >= 20
    assert shared.summary.weight.sum() == pytest.approx(400, abs=20)


def test_full_covariances_need_twice_as_many_rows_as_columns():
    X, y = blobs(400, n_features=18)
    shared = share("a", X, y, min_size(10, 1), n_clusters=30, covariance="full")
    assert shared.summary.weight.min() >= 36
    shared = share("a", X, y, min_size(10, 1), n_clusters=30, covariance="diag")
    assert 20 <= shared.summary.weight.min() < 36


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

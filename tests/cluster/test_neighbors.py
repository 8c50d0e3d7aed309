import numpy as np
import pytest
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import FunctionTransformer

from conftest import store
from localsvm.cluster import KernelNeighbors, ShortListNeighbors, TreeNeighbors
from localsvm.cluster._neighborhoods import _neighbors, _tree_work
from localsvm.cluster._neighborhoods._neighbors import (
    choose_search,
    find_neighbors,
    fit_search,
    make_search,
)
from localsvm.cluster._neighborhoods._tree_work import share_visited
from localsvm.kernels import Kernel
from oracles.kernel_svm import kernel_matrix

POLY = Kernel("poly", gamma=0.5, degree=2, coef0=0.3)


def make_rows(seed=0, n=400, d=3, n_queries=150):
    rng = np.random.default_rng(seed)
    X, queries = rng.standard_normal((n, d)), rng.standard_normal((n_queries, d))
    return X * (np.abs(X) > 0.2), queries * (np.abs(queries) > 0.2)


def nearest(distances, n_neighbors):
    """Columns of the smallest distances of each row, and the distances."""
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return np.take_along_axis(distances, order, axis=1), order


def feature_distances(kernel, queries, X):
    own = np.diag(kernel_matrix(kernel, X, X))
    theirs = np.diag(kernel_matrix(kernel, queries, queries))
    squared = theirs[:, None] + own - 2 * kernel_matrix(kernel, queries, X)
    return np.sqrt(np.maximum(squared, 0))


def assert_finds(search, queries, distances, n_neighbors):
    expected_distances, expected = nearest(distances, n_neighbors)
    found_distances, found = search.kneighbors(queries, n_neighbors)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found_distances, expected_distances, atol=1e-6)
    alone = search.kneighbors(queries, n_neighbors, return_distance=False)
    np.testing.assert_array_equal(alone, expected)


@pytest.mark.parametrize("n_neighbors", [1, 7, 400])
@pytest.mark.parametrize("leaf_size", [1, 8, 1000])
def test_tree_sorts_by_distance(n_neighbors, leaf_size):
    X, queries = make_rows()
    search = TreeNeighbors(leaf_size).fit(X)
    assert_finds(search, queries, cdist(queries, X), n_neighbors)


@pytest.mark.parametrize(("dtype", "shift"), [(np.float32, 1e3), (np.float64, 1e6)])
def test_tree_compares_in_double(dtype, shift):
    X, queries = make_rows()
    X, queries = (rows.astype(dtype) + dtype(shift) for rows in (X, queries))
    search = TreeNeighbors().fit(X)
    wide = cdist(queries.astype(np.float64), X.astype(np.float64))
    found = search.kneighbors(queries, 9, return_distance=False)
    chosen = np.take_along_axis(wide, found, axis=1)
    np.testing.assert_array_equal(chosen, nearest(wide, 9)[0])


@pytest.mark.parametrize("n_neighbors", [1, 7, 400])
def test_brute_search_sorts_by_distance(n_neighbors, storage):
    X, queries = make_rows()
    search = make_search("brute", store(X, storage), n_neighbors)
    search.fit(store(X, storage))
    assert_finds(search, store(queries, storage), cdist(queries, X), n_neighbors)


@pytest.mark.parametrize(
    "kernel", [POLY, Kernel("poly"), Kernel("rbf", gamma=0.4), Kernel("linear")]
)
@pytest.mark.parametrize("n_neighbors", [1, 7])
@pytest.mark.parametrize("max_features", [0, 64])
def test_kernel_search_sorts_by_distance_in_feature_space(
    kernel, n_neighbors, max_features, storage
):
    """By the features themselves, or by kernel values."""
    X, queries = make_rows()
    search = KernelNeighbors(kernel, max_features=max_features).fit(store(X, storage))
    assert search.n_samples_fit_ == len(X)
    mapped = max_features > 0 and kernel.name != "rbf"
    assert (search.search_ is not None) == mapped
    distances = feature_distances(kernel, queries, X)
    assert_finds(search, store(queries, storage), distances, n_neighbors)


@pytest.mark.parametrize("max_features", [0, 64])
def test_kernel_search_in_single_precision(max_features):
    X, queries = (rows.astype(np.float32) for rows in make_rows())
    search = KernelNeighbors(POLY, max_features=max_features).fit(X)
    found = search.kneighbors(queries, 5, return_distance=False)
    wide = feature_distances(POLY, queries.astype(float), X.astype(float))
    chosen = np.take_along_axis(wide, found, axis=1)
    np.testing.assert_allclose(chosen, nearest(wide, 5)[0], atol=1e-3)


def test_polynomial_feature_space_has_an_order_of_its_own():
    """Of degree two without a constant, opposite rows are the same point."""
    X = np.array([[1.0, 0.0], [-1.0, 0.01], [0.8, 0.0]])
    even = Kernel("poly", degree=2)
    for search in (
        make_search("auto", X, 2, even),
        KernelNeighbors(even, max_features=0),
    ):
        found = search.fit(X).kneighbors(X[:1], 3, return_distance=False)
        assert found.tolist() == [[0, 1, 2]]
    euclidean = make_search("auto", X, 2).fit(X)
    assert euclidean.kneighbors(X[:1], 3, return_distance=False).tolist() == [[0, 2, 1]]


def test_short_list_of_all_rows_is_exact(storage):
    X, queries = make_rows(d=6)
    first_columns = FunctionTransformer(lambda rows: rows[:, :2], accept_sparse=True)
    search = ShortListNeighbors(first_columns, n_candidates=1000).fit(store(X, storage))
    assert_finds(search, store(queries, storage), cdist(queries, X), 7)


def test_short_list_is_sorted_by_the_true_distance():
    X, queries = make_rows(d=6)
    search = ShortListNeighbors(PCA(2), n_candidates=40).fit(X)
    cheap = PCA(2).fit(X)
    listed = nearest(cdist(cheap.transform(queries), cheap.transform(X)), 40)[1]
    distances = np.full((len(queries), len(X)), np.inf)
    true = np.take_along_axis(cdist(queries, X), listed, axis=1)
    np.put_along_axis(distances, listed, true, axis=1)
    assert_finds(search, queries, distances, 7)
    found = search.kneighbors(queries, 7, return_distance=False)
    assert not np.array_equal(found, nearest(cdist(queries, X), 7)[1])


def test_short_list_is_as_long_as_the_neighbours_asked_for():
    X, queries = make_rows(d=6)
    search = ShortListNeighbors(PCA(6), n_candidates=3).fit(X)
    assert_finds(search, queries, cdist(queries, X), 20)


def test_short_list_takes_any_true_distance():
    X, queries = make_rows(d=6)

    def city_block(query, rows):
        return cdist(query, rows, "cityblock")

    search = ShortListNeighbors(PCA(2), n_candidates=400, exact=city_block).fit(X)
    assert_finds(search, queries, city_block(queries, X), 7)


def test_short_list_leaves_its_transformer_alone():
    X, _ = make_rows()
    transformer = PCA(2)
    search = ShortListNeighbors(transformer).fit(X)
    assert not hasattr(transformer, "components_")
    assert search.transformer_.components_.shape == (2, 3)


@pytest.mark.parametrize(
    "search",
    [
        TreeNeighbors(),
        KernelNeighbors(POLY),
        KernelNeighbors(POLY, max_features=0),
        ShortListNeighbors(PCA(2)),
    ],
)
def test_more_neighbours_than_rows_are_refused(search):
    X, queries = make_rows()
    search.fit(X[:10])
    with pytest.raises(ValueError, match="n_neighbors"):
        search.kneighbors(queries, 11)


@pytest.mark.parametrize(
    ("name", "expected"), [("kd_tree", TreeNeighbors), ("brute", NearestNeighbors)]
)
def test_search_by_name(name, expected):
    X, _ = make_rows()
    assert type(make_search(name, X, 5)) is expected
    assert type(make_search(name, X, 5, Kernel("rbf"))) is expected


@pytest.mark.parametrize("name", ["auto", "brute"])
@pytest.mark.parametrize("storage", ["dense", "csr_int32"])
def test_kernel_with_an_order_of_its_own_has_its_own_search(name, storage):
    X, _ = make_rows()
    search = make_search(name, store(X, storage), 5, POLY)
    assert type(search) is KernelNeighbors
    assert search.kernel is POLY
    assert type(make_search(name, X, 5, Kernel("poly", degree=1))) is not type(search)


def test_tree_of_sparse_rows_is_refused():
    X, _ = make_rows()
    with pytest.raises(ValueError, match=r"'kd_tree' needs a dense X.*'brute'"):
        make_search("kd_tree", store(X, "csr_int32"), 5)


def test_tree_for_a_polynomial_kernel_is_refused():
    X, _ = make_rows()
    with pytest.raises(ValueError, match=r"'poly' of degree 2.*'auto', 'brute'"):
        make_search("kd_tree", X, 5, POLY)


@pytest.mark.parametrize("kernel", [None, POLY])
def test_own_search_is_cloned_and_used(kernel):
    X, queries = make_rows()
    own = NearestNeighbors(algorithm="ball_tree", metric="manhattan")
    search = fit_search(make_search(own, X, 5, kernel), X)
    assert search is not own
    assert not hasattr(own, "n_samples_fit_")
    expected = nearest(cdist(queries, X, "cityblock"), 5)[1]
    np.testing.assert_array_equal(
        find_neighbors(search, queries, 5, len(X), None), expected
    )


@pytest.mark.parametrize(
    "search",
    [
        TreeNeighbors(),
        NearestNeighbors(algorithm="brute"),
        KernelNeighbors(POLY),
        KernelNeighbors(POLY, max_features=0),
        ShortListNeighbors(PCA(2), n_candidates=50),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_do_not_depend_on_the_number_of_threads(search, dtype):
    X, queries = (rows.astype(dtype) for rows in make_rows(d=5, n_queries=700))
    fit_search(search, X)
    serial = find_neighbors(search, queries, 6, len(X), None)
    assert serial.dtype == np.int32
    np.testing.assert_array_equal(
        serial, search.kneighbors(queries, 6, return_distance=False)
    )
    for n_jobs in (1, 2, 4):
        np.testing.assert_array_equal(
            find_neighbors(search, queries, 6, len(X), n_jobs), serial
        )


@pytest.mark.parametrize("stray", [-1, 400])
def test_rows_that_are_not_there_are_refused(stray):
    class Broken(TreeNeighbors):
        def kneighbors(self, X, n_neighbors, return_distance):
            found = super().kneighbors(X, n_neighbors, return_distance)
            found[-1, -1] = stray
            return found

    X, queries = make_rows()
    with pytest.raises(ValueError, match=f"Broken.*gave the row {stray}; .*0 to 399"):
        find_neighbors(Broken().fit(X), queries, 5, len(X), None)


def test_no_queries_have_no_neighbours():
    X, queries = make_rows()
    assert find_neighbors(TreeNeighbors().fit(X), queries[:0], 5, len(X), 2).shape == (
        0,
        5,
    )


@pytest.mark.parametrize("n_neighbors", [1, 100])
def test_auto_takes_the_tree_in_few_dimensions_only(n_neighbors):
    rng = np.random.default_rng(0)
    flat, round_ = rng.standard_normal((5000, 2)), rng.standard_normal((2000, 60))
    assert type(choose_search(flat, n_neighbors)) is TreeNeighbors
    assert type(make_search("auto", flat, n_neighbors)) is TreeNeighbors
    assert choose_search(round_, n_neighbors).algorithm == "brute"
    assert choose_search(store(flat, "csr_int32"), n_neighbors).algorithm == "brute"


def test_auto_takes_the_tree_where_data_spread_in_few_directions():
    rng = np.random.default_rng(0)
    plane = rng.standard_normal((5000, 2)) @ np.eye(2, 60)
    plane += 1e-3 * rng.standard_normal(plane.shape)
    assert type(choose_search(plane, 10)) is TreeNeighbors


def test_auto_builds_no_tree_for_most_of_the_rows(monkeypatch):
    """Neighbours are visited, so that there is nothing to estimate."""
    calls = []
    monkeypatch.setattr(
        _neighbors, "share_visited", lambda *given: calls.append(given) or 0.0
    )
    flat = np.random.default_rng(0).standard_normal((1499, 2))
    assert choose_search(flat, 100).algorithm == "brute"
    assert not calls
    assert type(choose_search(flat, 99)) is TreeNeighbors
    assert len(calls) == 1


def test_sample_of_the_estimate_has_fewer_rows_of_more_columns(monkeypatch):
    sizes = []

    class Tree(KDTree):
        def __init__(self, rows, leafsize):
            sizes.append(rows.shape)
            super().__init__(rows, leafsize)

    monkeypatch.setattr(_tree_work, "KDTree", Tree)
    X = np.random.default_rng(0).random((40_000, 64), dtype=np.float32)
    for columns in (1, 64):
        share_visited(X[:, :columns], 1)
    share_visited(np.tile(X[:5000], 8), 1)
    assert sizes == [(13_334, 1), (8000, 64), (1667, 512)]


def test_share_of_rows_visited_grows_with_the_dimension():
    rng = np.random.default_rng(0)
    shares = [
        share_visited(rng.standard_normal((3000, d)), 10) for d in (1, 2, 4, 8, 16, 60)
    ]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.05
    assert shares[1] < 0.1
    assert 0.95 < shares[-1] <= 1


def test_share_of_rows_visited_grows_with_the_neighbours():
    X = np.random.default_rng(0).standard_normal((3000, 3))
    shares = [share_visited(X, k) for k in (1, 10, 100, 1000, 3000)]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert shares[-2] > 1000 / 3000


def test_share_of_rows_visited_counts_the_leaves_that_a_ball_meets():
    """A tree of 32 rows per leaf on a line of 1024: each leaf is an interval."""
    X = np.arange(1024.0)[:, None]
    share = share_visited(X, 1)
    assert 32 / 1024 <= share <= 2 * 32 / 1024


def test_share_of_rows_visited_is_estimated_on_a_sample():
    X = np.random.default_rng(0).random((100_000, 2))
    whole, part = share_visited(X, 700), share_visited(X[:16_000], 112)
    assert whole == pytest.approx(part, rel=0.2)


def test_rows_that_are_all_equal_are_all_visited():
    assert share_visited(np.ones((200, 3)), 1) == 1


@pytest.mark.parametrize(
    ("search", "name"),
    [
        (TreeNeighbors(0), "leaf_size"),
        (TreeNeighbors(2.0), "leaf_size"),
        (KernelNeighbors("rbf"), "kernel"),
        (KernelNeighbors(Kernel("poly"), max_features=None), "max_features"),
        (ShortListNeighbors("pca"), "transformer"),
        (ShortListNeighbors(PCA(2), n_candidates=0), "n_candidates"),
        (ShortListNeighbors(PCA(2), exact="euclidean"), "exact"),
    ],
)
def test_bad_parameters_are_named(search, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of"):
        search.fit(np.eye(3))

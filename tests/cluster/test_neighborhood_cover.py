import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from conftest import store
from localsvm.cluster import KernelNeighbors, NeighborhoodCover, TreeNeighbors
from localsvm.cluster._neighborhoods._cover import cover_rows
from localsvm.data import make_2spiral
from localsvm.kernels import Kernel
from localsvm.rows._distinct import hash_rows
from oracles import cover as oracle
from oracles.kernel_svm import kernel_matrix

SIZES = [(20, 5), (20, 20), (10, 1), (3, 2), (1, 1), (300, 300), (300, 4)]


def make_rows(seed=0, n=300, d=3):
    return np.random.default_rng(seed).standard_normal((n, d))


def visiting_order(X, random_state):
    """The order of the hashes, for the seed that the parameter stands for."""
    seed = check_random_state(random_state).randint(2**31 - 1)
    return np.argsort(hash_rows(X, seed), kind="stable")


def assert_same_cover(model, expected):
    centers, neighborhoods, labels = expected
    np.testing.assert_array_equal(model.center_indices_, centers)
    np.testing.assert_array_equal(model.neighborhoods_, neighborhoods)
    np.testing.assert_array_equal(model.labels_, labels)


@pytest.mark.parametrize(("k", "assigned"), SIZES)
def test_matches_the_sequential_algorithm(k, assigned, seed):
    X = make_rows(seed)
    model = NeighborhoodCover(k, n_assigned=assigned, random_state=seed).fit(X)
    expected = oracle.cover(X, visiting_order(X, seed), k, assigned)
    assert_same_cover(model, expected)
    assert (model.n_neighbors_, model.n_assigned_) == (k, assigned)
    assert model.neighborhoods_.dtype == model.labels_.dtype == np.int32


@pytest.mark.parametrize("neighbors", ["auto", "kd_tree", "brute"])
def test_any_search_gives_the_sequential_algorithm(neighbors):
    X = make_rows(1, n=2000, d=4)
    model = NeighborhoodCover(40, n_assigned=6, neighbors=neighbors, random_state=1)
    expected = oracle.cover(X, visiting_order(X, 1), 40, 6)
    assert_same_cover(model.fit(X), expected)


@pytest.mark.parametrize("order", ["sorted", "reversed", "random"])
def test_batches_do_not_show(order):
    """Rows along a line in order: most of a batch is covered by its first row."""
    X = np.sort(np.random.default_rng(0).random(3000))[:, None]
    visited = {
        "sorted": np.arange(3000),
        "reversed": np.arange(3000)[::-1],
        "random": np.random.default_rng(1).permutation(3000),
    }[order]
    found = cover_rows(X, visited, TreeNeighbors().fit(X), (12, 4), None)
    centers, neighborhoods, labels = oracle.cover(X, visited, 12, 4)
    np.testing.assert_array_equal(found.centers, centers)
    np.testing.assert_array_equal(found.neighborhoods, neighborhoods)
    np.testing.assert_array_equal(found.labels, labels)


def test_every_row_is_covered_by_the_first_centre_that_has_it(seed):
    """Definition 1, Eq. 2 and Eq. 3."""
    X = make_rows(seed, n=1000)
    model = NeighborhoodCover(24, random_state=seed).fit(X)
    assert model.n_assigned_ == 6
    inner = model.neighborhoods_[:, :6]
    np.testing.assert_array_equal(np.unique(inner), np.arange(1000))
    for row, label in enumerate(model.labels_):
        assert label == np.flatnonzero((inner == row).any(axis=1))[0]
    np.testing.assert_array_equal(inner[:, 0], model.center_indices_)
    np.testing.assert_array_equal(
        model.labels_[model.center_indices_], np.arange(len(inner))
    )


def test_neighborhoods_are_nearest_first():
    X = make_rows()
    model = NeighborhoodCover(15, random_state=0).fit(X)
    for center, rows in zip(model.center_indices_, model.neighborhoods_, strict=True):
        distances = oracle.euclidean(X, center)
        assert rows[0] == center
        assert len(set(rows)) == 15
        assert (np.diff(distances[rows]) >= 0).all()
        assert distances[rows[-1]] == np.sort(distances)[14]


def test_one_centre_can_cover_everything():
    X = make_rows()
    model = NeighborhoodCover(300, n_assigned=300, random_state=0).fit(X)
    assert model.neighborhoods_.shape == (1, 300)
    assert not model.labels_.any()


def test_with_one_row_assigned_every_row_is_a_centre():
    X = make_rows()
    model = NeighborhoodCover(10, n_assigned=1, random_state=0).fit(X)
    np.testing.assert_array_equal(model.center_indices_, visiting_order(X, 0))
    np.testing.assert_array_equal(model.center_indices_[model.labels_], np.arange(300))


@pytest.mark.parametrize("neighbors", ["kd_tree", "brute"])
def test_more_copies_of_a_row_than_are_assigned(neighbors):
    """A copy may be missing from its own list, and is covered all the same."""
    X = np.vstack([np.repeat(make_rows(n=4), 30, axis=0), make_rows(1, n=20)])
    model = NeighborhoodCover(
        12, n_assigned=5, neighbors=neighbors, random_state=0
    ).fit(X)
    assert (model.labels_ >= 0).all()
    np.testing.assert_array_equal(model.neighborhoods_[:, 0], model.center_indices_)
    assert all(len(set(rows)) == 12 for rows in model.neighborhoods_)
    inner = model.neighborhoods_[model.labels_, :5]
    assert (inner == np.arange(len(X))[:, None]).any(axis=1).all()


def test_order_of_the_rows_does_not_matter():
    X = make_rows(n=1000)
    shuffle = np.random.default_rng(1).permutation(1000)
    one = NeighborhoodCover(20, random_state=3).fit(X)
    two = NeighborhoodCover(20, random_state=3).fit(X[shuffle])
    np.testing.assert_array_equal(shuffle[two.center_indices_], one.center_indices_)
    np.testing.assert_array_equal(shuffle[two.neighborhoods_], one.neighborhoods_)
    np.testing.assert_array_equal(two.labels_, one.labels_[shuffle])


def test_another_seed_gives_other_centres():
    X = make_rows()
    one, two = (NeighborhoodCover(20, random_state=seed).fit(X) for seed in (0, 1))
    assert set(one.center_indices_) != set(two.center_indices_)


@pytest.mark.parametrize("neighbors", ["auto", "kd_tree", "brute"])
@pytest.mark.parametrize("d", [2, 30])
def test_new_rows_go_where_their_nearest_row_is(neighbors, d):
    X, queries = make_rows(n=500, d=d), make_rows(1, n=400, d=d)
    model = NeighborhoodCover(20, neighbors=neighbors, random_state=0).fit(X)
    distances = ((queries[:, None] - X) ** 2).sum(axis=2)
    expected = model.labels_[distances.argmin(axis=1)]
    np.testing.assert_array_equal(model.predict(queries), expected)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_storage_does_not_change_the_cover(storage):
    X = make_rows(n=400, d=5)
    X *= np.abs(X) > 0.3
    dense = NeighborhoodCover(20, random_state=0).fit(X)
    other = NeighborhoodCover(20, random_state=0).fit(store(X, storage))
    expected = dense.center_indices_, dense.neighborhoods_, dense.labels_
    assert_same_cover(other, expected)
    queries = make_rows(1, d=5)
    np.testing.assert_array_equal(
        other.predict(store(queries, storage)), dense.predict(queries)
    )


@pytest.mark.parametrize("neighbors", ["kd_tree", "brute"])
def test_threads_do_not_change_the_cover(neighbors):
    X = make_rows(n=3000, d=6)
    models = [
        NeighborhoodCover(
            40, n_assigned=2, neighbors=neighbors, random_state=0, n_jobs=n_jobs
        ).fit(X)
        for n_jobs in (None, 2, 4)
    ]
    first = models[0]
    for model in models[1:]:
        expected = first.center_indices_, first.neighborhoods_, first.labels_
        assert_same_cover(model, expected)
        np.testing.assert_array_equal(model.predict(X), first.labels_)


def test_own_search_measures_in_its_own_space():
    """Of degree two without a constant, opposite rows are near each other."""
    X, kernel = make_rows(n=400, d=2), Kernel("poly", degree=2)
    search = KernelNeighbors(kernel)
    model = NeighborhoodCover(30, neighbors=search, random_state=0).fit(X)
    K = kernel_matrix(kernel, X, X)

    def distances(_, i):
        return np.diag(K) + K[i, i] - 2 * K[i]

    expected = oracle.cover(X, visiting_order(X, 0), 30, 7, distances)
    assert_same_cover(model, expected)
    assert not hasattr(search, "n_samples_fit_")
    np.testing.assert_array_equal(model.predict(-X), model.labels_)


def test_any_search_object_will_do():
    X = make_rows()
    own = NearestNeighbors(algorithm="ball_tree")
    model = NeighborhoodCover(20, neighbors=own, random_state=0).fit(X)
    assert_same_cover(model, oracle.cover(X, visiting_order(X, 0), 20, 5))
    assert model.search_.algorithm == "ball_tree"


@pytest.mark.parametrize("max_centers", [1, 5, 10_000])
def test_cover_can_stop_early(max_centers):
    X = make_rows(n=1000)
    order = np.random.default_rng(0).permutation(1000)
    search = TreeNeighbors().fit(X)
    part = cover_rows(X, order, search, (20, 5), None, max_centers=max_centers)
    whole = cover_rows(X, order, search, (20, 5), None)
    n = min(max_centers, len(whole.centers))
    assert len(part.centers) == n
    np.testing.assert_array_equal(part.centers, whole.centers[:n])
    np.testing.assert_array_equal(part.neighborhoods, whole.neighborhoods[:n])
    np.testing.assert_array_equal(
        part.labels, np.where(whole.labels < n, whole.labels, -1)
    )


@pytest.mark.parametrize(
    ("n", "n_neighbors", "expected"),
    [
        (300, "auto", (100, 25)),
        (30, "auto", (30, 7)),
        (2, "auto", (2, 1)),
        (9, 3, (3, 1)),
    ],
)
def test_sizes_have_defaults(n, n_neighbors, expected):
    model = NeighborhoodCover(n_neighbors, random_state=0).fit(make_rows(n=n))
    assert (model.n_neighbors_, model.n_assigned_) == expected


def test_spirals_have_about_as_many_centres_as_in_the_paper():
    X, _ = make_2spiral(100_000, noise_scale=0.065, noise="variance", random_state=1)
    model = NeighborhoodCover(250, random_state=0).fit(X)
    assert 3000 <= len(model.center_indices_) <= 3450


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 301}, r"n_neighbors=301 should be <= n_samples=300"),
        ({"n_neighbors": 5, "n_assigned": 6}, r"n_assigned=6 .*n_neighbors=5"),
        ({"n_neighbors": 0}, "'n_neighbors' parameter"),
        ({"n_neighbors": 2.5}, "'n_neighbors' parameter"),
        ({"n_neighbors": "all"}, "'n_neighbors' parameter.*'auto'"),
        ({"n_assigned": 0}, "'n_assigned' parameter"),
        ({"neighbors": "ball_tree"}, "'neighbors' parameter.*'kd_tree' or 'brute'"),
        ({"neighbors": 5}, "'neighbors' parameter.*an object with 'fit'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        NeighborhoodCover(**parameters).fit(make_rows())


def test_tree_of_sparse_rows_is_refused():
    X = store(make_rows(), "csr_int32")
    with pytest.raises(ValueError, match="'kd_tree' needs a dense X"):
        NeighborhoodCover(neighbors="kd_tree").fit(X)


@pytest.mark.parametrize("storage", ["dense", "csr_int32"])
def test_rows_that_are_not_finite_are_refused(storage):
    X = make_rows()
    X[3, 1] = np.nan
    model = NeighborhoodCover(20, random_state=0)
    with pytest.raises(ValueError, match=r"NaN.*row 3, column 1"):
        clone(model).fit(store(X, storage))
    with pytest.raises(ValueError, match=r"NaN.*row 3, column 1"):
        model.fit(make_rows()).predict(X)

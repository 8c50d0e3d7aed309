"""The nearest of fixed rows, whatever their sketches leave out."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from localsvm import LocalSVC
from localsvm.cluster import (
    NearestRows,
    TreeNeighbors,
    finds_euclidean,
    index_of,
    sketch_of,
)


def first_nearest(rows, queries):
    wide = rows.astype(np.float64)
    return [int(((wide - x) ** 2).sum(axis=1).argmin()) for x in queries]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_rows", "n_columns"), [(300, 5), (200, 60), (20, 90)])
def test_finds_the_first_of_the_nearest_rows(n_rows, n_columns, dtype):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (n_rows, n_columns)).astype(dtype)
    rows[n_rows // 2 :] = rows[: n_rows - n_rows // 2]
    queries = rng.integers(0, 3, (100, n_columns)).astype(dtype)
    index = NearestRows(rows)
    expected = first_nearest(rows, queries)
    assert index.find(queries, None).tolist() == expected
    assert index.find(queries, 2).tolist() == expected
    assert [index.find(x[None], None)[0] for x in queries] == expected


def test_a_sketch_has_orthonormal_directions():
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((40, 100)) * np.r_[np.full(20, 9.0), np.ones(80)]
    long = rng.standard_normal((500, 70)) * np.r_[np.full(9, 9.0), np.full(61, 1e-3)]
    for rows in (wide, long):
        middle, directions = sketch_of(rows)
        assert middle.shape == (rows.shape[1],)
        assert 15 <= len(directions) < min(rows.shape)
        np.testing.assert_allclose(
            directions @ directions.T, np.eye(len(directions)), atol=1e-12
        )
    assert len(sketch_of(long)[1]) == 15
    assert len(sketch_of(rng.standard_normal((500, 48)))[1]) == 0


def test_equal_rows_have_a_sketch():
    rows = np.ones((100, 60))
    assert NearestRows(rows).find(rows[:2], None).tolist() == [0, 0]


def test_takes_the_place_of_searches_that_are_slower():
    rows = np.zeros((3000, 4))
    many = np.zeros((100_000, 4))
    tree = TreeNeighbors()
    assert index_of(tree, rows) is not None
    assert index_of(tree, np.zeros((3000, 100))) is not None
    assert index_of(tree, many) is None
    assert index_of(NearestNeighbors(algorithm="brute"), many) is not None
    manhattan = NearestNeighbors(algorithm="brute", metric="manhattan")
    assert index_of(manhattan, rows) is None
    assert finds_euclidean(tree)
    assert not finds_euclidean(manhattan)


@pytest.mark.parametrize("route", ["row", "center"])
def test_a_model_is_routed_as_by_its_search(route):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    model = LocalSVC(30, route=route, random_state=0).fit(X, X[:, 0] > X[:, 1] ** 2)
    router = model._model.router
    queries = rng.standard_normal((200, 3))
    found = router.search.kneighbors(queries, 1, return_distance=False)[:, 0]
    np.testing.assert_array_equal(model.region(queries), router.regions[found])

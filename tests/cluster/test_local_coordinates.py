import numpy as np
import pytest
from hypothesis import given, strategies as st

from conftest import store
from examples import examples
from localsvm.cluster import LocalCoordinates
from oracles.locally_linear import dense_codes

CODINGS = ["inverse_distance", "local_coordinates"]
coding = pytest.mark.parametrize("coding", CODINGS)


def spread(codes, n_anchors):
    """Codes as a dense matrix."""
    dense = np.zeros((len(codes.regions), n_anchors))
    np.put_along_axis(dense, codes.regions, codes.weights, axis=1)
    return dense


def make(n, k, seed=0, d=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((k, d))


@given(
    n=st.integers(1, 30),
    k=st.integers(1, 20),
    m=st.integers(1, 25),
    coding=st.sampled_from(CODINGS),
    seed=st.integers(0, 1000),
)
@examples(60)
def test_codes_are_those_of_the_nearest_anchors(n, k, m, coding, seed):
    X, anchors = make(n, k, seed)
    codes = LocalCoordinates(anchors, n_nearest=m, coding=coding).code(X)
    assert codes.regions.shape == (n, min(m, k))
    np.testing.assert_allclose(codes.weights.sum(axis=1), 1, rtol=1e-9)
    expected = dense_codes(X, anchors, m, coding)
    np.testing.assert_allclose(spread(codes, k), expected, atol=1e-7)


def test_inverse_distances_descend_with_the_distance():
    X, anchors = make(50, 12)
    codes = LocalCoordinates(anchors, n_nearest=5, coding=CODINGS[0]).code(X)
    assert (np.diff(codes.weights, axis=1) <= 0).all()
    assert (codes.weights > 0).all()


def test_local_coordinates_give_the_row_back():
    X, anchors = make(50, 12)
    codes = LocalCoordinates(anchors, n_nearest=8, coding=CODINGS[1]).code(X)
    back = spread(codes, 12) @ anchors
    assert np.linalg.norm(back - X, axis=1).max() < 0.03
    assert (codes.weights < 0).any()


@coding
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_on_an_anchor_is_that_anchor(coding, dtype, storage):
    _, anchors = make(1, 9, d=6)
    anchors = anchors.astype(dtype)
    codes = LocalCoordinates(anchors, n_nearest=4, coding=coding).code(
        store(anchors, storage)
    )
    np.testing.assert_array_equal(codes.regions[:, 0], np.arange(9))
    atol = 0 if coding == "inverse_distance" else 1e-2
    np.testing.assert_allclose(codes.weights[:, 0], 1, rtol=0, atol=atol)
    np.testing.assert_allclose(codes.weights[:, 1:], 0, atol=atol)
    assert codes.weights.dtype == dtype


@coding
def test_equal_anchors_share_the_weight(coding):
    anchors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    coordinates = LocalCoordinates(anchors, n_nearest=3, coding=coding)
    codes = spread(coordinates.code(np.array([[1.0, 0.0], [0.5, 0.5]])), 3)
    np.testing.assert_allclose(codes[:, 0], codes[:, 1], rtol=1e-6)
    np.testing.assert_allclose(codes[0], [0.5, 0.5, 0], atol=1e-3)


@coding
def test_anchors_that_are_all_the_row_share_alike(coding):
    coordinates = LocalCoordinates(np.ones((4, 2)), n_nearest=3, coding=coding)
    weights = coordinates.code(np.ones((1, 2))).weights
    np.testing.assert_allclose(weights, 1 / 3)


@coding
@pytest.mark.parametrize("target", ["anchor", "elsewhere"])
def test_codes_of_all_anchors_are_continuous(coding, target):
    X, anchors = make(1, 6)
    end = anchors[2] if target == "anchor" else X[0]
    steps = np.array([0.0, 1e-9, 1e-7, 1e-5, 1e-3])[:, np.newaxis]
    path = end + steps * np.array([0.6, -0.8, 0.0])
    coordinates = LocalCoordinates(anchors, n_nearest=6, coding=coding)
    codes = spread(coordinates.code(path), 6)
    change = np.abs(codes - codes[0]).max(axis=1)
    assert (change <= 20 * steps.ravel() + 1e-6).all()


@coding
def test_codes_of_few_anchors_jump_only_with_the_set_of_anchors(coding):
    """The last of the nearest anchors does not fade out; it is replaced."""
    _, anchors = make(1, 15, d=2)
    path = np.linspace([-1.0, -1.0], [1.0, 1.0], 40_001)
    codes = LocalCoordinates(anchors, n_nearest=4, coding=coding).code(path)
    change = np.abs(np.diff(spread(codes, 15), axis=0)).max(axis=1)
    sets = np.sort(codes.regions, axis=1)
    replaced = (sets[1:] != sets[:-1]).any(axis=1)
    assert replaced.any()
    assert change[~replaced].max() < 0.01 < change[replaced].max()
    if coding == "inverse_distance":
        assert change[replaced].max() <= 1 / 4


@coding
def test_codes_do_not_depend_on_the_unit(coding):
    X, anchors = make(20, 10)
    plain = LocalCoordinates(anchors, n_nearest=5, coding=coding).code(X)
    for unit in (1e-140, 1e-3, 1e9):
        scaled = LocalCoordinates(anchors * unit, n_nearest=5, coding=coding)
        np.testing.assert_allclose(
            scaled.code(X * unit).weights, plain.weights, atol=1e-6
        )


@coding
def test_part_of_the_rows_has_the_same_codes(coding, storage):
    X, anchors = make(5000, 30, d=4)
    coordinates = LocalCoordinates(anchors, n_nearest=4, coding=coding)
    whole = coordinates.code(X)
    part = coordinates.code(store(X[4321:4323], storage))
    np.testing.assert_array_equal(part.regions, whole.regions[4321:4323])
    np.testing.assert_allclose(part.weights, whole.weights[4321:4323], atol=1e-9)


@coding
def test_threads_do_not_change_a_bit(coding):
    X, anchors = make(6000, 30)
    coordinates = LocalCoordinates(anchors, n_nearest=4, coding=coding)
    one, two = (coordinates.code(X, n_jobs).weights for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)

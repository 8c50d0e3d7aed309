import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from conftest import store
from examples import examples
from localsvm.federated._protection._encoding import (
    UNIT,
    Lattice,
    half_diagonal,
    nearest,
    sensitivity,
    totals_by_cell,
)


def lattice_of(low, high, share=1.0):
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    return Lattice(low, high, share * half_diagonal(low, high))


def totals(X, lattice, with_squares=True, centers=None, y=None, n_classes=1):
    centers = lattice.middle[np.newaxis] if centers is None else centers
    y = np.zeros(X.shape[0], dtype=int) if y is None else y
    return totals_by_cell(X, y, n_classes, centers, lattice, with_squares)


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(
    rows=st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=20),
    low=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
    width=st.lists(st.floats(1e-3, 1e6), min_size=3, max_size=3),
    share=st.floats(0.001, 1),
    with_squares=st.booleans(),
)
@examples(300)
def test_no_row_adds_more_than_the_sensitivity(rows, low, width, share, with_squares):
    lattice = lattice_of(low, np.add(low, width), share)
    most = sensitivity(with_squares)
    for row in rows:
        added = totals(np.array([row]), lattice, with_squares)
        assert math.sqrt(sum(int(v) ** 2 for v in added.ravel())) <= most
        assert sum(int(v) ** 2 for v in added.ravel()) <= (3 if with_squares else 2) * (
            UNIT**2
        )


def test_an_extreme_row_adds_all_of_the_sensitivity():
    lattice = lattice_of([0.0], [1.0])
    added = totals(np.array([[1.0]]), lattice)
    np.testing.assert_array_equal(added, [[UNIT, UNIT, UNIT]])
    assert np.linalg.norm(added) == pytest.approx(sensitivity(True), rel=1e-9)


def test_rows_outside_count_as_rows_on_the_border():
    lattice = lattice_of([0.0, 0.0], [1.0, 2.0])
    outside = np.array([[5.0, 1.0], [-1e300, 9.0], [0.5, -0.1]])
    border = np.clip(outside, [0, 0], [1, 2])
    np.testing.assert_array_equal(lattice.encode(outside), lattice.encode(border))


def test_rows_outside_the_ball_are_moved_towards_its_middle():
    lattice = lattice_of([-1.0, -1.0], [1.0, 1.0], share=0.5)
    points = lattice.encode(np.array([[1.0, 1.0], [-1.0, 0.2], [0.1, 0.1]])) / UNIT
    length = np.linalg.norm(points, axis=1)
    np.testing.assert_allclose(length[:2], 1, atol=1e-5)
    assert (length <= 1).all()
    np.testing.assert_allclose(points[1, 1] / points[1, 0], -0.2, atol=1e-5)
    np.testing.assert_allclose(lattice.decode(points[2]), [0.1, 0.1], atol=1e-5)


def test_totals_are_those_of_the_rows(storage):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (5000, 3)) * (rng.uniform(size=(5000, 3)) < 0.7)
    y = rng.integers(0, 2, 5000)
    centers = rng.uniform(0, 1, (4, 3))
    lattice = lattice_of([0.0] * 3, [1.0] * 3)
    total = totals(store(X, storage), lattice, True, centers, y, 2)
    assert total.shape == (8, 7)
    cell = nearest(lattice.encode(X), lattice.encode(centers))
    u = (X - 0.5) / lattice.radius
    for label in (0, 1):
        for each in range(4):
            own = (y == label) & (cell == each)
            mean = total[label * 4 + each] / UNIT
            assert mean[0] == own.sum()
            np.testing.assert_allclose(mean[1:4], u[own].sum(0), atol=4e-7 * own.sum())
            np.testing.assert_allclose(
                mean[4:], (u[own] ** 2).sum(0), atol=4e-6 * own.sum()
            )
    distance = ((X[:, np.newaxis] - centers) ** 2).sum(axis=2)
    assert (distance.argmin(axis=1) == cell).mean() > 0.999


def test_a_row_adds_the_same_wherever_it_stands():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 3, (9000, 5)).astype(np.float32)
    centers = rng.uniform(0, 1, (6, 5))
    lattice = lattice_of([0.0] * 5, [1.0] * 5, share=0.4)
    whole = totals(X, lattice, centers=centers)
    for drop in (0, 1, 4095, 4096, 8999):
        rest = totals(np.delete(X, drop, axis=0), lattice, centers=centers)
        alone = totals(X[drop : drop + 1], lattice, centers=centers)
        np.testing.assert_array_equal(rest + alone, whole)
    shuffled = totals(X[rng.permutation(9000)], lattice, centers=centers)
    np.testing.assert_array_equal(shuffled, whole)


def test_of_equally_near_places_the_first_is_taken():
    places = np.array([[5, 0], [-5, 0], [5, 0]])
    np.testing.assert_array_equal(nearest(np.array([[0, 3], [1, 0]]), places), [0, 0])


@pytest.mark.parametrize("share", [1e-5, 1e-320])
def test_a_radius_far_below_the_bounds_is_refused(share):
    with pytest.raises(ValueError, match="radius"):
        lattice_of([0.0], [1.0], share)

"""Cells of a k-d tree, and distances to their boxes."""

import numpy as np
import pytest

from localsvm.cluster._cells import CellTree, squared_gaps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_are_about_equal(dtype):
    X = np.random.default_rng(0).standard_normal((5000, 3)).astype(dtype)
    tree = CellTree.grow(X[:1000], 130)
    sizes = np.bincount(tree.assign(X), minlength=tree.n_cells)
    assert tree.n_cells == 8
    assert sizes.min() > 450
    assert sizes.sum() == 5000
    np.testing.assert_array_equal(np.bincount(tree.assign(X[:1000])), np.full(8, 125))


def test_equal_rows_share_a_cell_and_are_not_cut():
    X = np.repeat(np.arange(4.0), [700, 100, 100, 100])[:, np.newaxis]
    cells = CellTree.grow(X, 150).assign(X)
    assert [len(np.unique(cells[X[:, 0] == value])) for value in range(4)] == [1] * 4
    assert len(np.unique(cells)) == 4


def test_columns_of_few_values_are_passed_over():
    rng = np.random.default_rng(0)
    rare = 100.0 * (rng.random(1000) < 0.05)
    X = np.c_[rare, rng.standard_normal(1000)]
    tree = CellTree.grow(X, 500)
    assert tree.column.tolist() == [1, -1, -1]
    only = CellTree.grow(np.c_[rare, np.zeros(1000)], 960)
    assert only.column.tolist() == [0, -1, -1]


def test_cells_are_numbered_from_the_first_leaf():
    X = np.arange(8.0)[:, np.newaxis]
    assert CellTree.grow(X, 2).assign(X).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert CellTree.grow(X, 8).assign(X).tolist() == [0] * 8


def test_gaps_are_distances_to_the_box():
    X = np.array([[0.5, 0.5], [2.0, 0.5], [4.0, -4.0]], dtype=np.float32)
    gaps = squared_gaps(X, np.zeros(2), np.ones(2))
    assert gaps.tolist() == [0.0, 1.0, 25.0]
    assert (
        squared_gaps(np.zeros((9000, 2)), np.ones(2), np.ones(2)).tolist()
        == [2.0] * 9000
    )

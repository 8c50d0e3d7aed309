"""The kernel matrix of rows, in blocks and on threads."""

import numpy as np
import pytest

from conftest import store
from localsvm.kernels import Kernel, _matrix, kernel_matrix, squared_distances
from oracles import kernel_svm

KERNELS = [
    Kernel("linear"),
    Kernel("poly", gamma=0.2, degree=2, coef0=1.0),
    Kernel("rbf", gamma=0.3),
    Kernel("laplace", gamma=0.03),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_matrix, "_BLOCK_ROWS", 16)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 70])
def test_matrix_is_that_of_the_formula(kernel, n_rows, storage):
    X = np.random.default_rng(0).standard_normal((n_rows, 5))
    found = kernel_matrix(kernel, store(X, storage))
    expected = kernel_svm.kernel_matrix(kernel, X, X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrix_is_symmetric_and_the_same_on_threads(kernel, dtype):
    X = np.random.default_rng(0).standard_normal((70, 5)).astype(dtype)
    one = kernel_matrix(kernel, X)
    assert one.dtype == dtype
    np.testing.assert_array_equal(one, one.T)
    np.testing.assert_array_equal(kernel_matrix(kernel, X, n_jobs=3), one)


def test_what_is_raised_before_a_block_ends_the_work():
    calls = []

    def late():
        calls.append(1)
        if len(calls) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        kernel_matrix(KERNELS[0], np.ones((70, 2)), before=late)
    assert len(calls) == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("n_rows", [1, 16, 70])
def test_squared_distances_are_those_of_the_formula(n_rows, offset, dtype):
    rng = np.random.default_rng(0)
    X, queries = (rng.standard_normal((n, 5)) + offset for n in (n_rows, 20))
    X, queries = X.astype(dtype), queries.astype(dtype)
    for lines, found in (
        (X, squared_distances(X)),
        (queries, squared_distances(X, queries=queries)),
    ):
        steps = lines[:, np.newaxis].astype(float) - X[np.newaxis]
        assert found.dtype == dtype
        tolerance = 1e-4 if dtype == np.float32 else 1e-11
        np.testing.assert_allclose(found, (steps**2).sum(axis=2), atol=tolerance)


def test_squared_distances_are_symmetric_and_the_same_on_threads():
    X = np.random.default_rng(0).standard_normal((70, 5)).astype(np.float32)
    one = squared_distances(X)
    np.testing.assert_array_equal(one, one.T)
    assert not np.diagonal(one).any()
    np.testing.assert_array_equal(squared_distances(X, n_jobs=3), one)

from dataclasses import replace

import numpy as np
import pytest

from localsvm.kernels import Kernel
from oracles.kernel_svm import kernel_matrix
from oracles.local_models import numeric_gradients

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=9.0),
    Kernel("poly", gamma=9.0, degree=1),
    Kernel("poly", gamma=9.0, degree=1, coef0=0.5),
    Kernel("poly", gamma=9.0, degree=2, coef0=1.5),
    Kernel("poly", gamma=9.0, degree=3),
    Kernel("laplace", gamma=9.0),
]
GAMMA = 0.3
RBF = KERNELS[1]


def make_rows(seed, dtype=np.float64, offset=0.0):
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((40, 5)), rng.standard_normal((17, 5))
    return (X + offset).astype(dtype), (Z + offset).astype(dtype)


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_are_those_of_the_matrix(kernel, seed):
    X, Z = make_rows(seed)
    expected = replace(kernel, gamma=GAMMA)(X, Z)
    compare = kernel.compare_with(Z, GAMMA)
    for block in (slice(0, 1), slice(3, 40), slice(7, 7)):
        found = compare(X[block])
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected[block], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_float32_blocks_stay_close_far_from_the_origin(kernel, offset, seed):
    X, Z = make_rows(seed, np.float32, offset)
    wide = (part.astype(np.float64) for part in (X, Z))
    expected = kernel_matrix(replace(kernel, gamma=GAMMA), *wide)
    found = kernel.compare_with(Z, GAMMA)(X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_products_of_rows_that_are_not_centred_would_fail():
    """So the test above asks for something."""
    X, Z = make_rows(0, np.float32, 1000.0)
    wide = (part.astype(np.float64) for part in (X, Z))
    squared = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * (X @ Z.T)
    error = np.abs(
        np.exp(-GAMMA * squared) - kernel_matrix(replace(RBF, gamma=GAMMA), *wide)
    )
    assert error.max() > 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_of_equal_rows_are_at_most_one(dtype):
    _, Z = make_rows(0, dtype, 1000.0)
    found = RBF.compare_with(Z, GAMMA)(Z)
    assert found.max() <= 1
    np.testing.assert_allclose(np.diag(found), 1, atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_leave_the_rows_given(kernel):
    X, Z = make_rows(0)
    kernel.compare_with(Z, GAMMA)(X)
    for found, expected in zip((X, Z), make_rows(0), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_those_of_differences(kernel, seed):
    X, Z = make_rows(seed)
    weights = np.random.default_rng(seed).standard_normal(17)
    used = replace(kernel, gamma=GAMMA)
    expected = numeric_gradients(lambda rows: kernel_matrix(used, rows, Z) @ weights, X)
    found = kernel.weighted_gradient(X, Z, weights, GAMMA)
    assert found.shape == X.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_laplace_gradient_at_a_kink_is_the_middle_of_both_sides():
    _, Z = make_rows(0)
    kernel, weights = Kernel("laplace", gamma=GAMMA), np.arange(17.0)
    found = kernel.weighted_gradient(Z, Z, weights, GAMMA)
    expected = numeric_gradients(
        lambda rows: kernel_matrix(kernel, rows, Z) @ weights, Z
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_at_the_origin(kernel):
    """Products of zero are raised to powers there, that of degree 1 to zero."""
    _, Z = make_rows(0)
    weights, origin = np.arange(17.0), np.zeros((1, 5))
    used = replace(kernel, gamma=GAMMA)
    expected = numeric_gradients(
        lambda rows: kernel_matrix(used, rows, Z) @ weights, origin
    )
    found = kernel.weighted_gradient(origin, Z, weights, GAMMA)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)

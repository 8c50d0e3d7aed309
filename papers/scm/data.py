"""Rows of the paper's experiments."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data import Benchmark, load_benchmark, pair
from papers._definition import Data, Part

PAIRS = tuple(combinations(range(10), 2))
ADULT = Data(load_benchmark, {"name": "adult"})


def digits(n_components: int | None = None) -> Data:
    """Define all rows of MNIST, on their principal components if wanted."""
    return Data(load_digits, prepare=_components(n_components))


def pair_of_digits(first: int, second: int, n_components: int | None = None) -> Data:
    """Define the rows of two digits, on their principal components if wanted."""
    options = {"first": first, "second": second}
    return Data(load_digits_pair, options, _components(n_components))


def _components(number: int | None) -> tuple[Part, ...]:
    if number is None:
        return ()
    params = {"n_components": number, "svd_solver": "covariance_eigh"}
    return (Part("sklearn.decomposition.PCA", params),)


def load_digits() -> Benchmark:
    """Load MNIST, pixels in [0, 1].

    Returns
    -------
    Benchmark
    """
    data = _mnist()
    X_test, y_test = _test_rows(data)
    rows = _scaled(data.X_train), data.y_train, _scaled(X_test), y_test
    return Benchmark(data.name, *rows, None, data.source)


def load_digits_pair(first: int, second: int) -> Benchmark:
    """Load two digits of MNIST, pixels in [0, 1]; label 1 is the second.

    Parameters
    ----------
    first, second : int

    Returns
    -------
    Benchmark
    """
    data = _mnist()
    X_train, y_train = pair(data.X_train, data.y_train, first, second)
    X_test, y_test = pair(*_test_rows(data), first, second)
    name = f"{data.name}_{first}v{second}"
    rows = _scaled(X_train), y_train, _scaled(X_test), y_test
    return Benchmark(name, *rows, None, data.source)


def _test_rows(data: Benchmark) -> tuple[NDArray[Any], NDArray[Any]]:
    if data.X_test is None or data.y_test is None:
        raise ValueError(f"{data.name} has no test rows.")
    return data.X_test, data.y_test


def _scaled(pixels: NDArray[Any]) -> NDArray[np.float32]:
    return pixels.astype(np.float32) / np.float32(255)


@cache
def _mnist() -> Benchmark:
    return load_benchmark("mnist")

"""Fixtures and settings for all tests."""

import surroundings  # isort: skip  # before NumPy

import os

import numpy as np
import pytest
from environment import use_shared_data
from hypothesis import settings
from scipy import sparse

STORAGES = ["dense", "csr_int32", "csr_int64", "csr_array"]

# The same examples in every run of `make test`, many new ones in `make test-slow`.
settings.register_profile("dev", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_configure():
    use_shared_data()
    surroundings.hear_interrupts()


@pytest.fixture(scope="session", autouse=True)
def no_network():
    with pytest.MonkeyPatch.context() as patch:
        surroundings.refuse_network(patch)
        yield


def store(X, storage):
    """The same numbers in another storage."""
    if storage == "dense":
        return np.ascontiguousarray(X)
    csr = sparse.csr_array(X) if storage == "csr_array" else sparse.csr_matrix(X)
    if storage == "csr_int64":
        csr.indices = csr.indices.astype(np.int64)
        csr.indptr = csr.indptr.astype(np.int64)
    return csr


@pytest.fixture(params=STORAGES)
def storage(request):
    return request.param


@pytest.fixture(params=[0, 1, 2])
def seed(request):
    return request.param


@pytest.fixture
def two_moons():
    """Two classes that no line separates, half of the entries zero."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 300)
    label = rng.integers(0, 2, 300)
    X = np.c_[np.cos(angle) + label, np.sin(angle) * (1 - 2 * label) + 0.4 * label]
    X += 0.12 * rng.standard_normal(X.shape)
    return X, label


@pytest.fixture
def three_classes():
    """Three noisy classes in five dimensions."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 240)
    X = rng.standard_normal((240, 5))
    X[:, 0] += np.cos(2 * y) * 2 + np.sin(3 * X[:, 1])
    X[:, 2] += y
    return X, np.array(["ash", "birch", "cedar"])[y]

import numpy as np
import pytest
from hypothesis import given, strategies as st

from conftest import store
from examples import examples
from localsvm.cluster import SoftRegions


@given(
    n=st.integers(1, 30),
    k=st.integers(1, 20),
    m=st.integers(1, 25),
    sharpness=st.floats(0.01, 100),
    seed=st.integers(0, 1000),
)
@examples(60)
def test_codes_have_unit_norm_and_ascending_distance(n, k, m, sharpness, seed):
    rng = np.random.default_rng(seed)
    X, centers = rng.standard_normal((n, 3)), rng.standard_normal((k, 3))
    regions = SoftRegions(centers, n_nearest=m, sharpness=sharpness)
    codes = regions.learn(X, np.ones(n))
    assert codes.regions.shape == (n, min(m, k))
    np.testing.assert_allclose((codes.weights**2).sum(axis=1), 1, rtol=1e-9)
    assert (np.diff(codes.weights, axis=1) <= 1e-12).all()
    for row in codes.regions:
        assert len(set(row)) == len(row)


def test_new_rows_are_coded_as_the_training_rows(storage):
    rng = np.random.default_rng(0)
    X, centers = rng.standard_normal((50, 4)), rng.standard_normal((9, 4))
    regions = SoftRegions(centers, n_nearest=4, sharpness=2.0)
    learned = regions.learn(store(X, storage), np.ones(50))
    again = regions.code(store(X[7:9], storage))
    np.testing.assert_array_equal(again.regions, learned.regions[7:9])
    np.testing.assert_allclose(again.weights, learned.weights[7:9], rtol=1e-9)


def test_tau_counts_rows_by_weight():
    centers = np.array([[0.0], [10.0]])
    X = np.array([[1.0], [8.0]])
    regions = SoftRegions(centers, n_nearest=2, sharpness=3.0)
    regions.learn(X, np.array([3.0, 1.0]))
    assert regions.tau == pytest.approx(3.0 / ((3 * 1 + 1 * 4) / 4))


def test_rows_on_their_centres_are_coded():
    centers = np.array([[0.0], [10.0]])
    regions = SoftRegions(centers, n_nearest=2, sharpness=2.0)
    codes = regions.learn(centers, np.ones(2))
    assert np.isfinite(codes.weights).all()
    np.testing.assert_array_equal(codes.regions[:, 0], [0, 1])


def test_small_weights_are_zero_and_end_continuously():
    centers = np.array([[0.0], [2.0], [9.0]])
    regions = SoftRegions(centers, n_nearest=3, sharpness=1.0, cut=0.1)
    regions.tau = 1.0
    # The second weight is a tenth of the first where the distances differ by log(10).
    border = 1 - np.log(10) / 4
    X = border + np.array([[-1e-3], [1e-6], [1e-3]])
    weights = regions.code(X).weights
    assert (weights[:, 2] == 0).all()
    assert weights[0, 1] == 0
    assert 0 < weights[1, 1] < 1e-5 < weights[2, 1] < 1e-3
    np.testing.assert_allclose((weights**2).sum(axis=1), 1, rtol=1e-12)


def test_no_cut_is_the_softmax_alone():
    rng = np.random.default_rng(0)
    X, centers = rng.standard_normal((20, 2)), rng.standard_normal((6, 2))
    regions = SoftRegions(centers, n_nearest=4, sharpness=1.0, cut=0.0)
    codes = regions.learn(X, np.ones(20))
    distance = ((X[:, np.newaxis] - centers[codes.regions]) ** 2).sum(axis=2)
    expected = np.exp(-regions.tau * distance)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(codes.weights, expected, rtol=1e-9)

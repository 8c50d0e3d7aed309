"""Kernels between Gaussians: printed formulas, Monte Carlo, limits, logarithms."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from localsvm.kernels import (
    ClusterKernel,
    Gaussians,
    expected_rbf,
    probability_product,
)
from oracles.probability_product import draws, eq_6, eq_6_as_printed, eq_8, eq_12

KINDS = ["diag", "full"]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def gaussians(kind, n=6, d=3, seed=0):
    rng = np.random.default_rng(seed)
    mean = rng.standard_normal((n, d))
    if kind == "none":
        return Gaussians(mean)
    if kind == "diag":
        covariance = rng.uniform(0.2, 1.5, (n, d))
    else:
        factor = rng.standard_normal((n, d, d + 2))
        covariance = factor @ factor.transpose(0, 2, 1) / (d + 2)
    return Gaussians(mean, covariance, rng.uniform(0.1, 1, n))


def parts(gaussians):
    return gaussians.mean, gaussians.covariance


def pairwise(formula, first, second):
    return np.array(
        [
            [formula(m, S, n, T) for n, T in zip(*parts(second), strict=True)]
            for m, S in zip(*parts(first), strict=True)
        ]
    )


def test_diagonal_kernel_is_equation_8():
    first, second = gaussians("diag"), gaussians("diag", 4, seed=1)
    priors = first.prior[:, None] * second.prior
    expected = priors * pairwise(eq_8, first, second)
    np.testing.assert_allclose(probability_product(first, second), expected, rtol=1e-12)


def test_kernel_is_equation_6(kind):
    first, second = gaussians(kind), gaussians(kind, 4, seed=1)
    priors = first.prior[:, None] * second.prior
    expected = priors * pairwise(eq_6, first, second)
    np.testing.assert_allclose(probability_product(first, second), expected, rtol=1e-9)


def test_equation_6_is_wrong_if_its_matrix_is_inverted_once_more(kind):
    one = gaussians(kind).take([0, 1])
    right = probability_product(one)[0, 1] / one.prior.prod()
    wrong = pairwise(eq_6_as_printed, one, one)[0, 1]
    assert abs(wrong / right - 1) > 0.5


def test_equation_10_is_a_density_and_no_posterior():
    narrow = Gaussians(np.zeros((1, 2)), np.full((1, 2), 0.01), np.array([0.5]))
    assert probability_product(narrow, Gaussians(np.zeros((1, 2))))[0, 0] > 1


def test_priors_make_training_clusters_shorter_than_queries(kind):
    """The box already has the prior; with it in the kernel b is on a wrong scale."""
    clusters = gaussians(kind, 10)
    equal = Gaussians(clusters.mean, clusters.covariance, np.full(10, 0.1))
    as_queries = Gaussians(clusters.mean, clusters.covariance)
    training = probability_product(equal)
    np.testing.assert_allclose(
        training, probability_product(equal, as_queries) / 10, rtol=1e-12
    )


def test_kinds_of_covariance_can_be_mixed():
    diag, full = gaussians("diag"), gaussians("full", 4, seed=1)
    expected = diag.prior[:, None] * full.prior * pairwise(eq_6, diag, full)
    np.testing.assert_allclose(probability_product(diag, full), expected, rtol=1e-9)
    np.testing.assert_allclose(probability_product(full, diag), expected.T, rtol=1e-9)


def test_one_argument_compares_all_with_all(kind):
    one = gaussians(kind, 40)
    both = probability_product(one, one)
    np.testing.assert_allclose(probability_product(one), both, rtol=1e-12)
    np.testing.assert_array_equal(probability_product(one), probability_product(one).T)
    np.testing.assert_allclose(
        expected_rbf(one, gamma=0.3), expected_rbf(one, one, gamma=0.3), rtol=1e-12
    )


def test_points_give_the_density_of_equation_12(kind):
    clusters = gaussians(kind)
    points = np.random.default_rng(2).standard_normal((5, 3))
    expected = np.array(
        [
            [P * eq_12(m, S, x) for x in points]
            for m, S, P in zip(*parts(clusters), clusters.prior, strict=True)
        ]
    )
    values = probability_product(clusters, Gaussians(points))
    np.testing.assert_allclose(values, expected, rtol=1e-9)
    values = probability_product(Gaussians(points), clusters)
    np.testing.assert_allclose(values, expected.T, rtol=1e-9)


def test_product_agrees_with_monte_carlo(kind):
    clusters = gaussians(kind, 2)
    rng = np.random.default_rng(3)
    x = draws(clusters.mean[0], clusters.covariance[0], 400_000, rng)
    density = probability_product(Gaussians(x), clusters.take([1]))
    estimate = clusters.prior[0] * density.mean()
    assert probability_product(clusters)[0, 1] == pytest.approx(estimate, rel=0.01)


def test_expected_rbf_agrees_with_monte_carlo(kind):
    clusters = gaussians(kind, 2)
    rng = np.random.default_rng(3)
    u, v = (draws(m, S, 400_000, rng) for m, S in zip(*parts(clusters), strict=True))
    estimate = np.exp(-0.7 * ((u - v) ** 2).sum(axis=1)).mean()
    value = expected_rbf(clusters, gamma=0.7)[0, 1]
    assert value == pytest.approx(estimate, rel=0.01)


def test_expected_rbf_of_points_is_the_rbf_kernel():
    points = gaussians("none", 30)
    other = gaussians("none", 10, seed=1)
    np.testing.assert_allclose(
        expected_rbf(points, gamma=0.7), rbf_kernel(points.mean, gamma=0.7), atol=1e-14
    )
    np.testing.assert_allclose(
        expected_rbf(points, other, gamma=0.7),
        rbf_kernel(points.mean, other.mean, gamma=0.7),
        atol=1e-14,
    )
    no_spread = Gaussians(points.mean, np.zeros_like(points.mean))
    np.testing.assert_allclose(
        expected_rbf(no_spread, gamma=0.7), rbf_kernel(points.mean, gamma=0.7)
    )


def test_expected_rbf_is_the_product_of_smoothed_gaussians(kind):
    gamma, clusters = 0.7, gaussians(kind)
    smoothing = 1 / (4 * gamma)
    width = smoothing if kind == "diag" else smoothing * np.eye(3)
    smoothed = Gaussians(clusters.mean, clusters.covariance + width)
    ratio = probability_product(smoothed) / expected_rbf(clusters, gamma=gamma)
    np.testing.assert_allclose(ratio, (4 * np.pi * smoothing) ** (-3 / 2), rtol=1e-10)


def test_full_covariance_with_zeros_beside_the_diagonal_is_the_diagonal_one():
    diag = gaussians("diag", 9)
    full = Gaussians(diag.mean, diag.covariance[:, :, None] * np.eye(3), diag.prior)
    np.testing.assert_allclose(
        probability_product(full), probability_product(diag), rtol=1e-12
    )
    points = np.random.default_rng(2).standard_normal((5, 3))
    for form in ("expected_rbf", "paper"):
        kernel = ClusterKernel(form, 0.7)
        one, two = (
            kernel.compare_with(each, 0.5, np.float64)(points) for each in (diag, full)
        )
        np.testing.assert_allclose(one, two, rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "n_features"),
    [("none", 2), ("none", 784), ("diag", 2), ("diag", 784), ("full", 2), ("full", 60)],
)
def test_kernel_matrices_are_positive_semidefinite(kind, n_features):
    clusters = gaussians(kind, 40, n_features)
    for form in ("expected_rbf", "paper"):
        for gamma in (1e-3, 0.1, 10.0):
            gram, _ = ClusterKernel(form, gamma).gram(clusters)
            assert np.isfinite(gram).all()
            assert gram.max() <= 1
            np.testing.assert_array_equal(gram, gram.T)
            assert np.linalg.eigvalsh(gram).min() > -1e-8


def test_values_beyond_floating_point_numbers_are_there_as_logarithms():
    rng = np.random.default_rng(0)
    clusters = Gaussians(rng.random((20, 784)), rng.uniform(1e-5, 1e-2, (20, 784)))
    logs = probability_product(clusters, log=True)
    assert np.isfinite(logs).all()
    assert logs.max() > 710  # exp overflows there
    gram, log_scale = ClusterKernel("paper", 250.0).gram(clusters)
    assert log_scale > 710
    assert gram.max() == 1
    values = ClusterKernel("paper", 250.0).compare_with(clusters, log_scale, np.float64)
    assert np.isfinite(values(clusters.mean)).all()
    tiny = ClusterKernel("paper", 1e9)
    values = tiny.compare_with(clusters, tiny.gram(clusters)[1], np.float32)
    found = values(clusters.mean.astype(np.float32))
    assert found.dtype == np.float64
    assert np.isfinite(1e20 * found.sum())


def test_paper_form_smooths_clusters_and_not_queries(kind):
    clusters, gamma = gaussians(kind), 0.7
    kernel = ClusterKernel("paper", gamma)
    width = 1 / (4 * gamma) * (1 if kind == "diag" else np.eye(3))
    smoothed = Gaussians(clusters.mean, clusters.covariance + width, clusters.prior)
    gram, log_scale = kernel.gram(clusters)
    product = probability_product(smoothed)
    np.testing.assert_allclose(gram * np.exp(log_scale), product, rtol=1e-10)
    assert np.exp(log_scale) == pytest.approx(product.max())
    points = np.random.default_rng(2).standard_normal((5, 3))
    values = kernel.compare_with(clusters, log_scale, np.float64)(points)
    np.testing.assert_allclose(
        values * np.exp(log_scale),
        probability_product(Gaussians(points), smoothed),
        rtol=1e-10,
    )


def test_prepared_values_are_those_of_the_expected_rbf(kind):
    clusters, points = gaussians(kind), gaussians("none", 50, seed=4)
    kernel = ClusterKernel("expected_rbf", 0.7)
    log_scale = kernel.gram(clusters)[1]
    expected = expected_rbf(points, clusters, gamma=0.7)
    values = kernel.compare_with(clusters, log_scale, np.float64)(points.mean)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    narrow = kernel.compare_with(clusters, log_scale, np.float32)
    values = narrow(points.mean.astype(np.float32))
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, expected, rtol=1e-4)


def test_float32_far_from_the_centre_is_computed_in_float64():
    rng = np.random.default_rng(0)
    mean = rng.standard_normal((5, 4)) * 1e3
    clusters = Gaussians(mean, rng.uniform(0.1, 1, (5, 4)))
    points = (mean + 0.3 * rng.standard_normal((5, 4))).astype(np.float32)
    kernel = ClusterKernel("expected_rbf", 1.0)
    values = kernel.compare_with(clusters, kernel.gram(clusters)[1], np.float32)(points)
    wide = expected_rbf(Gaussians(points.astype(np.float64)), clusters, gamma=1.0)
    np.testing.assert_allclose(values, wide, rtol=1e-4, atol=1e-30)


def test_number_of_threads_does_not_change_a_bit(kind):
    clusters = gaussians(kind, 300, 12)
    kernel = ClusterKernel("expected_rbf", 0.7)
    one, two = (kernel.gram(clusters, n_jobs)[0] for n_jobs in (1, 3))
    np.testing.assert_array_equal(one, two)


def test_products_without_spread_are_refused():
    points = gaussians("none")
    with pytest.raises(
        ValueError, match="no finite product: expected a variance above"
    ):
        probability_product(points)
    flat = Gaussians(points.mean, np.zeros_like(points.mean))
    with pytest.raises(ValueError, match="no finite product"):
        probability_product(flat)
    singular = Gaussians(points.mean, np.zeros((6, 3, 3)))
    with pytest.raises(ValueError, match="not positive definite"):
        probability_product(singular)

"""Weights at a row against differences, in estimators that are one kernel SVM a row."""

import numpy as np
import pytest
from scipy import sparse

from localsvm import GradientMetric, ReducedSVC, SupportClusterSVC
from localsvm.estimators import NeighborSVC
from oracles.local_svm import make_classes

KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "laplace"},
    {"kernel": "linear"},
    {"kernel": "poly", "coef0": 1.0, "degree": 2, "gamma": 0.5},
]
CLUSTERS = [
    {"covariance": covariance, "kernel_form": form}
    for covariance in ("diag", "full", "none")
    for form in ("expected_rbf", "paper")
]


def differences(decide, X, step=1e-5):
    """Central differences of the scores, of shape (n_samples, n_tasks, n_features)."""
    scores = [
        (decide(X + shift) - decide(X - shift)) / (2 * step)
        for shift in step * np.eye(X.shape[1])
    ]
    return np.stack(scores, axis=-1).reshape(len(X), -1, X.shape[1])


def assert_touches(model, X):
    """The weights are the gradient, and give the decision value back."""
    coef, _ = model.local_coef(X)
    expected = differences(model.decision_function, X)
    atol = 1e-5 * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(coef, expected, rtol=1e-4, atol=atol)
    assert_sums_to_decision(model, X, X)


def assert_sums_to_decision(model, X, rows):
    coef, intercept = model.local_coef(rows)
    total = np.einsum("ipj,ij->ip", coef, X) + intercept
    expected = model.decision_function(rows).reshape(total.shape)
    np.testing.assert_allclose(total, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_exact_svm(kernel, n_classes):
    X, y = make_classes(120, n_classes)
    assert_touches(ReducedSVC(**kernel).fit(X, y), X[:20])


def test_exact_linear_svm_has_the_same_weights_everywhere():
    X, y = make_classes(120, 3)
    model = ReducedSVC(kernel="linear").fit(X, y)
    coef, intercept = model.local_coef(X)
    np.testing.assert_array_equal(coef, np.tile(model.coef_, (120, 1, 1)))
    np.testing.assert_allclose(intercept, np.tile(model.intercept_, (120, 1)))


def test_exact_svm_of_one_class_that_counts_has_no_weights():
    X, y = make_classes(60, 2)
    model = ReducedSVC().fit(X, y, sample_weight=(y == 0).astype(float))
    coef, _ = model.local_coef(X)
    assert not coef.any()


@pytest.mark.parametrize("setting", CLUSTERS, ids=str)
def test_cluster_machine_of_two_classes(setting):
    X, y = make_classes(200, 2)
    model = SupportClusterSVC(12, C=12.0, gamma=0.4, **setting).fit(X, y)
    assert_touches(model, X[:20])


@pytest.mark.parametrize("setting", CLUSTERS, ids=str)
def test_cluster_machine_of_classes_against_the_rest(setting):
    X, y = make_classes(200, 4)
    model = SupportClusterSVC(12, C=12.0, gamma=0.4, multi_class="ovr", **setting).fit(
        X, y
    )
    assert_touches(model, X[:20])


def test_cluster_machine_of_pairs_takes_the_mean_of_a_class():
    X, y = make_classes(200, 3)
    model = SupportClusterSVC(12, gamma=0.4).fit(X, y)
    coef, _ = model.local_coef(X[:20])
    # Positive speaks for the first of the pairs (0, 1), (0, 2), (1, 2).
    machine = model._fitted_machine()
    pairs = differences(lambda rows: -machine.decide(rows, None), X[:20])
    first, second, third = pairs.swapaxes(0, 1)
    expected = [first + second, third - first, -second - third]
    np.testing.assert_allclose(2 * coef, np.stack(expected, axis=1), atol=1e-4)
    assert_sums_to_decision(model, X, X)


def test_cluster_machine_of_one_class_that_counts_has_no_weights():
    X, y = make_classes(60, 2)
    model = SupportClusterSVC(5).partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    coef, intercept = model.local_coef(X)
    assert not coef.any()
    np.testing.assert_array_equal(intercept, 1.0)
    regions, shares = model.region(X, return_weights=True)
    assert regions.shape == shares.shape == (60, model.n_regions_)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_neighbours(kernel):
    X, y = make_classes(150, 2)
    queries, _ = make_classes(30, 2, seed=1)
    assert_touches(NeighborSVC(25, tol=1e-9, **kernel).fit(X, y), queries)


def test_neighbours_in_a_metric():
    X, y = make_classes(150, 2)
    model = NeighborSVC(25, metric=GradientMetric(random_state=0), tol=1e-9).fit(X, y)
    assert_touches(model, X[:20] + 0.01)


def test_neighbours_of_several_classes_give_the_decision_value_back():
    X, y = make_classes(150, 3)
    assert_sums_to_decision(NeighborSVC(25).fit(X, y), X, X)


def test_neighbourhood_are_the_nearest_training_rows():
    X, y = make_classes(150, 2)
    model = NeighborSVC(7).fit(np.vstack([X, X]), np.append(y, y))
    queries, _ = make_classes(20, 2, seed=1)
    distance = np.linalg.norm(queries[:, np.newaxis] - X, axis=2)
    nearest = np.argsort(distance, axis=1)[:, :7]
    np.testing.assert_array_equal(model.neighborhood(queries) % 150, nearest)
    expected = np.stack([(y[nearest] == label).sum(axis=1) for label in (0, 1)], axis=1)
    np.testing.assert_array_equal(model.neighborhood_class_counts(queries), expected)


def test_share_of_a_cluster_is_its_part_of_the_sum():
    X, y = make_classes(200, 2)
    model = SupportClusterSVC(12, C=12.0, gamma=0.4).fit(X, y)
    regions, weights = model.region(X, return_weights=True)
    np.testing.assert_array_equal(regions[:, 0], model.region(X))
    assert (np.diff(weights, axis=1) <= 0).all()
    np.testing.assert_allclose(np.abs(weights).sum(axis=1), 1)
    assert set(regions.ravel()) == set(model.support_)
    own = model.summary_.label[regions] == model.predict(X)[:, np.newaxis]
    np.testing.assert_array_equal(weights > 0, own)
    # For two classes their sum is the decision without its intercept, up to a scale.
    decision = model.decision_function(X)
    speaks_for = np.where(decision > 0, 1, -1) * (decision - model.intercept_)
    np.testing.assert_array_equal(np.sign(weights.sum(axis=1)), np.sign(speaks_for))
    # Far away, where all kernel values are zero, there are still shares.
    far = np.full((1, X.shape[1]), 1e3)
    shares = model.region(far, return_weights=True)[1]
    np.testing.assert_allclose(np.abs(shares).sum(), 1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [ReducedSVC(), SupportClusterSVC(12), NeighborSVC(25)],
    ids=lambda model: type(model).__name__,
)
def test_sparse_and_narrow_rows(model, n_classes):
    X, y = make_classes(120, n_classes)
    rows = sparse.csr_array(X)
    assert_sums_to_decision(model.fit(rows, y), X, rows)
    narrow = X.astype(np.float32)
    coef, intercept = model.fit(narrow, y).local_coef(narrow)
    total = np.einsum("ipj,ij->ip", coef, X) + intercept
    expected = model.decision_function(narrow).reshape(total.shape)
    np.testing.assert_allclose(total, expected, atol=1e-3)

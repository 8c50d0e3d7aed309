import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from conftest import store
from localsvm.kernels import Kernel, median_gamma, scale_gamma

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=0.3),
    Kernel("poly", gamma=0.7, degree=3),
    Kernel("poly", gamma=0.7, degree=2, coef0=1.5),
    Kernel("poly", gamma=0.7, degree=4, coef0=0.5),
    Kernel("poly", gamma=0.7, degree=1, coef0=0.5),
    Kernel("laplace", gamma=0.04),
]
EUCLIDEAN_ORDER = [True, True, False, False, False, True, False]
LAPLACE = KERNELS[-1]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((15, 4)), rng.standard_normal((9, 4))
    return X * (rng.random(X.shape) < 0.6), Z * (rng.random(Z.shape) < 0.6)


def value(kernel, x, z):
    """Kernel value of two rows, one column after the other."""
    if kernel.name == "rbf":
        squared = sum((a - b) ** 2 for a, b in zip(x, z, strict=True))
        return np.exp(-kernel.gamma * squared)
    if kernel.name == "laplace":
        distance = sum(abs(a - b) for a, b in zip(x, z, strict=True))
        return sum(np.exp(-kernel.gamma * 2**s * distance) for s in range(7)) / 7
    product = sum(a * b for a, b in zip(x, z, strict=True))
    if kernel.name == "linear":
        return product
    return (kernel.gamma * product + kernel.coef0) ** kernel.degree


@pytest.mark.parametrize("kernel", KERNELS)
def test_values_are_those_of_loops(kernel, rows, storage):
    X, Z = rows
    expected = [[value(kernel, x, z) for z in Z] for x in X]
    found = kernel(store(X, storage), store(Z, storage))
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_values_are_those_of_scikit_learn(rows):
    X, Z = rows
    np.testing.assert_array_equal(Kernel("linear")(X, Z), pairwise.linear_kernel(X, Z))
    np.testing.assert_allclose(
        Kernel("rbf", gamma=0.3)(X, Z), pairwise.rbf_kernel(X, Z, gamma=0.3), rtol=1e-12
    )
    np.testing.assert_array_equal(
        Kernel("poly", gamma=0.7, degree=4, coef0=1.5)(X, Z),
        pairwise.polynomial_kernel(X, Z, degree=4, gamma=0.7, coef0=1.5),
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_diagonal_is_that_of_the_matrix(kernel, rows, storage, dtype):
    X = rows[0].astype(dtype)
    expected = [value(kernel, x, x) for x in rows[0]]
    found = kernel.diagonal(store(X, storage))
    assert found.shape == (len(X),)
    assert found.dtype == dtype
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found, expected, rtol=rtol)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not k.of_distances])
@pytest.mark.parametrize("n_columns", [1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_have_the_distances_of_the_kernel(
    kernel, n_columns, dtype, rows, storage
):
    X, Z = (part[:, :n_columns].astype(dtype) for part in rows)
    features = [kernel.features(store(part, storage)) for part in (X, Z)]
    for part in features:
        assert part.dtype == np.float64
        assert part.shape[1] == kernel.n_explicit_features(n_columns)
    squared = ((features[0][:, None] - features[1]) ** 2).sum(axis=2)
    X, Z = X.astype(np.float64), Z.astype(np.float64)
    expected = kernel.diagonal(X)[:, None] + kernel.diagonal(Z) - 2 * kernel(X, Z)
    np.testing.assert_allclose(squared, expected, rtol=1e-9, atol=1e-9)


def test_number_of_features():
    assert Kernel("linear").n_explicit_features(7) == 7
    assert Kernel("poly", degree=3).n_explicit_features(2) == 4
    assert Kernel("poly", degree=3, coef0=1.0).n_explicit_features(2) == 9
    assert Kernel("poly", degree=3, coef0=-1.0).n_explicit_features(2) == 0
    assert Kernel("rbf").n_explicit_features(2) == 0
    assert Kernel("laplace").n_explicit_features(2) == 0


@pytest.mark.parametrize(
    ("kernel", "same_order"), list(zip(KERNELS, EUCLIDEAN_ORDER, strict=True))
)
def test_order_in_feature_space(kernel, same_order, rows):
    X, Z = rows
    squared = (
        kernel.diagonal(X)[:, None] + kernel.diagonal(Z) - 2 * kernel(X, Z)
    ).argsort(axis=1)
    euclidean = ((X[:, None] - Z) ** 2).sum(axis=2).argsort(axis=1)
    assert np.array_equal(squared, euclidean) == same_order
    # The Euclidean neighbours take the place of those of absolute distances.
    assert kernel.searches_euclidean == (same_order or kernel == LAPLACE)


def test_laplace_kernel_orders_rows_by_absolute_distances(rows):
    X, Z = rows
    distances = pairwise.manhattan_distances(X, Z)
    np.testing.assert_array_equal(
        (-LAPLACE(X, Z)).argsort(axis=1), distances.argsort(axis=1)
    )


def test_laplace_matrix_of_rows_is_symmetric_to_the_last_bit():
    X = np.random.default_rng(0).standard_normal((70, 5))
    for dtype in (np.float32, np.float64):
        own = X.astype(dtype)
        whole = LAPLACE(own, own)
        assert whole.dtype == dtype
        np.testing.assert_array_equal(whole, whole.T)
        np.testing.assert_array_equal(whole, LAPLACE(own, own.copy()))
        np.testing.assert_array_equal(np.diag(whole), 1)
    assert np.linalg.eigvalsh(LAPLACE(X, X)).min() > 0


def test_laplace_values_of_rows_in_any_order_of_memory(rows):
    X, Z = rows
    expected = LAPLACE(X, Z)
    for make in (np.asfortranarray, lambda part: part[:, ::-1].copy()[:, ::-1]):
        np.testing.assert_array_equal(LAPLACE(make(X), make(Z)), expected)
    np.testing.assert_array_equal(LAPLACE(X.tolist(), Z.tolist()), expected)
    for queries, targets in ((X, Z[:0]), (X[:0], Z)):
        found = LAPLACE(queries, targets)
        assert found.shape == (len(queries), len(targets))


def positive_distances(X):
    distances = pairwise.manhattan_distances(X)[np.triu_indices(len(X), 1)]
    return distances[distances > 0]


def test_median_gamma_is_a_tenth_over_the_median_distance(rows, storage):
    X = rows[0]
    expected = 1 / (10 * np.median(positive_distances(X)))
    found = median_gamma(store(X, storage), np.ones(len(X)))
    assert found == pytest.approx(expected, rel=1e-12)


def test_median_gamma_does_not_depend_on_order_copies_or_weights():
    X = np.random.default_rng(0).standard_normal((900, 3))
    expected = median_gamma(X, np.ones(900))
    assert expected == median_gamma(X[::-1].copy(), np.full(900, 2.5))
    assert expected == median_gamma(np.repeat(X, 3, axis=0), np.ones(2700))
    alone = np.arange(900) < 20
    assert median_gamma(X, alone.astype(float)) == median_gamma(X[:20], np.ones(20))
    every = 1 / (10 * np.median(positive_distances(X)))
    assert expected == pytest.approx(every, rel=0.1)
    assert expected != every


def test_median_gamma_of_equal_rows_is_one():
    assert median_gamma(np.ones((5, 2)), np.ones(5)) == 1.0
    assert median_gamma(np.ones((1, 2)), np.ones(1)) == 1.0


@pytest.mark.parametrize("storage", ["dense", "csr_int32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scale_gamma_is_that_of_svc(rows, storage, dtype):
    X = store((3 * rows[0] + (rows[0] != 0)).astype(dtype), storage)
    peer = SVC(gamma="scale").fit(X, np.arange(15) % 2)
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    assert scale_gamma(X, np.ones(15)) == pytest.approx(peer._gamma, rel=rtol)


def test_scale_gamma_counts_a_row_of_weight_two_twice(rows, storage):
    X = rows[0]
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    repeated = np.repeat(X, weight, axis=0)
    assert scale_gamma(store(X, storage), weight.astype(float)) == pytest.approx(
        1 / (4 * repeated.var()), rel=1e-12
    )


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("constant", [0.0, 0.1, 3.0])
def test_scale_gamma_of_constant_rows_is_one(make, constant):
    assert scale_gamma(make(np.full((30, 4), constant)), np.ones(30)) == 1.0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_scale_gamma_far_from_the_origin(make):
    X = np.random.default_rng(0).standard_normal((200, 4)).astype(np.float32) + 1000
    expected = 1 / (4 * X.astype(np.float64).var())
    assert scale_gamma(make(X), np.ones(200)) == pytest.approx(expected, rel=1e-4)


def test_laplace_values_of_sparse_rows_with_entries_in_any_order(rows):
    _, Z = rows
    twice = sparse.csr_array(
        (np.r_[1.0, 2.0, 3.0], np.r_[3, 1, 3], np.r_[0, 3, 3]), shape=(2, 4)
    )
    expected = LAPLACE(twice.toarray(), Z)
    np.testing.assert_allclose(LAPLACE(twice, sparse.csr_array(Z)), expected)
    np.testing.assert_allclose(LAPLACE(twice, Z), expected)
    assert twice.nnz == 3

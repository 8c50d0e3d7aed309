"""ONNX graphs of exact SVMs and of Support Cluster Machines."""

import numpy as np
import pytest
from onnx_borders import border_rows
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from localsvm import ReducedSVC, SupportClusterSVC
from localsvm.export import to_onnx
from onnx_data import assert_same, run

REDUCED = {
    "rbf": ReducedSVC(),
    "laplace": ReducedSVC(kernel="laplace"),
    "linear": ReducedSVC(kernel="linear"),
    "linear_smo": ReducedSVC(kernel="linear", solver="smo"),
    "poly": ReducedSVC(kernel="poly", coef0=1.0),
    "homogeneous": ReducedSVC(kernel="poly", degree=2),
    "degree_one": ReducedSVC(kernel="poly", degree=1, coef0=0.5),
}
CLUSTERED = {
    "diag": SupportClusterSVC(20),
    "full": SupportClusterSVC(20, covariance="full"),
    "points": SupportClusterSVC(20, covariance="none"),
    "paper": SupportClusterSVC(20, kernel_form="paper"),
    "paper_full": SupportClusterSVC(20, kernel_form="paper", covariance="full"),
    "paper_points": SupportClusterSVC(20, kernel_form="paper", covariance="none"),
    "one_against_rest": SupportClusterSVC(20, multi_class="ovr"),
}


@pytest.fixture(scope="module")
def components():
    X, y = load_digits(return_X_y=True)
    return PCA(10, random_state=0).fit_transform(X) / 16, y


def same_beside_label_borders(model, X, dtype):
    """Support Cluster Machines have many borders of regions that decide nothing."""
    X = X.astype(dtype)
    rows = border_rows(model.predict, X, 30, (1e-3, 1e-4, 1e-5))
    found = run(to_onnx(model, dtype=dtype), rows)["label"]
    np.testing.assert_array_equal(found, model.predict(rows))


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("name", REDUCED)
def test_exact_svm(name, n_classes, components):
    X, y = components
    y = y if n_classes == 10 else y % 2
    model = REDUCED[name].set_params(random_state=0).fit(X[:300], y[:300])
    for dtype in ("float32", "float64"):
        assert_same(model, X[:900], dtype)
        same_beside_label_borders(model, X[:900], dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_svm_of_rows_of_float32(dtype, components):
    X, y = components
    model = ReducedSVC(random_state=0).fit(X[:300].astype(np.float32), y[:300])
    assert_same(model, X[:900], dtype, 1e-5)


def test_exact_svm_of_sparse_rows(components):
    X, y = components
    model = ReducedSVC(random_state=0).fit(csr_array(X[:300]), y[:300])
    assert_same(model, X[:900], "float64")


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("name", CLUSTERED)
def test_support_clusters(name, n_classes, components):
    X, y = components
    y = y if n_classes == 10 else y % 2
    model = CLUSTERED[name].set_params(random_state=0).fit(X[:600], y[:600])
    for dtype in ("float32", "float64"):
        assert_same(model, X[:900], dtype, 1e-3 if dtype == "float32" else 1e-9)
        same_beside_label_borders(model, X[:900], dtype)


@pytest.mark.parametrize("name", ["diag", "paper"])
def test_support_clusters_in_many_dimensions(name):
    """The kernel values leave the range of floating point numbers."""
    X, y = load_digits(return_X_y=True)
    model = CLUSTERED[name].set_params(random_state=0, C=0.05)
    assert_same(model.fit(X[:600] / 16, y[:600]), X / 16, "float64", 1e-9)


def test_classes_that_never_came(components):
    X, y = components
    for multi_class in ("ovo", "ovr"):
        model = SupportClusterSVC(10, multi_class=multi_class, random_state=0)
        few = y[:600] < 4
        model.partial_fit(X[:600][few], y[:600][few], classes=np.arange(10))
        assert_same(model, X, "float64", 1e-9)


def test_support_cluster_machine_without_kernel_values(components):
    X, y = components
    for classes in ([0, 1], [0, 1, 2]):
        model = SupportClusterSVC(10, random_state=0)
        model.partial_fit(X[y == 0], y[y == 0], classes=classes)
        assert_same(model, X, "float64")


def test_paper_form_needs_float64(components):
    X, y = components
    model = SupportClusterSVC(20, kernel_form="paper").fit(X[:300], y[:300])
    with pytest.raises(ValueError, match="kernel_form='paper' needs arithmetic"):
        to_onnx(model, arithmetic="float32")
    plain = SupportClusterSVC(20, random_state=0).fit(X[:300], y[:300])
    found = run(to_onnx(plain, arithmetic="float32"), X.astype(np.float32))
    assert (found["label"] == plain.predict(X.astype(np.float32))).mean() > 0.999

"""ONNX graphs of linear SVMs over regions."""

import numpy as np
import pytest
from sklearn.cluster import Birch, BisectingKMeans, KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.preprocessing import PolynomialFeatures

from localsvm import ClusteredSVC, GradientMetric
from localsvm.cluster import PDDP, ThresholdClustering
from localsvm.data import make_xor
from localsvm.estimators import ClusteredSVCCV, LocallyLinearSVC
from localsvm.export import to_onnx
from onnx_data import assert_same, assert_same_beside_borders, run

MODELS = {
    "soft": ClusteredSVC(8),
    "hard": ClusteredSVC(8, n_nearest=1),
    "crammer_singer": ClusteredSVC(8, multi_class="crammer_singer"),
    "no_global": ClusteredSVC(8, global_reg=np.inf),
    "one_region": ClusteredSVC(1),
    "many_regions": ClusteredSVC(200, n_nearest=3),
    "many_hard": ClusteredSVC(60, n_nearest=1),
    "kmeans": ClusteredSVC(6, n_nearest=1, clusterer=KMeans(n_init=1)),
    "threshold": ClusteredSVC(
        6, n_nearest=1, clusterer=ThresholdClustering(6), fit_intercept=False
    ),
    "pddp": ClusteredSVC(7, n_nearest=1, clusterer=PDDP()),
    "pddp_one_leaf": ClusteredSVC(1, n_nearest=1, clusterer=PDDP()),
    "birch": ClusteredSVC(5, clusterer=Birch(threshold=1.0)),
    "metric": ClusteredSVC(8, metric=GradientMetric(random_state=0)),
    "diagonal": ClusteredSVC(
        8, metric=GradientMetric(diagonal=True, random_state=0), n_nearest=1
    ),
    "pca": ClusteredSVC(8, metric=PCA(20)),
    "searched": ClusteredSVCCV(Cs=[1.0], n_regions=[5], cv=3),
    "inverse_distance": LocallyLinearSVC(30),
    "local_coordinates": LocallyLinearSVC(30, coding="local_coordinates"),
    "one_anchor": LocallyLinearSVC(1, coding="local_coordinates"),
}
NAMES = np.array([f"digit {digit}" for digit in range(10)])


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


# scikit-learn's k-means takes no rows but those of the type that it was fitted to.
@pytest.fixture(scope="module", params=sorted(set(MODELS) - {"kmeans"}))
def fitted(request, digits):
    X, y = digits
    model = MODELS[request.param].set_params(random_state=0)
    return model.fit(X[:900], NAMES[y[:900]])


def test_labels_are_those_of_the_model(fitted, digits):
    assert_same(fitted, digits[0], "float32")


def test_labels_beside_borders_are_those_of_the_model(fitted, digits):
    assert_same_beside_borders(fitted, digits[0][:900], "float32", 20)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_float64_and_two_classes(name):
    X, y = make_xor(600, random_state=0)
    X = np.hstack([X, np.random.default_rng(0).standard_normal((600, 20))])
    model = MODELS[name].set_params(random_state=0).fit(X[:400], y[:400])
    assert_same(model, X, "float64")
    assert_same_beside_borders(model, X, "float64", 20)


def test_scores_do_not_depend_on_the_origin():
    X, y = make_xor(500, random_state=0)
    far = X + 1e5
    model = ClusteredSVC(9, n_nearest=1, random_state=0).fit(far, y)
    assert_same_beside_borders(model, far, "float64")


def test_row_on_an_anchor_has_its_weights_alone():
    X, y = make_xor(300, random_state=0)
    for coding in ("inverse_distance", "local_coordinates"):
        model = LocallyLinearSVC(20, coding=coding, random_state=0).fit(X, y)
        anchors = model.regions_.centers
        assert_same(model, anchors, "float64")


def test_arithmetic_of_float32_is_near(digits):
    X, y = digits
    model = ClusteredSVC(8, random_state=0).fit(X[:900].astype(np.float32), y[:900])
    proto = to_onnx(model, arithmetic="float32")
    assert {each.data_type for each in proto.graph.initializer} == {1, 7}
    rows = X[900:].astype(np.float32)
    found = run(proto, rows)
    assert (found["label"] == model.predict(rows)).mean() > 0.999
    np.testing.assert_allclose(
        found["scores"], model.decision_function(rows), rtol=1e-4, atol=1e-6
    )


def test_clusterer_that_does_not_ask_for_the_nearest_centre_is_refused(digits):
    X, y = digits
    model = ClusteredSVC(9, n_nearest=1, clusterer=BisectingKMeans()).fit(X, y)
    with pytest.raises(TypeError, match=r"BisectingKMeans.*nearest of cluster"):
        to_onnx(model)
    model = ClusteredSVC(5, n_nearest=1, clusterer=Birch(threshold=1.0))
    with pytest.raises(TypeError, match="clusterer=Birch"):
        to_onnx(model.fit(X, y))


def test_unknown_metric_is_refused():
    X, y = make_xor(200, random_state=0)
    model = ClusteredSVC(4, metric=PolynomialFeatures(2)).fit(X, y)
    with pytest.raises(TypeError, match=r"metric=PolynomialFeatures .*StandardScaler"):
        to_onnx(model)

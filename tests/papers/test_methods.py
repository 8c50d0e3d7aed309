import pytest
from sklearn.datasets import make_classification

from papers import _methods as methods

METHODS = [
    methods.linear_svm([0.1, 1.0]),
    methods.rbf_svm([1.0], [0.1]),
    methods.svm_knn([1.0], [10]),
    methods.kmeans_svm([1.0], n_clusters=3),
    methods.csvm([1.0], [5.0], n_clusters=3),
    methods.msvm([1.0], n_regions=3),
    methods.llsvm([1.0], n_anchors=10, n_nearest=4),
    methods.boosted_linear_svm([1.0], n_estimators=3),
    methods.centroid_svm({"n_clusters": 5}),
    methods.nearest_neighbors([3]),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_method_fits_with_the_first_setting_of_its_grid(method):
    if not method.estimator.is_available():
        pytest.skip(f"{method.estimator.path} is not there")
    X, y = make_classification(120, n_features=6, random_state=0)
    setting = {name: values[0] for name, values in method.grid.items()}
    model = method.estimator.make(0, **setting).fit(X, y)
    assert model.score(X, y) > 0.7


def test_independent_clusters_have_no_global_model():
    X, y = make_classification(120, n_features=6, random_state=0)
    model = methods.kmeans_svm([1.0], n_clusters=3).estimator.make(0, C=1.0).fit(X, y)
    assert abs(model.global_coef_).max() == 0

"""Bad input gives a clear message, odd input a sound model."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from localsvm.estimators import LocallyLinearSVC

coding = pytest.mark.parametrize("coding", ["inverse_distance", "local_coordinates"])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1}, r"'C' parameter of LocallyLinearSVC must be a float .*\. Got -1"),
        ({"C": "big"}, r"or 'scale'\. Got 'big' instead"),
        ({"n_regions": 0}, r"'n_regions' parameter .*\[1, inf\)\. Got 0"),
        ({"n_regions": "auto"}, r"'n_regions' parameter .* Got 'auto'"),
        ({"n_nearest": 2.5}, r"'n_nearest' parameter .* Got 2.5"),
        (
            {"coding": "softmax"},
            r"'coding' .* 'inverse_distance' or 'local_coordinates'\. Got 'softmax'",
        ),
        ({"loss": "log"}, r"'hinge' or 'squared_hinge'\. Got 'log'"),
        ({"tol": -1e-3}, r"'tol' parameter .*\[0, inf\)\. Got -0.001"),
        ({"max_iter": 0}, r"'max_iter' parameter .* Got 0"),
        ({"max_time": -2}, r"'max_time' parameter .* Got -2"),
        ({"class_weight": "even"}, r"'balanced' or a dict, .*\. Got 'even'"),
        ({"fit_intercept": 3}, r"'fit_intercept' parameter .* a bool\. Got 3"),
        ({"intercept_scaling": 0}, r"'intercept_scaling' parameter .* Got 0"),
        ({"clusterer": DBSCAN()}, r"an object with 'fit' and 'predict'\. Got DBSCAN"),
        ({"metric": "l1"}, r"'metric' parameter .* Got 'l1'"),
    ],
)
def test_parameter_errors_name_found_and_expected(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        LocallyLinearSVC(**parameters).fit(*data)


def test_rows_that_cannot_be_used_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        LocallyLinearSVC().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="at least one non-zero"):
        LocallyLinearSVC().fit(X, y, sample_weight=np.zeros(60))
    with pytest.raises(NotFittedError):
        LocallyLinearSVC().predict(X)
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN: .* row 7, column 2"):
        LocallyLinearSVC().fit(X, y)


@coding
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overflowing_numbers_are_refused(coding, data):
    X, y = data

    class Fixed(KMeans):
        """A clusterer that does no arithmetic."""

        def fit(self, X, y=None, sample_weight=None):
            self.cluster_centers_ = np.array([[-1.0] * 3, [1.0] * 3])
            return self

    with pytest.raises(ValueError, match="not finite: X has entries too large"):
        LocallyLinearSVC(coding=coding, clusterer=Fixed()).fit(X * 1e200, y)


@coding
class TestOddData:
    def fit(self, X, y, coding, n_regions=100):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return LocallyLinearSVC(n_regions, coding=coding, random_state=0).fit(X, y)

    def test_fewer_rows_than_regions(self, coding, data):
        model = self.fit(*data, coding)
        assert model.n_regions_ == 60
        assert model.score(*data) > 0.95

    def test_fewer_distinct_rows_than_regions(self, coding, data):
        X = np.repeat(data[0][:3], 20, axis=0)
        y = np.repeat([0, 1, 1], 20)
        model = self.fit(X, y, coding)
        assert model.n_regions_ == 3
        assert model.score(X, y) == 1.0

    def test_fewer_distinct_rows_than_a_given_clusterer_has_clusters(self, coding):
        X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20)
        model = LocallyLinearSVC(coding=coding, clusterer=KMeans(n_init=1)).fit(X, y)
        assert model.n_regions_ == 2
        assert model.score(X, y) == 1.0

    def test_equal_rows_with_different_labels(self, coding):
        X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.tile([0, 1], 20)
        assert np.isfinite(self.fit(X, y, coding).decision_function(X)).all()

    def test_all_rows_zero(self, coding):
        X, y = np.zeros((10, 2)), np.arange(10) < 3
        assert not self.fit(X, y, coding).predict(X).any()

    def test_two_rows(self, coding):
        model = self.fit([[0.0], [1.0]], ["no", "yes"], coding)
        assert list(model.predict([[0.0], [1.0]])) == ["no", "yes"]

    def test_constant_and_empty_columns(self, coding, data):
        X, y = data
        padded = np.hstack([X, np.full((60, 1), 3.0), np.zeros((60, 1))])
        for rows in (padded, sparse.csr_array(padded)):
            assert self.fit(rows, y, coding, 10).score(rows, y) > 0.85

    def test_tiny_numbers(self, coding, data):
        X, y = data
        assert self.fit(X * 1e-150, y, coding, 4).score(X * 1e-150, y) > 0.8

    def test_rows_far_from_all_anchors(self, coding, data):
        model = self.fit(*data, coding, 10)
        assert np.isfinite(model.decision_function(data[0] * 1e6)).all()


def test_iteration_limit_warns_once_with_gap_and_remedy(data):
    model = LocallyLinearSVC(4, C=1e4, max_iter=2, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*data)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "1 of 1 problems stopped at max_iter=2" in text
    assert f"{model.duality_gap_:.1e}" in text


def test_failed_fit_leaves_the_estimator_as_it_was(data):
    X, y = data
    model = LocallyLinearSVC(4, random_state=0).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X[:, :2], np.zeros(60))
    np.testing.assert_array_equal(model.decision_function(X), before)

"""Bad input gives a clear message, odd input a sound model."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import DBSCAN
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

from localsvm import ClusteredSVC
from localsvm.cluster import SampledKMeans
from localsvm.data import TableEncoder
from localsvm.engine import Batches
from localsvm.estimators import METHODS, ClusteredSVCCV
from localsvm.exceptions import DataError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1}, r"'C' parameter of ClusteredSVC must be a float .*\. Got -1"),
        ({"C": 0}, r"'C' parameter .* Got 0 instead"),
        ({"C": "big"}, r"or 'scale'\. Got 'big' instead"),
        ({"C": np.nan}, r"'C' parameter .* Got nan"),
        ({"global_reg": 0}, r"'global_reg' parameter .*\(0, inf\]\. Got 0"),
        ({"n_regions": 0}, r"'n_regions' parameter .*\[1, inf\) or 'auto'\. Got 0"),
        ({"n_regions": 2.5}, r"'n_regions' parameter .* Got 2.5"),
        ({"n_regions": 61}, r"n_samples=60 should be >= n_regions=61"),
        ({"n_nearest": 0}, r"'n_nearest' parameter .* Got 0"),
        ({"sharpness": 0.0}, r"'sharpness' parameter .* Got 0.0"),
        ({"loss": "log"}, r"'hinge' or 'squared_hinge'\. Got 'log'"),
        ({"tol": -1e-3}, r"'tol' parameter .*\[0, inf\)\. Got -0.001"),
        ({"max_iter": 0}, r"'max_iter' parameter .* Got 0"),
        ({"max_time": -2}, r"'max_time' parameter .* Got -2"),
        ({"class_weight": "even"}, r"'balanced' or a dict, .*\. Got 'even'"),
        ({"fit_intercept": 3}, r"'fit_intercept' parameter .* a bool\. Got 3"),
        ({"clusterer": DBSCAN()}, r"an object with 'fit' and 'predict'\. Got DBSCAN"),
        ({"clusterer": "kmeans"}, r"'clusterer' parameter .* Got 'kmeans'"),
    ],
)
def test_parameter_errors_name_found_and_expected(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        ClusteredSVC(**parameters).fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": []}, r"'Cs' parameter .* a non-empty list"),
        ({"Cs": [1, -1]}, r"'Cs' parameter .* Got \[1, -1\]"),
        ({"global_regs": [0]}, r"'global_regs' parameter"),
        ({"n_regions": [0]}, r"'n_regions' parameter"),
        ({"n_regions": [59]}, r"n_samples=48 should be >= n_regions=59"),
    ],
)
def test_search_parameter_errors(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        ClusteredSVCCV(**parameters).fit(*data)


def test_one_class_is_refused(data):
    with pytest.raises(ValueError, match=r"greater than one; got 1 class \(0.0\)"):
        ClusteredSVC().fit(data[0], np.zeros(60))


@pytest.mark.parametrize(
    ("value", "kind"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
def test_values_not_finite_are_found_by_row_and_column(value, kind, data):
    X, y = data
    X[7, 2] = value
    with pytest.raises(ValueError, match=rf"contains {kind}: .* row 7, column 2"):
        ClusteredSVC().fit(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=rf"contains {kind}: .* row 7, column 'c'"):
        ClusteredSVC().fit(frame, y)
    with pytest.raises(ValueError, match=rf"contains {kind}: .* row 7, column 2"):
        ClusteredSVC().fit(sparse.csr_array(X), y)


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def object_array(columns):
    return np.array(list(columns.values()), dtype=object).T


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (pd.DataFrame, "'city'"),
        (polars_frame, "'city'"),
        (pa.table, "'city'"),
        (object_array, "1"),
    ],
)
@pytest.mark.parametrize("estimator", [ClusteredSVC(n_regions=2), SampledKMeans(2)])
def test_a_string_is_found_by_row_and_column(make, name, estimator, data):
    X, y = data
    numbers = {"age": X[:, 0].tolist(), "city": X[:, 1].tolist()}
    words = numbers | {"city": ["7", "Ulm", *["Bonn"] * 58]}
    message = rf"found 'Ulm' in row 1, column {name}; expected numbers.*TableEncoder"
    with pytest.raises(ValueError, match=message):
        estimator.fit(make(words), y)
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(make(numbers), y).predict(make(words))


def test_a_date_and_a_category_are_found_as_strings_are(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    days = frame.assign(b=pd.Timestamp("2024-12-31"))
    with pytest.raises(ValueError, match=r"Timestamp.* in row 0, column 'b'"):
        ClusteredSVC().fit(days, y)
    kinds = frame.assign(c=pd.Categorical(["x", "y"] * 30))
    with pytest.raises(ValueError, match=r"found 'x' in row 0, column 'c'"):
        ClusteredSVC().fit(kinds, y)


def test_the_remedy_for_strings_works(data):
    X, y = data
    frame = pd.DataFrame({"age": X[:, 0], "city": np.where(y == 1, "Ulm", "Bonn")})
    model = make_pipeline(TableEncoder(), ClusteredSVC(C=0.1)).fit(frame, y)
    assert model.score(frame, y) == 1.0


def test_query_with_nan_is_refused(data):
    model = ClusteredSVC().fit(*data)
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict([[0.0, np.nan, 1.0]])


def test_query_of_another_width_is_refused(data):
    model = ClusteredSVC().fit(*data)
    with pytest.raises(ValueError, match="X has 2 features, but ClusteredSVC is exp"):
        model.predict([[0.0, 1.0]])


def test_unfitted_model_says_so(data):
    for method in ("predict", "decision_function", "region", "local_coef"):
        with pytest.raises(NotFittedError):
            getattr(ClusteredSVC(), method)(data[0])
    with pytest.raises(NotFittedError):
        _ = ClusteredSVC().coef_


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(60, -1.0), "Negative values in data passed to `sample_weight`"),
        (np.zeros(60), "must contain at least one non-zero"),
        (np.ones((60, 2)), "must be a 1D array"),
        (np.ones(59), "inconsistent numbers of samples"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_refused(weight, message, data):
    with pytest.raises(ValueError, match=message):
        ClusteredSVC().fit(*data, sample_weight=weight)


@pytest.mark.parametrize(
    "method", [each for each in METHODS if each.on_blocks], ids=lambda each: each.name
)
def test_blocks_are_checked_as_rows_in_memory_are(method, data):
    X, y = data
    weight = np.zeros(len(y))
    for rows in ((X, y, weight), (Batches.of(X, y, weight, rows=20),)):
        with pytest.raises(DataError, match="contain at least one non-zero number"):
            method.estimator().fit(*rows)
    with pytest.raises(DataError, match="has to be greater than one; got 1 class"):
        method.estimator().fit(Batches.of(X, np.ones(len(y)), rows=20))


def test_unscaled_columns_warn_once_with_the_remedy(data):
    X, y = data
    X = X * [1.0, 1e5, 1.0]
    with pytest.warns(UserWarning, match=r"column 1 .*StandardScaler") as caught:
        ClusteredSVC(max_iter=3, tol=1.0).fit(X, y)
    assert sum("very different scales" in str(w.message) for w in caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="'income' .* the range"):
        ClusteredSVC(tol=1.0).fit(pd.DataFrame(X, columns=["a", "income", "b"]), y)
    with pytest.warns(UserWarning, match="column 1"):
        ClusteredSVC(tol=1.0).fit(sparse.csr_array(X), y)


def test_scaled_data_give_no_warning(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ClusteredSVC(4).fit(*data)


def test_one_row_is_refused_with_its_number():
    with pytest.raises(ValueError, match="1 class"):
        ClusteredSVC().fit([[1.0, 2.0]], [0])


def test_two_rows_are_enough():
    model = ClusteredSVC().fit([[0.0], [1.0]], ["no", "yes"])
    assert list(model.predict([[0.0], [1.0]])) == ["no", "yes"]


@pytest.mark.parametrize("n_nearest", [8, 1])
class TestOddData:
    def fit(self, X, y, n_nearest, n_regions=4):
        return ClusteredSVC(n_regions, n_nearest=n_nearest, random_state=0).fit(X, y)

    def test_constant_columns(self, n_nearest, data):
        X, y = data
        padded = np.hstack([X, np.full((60, 1), 3.0), np.zeros((60, 1))])
        assert self.fit(padded, y, n_nearest).score(padded, y) > 0.85

    def test_all_columns_constant(self, n_nearest):
        X, y = np.ones((30, 2)), np.arange(30) % 3 == 0
        with pytest.warns(ConvergenceWarning, match="Only 1 distinct rows"):
            model = self.fit(X, y, n_nearest)
        assert model.n_regions_ == 1
        assert not model.predict(X).any()

    def test_duplicate_rows(self, n_nearest, data):
        X, y = (np.repeat(part[:3], 20, axis=0) for part in data)
        y[:20], y[20:40] = 0, 1
        with pytest.warns(ConvergenceWarning, match="Only 3 distinct rows"):
            model = self.fit(X, y, n_nearest)
        assert model.score(X[:40], y[:40]) == 1.0

    def test_equal_rows_with_different_labels(self, n_nearest):
        X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.tile([0, 1], 20)
        with pytest.warns(ConvergenceWarning, match="Only 2 distinct rows"):
            model = self.fit(X, y, n_nearest)
        assert np.isfinite(model.decision_function(X)).all()

    def test_zero_rows(self, n_nearest, data):
        X, y = data
        X[::2] = 0
        model = self.fit(X, y, n_nearest)
        assert np.isfinite(model.decision_function(X)).all()

    def test_all_rows_zero(self, n_nearest):
        X, y = np.zeros((10, 2)), np.arange(10) < 3
        with pytest.warns(ConvergenceWarning, match="Only 1 distinct"):
            assert not self.fit(X, y, n_nearest).predict(X).any()

    @pytest.mark.filterwarnings("ignore:.*stopped at max_iter")
    def test_region_with_one_class(self, n_nearest):
        rng = np.random.default_rng(0)
        X = np.r_[rng.normal(-5, 1, (50, 2)), rng.normal(5, 1, (50, 2))]
        y = np.r_[np.zeros(50), rng.integers(0, 2, 50)]
        model = self.fit(X, y, n_nearest, n_regions=2)
        assert not model.predict(X[:50]).any()

    @pytest.mark.filterwarnings("ignore:.*stopped at max_iter")
    def test_many_classes_with_two_rows_each(self, n_nearest):
        rng = np.random.default_rng(0)
        centers = rng.standard_normal((100, 8))
        X, y = np.repeat(centers, 2, axis=0), np.repeat(np.arange(100), 2)
        X = X + 0.01 * rng.standard_normal(X.shape)
        assert self.fit(X, y, n_nearest).score(X, y) > 0.95

    def test_tiny_numbers(self, n_nearest, data):
        X, y = data
        assert self.fit(X * 1e-150, y, n_nearest).score(X * 1e-150, y) > 0.8


def test_overflowing_numbers_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="not finite: X has entries too large"):
        ClusteredSVC(clusterer=_ByFirstSign()).fit(X * 1e200, y)


class _ByFirstSign:
    """A clusterer that does no arithmetic."""

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y=None):
        self.cluster_centers_ = np.array([[-1.0] * X.shape[1], [1.0] * X.shape[1]])
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


def test_clusterer_with_noise_label_is_refused(data):
    class Noisy(_ByFirstSign):
        def predict(self, X):
            return np.where(X[:, 0] > 0, 0, -1)

    with pytest.raises(ValueError, match=r"Noisy.predict gave the label -1"):
        ClusteredSVC(n_nearest=1, clusterer=Noisy()).fit(*data)


def test_clusterer_with_odd_labels_is_refused(data):
    class Words(_ByFirstSign):
        def predict(self, X):
            return np.full(len(X), "a")

    with pytest.raises(ValueError, match="must return one integer label per row"):
        ClusteredSVC(n_nearest=1, clusterer=Words()).fit(*data)


def test_iteration_limit_warns_once_with_gap_and_remedy(data):
    model = ClusteredSVC(4, C=1e4, max_iter=2, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*data)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "1 of 1 problems stopped at max_iter=2" in text
    assert f"{model.duality_gap_:.1e}" in text
    assert "Scale the features" in text
    assert caught[0].filename == __file__


def test_failed_fit_leaves_the_generator_as_it_was(data, monkeypatch):
    X, y = data
    generator = np.random.RandomState(0)
    expected = np.random.RandomState(0).randint(2**31 - 1)
    model = ClusteredSVC(2, random_state=generator)
    with monkeypatch.context() as patch:
        patch.setattr(ClusteredSVC, "_store", None)
        with pytest.raises(TypeError):
            model.fit(X, y)
    assert generator.randint(2**31 - 1) == expected


def test_failed_fit_leaves_the_estimator_as_it_was(data):
    X, y = data
    model = ClusteredSVC(4, random_state=0).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X[:, :2], np.zeros(60))
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.decision_function(X), before)
    fresh = ClusteredSVC()
    with pytest.raises(ValueError, match="greater than one"):
        fresh.fit(X, np.zeros(60))
    assert not hasattr(fresh, "n_features_in_")


def test_kmeans_parameter_errors(data):
    for parameters, message in (
        ({"n_clusters": 0}, "'n_clusters' parameter of SampledKMeans"),
        ({"max_samples": 0}, "'max_samples' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"n_clusters": 100}, "n_samples=60 should be >= n_clusters=100"),
    ):
        with pytest.raises(ValueError, match=message):
            SampledKMeans(**parameters).fit(data[0])

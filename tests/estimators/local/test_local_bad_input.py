"""Bad input to the local kernel SVMs gives a clear message, odd input a sound model."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors

from localsvm import LocalSVC
from localsvm.estimators import LocalSVCCV, NeighborSVC

ESTIMATORS = [LocalSVC, NeighborSVC, LocalSVCCV]


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return request.param(random_state=0)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("estimator", [LocalSVC, NeighborSVC])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, r"'n_neighbors' parameter .* or 'auto'\. Got 0 instead"),
        ({"n_neighbors": 2.5}, r"'n_neighbors' parameter .* Got 2.5"),
        ({"n_neighbors": "all"}, r"'n_neighbors' parameter .* Got 'all'"),
        ({"n_neighbors": 61}, r"n_neighbors=61 should be <= n_samples=60"),
        (
            {"C": -1},
            r"'C' parameter of \w+ must be a float .*\(0, inf\) or 'scale'\. Got -1",
        ),
        ({"C": 0}, r"'C' parameter .* Got 0"),
        ({"C": np.nan}, r"'C' parameter .* Got nan"),
        (
            {"gamma": 0},
            r"'gamma' parameter .* 'local' or 'scale' or 'auto' or .* Got 0",
        ),
        ({"gamma": "wide"}, r"'gamma' parameter .* Got 'wide'"),
        ({"gamma": ("local", 0.0)}, r"or \('local', factor\) .* Got \('local', 0.0\)"),
        ({"gamma": ("scale", 2.0)}, r"'gamma' parameter .* Got \('scale', 2.0\)"),
        ({"gamma": ("local",)}, r"'gamma' parameter .* Got \('local',\)"),
        ({"C": "auto"}, r"'C' parameter .* or 'scale'\. Got 'auto'"),
        ({"max_time": 0}, r"'max_time' parameter .* Got 0"),
        ({"kernel": "sigmoid"}, r"'poly' or 'rbf' or 'laplace'\. Got 'sigmoid'"),
        ({"degree": 0}, r"'degree' parameter .*\[1, inf\)\. Got 0"),
        ({"degree": 2.5}, r"'degree' parameter .* Got 2.5"),
        ({"coef0": np.inf}, r"'coef0' parameter .* Got inf"),
        ({"tol": -1e-3}, r"'tol' parameter .*\[0, inf\)\. Got -0.001"),
        ({"max_iter": 0}, r"'max_iter' parameter .* None or an int .* Got 0"),
        ({"max_iter": -1}, r"'max_iter' parameter .* Got -1"),
        ({"max_iter": "auto"}, r"'max_iter' parameter .* Got 'auto'"),
        ({"cache_size": 0}, r"'cache_size' parameter .* Got 0"),
        ({"class_weight": "even"}, r"'balanced' or a dict, .*\. Got 'even'"),
        ({"neighbors": "ball_tree"}, r"'auto' or 'kd_tree' or 'brute' or .* Got 'ball"),
        ({"neighbors": NotFittedError()}, r"an object with 'fit' and 'kneighbors'"),
        ({"kernel": "poly", "neighbors": "kd_tree"}, r"'poly' of degree 3 orders rows"),
    ],
)
def test_parameter_errors_name_found_and_expected(estimator, parameters, message, data):
    with pytest.raises(ValueError, match=message):
        estimator(**parameters).fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_assigned": 0}, r"'n_assigned' parameter .* Got 0"),
        ({"n_neighbors": 10, "n_assigned": 11}, r"n_assigned=11 .* n_neighbors=10"),
        ({"route": "x"}, r"'row' or 'center'\. Got 'x'"),
        ({"local_grid": {}}, r"'local_grid' parameter .* Got \{\}"),
        ({"local_grid": [1.0]}, r"'local_grid' parameter .* a dict with 'C': .* Got"),
        ({"local_grid": {"C": 1.0}}, r"'local_grid' parameter .* a non-empty list"),
        ({"local_grid": {"C": []}}, r"'local_grid' parameter .* Got"),
        ({"local_grid": {"gamma": [0]}}, r"'local_grid' parameter .* Got"),
        ({"local_grid": {"C": [1], "degree": [2]}}, r"'local_grid' parameter .* Got"),
    ],
)
def test_local_parameter_errors(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        LocalSVC(**parameters).fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"Cs": []},
            r"'Cs' parameter of LocalSVCCV must be 'scale' or a non-empty list",
        ),
        ({"Cs": [1, -1]}, r"'Cs' parameter .* Got \[1, -1\]"),
        ({"Cs": 1.0}, r"'Cs' parameter .* Got 1.0"),
        ({"gammas": []}, r"'gammas' parameter .* a non-empty list"),
        ({"gammas": [0.0]}, r"'gammas' parameter .* Got \[0.0\]"),
        ({"gammas": "scale"}, r"'gammas' parameter .* 'local' or .* Got 'scale'"),
        ({"n_neighbors": []}, r"'n_neighbors' parameter .* Got \[\]"),
        ({"n_neighbors": [0]}, r"'n_neighbors' parameter .* Got \[0\]"),
        ({"n_neighbors": [20, 61]}, r"n_neighbors=61 should be <= n_samples=60"),
        ({"n_neighbors": [50, 20], "n_assigned": 30}, r"n_assigned=30 .*_neighbors=20"),
        ({"max_regions": 0}, r"'max_regions' parameter .* Got 0"),
        ({"max_regions": 1, "n_neighbors": 4}, r"max_regions=1 "),
        ({"kernel": "sigmoid"}, r"'kernel' parameter .* Got 'sigmoid'"),
        ({"route": "x"}, r"'route' parameter .* Got 'x'"),
        ({"max_iter": 0}, r"'max_iter' parameter .* Got 0"),
        ({"kernel": "poly", "neighbors": "kd_tree"}, r"'poly' of degree 3 orders rows"),
        ({"scoring": "beauty"}, r"'scoring' parameter .* Got 'beauty'"),
    ],
)
def test_search_parameter_errors(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        LocalSVCCV(**parameters, random_state=0).fit(*data)


def test_one_class_is_refused(estimator, data):
    with pytest.raises(ValueError, match=r"greater than one; got 1 class \(0.0\)"):
        estimator.fit(data[0], np.zeros(60))


def test_values_not_finite_are_found_by_row_and_column(estimator, data):
    X, y = data
    X[7, 2] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for rows, column in ((X, "2"), (frame, "'c'"), (sparse.csr_array(X), "2")):
        with pytest.raises(
            ValueError, match=rf"contains NaN: .* row 7, column {column}"
        ):
            clone(estimator).fit(rows, y)


def test_query_that_does_not_fit_is_refused(estimator, data):
    model = estimator.fit(*data)
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict([[0.0, np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"X has 2 features, but \w+ is expecting 3"):
        model.predict([[0.0, 1.0]])


def test_unfitted_model_says_so(estimator, data):
    for method in ("predict", "decision_function", "region"):
        if hasattr(estimator, method):
            with pytest.raises(NotFittedError):
                getattr(estimator, method)(data[0])


def test_kd_tree_refuses_sparse_rows(estimator, data):
    estimator.set_params(neighbors="kd_tree")
    with pytest.raises(ValueError, match="needs a dense X, got a sparse matrix"):
        estimator.fit(sparse.csr_array(data[0]), data[1])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(60, -1.0), "Negative values in data passed to `sample_weight`"),
        (np.zeros(60), "must contain at least one non-zero"),
        (np.ones((60, 2)), "must be a 1D array"),
        (np.ones(59), "inconsistent numbers of samples"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (-1.0, "Negative values in data passed to `sample_weight`"),
        (0.0, "must contain at least one non-zero"),
    ],
)
def test_bad_weights_are_refused(weight, message, estimator, data):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*data, sample_weight=weight)


class _FailsToFit(NearestNeighbors):
    def fit(self, X, y=None):
        raise OSError("no space left")


def test_failed_fit_leaves_the_estimator_as_it_was(estimator, data):
    X, y = data
    model = clone(estimator).set_params(n_neighbors=20).fit(X, y)
    before, names = model.decision_function(X), set(vars(model))
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X[:, :2], np.zeros(60))
    with pytest.raises(ValueError, match="n_neighbors=20 should be <= n_samples=19"):
        model.fit(X[:19, :2], y[:19])
    with pytest.raises(OSError, match="no space left"):
        model.set_params(neighbors=_FailsToFit()).fit(X[:, :2], y)
    assert model.n_features_in_ == 3
    assert set(vars(model)) == names
    np.testing.assert_array_equal(model.decision_function(X), before)
    with pytest.raises(ValueError, match="greater than one"):
        estimator.fit(X, np.zeros(60))
    assert not hasattr(estimator, "n_features_in_")


def test_unscaled_columns_warn_once_with_the_remedy(estimator, data):
    X, y = data
    with pytest.warns(UserWarning, match=r"column 1 .*StandardScaler") as caught:
        estimator.fit(X * [1.0, 1e5, 1.0], y)
    assert sum("very different scales" in str(w.message) for w in caught) == 1
    assert caught[0].filename == __file__


def test_scaled_data_give_no_warning(estimator, data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(*data).predict(data[0])


def test_two_rows_are_enough():
    for estimator in (LocalSVC, NeighborSVC):
        for size in ("auto", 1, 2):
            model = estimator(size).fit([[0.0], [1.0]], ["no", "yes"])
            assert list(model.predict([[0.1], [0.9]])) == ["no", "yes"]


class TestOddData:
    def test_more_copies_than_a_neighbourhood_holds(self, estimator, data):
        X, y = np.repeat(data[0][:3], 30, axis=0), np.repeat([0, 1, 1], 30)
        model = estimator.set_params(n_neighbors=8)
        if isinstance(model, LocalSVCCV):
            model.set_params(Cs=[10.0])
        model.fit(X, y)
        assert model.n_neighbors_ == 3
        assert model.score(X, y) == 1.0
        if not isinstance(model, NeighborSVC):
            assert model.region_sizes_.sum() == 3

    def test_equal_rows_with_different_labels(self, estimator):
        X, y = np.ones((30, 2)), np.arange(30) % 3 == 0
        model = estimator.set_params(n_neighbors=8).fit(X, y)
        assert model.n_neighbors_ == 2
        assert not model.predict(X).any()
        assert model.fit(X, ~y).predict(X).all()
        X = np.repeat([[0.0], [1.0]], 20, axis=0)
        scores = model.fit(X, np.tile([0, 1], 20)).decision_function(X)
        np.testing.assert_allclose(scores, 0, atol=1e-3)

    def test_tie_goes_to_the_first_class(self, estimator):
        X, y = np.ones((30, 2)), np.where(np.arange(30) % 3, "no", "yes")
        model = estimator.set_params(class_weight="balanced", n_neighbors=8).fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), 0)
        assert set(model.predict(X)) == {"no"}

    @pytest.mark.parametrize("kernel", ["rbf", "laplace", "linear", "poly"])
    def test_constant_columns(self, kernel, estimator, data):
        X, y = data
        padded = np.hstack([X, np.full((60, 1), 3.0), np.zeros((60, 1))])
        if isinstance(estimator, LocalSVCCV):
            # The constant column makes the penalties of "scale" small.
            estimator.set_params(Cs=[1.0, 10.0, 100.0])
        model = estimator.set_params(kernel=kernel, n_neighbors=12).fit(padded, y)
        assert model.score(padded, y) > 0.8

    @pytest.mark.parametrize("kernel", ["rbf", "laplace", "linear", "poly"])
    def test_all_rows_zero(self, kernel, estimator):
        X, y = np.zeros((15, 2)), np.arange(15) < 5
        model = estimator.set_params(kernel=kernel, n_neighbors=8).fit(X, y)
        assert not model.predict(X).any()

    def test_zero_rows(self, estimator, data):
        X, y = data
        X[::2] = 0
        for rows in (X, sparse.csr_array(X)):
            model = clone(estimator).set_params(n_neighbors=12).fit(rows, y)
            assert np.isfinite(model.decision_function(rows)).all()
            assert model.score(X[1::2], y[1::2]) > 0.8

    def test_many_classes_with_two_rows_each(self, estimator):
        rng = np.random.default_rng(0)
        X, y = np.repeat(rng.standard_normal((40, 8)), 2, axis=0), np.arange(80) // 2
        X = X + 0.01 * rng.standard_normal(X.shape)
        estimator.set_params(n_neighbors=8)
        if isinstance(estimator, LocalSVCCV):
            estimator.set_params(cv=2)
        assert estimator.fit(X, y).score(X, y) > 0.95

    def test_tiny_numbers(self, estimator, data):
        X, y = data
        model = estimator.set_params(n_neighbors=20).fit(X * 1e-150, y)
        assert model.score(X * 1e-150, y) > 0.9

    def test_numbers_far_from_zero(self, estimator, data):
        X, y = data
        for rows in (X + 1e6, (X + 1e3).astype(np.float32)):
            model = clone(estimator).set_params(n_neighbors=20).fit(rows, y)
            assert model.score(rows, y) > 0.9

    def test_class_without_weight_keeps_its_place(self, estimator, data):
        X, y = data[0], np.arange(60) % 3
        estimator.set_params(n_neighbors=20)
        model = estimator.fit(X, y, sample_weight=(y != 1).astype(float))
        assert list(model.classes_) == [0, 1, 2]
        scores = model.decision_function(X)
        assert scores.shape == (60, 3)
        assert (scores[:, 1] == -1).all()
        assert 1 not in model.predict(X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "parameters",
    [{"kernel": "linear"}, {"kernel": "poly"}, {}, {"gamma": "scale"}, {"gamma": 1.0}],
    ids=str,
)
def test_overflowing_numbers_are_refused(parameters, estimator, data):
    X, y = data
    if isinstance(estimator, LocalSVCCV) and "gamma" in parameters:
        parameters = {"gammas": [1.0]}
    estimator.set_params(n_neighbors=20, **parameters)
    for rows in (X * 1e200, (X * 1e30).astype(np.float32)):
        with pytest.raises(ValueError, match="not finite: X has entries too large"):
            clone(estimator).fit(rows, y).predict(rows)


def test_class_weight_of_zero_leaves_the_class_out(estimator):
    y = np.repeat([0, 1], 30)
    X = np.random.default_rng(0).standard_normal((60, 2)) + 20 * y[:, None]
    estimator.set_params(n_neighbors=5, class_weight={0: 0.0, 1: 1.0})
    assert estimator.fit(X, y).predict(X).all()
    with pytest.raises(ValueError, match="leaves no row with a positive weight"):
        estimator.set_params(class_weight={0: 0.0, 1: 0.0}).fit(X, y)


@pytest.mark.parametrize("row", [-1, 60])
def test_search_that_finds_rows_that_are_not_there_is_refused(row, estimator, data):
    class Astray(NearestNeighbors):
        def kneighbors(self, X, n_neighbors, return_distance=True):
            rows = super().kneighbors(X, n_neighbors, return_distance=False).copy()
            rows[:, -1] = row
            return rows

    estimator.set_params(neighbors=Astray(), n_neighbors=5)
    message = f"Astray.kneighbors gave the row {row}; expected rows from 0 to 59"
    with pytest.raises(ValueError, match=message):
        estimator.fit(*data).predict(data[0])

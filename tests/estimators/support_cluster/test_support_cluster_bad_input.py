"""What SupportClusterSVC says of bad parameters, bad rows and limits."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from localsvm import SupportClusterSVC
from localsvm.estimators._support_cluster.model import narrowed


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        ("n_clusters", 0, "an int in the range [1, inf)"),
        ("n_clusters", 2.5, "an int in the range [1, inf)"),
        ("clusterer", "kmeans", "None or an object with 'fit'"),
        ("covariance", "tied", "'diag' or 'full' or 'none'"),
        ("kernel_form", "rbf", "'expected_rbf' or 'paper'"),
        ("C", 0.0, "a float in the range (0, inf) or 'scale'"),
        ("C", np.inf, "a float in the range (0, inf) or 'scale'"),
        ("C", "auto", "a float in the range (0, inf) or 'scale'"),
        ("gamma", -1.0, "a float in the range (0, inf) or 'scale' or 'auto'"),
        ("gamma", "local", "a float in the range (0, inf) or 'scale' or 'auto'"),
        ("multi_class", "crammer_singer", "'ovo' or 'ovr'"),
        (
            "class_weight",
            "even",
            "None or 'balanced' or a dict, each value a float in the range [0, inf)",
        ),
        ("tol", -1.0, "a float in the range [0, inf)"),
        ("max_iter", -1, "None or an int in the range [1, inf)"),
        ("max_iter", 0, "None or an int in the range [1, inf)"),
        ("max_time", 0.0, "None or a float in the range (0, inf)"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters_are_named(parameter, value, words, method, two_moons):
    model = SupportClusterSVC().set_params(**{parameter: value})
    if parameter == "clusterer" and method == "partial_fit":
        assert not hasattr(model, method)
        return
    with pytest.raises(ValueError) as caught:
        getattr(model, method)(*two_moons)
    assert str(caught.value) == (
        f"The {parameter!r} parameter of SupportClusterSVC must be {words}. "
        f"Got {value!r} instead."
    )


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X * 1e200, y), "entries too large for their squares"),
        (
            lambda X, y: (np.where(X[3, 1] == X, np.nan, X), y),
            "NaN: .* row 3, column 1",
        ),
        (lambda X, y: (X[:, :0], y), "0 feature"),
        (lambda X, y: (X, y[:5]), "inconsistent numbers of samples"),
        (lambda X, y: (X, X[:, 0]), "Unknown label type"),
    ],
)
def test_bad_rows_are_refused(method, change, message, two_moons):
    with pytest.raises(ValueError, match=message):
        getattr(SupportClusterSVC(), method)(*change(*two_moons))


def test_rows_without_squares_are_refused_whatever_the_clusterer(two_moons):
    X, y = two_moons
    model = SupportClusterSVC(clusterer=KMeans(5, n_init=1))
    with pytest.raises(ValueError, match="entries too large for their squares"):
        model.fit(X * 1e200, y)


def test_scores_beyond_float32_are_the_largest_number():
    largest = np.finfo(np.float32).max
    found = narrowed(np.array([[1e300, -1e300, 2.0]]), np.dtype(np.float32))
    np.testing.assert_array_equal(found, [[largest, -largest, 2]])
    assert found.dtype == np.float32


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_weights_are_refused(method, two_moons):
    X, y = two_moons
    fit = getattr(SupportClusterSVC(), method)
    with pytest.raises(ValueError, match=r"Negative values .* found -1.0"):
        fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="at least one non-zero number"):
        fit(X, y, sample_weight=np.zeros(len(y)))


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_class_weights_that_leave_nothing_are_refused(method, two_moons):
    model = SupportClusterSVC(class_weight={0: 0.0, 1: 0.0})
    with pytest.raises(ValueError, match=r"\{0: 0.0, 1: 0.0\} leaves no row with a"):
        getattr(model, method)(*two_moons).predict(two_moons[0])


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_columns_of_different_scales_warn_once(method, two_moons):
    X, y = two_moons
    model = SupportClusterSVC(10)
    with pytest.warns(UserWarning, match="very different scales") as caught:
        getattr(model, method)(X * [1.0, 1e5], y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    if method == "partial_fit":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.partial_fit(X * [1.0, 1e5], y)


def test_warning_reaches_code_that_has_no_module_name(two_moons):
    X, y = two_moons
    names = {"model": SupportClusterSVC(10), "X": X * [1.0, 1e5], "y": y}
    with pytest.warns(UserWarning, match="very different scales"):
        exec("model.fit(X, y)", names)


def test_unfitted_model_says_so(two_moons):
    model = SupportClusterSVC()
    for ask in (model.predict, model.decision_function):
        with pytest.raises(NotFittedError):
            ask(two_moons[0])
    for name in ("support_", "dual_coef_", "C_", "n_iter_", "gamma_", "n_support_"):
        assert not hasattr(model, name)


def hard_problem():
    rng = np.random.default_rng(0)
    return rng.standard_normal((2000, 10)), rng.integers(0, 2, 2000)


def test_iteration_limit_warns_once_and_gives_a_model():
    X, y = hard_problem()
    model = SupportClusterSVC(1000, C=1e6, max_iter=5)
    with pytest.warns(
        ConvergenceWarning, match="1 of 1 problems stopped at max_iter=5"
    ):
        model.fit(X, y)
    assert model.predict(X).shape == y.shape


def test_time_limit_warns_and_gives_a_model():
    X, y = hard_problem()
    model = SupportClusterSVC(1000, C=1e9, tol=0, max_iter=10_000_000, max_time=0.5)
    with pytest.warns(ConvergenceWarning, match="stopped at max_time=0.5"):
        model.fit(X, y)
    assert model.predict(X).shape == y.shape

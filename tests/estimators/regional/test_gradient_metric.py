import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import store
from localsvm import ClusteredSVC, GradientMetric, LocalSVC
from localsvm.cluster import HardRegions, RegionCodes
from localsvm.estimators import ClusteredSVCCV
from localsvm.estimators._regional import gradient_second_moment
from oracles import gradient_metric as oracle

KINDS = [
    {"power": 0.5, "diagonal": False},
    {"power": 1.0, "diagonal": True},
    {"power": 1.5, "diagonal": False},
]


def make_crossed(n_samples, n_noise, seed):
    """Two columns whose product tells the class, and columns that say nothing."""
    X = np.random.default_rng(seed).standard_normal((n_samples, 2 + n_noise))
    return X, X[:, 0] * X[:, 1] > 0


@pytest.fixture(params=[2, 3])
def rows(request, three_classes):
    X, y = three_classes
    if request.param == 2:
        y = np.where(y == "ash", "ash", "other")
    return X, y, np.random.default_rng(2).uniform(0.2, 3.0, len(y))


@pytest.mark.parametrize("parameters", [{}, {"n_nearest": 1}, {"global_reg": np.inf}])
def test_moment_is_that_of_numeric_gradients(parameters, rows):
    X, y, weight = rows
    model = ClusteredSVC(7, random_state=0, **parameters).fit(X, y)
    codes = model.regions_.code(X)
    gradients = oracle.numeric_gradients(model._model, X, codes)
    np.testing.assert_allclose(
        gradient_second_moment(model._model, codes, weight),
        oracle.second_moment(gradients, weight),
        atol=1e-6,
    )


def test_moment_of_regions_not_seen_is_that_of_the_global_weights(rows):
    X, y, weight = rows
    model = ClusteredSVC(3, n_nearest=1, random_state=0).fit(X, y)
    assert isinstance(model.regions_, HardRegions)
    codes = RegionCodes(
        np.full((len(X), 2), 5, dtype=np.int32), np.full((len(X), 2), 0.7)
    )
    np.testing.assert_allclose(
        gradient_second_moment(model._model, codes, weight),
        model.global_coef_.T @ model.global_coef_,
        atol=1e-9,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_steps", [1, 2, 3])
def test_map_is_that_of_one_row_at_a_time(kind, n_steps, rows):
    X, y, weight = rows
    # Above this tolerance the order of the rows would show.
    estimator = ClusteredSVC(
        clusterer=oracle.Slices(), C=0.05, random_state=3, tol=1e-9, max_iter=100_000
    )
    metric = GradientMetric(**kind, n_steps=n_steps, estimator=estimator)
    metric.fit(X, y, weight)
    T, squared = oracle.learn(estimator, X, y, weight, **kind, n_steps=n_steps)
    np.testing.assert_allclose(metric.components_, T, atol=2e-4)
    mean = np.average(X, axis=0, weights=weight)
    share = squared * np.average((X - mean) ** 2, axis=0, weights=weight)
    np.testing.assert_allclose(metric.importances_, share / share.sum(), atol=1e-4)
    np.testing.assert_allclose(metric.transform(X), X @ metric.components_, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_centred_rows_keep_their_norm(kind, rows):
    X, y, weight = rows
    X = X + 100.0
    metric = GradientMetric(**kind, random_state=0).fit(X, y, weight)
    mapped = metric.transform(X)
    assert oracle.rms(mapped, weight) == pytest.approx(oracle.rms(X, weight))


def test_diagonal_map_scales_columns(rows):
    X, y, _ = rows
    metric = GradientMetric(diagonal=True, random_state=0).fit(X, y)
    components = metric.components_
    np.testing.assert_array_equal(components, np.diag(np.diag(components)))
    full = GradientMetric(random_state=0).fit(X, y).components_
    assert np.abs(full - np.diag(np.diag(full))).max() > 0.01


def test_small_eigenvalues_are_raised():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = X[:, 0] > 0
    linear = ClusteredSVC(1, fit_intercept=False, random_state=0)
    metric = GradientMetric(power=1.0, n_steps=1, estimator=linear).fit(X, y)
    values = np.linalg.eigvalsh(metric.components_)
    np.testing.assert_allclose(values[:-1] / values[-1], 1e-3, rtol=1e-6)


def test_relevant_columns_are_found():
    X, y = make_crossed(3000, 8, seed=0)
    X_test, y_test = make_crossed(1000, 8, seed=1)
    metric = GradientMetric(random_state=0).fit(X, y)
    assert metric.importances_.sum() == pytest.approx(1)
    assert metric.importances_[:2].min() > 0.3
    for model in (KNeighborsClassifier(), LocalSVC(random_state=0)):
        plain = model.fit(X, y).score(X_test, y_test)
        pipeline = make_pipeline(metric, model).fit(X, y)
        assert pipeline.score(X_test, y_test) > plain + 0.08


def test_weight_two_is_the_row_twice_and_order_is_nothing(rows):
    X, y, _ = rows
    weight = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = GradientMetric(random_state=0).fit(X, y, weight)
    repeated = np.repeat(np.arange(len(y)), weight)
    repeated = np.random.default_rng(4).permutation(repeated)
    again = GradientMetric(random_state=0).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(weighted.components_, again.components_)
    np.testing.assert_allclose(weighted.importances_, again.importances_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("diagonal", [False, True])
def test_storage_and_type(dtype, diagonal, storage, three_classes):
    X, y = three_classes
    X = (X * (np.abs(X) > 0.5)).astype(dtype)
    stored = store(X, storage)
    estimator = ClusteredSVC(clusterer=oracle.Slices(), C=0.05, random_state=0)
    dense, other = (
        GradientMetric(diagonal=diagonal, estimator=estimator, random_state=0).fit(
            rows, y
        )
        for rows in (X, stored)
    )
    error = 1e-9 if dtype == np.float64 else 2e-3
    np.testing.assert_allclose(other.components_, dense.components_, atol=error)
    assert dense.components_.dtype == np.float64
    mapped = other.transform(stored)
    assert mapped.dtype == dtype
    assert sparse.issparse(mapped) == (diagonal and storage != "dense")
    if sparse.issparse(mapped):
        assert type(mapped) is type(stored)
        mapped = mapped.toarray()
    np.testing.assert_allclose(mapped, dense.transform(X), atol=10 * error)


@pytest.mark.parametrize("diagonal", [False, True])
def test_threads_do_not_change_the_map(diagonal, rows):
    X, y, weight = rows
    one, three = (
        GradientMetric(diagonal=diagonal, random_state=0, n_jobs=n_jobs)
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(
        one.fit(X, y, weight).transform(X), three.fit(X, y, weight).transform(X)
    )


def test_sample_of_the_rows():
    X, y = make_crossed(900, 1, seed=0)
    everything, part = (
        GradientMetric(max_rows=limit, random_state=0).fit(X, y)
        for limit in (None, 300)
    )
    assert not np.allclose(everything.components_, part.components_)
    same = GradientMetric(max_rows=900, random_state=0).fit(X, y)
    np.testing.assert_array_equal(everything.components_, same.components_)
    reversed_part = GradientMetric(max_rows=300, random_state=0).fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(reversed_part.components_, part.components_)


def test_search_as_estimator(rows):
    X, y, weight = rows
    search = ClusteredSVCCV(n_regions=[1, 4], random_state=0)
    metric = GradientMetric(estimator=search).fit(X, y, weight)
    assert np.isfinite(metric.components_).all()
    assert not hasattr(search, "C_")


def test_own_random_state_is_used_unless_the_estimator_has_one(rows):
    X, y, _ = rows
    first, second, other = (
        GradientMetric(estimator=ClusteredSVC(9, random_state=own), random_state=seed)
        .fit(X, y)
        .components_
        for own, seed in ((None, 0), (None, 0), (5, 0))
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_no_gradient_leaves_the_columns_as_they_are():
    X, y = np.zeros((40, 3)), np.arange(40) % 2
    metric = GradientMetric(random_state=0).fit(X, y)
    np.testing.assert_array_equal(metric.components_, np.eye(3))
    np.testing.assert_allclose(metric.importances_, 1 / 3)


def test_names_of_the_mapped_columns(three_classes):
    X, y = three_classes
    frame = pd.DataFrame(X, columns=list("abcde"))
    full, scaled = (
        GradientMetric(diagonal=diagonal, random_state=0).fit(frame, y)
        for diagonal in (False, True)
    )
    assert full.get_feature_names_out().tolist() == [
        f"gradientmetric{j}" for j in range(5)
    ]
    assert scaled.get_feature_names_out().tolist() == list("abcde")
    with pytest.raises(ValueError, match="input_features is not equal"):
        scaled.get_feature_names_out(list("vwxyz"))
    mapped = full.set_output(transform="pandas").transform(frame)
    assert mapped.columns.tolist() == full.get_feature_names_out().tolist()
    with pytest.raises(NotFittedError):
        GradientMetric().get_feature_names_out()


def test_pipelines_searches_and_copies(three_classes):
    X, y = three_classes
    pipeline = make_pipeline(
        StandardScaler(), GradientMetric(random_state=0), KNeighborsClassifier()
    )
    search = GridSearchCV(pipeline, {"gradientmetric__power": [0.5, 1.0]}, cv=2)
    search.fit(X, y)
    assert search.best_score_ > 0.6
    metric = search.best_estimator_[1]
    copy = pickle.loads(pickle.dumps(metric))
    np.testing.assert_array_equal(copy.transform(X), metric.transform(X))
    assert set(metric.fit_report_) == {"sample", "fit", "map"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"power": 0}, r"'power' parameter of GradientMetric .* Got 0"),
        ({"diagonal": "yes"}, r"'diagonal' parameter .* a bool\. Got 'yes'"),
        ({"n_steps": 0}, r"'n_steps' parameter .* Got 0"),
        ({"max_rows": 1}, r"'max_rows' parameter .* Got 1"),
        ({"estimator": LocalSVC()}, r"with n_nearest > 1 and .* Got Loc"),
        ({"estimator": ClusteredSVC(n_nearest=1)}, r"n_nearest > 1 and .* Got Clu"),
        ({"max_rows": 2, "random_state": 1}, r"max_rows=2 leaves rows of one class"),
    ],
)
def test_parameter_errors_name_found_and_expected(parameters, message):
    X = np.random.default_rng(0).standard_normal((60, 2))
    with pytest.raises(ValueError, match=message):
        GradientMetric(**parameters).fit(X, np.arange(60) > 57)


def test_bad_input_leaves_the_metric_as_it_was(three_classes):
    X, y = three_classes
    metric = GradientMetric(random_state=0).fit(X, y)
    before = metric.components_
    for bad_X, bad_y, message in (
        (np.where(X > 2, np.nan, X), y, "contains NaN"),
        (X[:, :3], np.zeros(len(y)), "greater than one; got 1 class"),
        (X, np.linspace(0, 1, len(y)), "Unknown label type"),
    ):
        with pytest.raises(ValueError, match=message):
            metric.fit(bad_X, bad_y)
        assert metric.components_ is before
        assert metric.n_features_in_ == 5


def test_unequal_scales_are_spoken_of_once(three_classes):
    X, y = three_classes
    with pytest.warns(UserWarning, match="very different scales") as caught:
        GradientMetric(random_state=0).fit(X * [1, 1, 1, 1, 1e5], y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    X, y = make_crossed(2000, 3, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GradientMetric(diagonal=True, power=1.0, n_steps=3, random_state=0).fit(X, y)


def test_time_limit_leaves_out_steps_and_cuts_the_estimator_short():
    X, y = make_crossed(400, 4, 0)
    with pytest.warns(ConvergenceWarning, match="stopped at max_time"):
        short = GradientMetric(max_time=1e-6, n_steps=3, random_state=0).fit(X, y)
    assert np.isfinite(short.components_).all()
    long = GradientMetric(max_time=1e6, random_state=0).fit(X, y)
    free = GradientMetric(random_state=0).fit(X, y)
    np.testing.assert_array_equal(long.components_, free.components_)

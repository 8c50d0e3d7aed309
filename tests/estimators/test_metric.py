"""Estimators that learn a metric first."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from conftest import store
from localsvm import ClusteredSVC, GradientMetric, LocalSVC
from localsvm.estimators import (
    ClusteredSVCCV,
    LocallyLinearSVC,
    LocalSVCCV,
    NeighborSVC,
)
from localsvm.inspect import RegionMapDisplay, explain

ESTIMATORS = [
    ClusteredSVC(6, random_state=0),
    ClusteredSVC(6, n_nearest=1, random_state=0),
    ClusteredSVCCV(n_regions=[1, 6], random_state=0),
    LocallyLinearSVC(6, random_state=0),
    LocalSVC(30, random_state=0),
    LocalSVC(30, route="center", random_state=0),
    LocalSVCCV(n_neighbors=[20, 40], random_state=0),
    NeighborSVC(20, random_state=0),
]
CLUSTERED = ESTIMATORS[:3]
METRICS = [
    GradientMetric(random_state=1),
    GradientMetric(diagonal=True, random_state=1),
    StandardScaler(),
    PCA(2, random_state=1),
]
QUANTILES = QuantileTransformer(n_quantiles=20, random_state=0)


def name(estimator):
    return repr(estimator)


@pytest.mark.parametrize("metric", METRICS, ids=name)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
def test_metric_is_a_step_before(estimator, metric, three_classes):
    X, y = three_classes
    model = clone(estimator).set_params(metric=metric).fit(X, y)
    pipeline = make_pipeline(metric, clone(estimator)).fit(X, y)
    queries = X + 0.1
    np.testing.assert_array_equal(
        model.decision_function(queries), pipeline.decision_function(queries)
    )
    np.testing.assert_array_equal(model.predict(queries), pipeline.predict(queries))
    assert model.metric_ is not metric
    assert next(iter(model.fit_report_)) == "metric"
    assert model.n_features_in_ == 5
    if hasattr(model, "region"):
        mapped = pipeline[0].transform(queries)
        np.testing.assert_array_equal(model.region(queries), pipeline[1].region(mapped))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
def test_random_state_is_also_that_of_the_metric(estimator, three_classes):
    X, y = three_classes
    model = clone(estimator).set_params(metric=GradientMetric())
    np.testing.assert_array_equal(
        model.fit(X, y).decision_function(X), model.fit(X, y).decision_function(X)
    )
    assert model.metric.random_state is None
    own = clone(model).set_params(metric__random_state=7).fit(X, y)
    assert own.metric_.random_state == 7


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
def test_without_a_metric_there_is_none(estimator, two_moons):
    model = clone(estimator).fit(*two_moons)
    assert model.metric_ is None
    assert "metric" not in model.fit_report_


@pytest.mark.parametrize("estimator", ESTIMATORS[:6], ids=name)
@pytest.mark.parametrize("metric", [METRICS[0], METRICS[2], QUANTILES])
def test_weights_reach_the_metric(estimator, metric, three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    model = clone(estimator).set_params(metric=metric).fit(X, y, weight)
    alone = clone(metric)
    if isinstance(metric, QuantileTransformer):
        alone.fit(X[weight > 0])
    else:
        alone.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.metric_.transform(X), alone.transform(X))
    if not isinstance(estimator, ClusteredSVCCV):
        peer = clone(estimator).fit(alone.transform(X), y, weight)
        np.testing.assert_array_equal(
            model.decision_function(X), peer.decision_function(alone.transform(X))
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("estimator", CLUSTERED, ids=name)
def test_weights_of_columns_explain_decisions(
    estimator, diagonal, dtype, storage, three_classes
):
    X, y = three_classes
    X = (X * (np.abs(X) > 0.3)).astype(dtype)
    metric = GradientMetric(diagonal=diagonal, random_state=0)
    model = clone(estimator).set_params(metric=metric).fit(store(X, storage), y)
    coef, intercept = model.local_coef(store(X, storage))
    assert coef.dtype == dtype
    error = 1e-9 if dtype == np.float64 else 1e-4
    decision = model.decision_function(store(X, storage))
    value = np.einsum("ipj,ij->ip", coef, X) + intercept
    np.testing.assert_allclose(value, decision, atol=error)
    regions, weights = model.region(X, return_weights=True)
    glob = X @ model.global_coef_.T + model.global_intercept_
    own = np.einsum("rpj,ij->irp", model.coef_, X) + model.intercept_
    parts = own[np.arange(len(X))[:, None], regions] - glob[:, None]
    total = glob + np.einsum("im,imp->ip", weights, parts)
    np.testing.assert_allclose(total, decision, atol=error)


def test_explanation_speaks_of_the_columns_given(three_classes):
    X, y = three_classes
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = ClusteredSVC(6, metric=GradientMetric(random_state=0), random_state=0)
    model.fit(frame, y)
    explanation = explain(model, frame.iloc[3])
    np.testing.assert_allclose(explanation.values, X[3])
    assert explanation.contributions.sum() + explanation.intercept == pytest.approx(
        explanation.decision_value
    )
    assert {entry.name for entry in explanation.top()} == set("abcde")


@pytest.mark.parametrize("metric", [StandardScaler(), PCA(), PCA(2)], ids=name)
def test_other_metrics_have_no_weights_of_columns(metric, three_classes):
    X, y = three_classes
    model = ClusteredSVC(6, metric=metric, random_state=0).fit(X, y)
    message = rf"maps by X @ components_.*; got {type(metric).__name__}"
    for get in (
        lambda: model.coef_,
        lambda: model.global_coef_,
        lambda: model.local_coef(X),
    ):
        with pytest.raises(AttributeError, match=message):
            get()
    assert model.intercept_.shape == (6, 3)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
@pytest.mark.parametrize("metric", ["euclidean", 3, LocalSVC()])
def test_not_a_metric(estimator, metric, two_moons):
    message = r"'metric' parameter of \w+ must be None or an object with 'fit' and 'tr"
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(metric=metric).fit(*two_moons)


def test_metric_of_the_estimator_of_a_metric_is_refused(two_moons):
    inner = ClusteredSVC(metric=GradientMetric())
    with pytest.raises(ValueError, match="n_nearest > 1 and metric=None"):
        GradientMetric(estimator=inner).fit(*two_moons)


def test_bound_is_not_for_metrics(two_moons):
    model = ClusteredSVC(3, n_nearest=1, metric=StandardScaler()).fit(*two_moons)
    with pytest.raises(ValueError, match=r"rows as they are\. Got .*StandardScaler"):
        model.generalization_bound(*two_moons)


def test_metric_that_gives_numbers_that_are_not_finite(two_moons):
    class Broken(StandardScaler):
        def transform(self, X):
            return super().transform(X) * np.inf

    with pytest.raises(ValueError, match="Input X contains"):
        ClusteredSVC(3, metric=Broken()).fit(*two_moons)


def test_warning_of_scales_is_that_of_the_metric(three_classes):
    X, y = three_classes
    X = X * [1, 1, 1, 1, 1e5]
    model = ClusteredSVC(6, metric=StandardScaler(), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    model.set_params(metric=GradientMetric(random_state=0))
    with pytest.warns(UserWarning, match="very different scales") as caught:
        model.fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]


def test_picture_has_no_centres_where_the_metric_moved_them(two_moons):
    model = ClusteredSVC(5, metric=GradientMetric(random_state=0), random_state=0)
    display = RegionMapDisplay.from_estimator(
        model.fit(*two_moons), two_moons[0], grid_resolution=20
    )
    assert display.centers is None
    assert display.regions.max() == 4


def test_failed_metric_leaves_the_model_as_it_was(two_moons):
    X, y = two_moons
    model = ClusteredSVC(5, metric=StandardScaler(), random_state=0).fit(X, y)
    before = model.decision_function(X)
    model.set_params(metric=PCA(7))
    with pytest.raises(ValueError, match="n_components=7"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), before)

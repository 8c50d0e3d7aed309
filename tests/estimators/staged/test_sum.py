"""StagedSVC as a sum of terms: what is added, and what does not change it."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline

from localsvm import ClusteredSVC, LocalSVC, StagedSVC
from localsvm.data import make_two_spirals
from localsvm.estimators import AdditiveSVC
from localsvm.exceptions import DataError
from staged_data import make_rows

WEIGHTS = {"additive": 0.5, "regions": 0.4, "rbf": 0.3, "laplace": 0.2}
GIVEN = {
    "scaling": "standard",
    "n_components": None,
    "gradient_metric": None,
    "C": 1.0,
    "cell_size": None,
    "gamma_factor": 2.0,
    "kernel_C": 10.0,
    "additive_C": 1.0,
    "laplace_C": 3.0,
    "random_state": 0,
}
"""A setting that leaves nothing to be chosen, with the weights."""
SETTINGS = {
    "one model": {},
    "cells": {"cell_size": 60},
    "metric": {"gradient_metric": "full", "scaling": "quantile"},
}


def join_of(n_classes, **weights):
    bias = [0.1] if n_classes == 2 else np.linspace(-0.1, 0.1, n_classes).tolist()
    return {"join": (weights or WEIGHTS) | {"bias": bias}}


def fit(X, y, **changes):
    n_classes = len(np.unique(y))
    return StagedSVC(**GIVEN | join_of(n_classes) | changes).fit(X, y)


def make_table(n_samples=600, n_classes=2, seed=0):
    """Numbers, a category in the last column, and gaps in the first."""
    X, y = make_rows(n_samples, n_classes, seed=seed)
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 5, n_samples)
    y = np.where(level == 3, n_classes - 1 - y, y)
    X = np.column_stack([X, level.astype(float)])
    X[rng.random(n_samples) < 0.1, 0] = np.nan
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_decisions_are_the_weighted_terms(setting, n_classes):
    X, y = make_rows(300, n_classes)
    model = fit(X, y, **setting)
    parts = model.parts(X[:50])
    assert list(parts) == [*WEIGHTS, "bias"]
    assert list(model.terms_) == list(WEIGHTS)
    decisions = model.decision_function(X[:50]).reshape(50, -1)
    np.testing.assert_allclose(sum(parts.values()), decisions, atol=1e-12)
    own = model.terms_["additive"].decision_function(X[:50]).reshape(50, -1)
    np.testing.assert_allclose(parts["additive"], 0.5 * own, atol=1e-12)
    prepared = model._model.terms["rbf"].preparation.apply(X[:50])
    own = model.terms_["rbf"].decision_function(prepared).reshape(50, -1)
    np.testing.assert_allclose(parts["rbf"], 0.3 * own, atol=1e-12)


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_term_alone_decides_as_its_estimator(name):
    X, y = make_rows(300)
    model = fit(X, y, **join_of(2, **{name: 2.0}))
    assert list(model.terms_) == [name]
    classes = {"additive": AdditiveSVC, "regions": ClusteredSVC}
    term = model.terms_[name]
    assert type(term) is classes.get(name, LocalSVC)
    Z = X
    if name != "additive":
        Z = model._model.terms[name].preparation.apply(X)
    expected = 2 * term.decision_function(Z) + 0.1
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)
    again = clone(term).fit(Z, y)
    unlike = again.decision_function(Z) - term.decision_function(Z)
    assert np.abs(unlike).mean() < 0.15


@pytest.mark.parametrize("n_classes", [2, 3])
def test_best_parameters_give_the_same_sum_to_the_bit(n_classes):
    X, y = make_table(400, n_classes)
    model = StagedSVC(categorical_features=[3], random_state=0).fit(X, y)
    assert isinstance(model.best_params_["join"], dict)
    again = StagedSVC(
        **model.best_params_, categorical_features=[3], random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    assert again.best_params_ == model.best_params_
    assert again.selection_ == {}


def test_the_table_tells_the_race():
    X, y = make_rows(400)
    model = StagedSVC(random_state=0).fit(X, y)
    table = model.selection_
    assert set(table["question"]) >= {"scaling", "laplace_C", "C", "join"}
    pairs = {*zip(table["scaling"], table["gradient_metric"], strict=True)}
    # "none" needs no metric, the two others have three each.
    assert len(pairs) == 7
    assert np.isfinite(table["log_loss"]).all()
    (chosen,) = np.flatnonzero(table["chosen"])
    added = [name for name in WEIGHTS if name in model.best_params_["join"]]
    assert table["join"][chosen] == " + ".join(added)
    at_the_end = table["question"] == "join"
    single = at_the_end & ~np.char.count(table["join"].astype(str), "+").astype(bool)
    assert single.any()
    assert table["log_loss"][chosen] <= table["log_loss"][single].min() + 0.02


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_weights_equal_repetition_to_the_bit(setting, n_classes):
    X, y = make_table(200, n_classes)
    setting = setting | {"categorical_features": [3]}
    times = np.random.default_rng(0).integers(0, 3, len(y))
    given = GIVEN | join_of(n_classes) | setting
    weighted = StagedSVC(**given).fit(X, y, sample_weight=times)
    repeated = StagedSVC(**given).fit(np.repeat(X, times, 0), np.repeat(y, times))
    np.testing.assert_array_equal(
        weighted.decision_function(X), repeated.decision_function(X)
    )


def test_neither_order_nor_threads_change_a_bit():
    X, y = make_table(400)
    order = np.random.default_rng(1).permutation(len(y))
    given = {"categorical_features": [3], "random_state": 0}
    expected = StagedSVC(**given).fit(X, y).decision_function(X)
    shuffled = StagedSVC(**given, n_jobs=3).fit(X[order], y[order])
    np.testing.assert_array_equal(shuffled.decision_function(X), expected)


def test_increasing_maps_leave_ranks_and_tables():
    X, y = make_rows(300)
    X = np.round(X, 1)
    mapped = np.exp(X) + X**3
    join = join_of(2, additive=1.0, laplace=1.0)
    plain, other = (fit(rows, y, **join) for rows in (X, mapped))
    np.testing.assert_allclose(
        plain.decision_function(X), other.decision_function(mapped), atol=0.05
    )


def test_names_of_categories_do_not_matter():
    X, y = make_table(400)
    renamed = X.copy()
    renamed[:, 3] = np.array([70.0, -2.0, 11.0, 3.0, 5.0])[X[:, 3].astype(int)]
    only = join_of(2, additive=1.0)
    for changes, largest in ((only, 1e-9), ({}, 0.2)):
        # Widths and centres are those of rows that are drawn by content, so by names.
        given = {"categorical_features": [3]} | changes
        plain, other = (fit(rows, y, **given) for rows in (X, renamed))
        unlike = plain.decision_function(X) - other.decision_function(renamed)
        assert np.abs(unlike).mean() < largest


def test_missing_values_are_no_worse_than_filled_ones():
    X, y = make_rows(1200)
    rng = np.random.default_rng(0)
    # Values are missing where they are large: the gap itself says something.
    X[(X[:, 0] > 0.5) & (rng.random(len(y)) < 0.8), 0] = np.nan
    train, test = slice(600), slice(600, None)
    own = StagedSVC(random_state=0).fit(X[train], y[train]).score(X[test], y[test])
    filled = make_pipeline(SimpleImputer(), StagedSVC(random_state=0))
    assert own > filled.fit(X[train], y[train]).score(X[test], y[test]) - 0.01


def test_unseen_gaps_and_levels_are_answered():
    X, y = make_table(300)
    model = fit(X, y, categorical_features=[3])
    query = X[:5].copy()
    query[:, 1], query[:, 3] = np.nan, 99.0
    assert np.isfinite(model.decision_function(query)).all()
    query[:, 3] = np.nan
    assert np.isfinite(model.decision_function(query)).all()


def test_a_category_is_no_number():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 12, 800)
    y = np.array([0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1])[level]
    X = np.column_stack([level, rng.standard_normal(800)])
    linear = join_of(2, regions=1.0)
    plain = fit(X[:400], y[:400], n_regions=1, **linear)
    named = fit(X[:400], y[:400], n_regions=1, categorical_features=[0], **linear)
    assert plain.score(X[400:], y[400:]) < 0.8
    assert named.score(X[400:], y[400:]) == 1.0


def test_sums_are_at_least_as_good_as_their_terms():
    X, y = make_rows(1500, seed=3)
    train, test = slice(700), slice(700, None)
    model = StagedSVC(random_state=0).fit(X[train], y[train])
    losses = {}
    for name in ("additive", "regions", "rbf", "laplace"):
        alone = StagedSVC(join="sum", random_state=0, additive_C=3.0)
        given = model.best_params_ | join_of(2, **{name: 1.0})
        given |= {"additive_C": 3.0, "laplace_C": 3.0}
        alone = StagedSVC(**given, random_state=0).fit(X[train], y[train])
        losses[name] = 1 - alone.score(X[test], y[test])
    assert 1 - model.score(X[test], y[test]) < min(losses.values()) + 0.02


def test_decisions_are_log_odds():
    X, y = make_rows(3000, seed=1)
    y = np.where(np.random.default_rng(0).random(3000) < 0.1, 1 - y, y)
    model = StagedSVC(random_state=0).fit(X[:1500], y[:1500])
    decisions = model.decision_function(X[1500:])
    loss = log_loss(y[1500:], 1 / (1 + np.exp(-decisions)))
    scaled = min(
        log_loss(y[1500:], 1 / (1 + np.exp(-factor * decisions)))
        for factor in np.linspace(0.5, 2, 16)
    )
    assert loss < scaled + 0.01
    assert roc_auc_score(y[1500:], decisions) > 0.85


def test_spirals_are_learned():
    X, y = make_two_spirals(400, random_state=0)
    model = StagedSVC(random_state=0).fit(X, y)
    assert "additive" not in model.terms_
    X, y = make_two_spirals(400, random_state=1)
    assert model.score(X, y) > 0.95


def test_noise_leaves_a_term():
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(56, 10))
    y = rng.permutation(np.repeat(np.arange(4), 14))
    model = StagedSVC(random_state=0).fit(X, y)
    assert len(model.terms_) >= 1
    assert len(np.unique(model.decision_function(X))) > 4


def test_wide_sparse_and_few_rows_switch():
    X, y = make_rows(200)
    wide = np.hstack([X, np.zeros((200, 108))])
    for rows, labels in ((wide, y), (sparse.csr_array(X), y), (X[:20], y[:20])):
        assert StagedSVC(random_state=0).fit(rows, labels).first_stage_ is not None
    asked = StagedSVC(join="sum", random_state=0).fit(wide, y)
    assert asked.first_stage_ is None


@pytest.mark.parametrize("max_time", [0.001, 0.3])
def test_a_limit_of_time_gives_a_model(max_time):
    X, y = make_rows(3000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = StagedSVC(max_time=max_time, random_state=0).fit(X[:2500], y[:2500])
    assert len([each for each in caught if "max_time" in str(each.message)]) <= 1
    linear = ClusteredSVC(1, random_state=0).fit(X[:2500], y[:2500])
    assert model.score(X[2500:], y[2500:]) > linear.score(X[2500:], y[2500:]) - 0.02


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"join": "add"}, "join"),
        ({"join": {"rbf": 1.0}}, "with a 'bias'"),
        ({"join": {"rbf": -1.0, "bias": [0.0]}}, "weights >= 0"),
        ({"join": {"tree": 1.0, "bias": [0.0]}}, "weights >= 0"),
        ({"join": {"rbf": 1.0, "bias": [0.0, 1.0]}}, "2 numbers in 'bias'; expected 1"),
        (
            {"additive_C": None},
            "join gives 'additive' a weight, but additive_C is None",
        ),
        ({"additive_C": -1.0}, "additive_C"),
        ({"categorical_features": [7]}, "column 7"),
    ],
)
def test_errors_name_found_and_expected(changes, message):
    X, y = make_rows(100)
    with pytest.raises(ValueError, match=message):
        fit(X, y, **changes)


def test_sparse_rows_have_no_sum_and_no_gaps():
    X, y = make_rows(100)
    with pytest.raises(DataError, match="join='sum' needs dense rows"):
        StagedSVC(join="sum").fit(sparse.csr_array(X), y)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="NaN and is sparse"):
        StagedSVC().fit(sparse.csr_array(X), y)


def test_a_sum_has_no_stages_and_a_switch_no_parts():
    X, y = make_rows(200)
    added, switched = fit(X, y), fit(X, y, join="switch", threshold=1.0)
    for has, lacks in (
        ((added, "parts"), (added, "stage")),
        ((switched, "stage"), (switched, "parts")),
    ):
        assert hasattr(*has)
        assert not hasattr(*lacks)
    with pytest.raises(AttributeError) as caught:
        added.stage(X)
    assert "adds additive, regions, rbf, laplace" in str(caught.value.__cause__)
    with pytest.raises(AttributeError) as caught:
        switched.parts(X)
    assert "switches between two stages" in str(caught.value.__cause__)


def test_slopes_touch_the_decisions():
    X, y = make_rows(200)
    model = fit(X, y, **join_of(2, regions=1.0, rbf=1.0))
    coef, intercept = model.local_coef(X[:20])
    touching = np.einsum("ipj,ij->ip", coef, X[:20]) + intercept
    decisions = model.decision_function(X[:20])[:, np.newaxis]
    np.testing.assert_allclose(touching, decisions, atol=1e-9)
    kernel = fit(X, y, **join_of(2, rbf=1.0))
    coef, _ = kernel.local_coef(X[:20])
    step = np.array([1e-5, 0, 0])
    difference = kernel.decision_function(X[:20] + step)
    difference -= kernel.decision_function(X[:20] - step)
    np.testing.assert_allclose(coef[:, 0, 0], difference / 2e-5, rtol=1e-3, atol=1e-4)

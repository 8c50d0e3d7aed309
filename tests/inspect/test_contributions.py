"""What each column adds, for many rows."""

import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from inspect_models import MODELS, STAGED, fitted, held_out, training_rows
from localsvm import AdditiveSVC, ClusteredSVC, StagedSVC
from localsvm.data import TableEncoder
from localsvm.exceptions import MissingExtraError
from localsvm.inspect import _local_view, contributions, explain
from people_data import make_people

GRADIENTS = {
    "local",
    "local searched",
    "mixture",
    "clusters",
    "clusters against the rest",
    "neighbours",
    "exact",
}
WEIGHTS = {"additive": 0.5, "regions": 0.7, "rbf": 0.3}
SUM = STAGED | {
    "n_components": None,
    "cell_size": None,
    "additive_C": 1.0,
    "laplace_C": 3.0,
}


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


@cache
def fitted_sum(n_classes=2):
    bias = [0.1] if n_classes == 2 else [0.1, 0.0, -0.2]
    model = StagedSVC(join=WEIGHTS | {"bias": bias}, **SUM)
    return model.fit(*training_rows(n_classes))


def model_named(name, n_classes):
    return fitted_sum(n_classes) if name == "sum" else fitted(name, n_classes)


@pytest.mark.parametrize("name", [*MODELS, "sum"])
def test_parts_sum_to_the_decision_and_are_those_of_explain(name, n_classes):
    model, X = model_named(name, n_classes), held_out(n_classes)[0][:6]
    found, decisions = contributions(model, X), model.decision_function(X)
    np.testing.assert_allclose(found.decisions, decisions, atol=1e-10)
    assert found.values.shape == (6, 5) + (() if n_classes == 2 else (3,))
    for row, each in enumerate(explain(model, X, border=False)):
        one = (
            ()
            if n_classes == 2
            else (np.flatnonzero(found.classes == each.predicted_class)[0],)
        )
        place = (row, slice(None), *one)
        np.testing.assert_allclose(found.values[place], each.contributions, atol=1e-10)
        rest = found.base[(row, *one)] + found.together[(row, *one)]
        assert rest == pytest.approx(each.intercept, abs=1e-9)
        assert found.is_exact[row] == (
            not each.is_gradient and name not in ("sum", "neighbours")
        )


@pytest.mark.parametrize("name", MODELS)
def test_exact_and_other_models_are_told_apart(name):
    found = contributions(fitted(name), held_out(2)[0])
    if name in GRADIENTS:
        assert not found.is_exact.any()
    elif name.startswith("staged"):
        stages = fitted(name).stage(held_out(2)[0])
        assert 0 < found.is_exact.sum() < len(stages)
        np.testing.assert_array_equal(found.is_exact, stages == 1)
    else:
        assert found.is_exact.all()
    assert found.split == "gradient"
    assert not found.together.any()


def test_swaps_are_changes_from_the_typical_value(n_classes):
    """The definition, one prediction after the other."""
    model, X = fitted_sum(n_classes), held_out(n_classes)[0][:20].copy()
    typical = model._model.typical
    X[3, 2] = typical[2]
    found = contributions(model, X)
    weights = model._model.weights.of_terms
    additive = model._model.additive

    def together(rows):
        parts = model.parts(rows)
        return sum(parts[name] for name in parts if name not in ("additive", "bias"))

    expected = weights["additive"] * additive.contributions(X).reshape(*X.shape, -1)
    for column in range(X.shape[1]):
        moved = X.copy()
        moved[:, column] = typical[column]
        expected[:, column] += together(X) - together(moved)
    values = found.values.reshape(expected.shape)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_array_equal(model.contributions(X), found.values)
    base = together(typical[np.newaxis])[0] + np.array(model._model.weights.bias)
    base += weights["additive"] * additive.bias
    np.testing.assert_allclose(found.base.reshape(20, -1), np.tile(base, (20, 1)))
    assert found.split == "swap"
    assert not found.is_exact.any()
    assert found.together.std() > 0.01


def test_a_row_of_typical_values_is_the_base():
    model = fitted_sum()
    found = contributions(model, model._model.typical)
    weight = model._model.weights.of_terms["additive"]
    own = weight * model._model.additive.contributions(model._model.typical[np.newaxis])
    np.testing.assert_allclose(found.values, own)
    assert found.together == pytest.approx(0)


def test_a_sum_of_tables_alone_is_exact():
    X, y = training_rows(2)
    model = StagedSVC(join={"additive": 0.5, "bias": 0.3}, **SUM).fit(X, y)
    found = contributions(model, X)
    assert found.is_exact.all()
    assert not found.together.any()
    np.testing.assert_allclose(found.decisions, model.decision_function(X))
    explanation = explain(model, X[0])
    np.testing.assert_allclose(explanation.contributions, found.values[0])
    assert not explanation.is_gradient


def test_blocks_make_no_difference(n_classes, monkeypatch):
    X = held_out(n_classes)[0]
    for model in (fitted("soft", n_classes), fitted_sum(n_classes)):
        whole = contributions(model, X)
        with monkeypatch.context() as small:
            small.setattr(_local_view, "_SPLIT_VALUES", 100)
            blocks = contributions(model, X)
        np.testing.assert_allclose(blocks.values, whole.values, atol=1e-12)
        np.testing.assert_allclose(blocks.together, whole.together, atol=1e-12)
        np.testing.assert_array_equal(blocks.is_exact, whole.is_exact)


def test_columns_of_a_table_have_the_sums_of_their_features():
    people = make_people(200)
    X, y = people.drop(columns="happy"), people["happy"]
    for encoding in ("features", "codes"):
        last = AdditiveSVC(C=1.0) if encoding == "codes" else ClusteredSVC(3)
        model = make_pipeline(TableEncoder(encoding=encoding), last).fit(X, y)
        found = contributions(model, X.iloc[:5])
        assert found.names == tuple(X.columns)
        np.testing.assert_allclose(found.decisions, model.decision_function(X[:5]))
        for row, each in enumerate(explain(model, X.iloc[:5], border=False)):
            sums = [column.contribution for column in each.columns]
            np.testing.assert_allclose(found.values[row], sums, atol=1e-12)
            names = [column.name for column in each.columns]
            assert names == list(found.names)


def test_steps_that_mix_columns_leave_features():
    X, y = training_rows(2)
    model = make_pipeline(StandardScaler(), PCA(3), ClusteredSVC(3)).fit(X, y)
    found = contributions(model, X)
    assert found.names == ("pca0", "pca1", "pca2")
    np.testing.assert_allclose(found.data, model[:-1].transform(X))
    np.testing.assert_allclose(found.decisions, model.decision_function(X))


def test_sparse_and_single_rows_and_float32():
    X = held_out(2)[0]
    model = fitted("soft")
    dense = contributions(model, X)
    thin = contributions(model, sparse.csr_array(X))
    np.testing.assert_allclose(thin.values, dense.values, atol=1e-12)
    one = contributions(model, X[3])
    np.testing.assert_allclose(one.values, dense.values[[3]], atol=1e-12)
    short = contributions(model, X.astype(np.float32))
    np.testing.assert_allclose(short.decisions, dense.decisions, atol=1e-4)


def test_missing_values_add_nothing_by_a_weight():
    X, y = training_rows(2)
    holes = X.copy()
    holes[::7, 1] = np.nan
    model = StagedSVC(threshold=0.0, **STAGED).fit(holes, y)
    found = contributions(model, holes)
    assert not found.values[::7, 1].any()
    np.testing.assert_allclose(found.decisions, model.decision_function(holes))


def test_importances_are_mean_sizes(n_classes):
    found = contributions(fitted("soft", n_classes), held_out(n_classes)[0])
    expected = np.abs(found.values).sum(axis=0) / len(found.values)
    np.testing.assert_allclose(found.importances, expected)


def test_names_are_checked():
    X, y = training_rows(2)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = ClusteredSVC(3, random_state=0).fit(frame, y)
    assert contributions(model, frame).names == tuple("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        contributions(model, frame[list("edcba")])
    with pytest.raises(TypeError, match="needs an estimator with 'local_coef'"):
        contributions(LinearSVC().fit(X, y), X)


@pytest.mark.parametrize("name", ["soft", "sum"])
def test_shap_draws_them(name, n_classes):
    shap = pytest.importorskip("shap")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    model, X = model_named(name, n_classes), held_out(n_classes)[0][:30]
    found = contributions(model, X, as_shap=True)
    assert isinstance(found, shap.Explanation)
    total = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-9)
    assert found.feature_names[:5] == [f"x{j}" for j in range(5)]
    assert found.feature_names[5:] == (["(columns together)"] if name == "sum" else [])
    one = found if n_classes == 2 else found[:, :, 1]
    for draw, given in (
        (shap.plots.beeswarm, one),
        (shap.plots.bar, one),
        (shap.plots.waterfall, one[0]),
    ):
        draw(given, show=False)
        labels = [each.get_text() for each in pyplot.gca().get_yticklabels()]
        assert any("x3" in label for label in labels)
        pyplot.close("all")


def test_shap_shows_the_values_of_a_table():
    pytest.importorskip("shap")
    people = make_people(200)
    X, y = people.drop(columns="happy"), people["happy"]
    model = make_pipeline(TableEncoder(), ClusteredSVC(3)).fit(X, y)
    found = contributions(model, X[:7], as_shap=True)
    assert found.feature_names == list(X.columns)
    assert found.data[2].tolist() == X.iloc[2].tolist()


def test_shap_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    found = contributions(fitted("soft"), held_out(2)[0])
    with pytest.raises(MissingExtraError, match="pip install shap"):
        found.to_shap()

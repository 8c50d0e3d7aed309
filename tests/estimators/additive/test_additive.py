"""AdditiveSVC as users meet it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from additive_data import mixed_table
from localsvm import AdditiveSVC
from localsvm.exceptions import DataError
from localsvm.inspect import explain
from oracles import additive as oracle

NAMES = ["size", "load", "town", "kind"]


def fitted(n_classes=2, n_rows=600, **parameters):
    X, y, categorical = mixed_table(n_rows, n_classes)
    settings = {"categorical_features": categorical, "random_state": 0}
    return AdditiveSVC(**settings | parameters).fit(X, y), X, y


def assert_same_model(model, other):
    for name in ("tables", "bias"):
        np.testing.assert_array_equal(
            getattr(model._model, name), getattr(other._model, name)
        )


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fits_what_is_additive(loss, n_classes):
    model, *_ = fitted(n_classes, n_rows=2000, loss=loss)
    test, truth, _ = mixed_table(2000, n_classes, seed=1)
    assert model.score(test, truth) > (0.8 if n_classes == 2 else 0.7)
    assert model.duality_gap_ <= model.tol
    assert model.C_ in model.search_losses_[:, 0]
    assert model.search_losses_[:, 1].min() == pytest.approx(
        model.search_losses_[model.search_losses_[:, 0] == model.C_, 1][0]
    )


def test_duality_gap_is_that_of_the_rows():
    model, X, y = fitted(C=2.0, tol=1e-7)
    bins, decisions = model._model.bins, model.decision_function(X)
    code = oracle.step_code(bins.encode(X), bins.n_bins, bins.n_ordered, np.ones(600))
    sign, bounds = 2.0 * y - 1, np.full(600, 2.0)
    coef = oracle.solve(code, sign, bounds, "squared_hinge")
    np.testing.assert_allclose(decisions, code @ coef[:-1] + coef[-1], atol=1e-3)
    assert model.duality_gap_ <= 1e-7
    within = np.vstack([bins.encode(X), y])[:, sign * decisions < 1]
    labels = np.unique(within, axis=1)[-1]
    assert model.n_support_.tolist() == np.bincount(labels).tolist()


def test_a_weight_of_two_is_the_row_twice_and_zero_its_absence():
    X, y, categorical = mixed_table()
    weight = np.arange(600) % 3
    rows = np.repeat(np.arange(600), weight)
    model = AdditiveSVC(categorical_features=categorical, random_state=0)
    by_weight = clone(model).fit(X, y, weight)
    by_rows = clone(model).fit(X[rows], y[rows])
    assert by_weight.C_ == by_rows.C_
    assert_same_model(by_weight, by_rows)


def test_rows_threads_maps_and_names_leave_every_bit():
    model, X, y = fitted(n_rows=3000)
    order = np.random.default_rng(1).permutation(len(X))
    categorical = model.is_categorical_
    assert_same_model(model, clone(model).fit(X[order], y[order]))
    assert_same_model(model, clone(model).set_params(n_jobs=3).fit(X, y))

    mapped = X.copy()
    mapped[:, 0] = np.exp(X[:, 0])
    mapped[:, 1] = -1 / (1 + X[:, 1])
    mapped[:, 2] = (5 * X[:, 2]) % 9
    mapped[:, 3] = 100 - X[:, 3]
    other = clone(model).fit(mapped, y)
    assert categorical.tolist() == [False, False, True, True]
    np.testing.assert_array_equal(
        other.decision_function(mapped), model.decision_function(X)
    )
    assert_same_model(model, other)


def test_float32_rows_give_the_model_of_their_numbers():
    X, y, categorical = mixed_table()
    X = X.astype(np.float32)
    model = AdditiveSVC(C=1.0, categorical_features=categorical, random_state=0)
    single, double = (clone(model).fit(rows, y) for rows in (X, X.astype(float)))
    assert_same_model(single, double)
    np.testing.assert_array_equal(
        single.decision_function(X), double.decision_function(X.astype(float))
    )


def test_payload_of_missing_values_does_not_matter():
    X, y, _ = mixed_table()
    other = X.copy()
    other[np.isnan(X)] = -np.nan
    model = AdditiveSVC(C=1.0, random_state=0)
    assert_same_model(clone(model).fit(X, y), clone(model).fit(other, y))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_tables_are_what_the_decisions_add_up(n_classes):
    X, y, _ = mixed_table(n_classes=n_classes)
    frame = pd.DataFrame(X, columns=NAMES)
    model = AdditiveSVC(C=1.0, categorical_features=["town", "kind"]).fit(frame, y)
    effects = model.column_effects_
    assert [each.name for each in effects] == NAMES
    assert [each.kind for each in effects] == ["number"] * 2 + ["category"] * 2
    parts = np.array(
        [
            [each.at(value) for each, value in zip(effects, row, strict=True)]
            for row in X
        ]
    )
    np.testing.assert_array_equal(model.contributions(frame), parts)
    sums = parts.sum(axis=1).reshape(600, -1) + model.intercept_
    np.testing.assert_allclose(sums, model.decision_function(frame).reshape(600, -1))
    for k, each in enumerate(effects):
        total = each.weight.sum() + each.missing_weight + each.rare_weight
        assert total == 600
        assert each.missing_weight == np.isnan(X[:, k]).sum()
        assert each.importance == pytest.approx(np.abs(parts[:, k]).mean())
        np.testing.assert_allclose(parts[:, k].sum(axis=0), 0, atol=1e-9)
        if each.kind == "category":
            assert each.weight.tolist() == [(X[:, k] == v).sum() for v in each.levels]
    np.testing.assert_allclose(
        model.importances_, [each.importance for each in effects]
    )


def test_unknown_levels_and_missing_values_are_predicted():
    model, X, _ = fitted(C=1.0)
    town, kind = model.column_effects_[2:]
    queries = np.repeat(X[:1], 4, axis=0)
    queries[:, 2] = [77, 8, np.nan, queries[0, 2]]
    parts = model.contributions(queries)[:, 2]
    assert parts[0] == parts[1] == town.rare_effect != 0
    assert parts[2] == town.missing_effect != 0
    # Kinds were never rare nor missing.
    assert kind.rare_effect == kind.missing_effect == 0
    assert kind.at(np.nan) == kind.at(99) == 0
    assert np.isfinite(model.decision_function(np.full((1, 4), np.nan))).all()


def test_explanations_are_the_contributions():
    model, X, _ = fitted(3, C=1.0)
    for row in (0, int(np.isnan(X[:, 0]).argmax())):
        found = explain(model, X[row], border=False)
        label = int(found.predicted_class)
        np.testing.assert_array_equal(
            found.contributions, model.contributions(X[[row]])[0, :, label]
        )
        assert found.contributions.sum() + found.intercept == pytest.approx(
            found.decision_value
        )
        text = str(found)
        assert "one table of effects per feature, fitted to 600 training rows" in text
        assert "weight" not in text
        assert "gradient" not in text


def test_changes_that_are_named_change_the_label():
    model, X, _ = fitted(C=1.0)
    row = X[np.flatnonzero(~np.isnan(X).any(axis=1))[0]]
    found = explain(model, row)
    assert found.changes
    for change in found.changes:
        other = row.copy()
        other[int(change.name[1:])] = change.to
        assert model.predict([other])[0] == change.label != found.predicted_class


def test_what_is_not_a_dense_row_of_numbers_is_refused():
    X, y, _ = mixed_table()
    model = AdditiveSVC(C=1.0)
    with pytest.raises(TypeError, match=r"[Ss]parse.*dense data is required"):
        model.fit(sparse.csr_array(np.nan_to_num(X)), y)
    X[3, 1] = np.inf
    expected = "contains infinity.*row 3, column 1; expected finite numbers, or NaN"
    with pytest.raises(DataError, match=expected):
        model.fit(X, y)
    X[3, 1] = 0
    model.fit(X, y)
    with pytest.raises(DataError, match=r"infinity.*row 0, column 0"):
        model.predict([[np.inf, 0, 0, 0]])


def test_column_of_nothing_but_missing_values_has_no_effect():
    X, y, _ = mixed_table()
    X[:, 1] = np.nan
    model = AdditiveSVC(C=1.0).fit(X, y)
    assert model.importances_[1] == 0
    assert model.feature_range_[:, 1].tolist() == [0, 0]
    assert model.column_effects_[1].missing_weight == 600


def test_balanced_classes_move_the_border():
    X, y, _ = mixed_table(2000)
    rare = (y == 1) & (np.arange(2000) % 10 > 0)
    X, y = X[~rare], y[~rare]
    plain, balanced = (
        AdditiveSVC(C=1.0, class_weight=weight).fit(X, y).predict(X)
        for weight in (None, "balanced")
    )
    assert balanced.sum() > plain.sum()


def test_steps_that_are_too_few_are_reported():
    X, y, _ = mixed_table()
    with pytest.warns(ConvergenceWarning, match="1 of 1 problems.*max_iter=1 .*gap"):
        AdditiveSVC(C=10.0, max_iter=1).fit(X, y)

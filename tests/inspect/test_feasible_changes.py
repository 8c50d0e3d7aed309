"""Proposed changes are possible rows, and have the label that is stated."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from data_sets import adult_table
from inspect_models import STAGED
from localsvm import (
    AdditiveSVC,
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.data import TableEncoder, sample_path
from localsvm.estimators import NeighborSVC
from localsvm.inspect import explain

METHODS = {
    "clustered": ClusteredSVC(10, random_state=0),
    "local": LocalSVC(100, random_state=0),
    "mixture": MixtureSVC(3, em_max_iter=2, random_state=0),
    "neighbours": NeighborSVC(40),
    "reduced": ReducedSVC(),
    "staged": StagedSVC(threshold=0.5, **STAGED),
    "support clusters": SupportClusterSVC(20, random_state=0),
}
FIXED = ("age", "sex", "race", "native_country")
N_ROWS = 4


@pytest.fixture(params=METHODS)
def method(request):
    return clone(METHODS[request.param])


@cache
def adult(path=None):
    """Table without the column that marks the split, and its labels."""
    table = pd.read_csv(path or sample_path("adult")).drop(columns="split")
    return table.drop(columns="income"), table["income"].to_numpy()


def changed_rows(found, row):
    """Each proposal: the columns it changes, the row it gives, the label it states."""
    proposals = [([change], change.label) for change in found.changes]
    if found.border is not None:
        proposals.append((found.border.shifts, found.border.label))
    for shifts, label in proposals:
        changed = row.copy()
        for shift in shifts:
            changed[shift.name] = shift.to
        yield [shift.name for shift in shifts], changed, label


def assert_possible(changed, names, table):
    """Every changed value could be one of the table's."""
    for name in names:
        column, to = table[name], changed[name].iloc[0]
        if column.dtype.kind in "iuf":
            assert column.min() <= to <= column.max()
            assert (column != column.round()).any() or to == round(to)
        else:
            assert to in set(column.dropna())


def assert_feasible(model, table, rows, *, fixed=()):
    """Check all proposals of several rows; return how many there are."""
    n_proposals = 0
    for i, found in enumerate(explain(model, rows, immutable=fixed)):
        row = rows[i : i + 1]
        assert found.unknown_ranges == ()
        for names, changed, label in changed_rows(found, row):
            assert names
            assert not set(names) & set(fixed)
            assert_possible(changed, names, table)
            assert model.predict(changed)[0] == label != found.predicted_class
            n_proposals += 1
    return n_proposals


def test_changes_of_a_table_are_possible(method):
    X, y = adult()
    model = make_pipeline(TableEncoder(), method).fit(X[:600], y[:600])
    assert assert_feasible(model, X[:600], X[600 : 600 + N_ROWS]) >= N_ROWS
    assert_feasible(model, X[:600], X[600 : 600 + N_ROWS], fixed=FIXED)


def with_codes(method):
    """A pipeline whose table becomes codes, which SVMs alone cannot take."""
    encoder = TableEncoder(encoding="codes")
    return make_pipeline(encoder, SimpleImputer(), StandardScaler(), method)


def test_changes_of_codes_are_possible(method):
    X, y = adult()
    X = X.assign(hours_per_week=X["hours_per_week"].where(X["age"] % 7 > 0))
    model = with_codes(method).fit(X[:600], y[:600])
    assert assert_feasible(model, X[:600], X[600 : 600 + N_ROWS]) >= N_ROWS
    assert_feasible(model, X[:600], X[600 : 600 + N_ROWS], fixed=FIXED)


def additive_of_codes(X, y):
    encoder = TableEncoder(encoding="codes").fit(X)
    additive = AdditiveSVC(
        categorical_features=encoder.categorical_features_, random_state=0
    )
    return make_pipeline(encoder, additive).fit(X, y)


def test_changes_of_an_additive_model_are_possible():
    X, y = adult()
    X = X.assign(hours_per_week=X["hours_per_week"].where(X["age"] % 7 > 0))
    model = additive_of_codes(X[:600], y[:600])
    assert assert_feasible(model, X[:600], X[600:620]) >= 20
    assert_feasible(model, X[:600], X[600:620], fixed=FIXED)


def test_codes_without_a_table_stay():
    """A category is never 3.5, nor a level of which nothing is known."""
    X, y = adult()
    pipeline = additive_of_codes(X[:600], y[:600])
    codes = pipeline[0].transform(X)
    mask = pipeline[0].categorical_features_
    model = AdditiveSVC(categorical_features=mask, random_state=0)
    model.fit(codes[:600], y[:600])
    names = {f"x{j}" for j in np.flatnonzero(~mask)}
    changed = {
        shift.name
        for found in explain(model, codes[600:620])
        for shift in (*found.changes, *(found.border.shifts if found.border else ()))
    }
    assert changed
    assert changed <= names


def test_ordered_texts_become_known_ones():
    X, y = adult()
    low = (X["age"] // 10 * 10).astype(str)
    X = X.assign(age=low + " to " + (X["age"] // 10 * 10 + 9).astype(str))
    X = X[["age", "sex", "hours_per_week"]]
    model = with_codes(ClusteredSVC(3, random_state=0)).fit(X[:600], y[:600])
    assert model[0].columns_[0].kind == "ordered"
    found = explain(model, X[600:630])
    moved = [
        change for each in found for change in each.changes if change.name == "age"
    ]
    assert moved
    assert {change.to for change in moved} <= set(X["age"][:600])
    deviation = model[0].columns_[0].deviation
    for change in moved:
        gap = int(change.to.split()[0]) - int(change.value.split()[0])
        assert change.distance == pytest.approx(abs(gap) / deviation)


def test_sizes_of_changes_of_codes():
    """Numbers count by their deviations, categories by their number."""
    X, y = adult()
    X = X[["age", "workclass", "education", "hours_per_week"]]
    model = with_codes(LocalSVC(100, random_state=0)).fit(X[:600], y[:600])
    units = {"age": model[0].columns_[0].deviation}
    units["hours_per_week"] = model[0].columns_[3].deviation
    for each in explain(model, X[600:610]):
        assert each.margin.distance is None
        for change in each.changes:
            is_number = change.name in units
            size = (
                abs(change.to - change.value) / units[change.name] if is_number else 1
            )
            assert change.distance == pytest.approx(size)
        if each.border is not None:
            assert not each.border.is_exact
            sizes = [
                (shift.to - shift.value) / units[shift.name]
                if shift.name in units
                else 1
                for shift in each.border.shifts
            ]
            assert each.border.distance == pytest.approx(np.linalg.norm(sizes))


def test_changes_of_digits_are_possible(method):
    X, y = load_digits(return_X_y=True, as_frame=True)
    model = method.fit(X[:400], y[:400])
    assert assert_feasible(model, X[:400], X[400 : 400 + N_ROWS]) >= N_ROWS
    fixed = list(X.columns[:30])
    assert_feasible(model, X[:400], X[400 : 400 + N_ROWS], fixed=fixed)


@pytest.mark.slow
def test_changes_of_the_whole_adult_table_are_possible(method):
    X, y = adult(adult_table())
    model = make_pipeline(TableEncoder(), method).fit(X[:3000], y[:3000])
    assert assert_feasible(model, X[:3000], X[-20:]) >= 20
    assert_feasible(model, X[:3000], X[-20:], fixed=FIXED)


def xor():
    """Two columns that decide together, and one that is out of range in the rows."""
    rng = np.random.default_rng(0)
    X = np.round(rng.uniform(0, 10, (300, 3)))
    return X, (X[:, 0] > 5) ^ (X[:, 1] > 5)


@pytest.mark.parametrize("immutable", ["x1", 1, [1], ["x1"], [-2], np.array([1])])
def test_columns_may_be_fixed_by_name_and_by_position(immutable):
    X, y = xor()
    model = ReducedSVC().fit(X, y)
    for found in explain(model, X[:5], immutable=immutable):
        moved = [*found.changes, *found.border.shifts]
        assert moved
        assert "x1" not in {move.name for move in moved}


def test_where_all_columns_are_fixed_no_change_is_found():
    X, y = xor()
    model = ReducedSVC().fit(X, y)
    found = explain(model, X[0], immutable=[0, 1, 2])
    assert found.border is None
    assert found.changes == ()
    assert (
        "no change of a single column within the range of the training data was found "
        "to change the prediction"
    ) in str(found)


@pytest.mark.parametrize(
    ("immutable", "message"),
    [
        ("agee", "immutable='agee' is not a column of the model; did you"),
        (["age", "Sexx"], r"is not a column of the model; did you mean 'sex'\?"),
        ("qwertz", "is not a column of the model; expected 'age', "),
        (14, "immutable has 14; expected the name of a column, or a position from 0"),
        ([-15], "immutable has -15; expected the name of a column, or a position"),
        ([1.5], "immutable has 1.5; expected the name of a column, or a position"),
    ],
)
def test_unknown_columns_are_named(immutable, message):
    X, y = adult()
    model = make_pipeline(TableEncoder(), ClusteredSVC(4, random_state=0))
    model.fit(X[:200], y[:200])
    with pytest.raises(ValueError, match=message):
        explain(model, X[:1], immutable=immutable)


def test_numbers_outside_of_the_range_only_move_into_it():
    X, y = xor()
    model = ReducedSVC(gamma=0.02).fit(X, y)
    row = np.array([8.0, 12.0, 14.0])
    found = explain(model, row)
    moved = [*found.changes, *found.border.shifts]
    assert moved
    for move in moved:
        assert 0 <= move.to <= 10


def test_zeros_of_sparse_rows_are_in_the_range():
    X, y = xor()
    X[:, 2] = 0
    rows = sparse.csr_array(X)
    model = ClusteredSVC(4, random_state=0).fit(rows, y)
    for found in explain(model, rows[:5]):
        assert all(0 <= shift.to <= 10 for shift in found.border.shifts)
        assert "x2" not in {
            move.name for move in (*found.changes, *found.border.shifts)
        }


def test_text_dates_and_missing_numbers_stay():
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "large", "small", "round", "flat"])
    n_rows = 300
    table = pd.DataFrame(
        {
            "note": [" ".join(rng.choice(words, 5)) for _ in range(n_rows)],
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 300, n_rows), unit="D"),
            "size": rng.integers(0, 50, n_rows).astype(float),
            "weight": rng.integers(0, 50, n_rows),
            "open": rng.random(n_rows) < 0.5,
        }
    )
    table.loc[::5, "size"] = np.nan
    y = table["weight"] + 10 * table["open"] + table["day"].dt.day_of_year / 30 > 35
    model = make_pipeline(TableEncoder(), ClusteredSVC(3, random_state=0))
    model.fit(table, y)
    assert "note:text0" in model[0].get_feature_names_out()
    for i, found in enumerate(explain(model, table[:12])):
        moved = {move.name for move in (*found.changes, *found.border.shifts)}
        assert moved
        assert not moved & {"note", "day"}
        assert "size" not in moved or not np.isnan(table["size"][i])


def test_missing_categories_and_booleans_may_become_known_ones():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "job": rng.choice(["clerk", "nurse", None], 300),
            "member": rng.choice([True, False, None], 300),
            "noise": rng.normal(size=300),
        }
    )
    y = (table["job"] == "nurse") & (table["member"] == True)  # noqa: E712
    model = make_pipeline(TableEncoder(), ReducedSVC()).fit(table, y)
    row = pd.DataFrame({"job": [None], "member": [True], "noise": [0.0]})
    found = explain(model, row)[0]
    assert ("job", "(missing)", "nurse") in {change[:3] for change in found.changes}
    row = pd.DataFrame({"job": ["nurse"], "member": [None], "noise": [0.0]})
    found = explain(model, row)[0]
    assert ("member", "(missing)", True) in {change[:3] for change in found.changes}
    assert "member from (missing) to True gives True" in str(found)


def test_scaled_digits_stay_whole():
    X, y = load_digits(return_X_y=True)
    model = make_pipeline(StandardScaler(), ClusteredSVC(10, random_state=0))
    model.fit(X[:400], y[:400])
    for found in explain(model, X[400:404]):
        for move in (*found.changes, *found.border.shifts):
            assert 0 <= move.to <= 16
            assert move.to == round(move.to)


def test_numbers_are_rounded_beyond_the_change():
    """Few digits, though the border is at none of them."""
    X = np.random.default_rng(0).uniform(0, 1, (200, 1))
    model = ReducedSVC(kernel="linear", C=100).fit(X, X[:, 0] > 0.5)
    (change,) = explain(model, [0.123456789]).changes
    digits = str(change.to - 0)
    assert len(digits) <= 6
    assert model.predict([[change.to]])[0]
    assert not model.predict([[change.to - 0.0002]])[0]
    assert f"x0 from 0.1235 to {digits} gives True" in str(
        explain(model, [0.123456789])
    )

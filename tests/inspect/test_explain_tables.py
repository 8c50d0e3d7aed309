"""Explanations of pipelines: names, raw values, columns, changes of categories."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from localsvm import ClusteredSVC, LocalSVC
from localsvm.data import TableEncoder
from localsvm.inspect import explain

JOBS = ("clerk", "farmer", "nurse", "sailor")


def make_table(n_rows=400):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "job": rng.choice(JOBS, n_rows),
            "member": rng.random(n_rows) < 0.5,
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 1000, n_rows), unit="D"),
            "empty": np.nan,
            "hours": rng.normal(38, 6, n_rows),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "job"] = None
    score = (
        (frame["hours"] - 38) / 6
        + 1.5 * (frame["job"] == "nurse")
        - 1.5 * (frame["job"] == "clerk")
        + frame["member"]
        + (frame["age"].fillna(40) - 50) / 20
    )
    return frame, np.where(score > 0.3, "yes", "no")


@pytest.fixture(scope="module", params=[(), (MinMaxScaler(),)], ids=["", "scaled"])
def fitted_table(request):
    frame, y = make_table()
    model = make_pipeline(
        TableEncoder(),
        *request.param,
        ClusteredSVC(3, n_nearest=1, random_state=0),
    )
    return model.fit(frame, y), frame


def test_columns_sum_to_the_contributions(fitted_table):
    model, frame = fitted_table
    for row, found in enumerate(explain(model, frame[:10], border=False)):
        assert [column.name for column in found.columns] == list(frame)
        assert found.predicted_class == model.predict(frame[row : row + 1])[0]
        by_name = dict.fromkeys(frame, 0.0)
        for name, part in zip(found.feature_names, found.contributions, strict=True):
            by_name[re.split("[=:]", name)[0]] += part
        for column in found.columns:
            assert column.contribution == pytest.approx(by_name[column.name])
            value = frame[column.name].iloc[row]
            assert column.value == value or pd.isna(column.value) == pd.isna(value)
        total = sum(column.contribution for column in found.columns)
        assert total + found.intercept == pytest.approx(
            model.decision_function(frame[row : row + 1])[0]
        )
        sizes = [abs(column.contribution) for column in found.top_columns(99)]
        assert sizes == sorted(sizes, reverse=True)


def test_changes_of_the_table_change_the_prediction(fitted_table):
    model, frame = fitted_table
    kinds = set()
    for row, found in enumerate(explain(model, frame[:12])):
        for change in found.changes:
            changed = frame[row : row + 1].copy()
            to = change.to
            if change.name in ("age", "hours"):
                assert change.value == pytest.approx(changed[change.name].iloc[0])
            changed[change.name] = to
            assert model.predict(changed)[0] == change.label != found.predicted_class
            kinds.add(change.name)
    assert kinds == {"age", "job", "member", "hours"}


def test_every_category_that_changes_the_label_is_named(fitted_table):
    model, frame = fitted_table
    for row, found in enumerate(explain(model, frame[:12])):
        expected = set()
        for job in JOBS:
            changed = frame[row : row + 1].assign(job=job)
            if model.predict(changed)[0] != found.predicted_class:
                expected.add(job)
        changes = [change for change in found.changes if change.name == "job"]
        assert {change.to for change in changes} == expected
        value = frame["job"].iloc[row]
        for change in changes:
            assert change.value == ("(missing)" if pd.isna(value) else value)


def test_sparse_features_of_a_table(fitted_table):
    dense, frame = fitted_table
    model = make_pipeline(
        TableEncoder(sparse_output=True), ClusteredSVC(3, random_state=0)
    )
    other = make_pipeline(TableEncoder(), ClusteredSVC(3, random_state=0))
    y = dense.predict(frame)
    found, expected = (
        explain(each.fit(frame, y), frame.iloc[3]) for each in (model, other)
    )
    assert found.decision_value == pytest.approx(expected.decision_value, rel=1e-4)
    assert [c.name for c in found.changes] == [c.name for c in expected.changes]
    assert found.border.distance == pytest.approx(expected.border.distance, rel=1e-3)


def test_missing_numbers_are_not_moved(fitted_table):
    model, frame = fitted_table
    assert np.isnan(frame["age"].iloc[7])
    found = explain(model, frame.iloc[7])
    assert "age" not in {change.name for change in found.changes}
    assert re.search(r"age +\(missing\)", str(found))


def test_the_nearest_row_of_the_table_has_another_label(fitted_table):
    model, frame = fitted_table
    changed_columns = set()
    for row, found in enumerate(explain(model, frame[:12])):
        changed = frame[row : row + 1].copy()
        for shift in found.border.shifts:
            value = changed[shift.name].iloc[0]
            assert shift.value == ("(missing)" if pd.isna(value) else value)
            changed[shift.name] = shift.to
            changed_columns.add(shift.name)
        assert model.predict(changed)[0] == found.border.label != found.predicted_class
        np.testing.assert_allclose(
            model[:-1].transform(changed)[0], found.border.point, atol=1e-12
        )
    assert {"hours"} < changed_columns <= {"age", "job", "member", "hours"}


def test_text_is_by_columns_with_their_values(fitted_table):
    model, frame = fitted_table
    found = explain(model, frame.iloc[1])
    lines = str(found).splitlines()
    header = next(n for n, line in enumerate(lines) if line.startswith("column"))
    table = lines[header + 1 :]
    assert [line.split()[0] for line in table[:5]] == [
        column.name for column in found.top_columns()
    ]
    job = next(line for line in table if line.startswith("job"))
    assert job.split()[1] == frame["job"].iloc[1]
    assert table[5].startswith("1 other column ")
    *parts, total = (float(line.split()[-1]) for line in table)
    assert sum(parts) == pytest.approx(total, abs=1e-3)


def test_plain_data_of_a_table(fitted_table):
    model, frame = fitted_table
    for found in explain(model, frame[:8]):
        plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        values = {column["name"]: column["value"] for column in plain["columns"]}
        assert values["empty"] is None
        assert values["member"] in (True, False)
        assert values["since"].startswith("20")


@pytest.mark.parametrize("other", [pl.from_pandas, lambda f: f[f.columns[::-1]]])
def test_tables_of_other_kinds(fitted_table, other):
    model, frame = fitted_table
    expected = explain(model, frame[:2])
    for found, each in zip(explain(model, other(frame[:2])), expected, strict=True):
        assert found.decision_value == pytest.approx(each.decision_value)
        assert [c.name for c in found.columns] == [c.name for c in each.columns]
        assert found.columns[5].value == pytest.approx(each.columns[5].value)


def test_series_is_one_row_of_the_table(fitted_table):
    model, frame = fitted_table
    found, expected = explain(model, frame.iloc[1]), explain(model, frame[1:2])[0]
    assert found.decision_value == pytest.approx(expected.decision_value)
    assert str(found) == str(expected)


def numbers():
    frame, y = make_table()
    return frame[["hours"]].assign(age=frame["age"].fillna(40)), y


def test_scaler_keeps_names_and_raw_values():
    frame, y = numbers()
    model = make_pipeline(StandardScaler(), LocalSVC(100, random_state=0))
    model.fit(frame, y)
    found = explain(model, frame[:1])[0]
    assert found.feature_names == ("hours", "age")
    assert [column.value for column in found.columns] == frame.iloc[0].tolist()
    np.testing.assert_allclose(
        [column.contribution for column in found.columns], found.contributions
    )
    np.testing.assert_allclose(found.values, model[0].transform(frame[:1])[0])
    change = found.changes[0]
    changed = frame[:1].copy()
    changed[change.name] = change.to
    assert model.predict(changed)[0] == change.label


@pytest.mark.filterwarnings("error")
def test_pipeline_of_arrays():
    frame, y = numbers()
    X = frame.to_numpy()
    model = make_pipeline(StandardScaler(), ClusteredSVC(3, random_state=0)).fit(X, y)
    found = explain(model, X[0])
    assert found.feature_names == ("x0", "x1")
    assert [column.value for column in found.columns] == X[0].tolist()
    assert len(explain(model, X[:2])) == 2


def assert_changes_of_the_table(model, frame, names):
    """Changes name columns of the table, and change the label."""
    found = explain(model, frame[:1])[0]
    moves = [(change, [change]) for change in found.changes]
    for outcome, shifts in [*moves, (found.border, found.border.shifts)]:
        changed = frame[:1].copy()
        for shift in shifts:
            assert shift.name in names
            changed[shift.name] = shift.to
        assert model.predict(changed)[0] == outcome.label != found.predicted_class
    return found


def test_steps_that_mix_columns_leave_features_but_change_columns():
    frame, y = numbers()
    steps = StandardScaler(), PCA(2, random_state=0)
    model = make_pipeline(*steps, ClusteredSVC(3, random_state=0)).fit(frame, y)
    found = assert_changes_of_the_table(model, frame, {"hours", "age"})
    assert found.columns == ()
    assert found.feature_names == ("pca0", "pca1")
    assert found.unknown_ranges == ("hours", "age")
    frame, y = make_table()
    model = make_pipeline(
        TableEncoder(), PCA(2, random_state=0), ClusteredSVC(3, random_state=0)
    )
    found = assert_changes_of_the_table(model.fit(frame, y), frame, set(frame))
    assert found.columns == ()
    assert found.unknown_ranges == ()


def test_a_step_that_cannot_be_undone_leaves_ranges_unknown():
    frame, y = numbers()
    double = FunctionTransformer(
        lambda X: 2 * X, feature_names_out="one-to-one", check_inverse=False
    )
    model = make_pipeline(double, ClusteredSVC(3, random_state=0)).fit(frame, y)
    found = assert_changes_of_the_table(model, frame, {"hours", "age"})
    assert [column.value for column in found.columns] == frame.iloc[0].tolist()
    assert found.unknown_ranges == ("hours", "age")
    assert "(the changes above may lie outside the training data)" in str(found)


def test_numbers_behind_a_scaler_stay_in_range_and_whole():
    frame, y = numbers()
    model = make_pipeline(StandardScaler(), ClusteredSVC(3, random_state=0))
    model.fit(frame, y)
    assert (frame["age"] == frame["age"].round()).all()
    for found in explain(model, frame[:20]):
        assert found.unknown_ranges == ()
        for move in (*found.changes, *found.border.shifts):
            assert frame[move.name].min() <= move.to <= frame[move.name].max()
            if move.name == "age":
                assert move.to == round(move.to)


def test_strings_behind_other_steps_than_an_encoder_stay():
    frame, y = make_table()
    columns = make_column_transformer(
        (OneHotEncoder(), ["job"]), (StandardScaler(), ["hours"])
    )
    model = make_pipeline(columns, ClusteredSVC(3, random_state=0))
    found = explain(model.fit(frame[["job", "hours"]], y), frame[["job", "hours"]][:1])
    assert found[0].changes == ()
    assert found[0].border is None


def test_pipeline_of_one_step_is_its_estimator():
    frame, y = numbers()
    model = make_pipeline(ClusteredSVC(3, random_state=0)).fit(frame, y)
    found = explain(model, frame[:1])[0]
    assert found.columns == ()
    assert found.feature_names == ("hours", "age")


def test_rows_without_a_column_are_refused(fitted_table):
    model, frame = fitted_table
    with pytest.raises(ValueError, match="no column 'job'"):
        explain(model, frame.drop(columns="job")[:1])

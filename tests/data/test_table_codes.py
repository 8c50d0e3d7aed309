"""Tables as codes: one number per column, what is missing is NaN."""

import datetime
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline

import localsvm
from data_sets import raw_file
from localsvm.data import (
    CalendarColumn,
    CodeColumn,
    DroppedColumn,
    OrderedColumn,
    RawBooleanColumn,
    RawNumberColumn,
    TableEncoder,
    TextColumn,
)
from localsvm.data._columns._codes import _categories
from localsvm.exceptions import DataError, DataWarning

DAYS = pd.to_datetime(
    ["2024-01-01 06:30", "2024-12-31 00:00", None, "2023-03-01 00:00"]
)
MIXED = pd.DataFrame(
    {
        "age": [20, 30, None, 50],
        "sex": ["m", "f", "f", None],
        "vip": [True, False, None, True],
        "since": DAYS,
        "income": ["1 - 10", "20+", "11 - 19", None],
        "same": [1, 1, 1, 1],
    }
)
NAN = np.nan


def codes(**options):
    return TableEncoder(**{"min_frequency": 1, **options}, encoding="codes")


def column(values, **options):
    """What is learnt of one column, next to one that varies."""
    frame = pd.DataFrame({"c": values, "other": np.arange(len(values)) % 2 + 0.5})
    return codes(**options).fit(frame).columns_[0]


def test_mixed_frame():
    encoder = codes().fit(MIXED)
    expected = {
        "age": [20, 30, NAN, 50],
        "sex": [1, 0, 0, NAN],
        "vip": [1, 0, NAN, 1],
        "since:day": [19723, 20088, NAN, 19417],
        "since:day_of_year": [1, 366, NAN, 60],
        "since:weekday": [0, 1, NAN, 2],
        "since:hour": [6.5, 0, NAN, 0],
        "income": [1, 20, 11, NAN],
    }
    names = encoder.get_feature_names_out()
    assert names.tolist() == list(expected)
    out = encoder.transform(MIXED)
    assert_array_equal(out, np.column_stack(list(expected.values())))
    assert encoder.categorical_features_.tolist() == [name == "sex" for name in names]
    assert encoder.column_of_feature_.tolist() == [0, 1, 2, 3, 3, 3, 3, 4]


def test_columns_are_plain_data():
    encoder = codes().fit(MIXED)
    deviation = np.std([20, 30, 30, 50])
    assert encoder.columns_ == (
        RawNumberColumn("age", 30.0, deviation, 20.0, 50.0, True),
        CodeColumn("sex", ("f", "m")),
        RawBooleanColumn("vip"),
        CalendarColumn("since", 19723.0 + 6.5 / 24, True),
        OrderedColumn(
            "income",
            ("1 - 10", "11 - 19", "20+"),
            (1.0, 11.0, 20.0),
            np.std([1, 20, 11]),
        ),
        DroppedColumn("same", "constant"),
    )
    assert encoder.columns_[1].level_names == ("f", "m", "(other)")


def test_features_have_no_categories():
    encoder = TableEncoder().fit(MIXED.drop(columns="income"))
    assert not encoder.categorical_features_.any()
    assert len(encoder.categorical_features_) == len(encoder.column_of_feature_)


def test_rare_new_and_missing_values():
    frame = pd.DataFrame({"c": ["b"] * 3 + ["a"] * 2 + ["x", "y", None], "n": range(8)})
    encoder = codes(min_frequency=2, kinds={"n": "number"}).fit(frame)
    assert encoder.transform(frame)[:, 0].tolist()[:7] == [0, 0, 0, 1, 1, 2, 2]
    new = pd.DataFrame({"n": [1.5, 2], "c": ["new", None]})
    assert_array_equal(encoder.transform(new)[:, 0], [2, NAN])


def test_more_levels_than_codes_are_rare(monkeypatch):
    monkeypatch.setattr(_categories, "_MOST_LEVELS", 2)
    assert column(["a", "b", "c", "b"]).levels == ("b", "a")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_output_is_dense_and_of_the_type_asked_for(dtype):
    wide = pd.DataFrame(np.eye(300), columns=[f"c{j}" for j in range(300)])
    out = codes(dtype=dtype).fit_transform(wide)
    assert isinstance(out, np.ndarray)
    assert out.dtype == dtype


def test_codes_are_never_sparse():
    with pytest.raises(ValueError, match="sparse_output=True needs encoding='features"):
        codes(sparse_output=True).fit(MIXED)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["63 - 75%", "1 - 10%", "100%"], "ordered"),
        (["f 0", "f 1-49", "f 100-199"], "ordered"),
        (["<1", "1.5 to 2", "2,500 or more"], "ordered"),
        (pd.Categorical(["10 up", "5 to 9", "0 to 4"]), "ordered"),
        (["-5 to 0", "1 to 5", "6 up"], "ordered"),
        (["1 low", "2 high"] * 2, "category"),  # two levels
        (["1 low", "1 high", "2"], "category"),  # numbers that are equal
        (["1 low", "2 high", "unknown"], "category"),
        (["about 1", "about 2", "about 3"], "category"),  # more than three others
        (["01067", "04103", "99084"], "category"),  # digits alone
        (pd.Categorical([3, 1, 2]), "category"),
        (pd.Categorical(["a", "b", None]), "category"),
        ([f"word {i}" for i in range(21)], "text"),
        ([f"N{i % 200}" for i in range(300)], "category"),
        ([f"word {i % 100}" for i in range(499)], "text"),
        ([f"words {i % 100}" for i in range(500)], "category"),
        ([f"{i % 100} words" for i in range(500)], "ordered"),
        (["2024-01-01", "2024-01-02", None], "date"),
        ([1, 2, 2], "number"),
        ([True, False, None], "boolean"),
        (pd.to_timedelta(["1 day", None, "2 days"]), "number"),
        ([datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)], "date"),
        ([None, np.nan, pd.NaT], "drop"),
    ],
)
def test_kinds(values, kind):
    assert column(values).kind == kind


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("63 - 75%", 63),
        ("f 20000-?", 20000),
        (">= 1,500 g", 1500),
        ("1,5", 1),
        (" 1.25x", 1.25),
        ("<.5", 0.5),
        ("No.7", 7),
        ("-3 to 0", -3),
        ("a-3", 3),
        ("over 3", NAN),
        ("", NAN),
        ("9" * 400, NAN),
    ],
)
def test_leading_number(label, number):
    frame = pd.DataFrame({"c": ["1 a", "2 b", "3 c"], "n": [1, 2, 2]})
    encoder = codes().fit(frame)
    new = pd.DataFrame({"c": [label], "n": [1]})
    assert_array_equal(encoder.transform(new)[0, 0], number)


def test_kinds_can_be_given():
    frame = pd.DataFrame({"c": ["1 a", "2 b", "3 c", "3 c"], "n": [1, 2, 3, 4]})
    encoder = codes(kinds={"c": "category", "n": "ordered"}).fit(frame)
    assert encoder.columns_[0] == CodeColumn("c", ("3 c", "1 a", "2 b"))
    assert encoder.columns_[1].levels == ("1", "2", "3", "4")


def test_ordered_needs_numbers():
    frame = pd.DataFrame({"c": ["1 a", "b 2 c", "none"], "n": [1, 2, 3]})
    with pytest.raises(DataError, match=r"'none' in row 2.*begin with a number"):
        codes(kinds={"c": "ordered"}).fit(frame)


def test_ordered_needs_codes():
    with pytest.raises(
        DataError, match=r"kinds={'sex': 'ordered'} is not known.*one of"
    ):
        TableEncoder(kinds={"sex": "ordered"}).fit(MIXED)


def test_names_of_rows_are_left_out():
    frame = pd.DataFrame({"key": [f"K{i:05}" for i in range(60)], "n": [1.5, 2.5] * 30})
    with pytest.warns(DataWarning, match="'key' has a different value in every row"):
        encoder = codes(min_frequency=3).fit(frame)
    assert encoder.columns_[0] == DroppedColumn("key", "identifier")


def test_categories_without_a_frequent_value_are_left_out():
    frame = pd.DataFrame({"key": [f"K{i // 2}" for i in range(60)], "n": [1.5, 2] * 30})
    with pytest.warns(DataWarning, match="no value that occurs min_frequency times"):
        encoder = codes(min_frequency=3).fit(frame)
    assert encoder.columns_[0] == DroppedColumn("key", "rare")
    assert encoder.transform(frame).shape == (60, 1)


def test_text_is_as_before():
    texts = [f"{a} {b} {c}" for a in "abc" for b in "defg" for c in ("he", "you")]
    found = column(texts)
    assert isinstance(found, TextColumn)
    frame = pd.DataFrame({"c": texts, "n": np.arange(len(texts)) + 0.5})
    plain = TableEncoder(text_components=4).fit(frame).transform(frame)
    assert_array_equal(
        codes(text_components=4).fit_transform(frame)[:, :4], plain[:, :4]
    )


def test_numbers_that_float32_cannot_hold():
    frame = pd.DataFrame({"n": [1.0, 1e100], "m": [1, 2]})
    assert codes().fit_transform(frame)[1, 0] == 1e100
    with pytest.raises(DataError, match=r"'n' has a number in row 1 .*float32"):
        codes(dtype="float32").fit_transform(frame)
    with pytest.raises(DataError, match="'n' has the value inf in row 0"):
        codes().fit(frame).transform(pd.DataFrame({"n": [np.inf], "m": [1]}))


def test_hours_are_the_same_number_on_every_day():
    moments = pd.date_range("1700-01-01 14:20:00", "2250-01-01", freq="97D")
    frame = pd.DataFrame({"when": moments, "n": np.arange(len(moments)) % 2})
    out = codes().fit_transform(frame)
    assert len(np.unique(out[:, 3])) == 1
    assert_array_equal(out[:, 1], moments.day_of_year)
    assert_array_equal(out[:, 2], moments.day_of_week)


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas])
def test_libraries_give_the_same_columns(make):
    frame = MIXED.assign(vip=MIXED["vip"].astype("boolean"))
    ours, theirs = codes().fit(frame), codes().fit(make(frame))
    assert theirs.columns_ == ours.columns_
    assert_array_equal(theirs.transform(make(frame)), ours.transform(frame))


@pytest.mark.parametrize("frame", [MIXED, MIXED.drop(columns=["since", "income"])])
def test_round_trip(frame, tmp_path):
    encoder = codes(dtype="float32").fit(frame)
    localsvm.save(encoder, tmp_path / "codes.lsvm")
    again = localsvm.load(tmp_path / "codes.lsvm")
    assert again.columns_ == encoder.columns_
    assert again.encoding == "codes"
    assert_array_equal(again.categorical_features_, encoder.categorical_features_)
    assert_array_equal(again.transform(frame), encoder.transform(frame))


def test_errors_name_columns():
    encoder = codes().fit(MIXED)
    with pytest.raises(DataError, match="has no column 'age'"):
        encoder.transform(MIXED.drop(columns="age"))
    with pytest.raises(DataError, match="'age' has the value 'old' in row 0"):
        encoder.transform(MIXED.assign(age="old"))


def test_gradient_boosting_takes_codes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice(list("abcdef"), 400), "n": rng.random(400)})
    y = frame["c"].isin(["a", "d", "f"])
    encoder = codes().fit(frame)
    boosting = HistGradientBoostingClassifier(
        categorical_features=encoder.categorical_features_, max_iter=5
    )
    assert make_pipeline(encoder, boosting).fit(frame, y).score(frame, y) == 1


KINDS_OF_RAW_TABLES = {
    "ames_neighborhood": {"number": 37, "category": 42},
    "caravan_insurance": {"number": 23, "category": 3, "ordered": 59},
    "compas": {"number": 9, "category": 7, "date": 5, "drop": 1},
    "credit_scoring": {"number": 9, "category": 4},
    "diamonds_cut": {"number": 7, "category": 2},
    "loans_grade": {"number": 35, "category": 9, "text": 1},
    "mpls_stops": {"number": 3, "category": 8, "date": 1, "drop": 1},
    "nyc_flights": {"number": 17, "category": 6, "date": 1},
    "portal_rodents": {"number": 6, "category": 2, "drop": 1},
    "support2": {"number": 26, "category": 6, "drop": 1},
}
IDENTIFIERS = {
    "compas": ["id"],
    "mpls_stops": ["idNum"],
    "portal_rodents": ["record_id"],
    "support2": ["sno"],
}


@pytest.mark.parametrize("name", KINDS_OF_RAW_TABLES)
def test_raw_tables(name):
    path = raw_file(f"tables/{name}.csv.gz")
    table = pd.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False)
    X = table.iloc[:, :-1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder = TableEncoder(encoding="codes").fit(X)
    kinds = pd.Series([each.kind for each in encoder.columns_]).value_counts()
    assert kinds.to_dict() == KINDS_OF_RAW_TABLES[name]
    dropped = [each.name for each in encoder.columns_ if each.kind == "drop"]
    assert dropped == IDENTIFIERS.get(name, [])
    assert len(caught) == len(dropped)
    out = encoder.transform(X)
    assert not np.isinf(out).any()
    by_column = {each.name: j for j, each in enumerate(encoder.columns_)}
    for column_name, j in by_column.items():
        features = out[:, encoder.column_of_feature_ == j]
        if encoder.columns_[j].kind != "text":
            missing = X[column_name].isna().to_numpy()
            assert (np.isnan(features) == missing[:, np.newaxis]).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("missing", [1, 5])
def test_a_number_too_large_is_named_with_its_row(value, missing):
    ages = np.arange(20.0)
    ages[3], ages[missing] = value, np.nan
    with pytest.raises(DataError, match=re.escape(f"has the value {value} in row 3")):
        TableEncoder(encoding="codes").fit(pd.DataFrame({"age": ages}))

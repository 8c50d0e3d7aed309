"""The table encoder on small frames: kinds, features, errors, warnings."""

import dataclasses
import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from localsvm import ClusteredSVC
from localsvm.data import (
    BooleanColumn,
    CategoryColumn,
    DateColumn,
    DroppedColumn,
    NumberColumn,
    TableEncoder,
    TextColumn,
)

DAYS = pd.to_datetime(["2024-01-01", "2024-04-01", "2024-07-01", "2024-10-02"])
MIXED = pd.DataFrame(
    {
        "age": [20, 30, None, 50],
        "sex": ["m", "f", "f", None],
        "vip": [True, False, True, True],
        "since": DAYS,
        "same": [1, 1, 1, 1],
        "none": [None] * 4,
    }
)


def encode(X, **options):
    """Names of the features, and the matrix as a frame of them."""
    encoder = TableEncoder(**{"min_frequency": 1, **options}).fit(X)
    names = encoder.get_feature_names_out()
    return pd.DataFrame(encoder.transform(X), columns=names)


def column(values, **options):
    """What is learnt of one column, next to one that varies."""
    frame = pd.DataFrame({"c": values, "other": np.arange(len(values)) % 2 + 0.5})
    return TableEncoder(**options).fit(frame).columns_[0]


def test_mixed_frame():
    out = encode(MIXED)
    ages = np.array([20, 30, 30, 50])
    assert_allclose(out["age"], (ages - ages.mean()) / ages.std())
    assert out["age=(missing)"].tolist() == [0, 0, 1, 0]
    assert out["sex=f"].tolist() == [0, 1, 1, 0]
    assert out["sex=m"].tolist() == [1, 0, 0, 0]
    assert out["sex=(missing)"].tolist() == [0, 0, 0, 1]
    assert out["vip"].tolist() == [1, 0, 1, 1]
    assert_allclose(out["since"].mean(), 0, atol=1e-12)
    assert_allclose(out["since"].std(ddof=0), 1)
    others = ["since:year_sin", "since:year_cos", "since:week_sin", "since:week_cos"]
    assert list(out)[-5:] == ["since", *others]


def test_columns_are_plain_data():
    encoder = TableEncoder(min_frequency=1).fit(MIXED)
    assert encoder.columns_[:3] == (
        NumberColumn("age", 30.0, 32.5, np.sqrt(118.75), True, 20.0, 50.0, True),
        CategoryColumn("sex", ("f", "m"), True, False),
        BooleanColumn("vip", False),
    )
    assert encoder.columns_[4:] == (
        DroppedColumn("same", "constant"),
        DroppedColumn("none", "empty"),
    )
    texts = [f"{a} {b} {c}" for a in "abc" for b in "defg" for c in ("he", "you")]
    columns = (*encoder.columns_, column(texts))
    assert isinstance(columns[-1], TextColumn)
    for each in columns:
        for field in dataclasses.fields(each):
            value = getattr(each, field.name)
            entries = value if isinstance(value, tuple) else [value]
            plain = (str, float, int, bool, np.ndarray)
            assert all(type(entry) in plain for entry in entries), field
        with pytest.raises(dataclasses.FrozenInstanceError):
            each.name = "other"


def test_columns_of_the_features():
    encoder = TableEncoder(min_frequency=1).fit(MIXED)
    names = encoder.get_feature_names_out()
    sources = MIXED.columns[encoder.column_of_feature_]
    assert len(names) == len(sources) == encoder.transform(MIXED).shape[1]
    assert all(map(str.startswith, names, sources))
    assert encoder.feature_names_in_.tolist() == list(MIXED)
    assert encoder.n_features_in_ == 6


def test_transform_uses_nothing_but_the_columns():
    fitted = TableEncoder().fit(MIXED)
    rebuilt = TableEncoder()
    for name in ("columns_", "column_of_feature_", "feature_names_in_"):
        setattr(rebuilt, name, getattr(fitted, name))
    rebuilt.n_features_in_ = fitted.n_features_in_
    assert_array_equal(rebuilt.transform(MIXED), fitted.transform(MIXED))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 2], "number"),
        ([1.5, None, 2], "number"),
        ([decimal.Decimal("1.5"), None, decimal.Decimal(2)], "number"),
        (pd.Series([1, None, 3], dtype="Int64"), "number"),
        (pd.Series([1, None, 3], dtype="int64[pyarrow]"), "number"),
        (pd.arrays.SparseArray([0, 0, 1]), "number"),
        (pd.to_timedelta(["1 day", None, "2 days"]), "number"),
        ([datetime.time(12), None, datetime.time(18)], "number"),
        ([True, False, None], "boolean"),
        (pd.Series([True, None, False], dtype="boolean"), "boolean"),
        (["a", "b", None], "category"),
        (pd.Series(["a", None, "b"], dtype="string"), "category"),
        (pd.Series(["a", None, "b"], dtype="string[pyarrow]"), "category"),
        (pd.Series(["a", None, "b"], dtype=object), "category"),
        (pd.Categorical([3, 1, None]), "category"),
        ([1, "a", 2.5], "category"),
        (["01", "02", "03"], "category"),
        (["2024-01-01", "2024-01-02", None], "date"),
        (["2024-01-01T10:00", "2024-01-02 11:00:00.5", "2024-01-02T11:00Z"], "date"),
        ([datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)], "date"),
        (pd.to_datetime(["2024-01-01", None, "2024-02-01"]), "date"),
        (pd.to_datetime(["2024-01-01", "2024-02-01"] * 2).tz_localize("CET"), "date"),
        (["2024-01-01", "2024-13-01", None], "category"),
        (["31.12.2024", "1.2.2024", None], "date"),
        (["31.12.2024 14:30", "2024-02-01", None], "date"),
        (["31.13.2024", "1.2.2024", None], "category"),
        (["20240101", "20240102", None], "category"),
        ([f"word {i}" for i in range(21)], "text"),
        ([f"word{i}" for i in range(21)] * 5, "category"),
        ([f"word{i}" for i in range(101)] * 5, "text"),
        ([None, np.nan, pd.NaT], "drop"),
        (["x", "x", "x"], "drop"),
    ],
)
def test_kinds_are_found(values, kind):
    assert column(values).kind == kind


def test_kinds_can_be_given():
    frame = pd.DataFrame({"zip": [1, 2, 1], "n": ["1", "2.5", "4"], "id": [7, 8, 9]})
    kinds = {"zip": "category", "n": "number", "id": "drop"}
    encoder = TableEncoder(kinds=kinds, min_frequency=1).fit(frame)
    assert [each.kind for each in encoder.columns_] == ["category", "number", "drop"]
    assert encoder.columns_[0].categories == ("1", "2")
    assert encoder.columns_[1].fill == 2.5
    assert encoder.columns_[2].reason == "asked"


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"sex": "numeric"}, "kinds={'sex': 'numeric'} is not known; expected one of"),
        (
            {"sex": "number:%d"},
            "kinds={'sex': 'number:%d'} is not known; expected one of",
        ),
        (
            {"sex": "date:%q"},
            "kinds={'sex': 'date:%q'} is not known; expected a format",
        ),
        ({"sex": ["number"]}, r"kinds={'sex': \['number'\]} is not known"),
        ({"Sex": "category"}, "no column 'Sex'; close names: 'sex'"),
        (
            {"sex": "number"},
            "Column 'sex' has the value 'm' in row 0 .*expected numbers",
        ),
        ({"sex": "boolean"}, "Column 'sex' has the value 'm' in row 0 .*true or false"),
        ({"age": "boolean"}, "Column 'age' has the value 20.0 in row 0"),
        ({"age": "date"}, "Column 'age' has the value 20.0 in row 0 .*expected dates"),
        ({"since": "number"}, "Column 'since' .*2024-01-01.* in row 0 .*numbers"),
    ],
)
def test_wrong_kinds_are_named(kinds, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder(kinds=kinds).fit(MIXED)


def test_rare_categories_are_pooled():
    colors = ["red"] * 5 + ["blue"] * 3 + ["green"] * 2 + ["pink"]
    learnt = column(colors, min_frequency=3)
    assert learnt == CategoryColumn("c", ("blue", "red"), False, True)
    assert learnt.suffixes == ("=blue", "=red", "=(other)")
    assert column(colors, min_frequency=1).pooled is False
    most = column(colors, min_frequency=1, max_categories=1)
    assert most == CategoryColumn("c", ("red",), False, True)


def test_new_categories():
    train = pd.DataFrame({"c": ["a"] * 3 + ["b"] * 3, "d": ["u"] * 5 + ["rare"]})
    new = pd.DataFrame({"c": ["a", "new", None], "d": ["u", "new", None]})
    encoder = TableEncoder().fit(train)
    assert encoder.get_feature_names_out().tolist() == [
        "c=a",
        "c=b",
        "d=u",
        "d=(other)",
    ]
    expected = [[1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]]
    assert_array_equal(encoder.transform(new), expected)


def test_number_categories_have_one_name_in_all_types():
    train = pd.DataFrame({"c": [1, 2, 1, 2, 1, 2], "x": range(6)})
    encoder = TableEncoder(kinds={"c": "category"}).fit(train)
    expected = encoder.transform(train)
    for values in ([1.0, 2.0] * 3, ["1", "2"] * 3, pd.Categorical([1, 2] * 3)):
        assert_array_equal(encoder.transform(train.assign(c=values)), expected)


def test_equal_names_of_categories_are_one_category():
    frame = pd.DataFrame({"c": pd.Series([1, "1", "a", None, 1.0], dtype=object)})
    out = encode(frame)
    assert out["c=1"].tolist() == [1, 1, 0, 0, 1]
    assert out["c=(missing)"].tolist() == [0, 0, 0, 1, 0]


def test_only_new_values_raise_a_warning():
    train = pd.DataFrame({"c": ["a", "b"] * 15, "x": [1.5] * 29 + [2]})
    encoder = TableEncoder().fit(train)
    other = train.assign(c="A")
    with pytest.warns(
        UserWarning, match="Column 'c' has no value that was.*'A', .*'a'"
    ):
        encoder.transform(other)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(other.head(5))
        encoder.transform(train)


def test_missing_values_that_fit_has_not_seen():
    train = pd.DataFrame(
        {
            "number": [1.0, 2.0, 9.0],
            "flag": [True, False, True],
            "day": DAYS[:3],
            "text": ["one two", "three four", "five six"],
        }
    )
    encoder = TableEncoder(kinds={"text": "text"}).fit(train)
    names = encoder.get_feature_names_out().tolist()
    row = dict(
        zip(names, encoder.transform(train[:1].map(lambda _: None))[0], strict=True)
    )
    assert not any("missing" in name for name in names)
    assert row["number"] == pytest.approx((2 - 4) / np.std([1, 2, 9]))
    assert row["flag"] == 0.5
    assert row["day:year_sin"] == row["day:year_cos"] == 0
    assert row["text:text0"] == 0


def test_constant_column_with_missing_values_gives_the_indicator():
    # The mean of six equal numbers need not be the number.
    out = encode(pd.DataFrame({"x": [0.688, *[None] * 5]}))
    assert out["x"].tolist() == [0] * 6
    assert out["x=(missing)"].tolist() == [0, *[1] * 5]


@pytest.mark.filterwarnings("error")
def test_texts_that_are_all_alike():
    learnt = column(["...", "...", "..."], kinds={"c": "text"})
    assert learnt == DroppedColumn("c", "constant")
    assert column(["", "", ""], kinds={"c": "text"}).kind == "drop"


def test_rounding_is_no_variation():
    assert column([0.1 + 0.2, 0.3, 0.3]) == DroppedColumn("c", "constant")
    assert column([1e-300, 2e-300, 3e-300]).kind == "number"


def test_dates_are_days_and_phases():
    moments = pd.to_datetime(
        ["1970-01-01 06:00", "1970-01-02 18:00", "1971-01-01 00:00"]
    )
    out = encode(pd.DataFrame({"t": moments}))
    days = np.array([0.25, 1.75, 365])
    assert_allclose(out["t"], (days - days.mean()) / days.std())
    year = 2 * np.pi * days / 365.2425
    assert_allclose(out["t:year_sin"], np.sin(year), atol=1e-12)
    week = 2 * np.pi * np.array([0, 1, 365 % 7]) / 7
    assert_allclose(out["t:week_cos"], np.cos(week), atol=1e-12)
    assert_allclose(out["t:day_sin"], [1, -1, 0], atol=1e-12)
    assert_allclose(out["t:day_cos"], [0, 0, 1], atol=1e-12)


@pytest.mark.parametrize(
    ("dates", "cycles"),
    [
        (["2024-01-01", "2024-01-08"], ()),
        (["2024-01-01", "2024-01-02"], ("week",)),
        (["2024-01-01 10:00", "2024-01-01 11:00"], ("day",)),
        (["2020-01-01", "2024-01-03"], ("year",)),
    ],
)
def test_cycles_that_tell_nothing_are_left_out(dates, cycles):
    learnt = column(pd.to_datetime(dates))
    assert isinstance(learnt, DateColumn)
    assert learnt.cycles == cycles


def test_dates_of_any_type_are_the_same():
    train = pd.DataFrame(
        {"t": pd.to_datetime(["2024-01-01 12:00", "2024-06-01 00:00", None])}
    )
    encoder = TableEncoder().fit(train)
    expected = encoder.transform(train)
    strings = ["2024-01-01T12:00", "2024-06-01", None]
    zoned = train["t"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    objects = [datetime.datetime(2024, 1, 1, 12), datetime.datetime(2024, 6, 1), None]
    for values in (strings, zoned, pd.Series(objects, dtype=object)):
        assert_allclose(encoder.transform(pd.DataFrame({"t": values})), expected)


@pytest.mark.parametrize(
    ("values", "kind", "format"),
    [
        (["31.12.2024", "01.02.2024", "3.4.2024"], "date", ""),
        (["31/12/2024", "01/02/2024", "3/4/2024"], "date", "%d/%m/%Y"),
        (["12/31/2024", "02/01/2024", "4/3/2024"], "date", "%m/%d/%Y"),
        (["31.12.24", "01.02.24", "03.04.24"], "date:%d.%m.%y", "%d.%m.%y"),
        ([20241231, 20240201, 20240403], "date:%Y%m%d", "%Y%m%d"),
        (["12.31.2024", "02.01.2024", "2024-04-03"], "date:%m.%d.%Y", "%m.%d.%Y"),
    ],
)
def test_dates_in_other_forms(values, kind, format):
    found = column(values, kinds={"c": kind})
    assert found.format == format
    iso = found.encode(pd.Series(["2024-12-31", "2024-02-01", None]))
    assert_array_equal(found.encode(pd.Series([*values[:2], None])).values, iso.values)


def test_dates_in_an_order_that_is_not_known():
    message = r"'01/02/2024' .* day or the month; pass kinds={'c': 'date:%d/%m/%Y'} or"
    with pytest.raises(ValueError, match=message):
        column(["01/02/2024", "03/04/2024"], kinds={"c": "date"})
    found = column(["01/02/2024", "03/02/2024"], kinds={"c": "date:%d/%m/%Y"})
    assert found.fill == np.datetime64("2024-02-02").astype(float)


def test_texts_with_common_parts_are_near():
    texts = [
        f"{what} {where}"
        for what in ("apple pie", "steel pipe")
        for where in "abcdefghijklm"
    ]
    out = encode(pd.DataFrame({"t": texts}))
    assert list(out)[:2] == ["t:text0", "t:text1"]
    X = out.to_numpy()
    assert_allclose(X.mean(axis=0), 0, atol=1e-6)
    assert_allclose((X**2).sum(axis=1).mean(), 1, rtol=1e-6)
    within = np.linalg.norm(X[0] - X[1:13], axis=1).max()
    between = np.linalg.norm(X[0] - X[13:], axis=1).min()
    assert within < between


def test_text_features_do_not_depend_on_the_rows_around():
    texts = pd.DataFrame({"t": [f"text number {i}" for i in range(50)] + [None]})
    encoder = TableEncoder().fit(texts)
    whole = encoder.transform(texts)
    assert_allclose(encoder.transform(texts[10:12]), whole[10:12], atol=1e-12)
    assert whole[-1].tolist() == [0] * (whole.shape[1] - 1) + [1]
    assert_array_equal(TableEncoder().fit(texts).transform(texts), whole)


def test_columns_are_found_by_name():
    encoder = TableEncoder().fit(MIXED)
    expected = encoder.transform(MIXED)
    turned = MIXED[MIXED.columns[::-1]].assign(extra="ignored")
    assert_array_equal(encoder.transform(turned), expected)
    without = MIXED.drop(columns=["same", "none"])
    assert_array_equal(encoder.transform(without), expected)


def test_absent_columns_are_named():
    encoder = TableEncoder().fit(MIXED)
    renamed = MIXED.rename(columns={"age": "Age", "sex": "gender"})
    with pytest.raises(ValueError, match="no columns 'age', 'sex'; close names: 'Age'"):
        encoder.transform(renamed)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("age", [1, "two", 3, 4], "'age' has the value 'two' in row 1 .*expected num"),
        ("age", [1, 2, 3, np.inf], "'age' has the value inf in row 3 .*finite number"),
        ("age", [1, 2, -1e308, 3], r"'age' has the value -1e\+308 in row 2"),
        ("age", DAYS, "'age' has the value Timestamp.* in row 0 .*expected numbers"),
        (
            "sex",
            [[1], "m", "f", "m"],
            r"'sex' has the value \[1\] in row 0 .*one value",
        ),
        ("vip", [None, 2, 0, 1], "'vip' has the value 2.0 in row 1 .*true or false"),
        (
            "since",
            ["2024-01-01", "soon", None, None],
            "'since' has the value 'soon' in r",
        ),
        (
            "since",
            [1, 2, 3, 4],
            "'since' has the value .*1.* in row 0 .*expected dates",
        ),
    ],
)
def test_values_of_another_kind_are_named(name, values, message):
    encoder = TableEncoder().fit(MIXED)
    with pytest.raises(ValueError, match=message):
        encoder.transform(MIXED.assign(**{name: values}))


def test_strings_of_the_right_kind_are_understood():
    encoder = TableEncoder().fit(MIXED)
    strings = MIXED.assign(
        age=["20", " 30 ", None, "5e1"],
        vip=["yes", "FALSE", "1", "t"],
        since=DAYS.strftime("%Y-%m-%d"),
    )
    assert_allclose(encoder.transform(strings), encoder.transform(MIXED))
    assert_allclose(
        encoder.transform(MIXED.astype({"vip": float})), encoder.transform(MIXED)
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"x": [1, 2], "c": [1j, 2]}), "'c' holds values of type complex"),
        (
            pd.DataFrame({"x": [1, 2], "c": [b"a", b"b"]}),
            "'c' holds values of type bytes",
        ),
        (
            pd.DataFrame({"x": [1, 2], "c": [[1], [2]]}),
            r"'c' has the value \[1\] in row 0",
        ),
        (
            pd.DataFrame({"x": [1, 2], "c": [1.0, np.inf]}),
            "'c' has the value inf in row 1",
        ),
        (
            pd.DataFrame({"x": [1.0, 1e308], "c": [1, 2]}),
            r"'x' has the value .*1e\+308",
        ),
        (pd.DataFrame({"x": [1, 2]})[:0], r"0 sample\(s\)"),
        (pd.DataFrame(index=[0, 1]), r"0 feature\(s\)"),
        (pd.DataFrame({"x": [1, 1], "c": [None, None]}), "No column tells rows apart"),
        (
            pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
            "several columns named 'a'",
        ),
        (pa.table({"a": [1, 2], "l": [[1], [2]]}), "type list.* in column 'l'"),
    ],
)
def test_frames_that_cannot_be_encoded(frame, message):
    encoder = TableEncoder()
    with pytest.raises(ValueError, match=message):
        encoder.fit(frame)
    assert not hasattr(encoder, "n_features_in_")


def test_failed_fit_changes_nothing():
    encoder = TableEncoder().fit(MIXED)
    with pytest.raises(ValueError, match="No column"):
        encoder.fit(pd.DataFrame({"x": [1, 1]}))
    assert encoder.feature_names_in_.tolist() == list(MIXED)


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas])
def test_other_libraries(convert):
    frame = MIXED.assign(sex=MIXED["sex"].astype("category")).drop(columns="none")
    expected = TableEncoder().fit(frame).transform(frame)
    encoder = TableEncoder().fit(convert(frame))
    assert encoder.feature_names_in_.tolist() == list(frame)
    assert_array_equal(encoder.transform(convert(frame)), expected)
    assert_array_equal(encoder.transform(frame), expected)


def test_arrays():
    X = np.array([[1.0, 5], [2, np.nan], [4, 7]])
    encoder = TableEncoder(kinds={"x1": "category"}, min_frequency=1).fit(X)
    assert not hasattr(encoder, "feature_names_in_")
    names = ["x0", "x1=5", "x1=7", "x1=(missing)"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.get_feature_names_out(["u", "v"])[1] == "v=5"
    assert_array_equal(encoder.transform(X)[:, 1:], [[1, 0, 0], [0, 0, 1], [0, 1, 0]])
    objects = np.array([[1, "a"], [2, "b"], [3, None]], dtype=object)
    kinds = [each.kind for each in TableEncoder().fit(objects).columns_]
    assert kinds == ["number", "category"]


def test_array_for_an_encoder_of_a_frame():
    frame = pd.DataFrame({"a": [1.0, 2, 4], "b": [3.0, 1, 2]})
    encoder = TableEncoder().fit(frame)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        out = encoder.transform(frame.to_numpy())
    assert_array_equal(out, encoder.transform(frame))


def test_frame_without_names():
    frame = pd.DataFrame([[1, "a"], [2, "b"], [3, "b"]])
    encoder = TableEncoder(min_frequency=1).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1=a", "x1=b"]
    assert_array_equal(encoder.transform(frame)[:, 1:], [[1, 0], [0, 1], [0, 1]])


def test_sparse_rows_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        TableEncoder().fit(sparse.csr_array(np.eye(3)))


def test_sparse_output_is_the_same():
    dense = TableEncoder(sparse_output=False).fit(MIXED).transform(MIXED)
    rows = TableEncoder(sparse_output=True).fit(MIXED).transform(MIXED)
    assert isinstance(rows, sparse.csr_array)
    assert rows.indices.dtype == np.int32
    assert rows.has_canonical_format
    assert (rows.data != 0).all()
    assert_array_equal(rows.toarray(), dense)


@pytest.mark.parametrize(("n_columns", "is_sparse"), [(3, False), (10, True)])
def test_many_categories_give_sparse_output(n_columns, is_sparse):
    rng = np.random.default_rng(0)
    codes = rng.integers(60, size=(600, n_columns)).astype(str)
    frame = pd.DataFrame(codes).add_prefix("c")
    out = TableEncoder(kinds=dict.fromkeys(frame, "category")).fit_transform(frame)
    assert sparse.issparse(out) is is_sparse


def test_many_numbers_give_dense_output():
    X = np.random.default_rng(0).normal(size=(5, 300))
    assert not sparse.issparse(TableEncoder().fit_transform(X))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_single_precision(is_sparse):
    encoder = TableEncoder(dtype="float32", sparse_output=is_sparse)
    out = encoder.fit_transform(MIXED)
    assert out.dtype == np.float32
    dense = out.toarray() if is_sparse else out
    assert_allclose(dense, TableEncoder().fit_transform(MIXED), rtol=1e-6, atol=1e-7)


def test_output_as_a_frame():
    encoder = TableEncoder().set_output(transform="pandas").fit(MIXED)
    out = encoder.transform(MIXED.set_axis([5, 6, 7, 8]))
    assert list(out) == encoder.get_feature_names_out().tolist()
    assert out.index.tolist() == [5, 6, 7, 8]


def test_names_of_features_differ():
    frame = pd.DataFrame(
        {"a": ["b", "b", "c"], "a=b": [1.0, 2, 3], "a=b#2": [1.0, 2, 9]}
    )
    names = TableEncoder(min_frequency=1).fit(frame).get_feature_names_out().tolist()
    assert names == ["a=b", "a=c", "a=b#3", "a=b#2"]


def test_names_of_features_need_the_names_of_fit():
    encoder = TableEncoder().fit(MIXED)
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        encoder.get_feature_names_out(["a"] * 6)
    with pytest.raises(ValueError, match=r"length equal to number of features \(2\)"):
        TableEncoder().fit([[1, 2], [3, 4]]).get_feature_names_out(["a"])


N = 30
WORDS = [f"word {i}" for i in range(N)]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [f"{i},5" for i in range(N)],
            "'c' is treated as text, although .*numbers.*'0,5'",
        ),
        (
            ["n/k", *(f"{i}.5" for i in range(N - 1))],
            "numbers, such as '0.5' .but 'n/k' does not",
        ),
        (
            [f"{i % 28 + 1}/{i % 12 + 1}/2024" for i in range(N)],
            "look like dates.*kinds={'c': 'date'}",
        ),
        ([f"${i},000.00" for i in range(N)], "look like numbers"),
    ],
)
def test_doubtful_columns_raise_a_warning(values, message):
    with pytest.warns(UserWarning, match=message):
        column(values)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.random.default_rng(0).permutation(N) + 7, "number"),
        # A part of the numbers of a longer table: chance would repeat some.
        (np.random.default_rng(0).permutation(6_000)[:3_000], "number"),
        (np.arange(3_000) * 60 + 1_700_000_000, "number"),
        ([f"K{i:05}" for i in range(N)], "text"),
    ],
)
def test_identifiers_are_left_out_unless_their_kind_is_given(values, kind):
    message = (
        rf"'c' has a different value in every row.*left out.*kinds={{'c': '{kind}'}}"
    )
    with pytest.warns(UserWarning, match=message):
        found = column(values)
    assert found == DroppedColumn("c", "identifier")
    assert column(values, kinds={"c": kind}).kind == kind


@pytest.mark.parametrize(
    "values",
    [
        WORDS,
        np.arange(N) * 2,
        np.random.default_rng(0).permutation(10**6)[:1_000],
        np.arange(N) / 2,
        [*range(N - 1), 5],
        [0, 0, *range(2, N)],
        list("ab") * (N // 2),
        [f"K{i % 15}" for i in range(N)],
    ],
)
@pytest.mark.filterwarnings("error")
def test_ordinary_columns_raise_no_warning(values):
    column(values)


@pytest.mark.filterwarnings("error")
def test_given_kind_ends_the_doubt():
    column(list(range(N)), kinds={"c": "number"})
    column([f"K{i:05}" for i in range(N)], kinds={"c": "text"})


@pytest.mark.parametrize(
    "parameters",
    [
        {"kinds": ["a"]},
        {"min_frequency": 0},
        {"max_categories": 0},
        {"text_components": 0.5},
        {"sparse_output": "maybe"},
        {"dtype": "float16"},
    ],
)
def test_parameters_are_checked(parameters):
    (name,) = parameters
    with pytest.raises(
        ValueError, match=f"The '{name}' parameter of TableEncoder must"
    ):
        TableEncoder(**parameters).fit(MIXED)


def test_unfitted_and_cloned():
    with pytest.raises(NotFittedError):
        TableEncoder().transform(MIXED)
    with pytest.raises(NotFittedError):
        TableEncoder().get_feature_names_out()
    kinds = {"age": "drop"}
    copy = clone(TableEncoder(kinds=kinds, dtype="float32").fit(MIXED))
    assert copy.kinds == kinds
    assert not hasattr(copy, "columns_")


def test_in_a_pipeline():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "c": rng.choice(["u", "v"], 200)})
    y = (frame["x"] > 0) ^ (frame["c"] == "u")
    model = make_pipeline(TableEncoder(), ClusteredSVC(n_regions=4, random_state=0))
    assert model.fit(frame, y).score(frame, y) > 0.95


def test_text_does_not_depend_on_the_order_of_the_rows():
    texts = [f"{a} {b} {c}" for a in "abc" for b in "defg" for c in ("he", "you")]
    frame = pd.DataFrame({"c": texts, "n": np.arange(len(texts)) % 2 + 0.5})
    backwards = TableEncoder().fit(frame[::-1])
    assert_array_equal(
        backwards.columns_[0].components,
        TableEncoder().fit(frame).columns_[0].components,
    )

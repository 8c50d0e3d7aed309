"""Whatever the table: finite features, by name, row by row; and the table Adult."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from examples import examples
from localsvm.data import TableEncoder, read_table, sample_path

MOMENTS = st.datetimes(
    min_value=pd.Timestamp(1700, 1, 1), max_value=pd.Timestamp(2250, 1, 1)
)
VALUES = {
    "number": st.integers(-(10**6), 10**6) | st.floats(0, 1).map(lambda x: round(x, 3)),
    "boolean": st.booleans(),
    "category": st.sampled_from(["a", "b", "C", "(other)", ""]),
    "text": st.text(max_size=20),
    "date": MOMENTS,
    "string": MOMENTS.map(lambda moment: moment.isoformat()),
}
EXTREME_VALUES = {
    "large": st.floats(-1e150, 1e150) | st.integers(-(2**60), 2**60),
    "small": st.floats(-1e-300, 1e-300),
    "mixed": st.text(max_size=3) | st.integers(-5, 5) | st.booleans() | st.floats(0, 9),
}


@st.composite
def frames(draw, values, sizes):
    """Frames of the same columns, one of each size."""
    kinds = draw(st.lists(st.sampled_from(sorted(values)), min_size=1, max_size=4))
    return [
        pd.DataFrame(
            {
                "position": np.arange(size) + 0.5,
                **{
                    f"{kind} {place}": draw(
                        st.lists(st.none() | values[kind], min_size=size, max_size=size)
                    )
                    for place, kind in enumerate(kinds)
                },
            }
        )
        for size in [draw(each) for each in sizes]
    ]


def fit(frame):
    """An encoder that knows what is date and what is text."""
    kinds = {name: name.split()[0] for name in frame}
    kinds = {name: kind for name, kind in kinds.items() if kind in ("date", "text")}
    return TableEncoder(kinds=kinds, min_frequency=2, sparse_output=False).fit(frame)


def check_output(encoder, frame):
    out = encoder.transform(frame)
    assert np.isfinite(out).all()
    assert out.shape == (len(frame), len(encoder.column_of_feature_))
    turned = frame[frame.columns[::-1]]
    assert_array_equal(encoder.transform(turned), out)
    assert_allclose(encoder.transform(frame[:1]), out[:1], rtol=1e-9, atol=1e-9)
    encoder.set_params(sparse_output=True)
    assert_array_equal(encoder.transform(frame).toarray(), out)
    encoder.set_params(sparse_output=False)


@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(50)
@given(frames(VALUES, [st.integers(2, 30), st.integers(1, 5)]))
def test_rows_seen_and_new_become_finite_numbers(pair):
    train, new = pair
    encoder = fit(train)
    check_output(encoder, train)
    check_output(encoder, new)
    names = encoder.get_feature_names_out()
    assert len(set(names)) == len(names) == len(encoder.column_of_feature_)


@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(50)
@given(frames(VALUES | EXTREME_VALUES, [st.integers(2, 30)]))
def test_any_table_becomes_finite_numbers(single):
    (frame,) = single
    check_output(fit(frame), frame)


def fit_codes(frame, names=None):
    kinds = {name: name.split()[0] for name in names or frame}
    kinds = {name: kind for name, kind in kinds.items() if kind in ("date", "text")}
    return TableEncoder(kinds=kinds, min_frequency=2, encoding="codes").fit(frame)


@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(50)
@given(frames(VALUES, [st.integers(2, 30), st.integers(1, 5)]))
def test_rows_seen_and_new_become_codes(pair):
    train, new = pair
    encoder = fit_codes(train)
    for frame in (train, new):
        out = encoder.transform(frame)
        assert out.shape == (len(frame), len(encoder.column_of_feature_))
        assert not np.isinf(out).any()
        turned = frame[frame.columns[::-1]]
        assert_array_equal(encoder.transform(turned), out)
        assert_allclose(encoder.transform(frame[:1]), out[:1], rtol=1e-9, atol=1e-9)
        codes = out[:, encoder.categorical_features_]
        coded = [column for column in encoder.columns_ if column.level_names]
        for column, values in zip(coded, codes.T, strict=True):
            known = np.arange(len(column.level_names))
            assert set(values[~np.isnan(values)]) <= set(known)
            assert_array_equal(np.isnan(values), frame[column.name].isna())
    backwards = fit_codes(train[::-1])
    assert_array_equal(backwards.transform(train), encoder.transform(train))


@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(50)
@given(frames(EXTREME_VALUES, [st.integers(2, 30)]))
def test_any_table_becomes_codes(single):
    (frame,) = single
    out = fit_codes(frame).transform(frame)
    assert not np.isinf(out).any()


@examples(50)
@given(
    st.lists(st.none() | st.sampled_from("abcdef"), min_size=4, max_size=60),
    st.permutations("uvwxyz"),
)
def test_renamed_levels_have_the_same_codes_but_for_ties(values, names):
    frame = pd.DataFrame({"c": values, "n": np.arange(len(values)) % 2 + 0.5})
    renamed = frame.assign(c=frame["c"].map(dict(zip("abcdef", names, strict=True))))
    encoder = TableEncoder(min_frequency=2, kinds={"c": "category"}, encoding="codes")
    before = encoder.fit_transform(frame)[:, 0]
    after = encoder.fit_transform(renamed)[:, 0]
    counts = frame["c"].map(frame["c"].value_counts())
    # Codes of equally frequent levels may be exchanged, others are the same.
    groups = frame["c"].value_counts().value_counts()
    alone = (counts.map(groups) == 1).to_numpy() | (counts < 2).to_numpy()
    assert_array_equal(after[alone], before[alone])
    assert (
        pd.Series(after).groupby(before, dropna=False).nunique(dropna=False).max() < 2
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(30)
@given(frames(VALUES, [st.integers(2, 30)]))
def test_libraries_give_the_same_codes(single):
    (frame,) = single
    arrow = pa.Table.from_pandas(frame)
    ours = fit_codes(arrow, arrow.column_names)
    theirs = fit_codes(pl.from_arrow(arrow), arrow.column_names)
    assert states(theirs) == states(ours)
    for table in (arrow, pl.from_arrow(arrow), arrow.to_pandas()):
        assert_array_equal(ours.transform(table), theirs.transform(arrow))


def states(encoder):
    """What is learnt, as plain data; text by its centre."""
    return [
        (column.kind, column.center.tolist()) if column.kind == "text" else column
        for column in encoder.columns_
    ]


@examples(30)
@given(st.lists(st.none() | st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_numbers_are_standardized(values):
    frame = pd.DataFrame({"x": values, "y": np.arange(len(values)) + 0.5})
    encoder = TableEncoder().fit(frame)
    out = pd.DataFrame(
        encoder.transform(frame), columns=encoder.get_feature_names_out()
    )
    if "x" not in out:
        return
    assert_allclose(out["x"].mean(), 0, atol=1e-6)
    deviation = out["x"].std(ddof=0)
    # The squares of numbers below 1e-150 are zero, and so is their deviation.
    assert deviation == pytest.approx(1, abs=1e-6) or (out["x"].abs() < 1e-150).all()
    if "x=(missing)" in out:
        assert_array_equal(out["x=(missing)"], frame["x"].isna())


def test_sample_of_adult():
    table = read_table(sample_path(), target="income", where="split=train")
    assert table.X.shape == (1333, 14)
    assert set(table.y) == {"<=50K", ">50K"}
    assert read_table(sample_path(), where="split=test").X.shape == (667, 15)
    encoder = TableEncoder().fit(table.X)
    kinds = pd.Series([column.kind for column in encoder.columns_], index=list(table.X))
    assert kinds.value_counts().to_dict() == {"category": 8, "number": 6}
    assert np.isfinite(encoder.transform(table.X)).all()
    assert sample_path().stat().st_size < 60_000


def test_unknown_sample():
    with pytest.raises(ValueError, match="no sample 'wine'; expected one of 'adult'"):
        sample_path("wine")


def test_sample_is_drawn_from_adult(adult_raw):
    sample = read_table(sample_path()).X
    whole = read_table(adult_raw).X
    assert list(sample) == list(whole)
    known = set(whole.itertuples(index=False, name=None))
    rows = sample.astype(object).where(sample.notna(), None)
    known = {tuple(None if pd.isna(v) else v for v in row) for row in known}
    assert set(rows.itertuples(index=False, name=None)) <= known
    share = whole.groupby(["split", "income"]).size() / len(whole)
    drawn = sample.groupby(["split", "income"]).size() / len(sample)
    assert_allclose(drawn, share, atol=1e-3)


def test_adult_is_the_published_benchmark(adult_raw, real_benchmark):
    """Rows without missing values, encoded here, are those of adult.npz."""
    benchmark = real_benchmark("adult")
    whole = read_table(adult_raw, target="income", where="split=train")
    kept = whole.X.notna().all(axis=1).to_numpy()
    X = whole.X[kept]
    encoder = TableEncoder(min_frequency=1, sparse_output=False).fit(X)
    out = pd.DataFrame(encoder.transform(X), columns=encoder.get_feature_names_out())
    names = list(benchmark.feature_names)
    assert set(names) == set(out)
    assert_allclose(out[names], benchmark.X_train, atol=1e-4)
    assert_array_equal(whole.y[kept] == ">50K", benchmark.y_train == 1)


def test_adult_sparse_and_dense_are_the_same(adult_raw):
    X = read_table(adult_raw, drop=["income", "split"]).X
    encoder = TableEncoder().fit(X)
    dense = encoder.transform(X)
    rows = encoder.set_params(sparse_output=True).transform(X)
    assert sparse.issparse(rows)
    assert dense.shape == rows.shape == (48842, 108)
    assert (rows != sparse.csr_array(dense)).nnz == 0

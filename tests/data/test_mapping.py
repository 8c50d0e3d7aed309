"""Tables as a mapping from names of columns to arrays."""

import itertools

import numpy as np
import pandas as pd
import pytest

from localsvm.data import TableEncoder
from localsvm.exceptions import DataError
from people_data import make_people


def table():
    """Every kind of column, each with gaps."""
    people = make_people(200).drop(columns="happy")
    rng = np.random.default_rng(0)
    rows = len(people)
    people["flag"] = rng.choice(np.array([True, False, None], dtype=object), rows)
    people["day"] = pd.date_range("2024-01-01", periods=rows).astype(str)
    people["share"] = rng.choice(["1 - 20%", "20 - 60%", "60% or more"], rows)
    people["code"] = rng.choice([3.0, 4.0, np.nan], rows)
    people["nothing"] = "same"
    return people


def as_mapping(frame):
    """Columns as a request in JSON has them."""
    found = {}
    for name in frame:
        values = frame[name]
        if values.dtype.kind in "if":
            found[name] = values.to_numpy()
        else:
            found[name] = values.astype(object).where(values.notna(), None).to_numpy()
    return found


@pytest.mark.parametrize("encoding", ["features", "codes"])
@pytest.mark.parametrize("n_rows", [1, 7, 200])
def test_a_mapping_is_encoded_as_its_table(encoding, n_rows):
    frame = table()
    kinds = {"code": "category", "share": "ordered" if encoding == "codes" else "text"}
    encoder = TableEncoder(encoding=encoding, kinds=kinds).fit(frame)
    for first in range(0, 200 - n_rows + 1, 29):
        part = frame.iloc[first : first + n_rows]
        expected, found = encoder.transform(part), encoder.transform(as_mapping(part))
        np.testing.assert_array_equal(found, expected)


VALUES = {
    "town": ["Ulm", "", " Ulm", None, 5, 5.0, 2.5, True, "Nowhere", np.nan],
    "flag": [True, False, None, "yes", "NO", 1, 0.0, "1"],
    "share": ["1 - 20%", "7", None, "text"],
    "code": [3, 3.0, "3", 4, None, np.nan, "x"],
}


@pytest.mark.parametrize("encoding", ["features", "codes"])
def test_odd_values_are_encoded_as_in_a_table(encoding):
    frame = table()
    kinds = {"code": "category", "share": "ordered" if encoding == "codes" else "text"}
    encoder = TableEncoder(encoding=encoding, kinds=kinds).fit(frame)
    for name, values in VALUES.items():
        for pair in itertools.product(values, repeat=2):
            part = frame.iloc[:2].assign(**{name: pd.Series(pair, dtype=object)})
            mapping = as_mapping(frame.iloc[:2]) | {name: np.array(pair, dtype=object)}
            expected = encoder.transform(part.infer_objects())
            np.testing.assert_array_equal(encoder.transform(mapping), expected)


def test_wrong_values_are_refused_as_in_a_table():
    frame = table()
    encoder = TableEncoder().fit(frame)
    for name in ("age", "flag"):
        mapping = as_mapping(frame.iloc[:2])
        mapping[name] = np.array(["1", "perhaps"], dtype=object)
        with pytest.raises(DataError, match=f"Column '{name}' has the value 'perhaps'"):
            encoder.transform(mapping)


def test_columns_that_are_not_there_or_do_not_fit():
    frame = table()
    encoder = TableEncoder().fit(frame)
    mapping = as_mapping(frame.iloc[:2])
    del mapping["nothing"]  # gives no features
    np.testing.assert_array_equal(
        encoder.transform(mapping), encoder.transform(frame.iloc[:2])
    )
    with pytest.raises(DataError, match=r"'town' has the shape \(1,\); expected"):
        encoder.transform(mapping | {"town": np.array(["Ulm"], dtype=object)})
    with pytest.raises(DataError, match="with at least 1 sample"):
        encoder.transform({name: values[:0] for name, values in mapping.items()})
    del mapping["town"]
    with pytest.raises(DataError, match=r"The table .*town"):
        encoder.transform(mapping)

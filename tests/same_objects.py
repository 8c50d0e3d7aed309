"""Whether two objects are the same in all that can be seen of them."""

import dataclasses

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator


def assert_same(found, expected, place="model"):
    """Compare types and contents, floats to the last bit."""
    found, expected = (
        each.item() if isinstance(each, np.generic) else each
        for each in (found, expected)
    )
    assert type(found) is type(expected), place
    if isinstance(expected, np.ndarray | float):
        _assert_same_numbers(found, expected, place)
    elif isinstance(expected, np.random.RandomState):
        assert_same(found.get_state(), expected.get_state(), place)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), place
        for i, pair in enumerate(zip(found, expected, strict=True)):
            assert_same(*pair, f"{place}[{i}]")
    elif hasattr(expected, "equals"):
        assert found.equals(expected), place
    elif parts := _parts(expected):
        _assert_same_parts(parts, _parts(found), place)
    elif not hasattr(expected, "__dict__"):
        assert np.all(found == expected), place


def _assert_same_numbers(found, expected, place):
    if isinstance(expected, np.ndarray) and expected.dtype != object:
        assert found.dtype == expected.dtype, place
    np.testing.assert_array_equal(found, expected, err_msg=place)


def _assert_same_parts(expected, found, place):
    assert set(found) == set(expected), place
    for name, value in expected.items():
        assert_same(found[name], value, f"{place}.{name}")


def _parts(value):
    if isinstance(value, dict):
        return value
    if sparse.issparse(value):
        return {name: getattr(value, name) for name in ("data", "indices", "indptr")}
    if isinstance(value, BaseEstimator):
        names = [name for name in dir(value) if name.endswith("_") and name[0] != "_"]
        told = {name: getattr(value, name) for name in names if hasattr(value, name)}
        for name in ("tree_", "fit_report_"):  # addresses, and times
            told.pop(name, None)
        return value.get_params(deep=False) | told
    if dataclasses.is_dataclass(value):
        return {
            item.name: getattr(value, item.name) for item in dataclasses.fields(value)
        }
    # What a copy would hold: without what is prepared from it.
    if isinstance(value, type) or not hasattr(value, "__dict__"):
        return {}
    state = value.__getstate__()
    return state if isinstance(state, dict) else {}

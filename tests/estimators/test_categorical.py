"""The parameter ``categorical_features``."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from localsvm.estimators._categorical import categorical_mask
from localsvm.exceptions import DataError

NAMES = np.array(["age", "job", "town", "hours"], dtype=object)


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        [1, 2],
        np.array([2, 1, 1]),
        (False, True, True, False),
        ["town", "job"],
        pd.Index(["job"]),
        np.array(["hours"]),
    ],
)
def test_mask_is_that_of_scikit_learn(given):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(3, size=(40, 4)), columns=list(NAMES))
    peer = HistGradientBoostingClassifier(max_iter=1, categorical_features=given)
    expected = peer.fit(X, np.arange(40) % 2).is_categorical_
    found = categorical_mask(given, 4, NAMES)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, np.zeros(4) if expected is None else expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0.5, 1.0], "None or a list of booleans, integers or names; got"),
        ("age", "None or a list"),
        ([[0]], "None or a list"),
        ([True, False], "a mask of 2 columns; expected 4"),
        ([0, 4], "the column 4; expected numbers from 0 to 3"),
        ([-1], "the column -1; expected numbers from 0"),
        (["job", "jobs"], "the name 'jobs'; expected names of columns of X: age, job,"),
        ([1, "job"], "the name '1'; expected"),
        (np.array([1, "job"], dtype=object), "None or a list"),
    ],
)
def test_what_fits_no_column_is_refused(given, message):
    with pytest.raises(DataError, match=f"^categorical_features .*{message}"):
        categorical_mask(given, 4, NAMES)


def test_names_need_names():
    with pytest.raises(DataError, match="'job', but the columns of X have no names"):
        categorical_mask(["job"], 4)

"""The parameter ``categorical_features``: which columns hold names, not numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.exceptions import DataError


def categorical_mask(
    categorical_features: Any, n_features: int, feature_names: Any = None
) -> NDArray[np.bool_]:
    """Which columns are categories, as the parameter says.

    Parameters
    ----------
    categorical_features : None or array-like of bool, int or str
        A mask of the columns, their numbers or their names, as in
        :class:`~sklearn.ensemble.HistGradientBoostingClassifier`. None is no column.
    n_features : int
    feature_names : sequence of str or None, default=None
        Names of the columns, if they have names.

    Returns
    -------
    ndarray of shape (n_features,)
    """
    if categorical_features is None:
        return np.zeros(n_features, dtype=bool)
    given = np.asarray(categorical_features)
    if given.size == 0 and given.ndim == 1:
        return np.zeros(n_features, dtype=bool)
    if given.ndim != 1 or not _is_of_one_kind(given):
        raise DataError(
            "categorical_features must be None or a list of booleans, integers or "
            f"names; got {categorical_features!r}."
        )
    if given.dtype.kind == "b":
        return _from_mask(given, n_features)
    if given.dtype.kind in "iu":
        return _from_numbers(given, n_features)
    return _from_names(given, n_features, feature_names)


def _is_of_one_kind(given: NDArray[Any]) -> bool:
    """Whether all entries are booleans, all integers, or all strings."""
    names = given.dtype.kind == "O" and all(isinstance(each, str) for each in given)
    return names or given.dtype.kind in "biuU"


def _from_mask(given: NDArray[Any], n_features: int) -> NDArray[np.bool_]:
    if len(given) != n_features:
        raise DataError(
            f"categorical_features is a mask of {len(given)} columns; expected "
            f"{n_features}, one entry per column of X."
        )
    return np.array(given, dtype=bool)


def _from_numbers(given: NDArray[Any], n_features: int) -> NDArray[np.bool_]:
    wrong = given[(given < 0) | (given >= n_features)]
    if len(wrong):
        raise DataError(
            f"categorical_features has the column {wrong[0]}; expected numbers from 0 "
            f"to {n_features - 1}."
        )
    mask = np.zeros(n_features, dtype=bool)
    mask[given] = True
    return mask


def _from_names(
    given: NDArray[Any], n_features: int, feature_names: Any
) -> NDArray[np.bool_]:
    if feature_names is None:
        raise DataError(
            f"categorical_features has the name {str(given[0])!r}, but the columns of "
            "X have no names; expected a data frame, or numbers of columns."
        )
    known = [str(name) for name in feature_names]
    unknown = [str(name) for name in given if str(name) not in known]
    if unknown:
        shown = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
        raise DataError(
            f"categorical_features has the name {unknown[0]!r}; expected names of "
            f"columns of X: {shown}."
        )
    return np.isin(known, given.astype(str))

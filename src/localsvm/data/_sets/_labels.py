"""Rules that turn the labels of a data set into those of a two-class task."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localsvm.exceptions import DataError


def odd_even(y: ArrayLike) -> NDArray[np.int64]:
    """Label odd digits 1 and even digits 0.

    Parameters
    ----------
    y : array-like of int of shape (n_samples,)
        Digits.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        1 where the digit is odd.

    Notes
    -----
    The task "OvE" of the clustered SVM paper (Gu and Han 2013, Section 4.2).

    Examples
    --------
    >>> from localsvm.data import odd_even
    >>> odd_even([0, 1, 2, 7])
    array([0, 1, 0, 1])
    """
    digits = np.asarray(y)
    if not np.issubdtype(digits.dtype, np.integer):
        raise DataError(f"y has dtype {digits.dtype}, expected integers.")
    return (digits % 2).astype(np.int64)


def one_vs_rest(y: ArrayLike, label: object) -> NDArray[np.int64]:
    """Label one class 1 and all others 0.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    label : object
        The class to be 1; it must occur in `y`.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        1 where `y` equals `label`.

    Notes
    -----
    With class 2 of covtype it is the task of Segata and Blanzieri (2008, Section 3.3).

    Examples
    --------
    >>> from localsvm.data import one_vs_rest
    >>> one_vs_rest([1, 2, 7, 2], 2)
    array([0, 1, 0, 1])
    """
    labels = np.asarray(y)
    _check_occurs(labels, label)
    return np.asarray(labels == label, dtype=np.int64)


def pair(
    X: ArrayLike, y: ArrayLike, first: object, second: object
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Keep the rows of two classes, the first labelled 0 and the second 1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels.
    first, second : object
        Two different classes that occur in `y`.

    Returns
    -------
    X : ndarray of shape (n_kept, n_features)
        The kept rows, in their order.
    y : ndarray of int64 of shape (n_kept,)
        0 for `first`, 1 for `second`.

    Notes
    -----
    The tasks "3v8" and "4v9" of the clustered SVM paper (Gu and Han 2013,
    Section 4.2).

    Examples
    --------
    >>> from localsvm.data import pair
    >>> X, y = pair([[10], [20], [30]], [8, 5, 3], 3, 8)
    >>> X.ravel(), y
    (array([10, 30]), array([1, 0]))
    """
    if first == second:
        raise DataError(f"first={first!r} and second={second!r} should differ.")
    labels = np.asarray(y)
    _check_occurs(labels, first)
    _check_occurs(labels, second)
    kept = (labels == first) | (labels == second)
    return np.asarray(X)[kept], one_vs_rest(labels[kept], second)


def _check_occurs(labels: NDArray[Any], label: object) -> None:
    if not np.any(labels == label):
        raise DataError(
            f"No row has the label {label!r}; found {np.unique(labels).tolist()}."
        )

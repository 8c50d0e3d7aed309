"""Cells around centres that all parties agreed on beforehand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from localsvm._checks import integer, one_of
from localsvm.cluster import GaussianSummary, NearestCenters, summarize_rows
from localsvm.federated._protection._levels import dp, spread_bounds


def random_centers(
    bounds: tuple[ArrayLike, ArrayLike],
    n_centers: int,
    *,
    n_features: int | None = None,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Draw centres from a box, the same for all parties and independent of all data.

    For :class:`Party` where nothing better is public. Centres of a public sample of
    similar rows are better, above all in many columns, where few of these are near any
    row.

    Parameters
    ----------
    bounds : tuple of two floats or arrays of shape (n_features,)
        Lowest and highest value of each column; see :func:`dp`.
    n_centers : int
        Number of centres.
    n_features : int or None, default=None
        Number of columns, if the bounds do not show it.
    seed : int, default=0
        The same seed gives the same centres in every version of NumPy.

    Returns
    -------
    ndarray of shape (n_centers, n_features)

    Examples
    --------
    >>> from localsvm.federated import random_centers
    >>> random_centers((0.0, [1.0, 10.0]), 2).round(2).tolist()
    [[0.55, 7.15], [0.6, 5.45]]
    """
    for name, value in (("n_centers", n_centers), ("n_features", n_features)):
        if not (integer(1) | one_of(None)).holds(value):
            raise ValueError(f"{name} must be {integer(1).words}. Got {value!r}.")
    level = dp(1.0, 0.5, bounds)  # checks the bounds
    known = {len(side) for side in (level.low, level.high) if isinstance(side, tuple)}
    if n_features is None and not known:
        raise ValueError("bounds are two numbers: give n_features as well.")
    low, high = spread_bounds(
        level.low, level.high, known.pop() if n_features is None else n_features
    )
    draw = np.random.RandomState(seed).random_sample((n_centers, len(low)))
    return np.asarray(low + (high - low) * draw)


def check_centers(centers: Any) -> NDArray[np.float64]:
    """Centres as float64, at least one, finite."""
    if np.ndim(centers) != 2:
        raise ValueError(
            f"centers has {np.ndim(centers)} axes; expected (n_centers, n_features)."
        )
    checked: NDArray[np.float64] = check_array(
        centers, dtype=np.float64, order="C", input_name="centers", copy=True
    )
    return checked


def partition_digest(centers: NDArray[np.float64]) -> str:
    """Name of the partition: equal centres in equal order, and no others, share it."""
    digest = hashlib.sha256(repr(centers.shape).encode())
    digest.update(np.ascontiguousarray(centers, dtype="<f8").data)
    return digest.hexdigest()


def summarize_cells(
    X: Any, y: NDArray[Any], centers: NDArray[np.float64], covariance: str
) -> tuple[GaussianSummary, NDArray[np.int64]]:
    """Summarise the rows of each class in each cell, and the number of that cell.

    O(n K d) for K centres.
    """
    summaries, cells = [], []
    for label, rows, cluster, present in cells_by_class(X, y, centers):
        summaries.append(
            summarize_rows(rows, cluster, covariance=covariance, label=label)
        )
        cells.append(present)
    return GaussianSummary.concatenated(summaries), np.concatenate(cells)


def cells_by_class(
    X: Any, y: NDArray[Any], centers: NDArray[np.float64]
) -> Iterator[tuple[Any, Any, NDArray[np.intp], NDArray[np.int64]]]:
    """Label and rows of each class, the cluster of each row, and each one's cell."""
    nearest = NearestCenters(centers, X.dtype).search(X, 1)[0].ravel()
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        present, cluster = np.unique(nearest[own], return_inverse=True)
        yield label, X[own], cluster, present.astype(np.int64)

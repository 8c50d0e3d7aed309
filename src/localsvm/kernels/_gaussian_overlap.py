r"""Logarithms of the overlap of Gaussians, :math:`\log N(\mu; \nu, \Sigma + T + A I)`.

Whatever the covariances are, three cases remain: both sides have variances (entry by
entry, since the widths belong to pairs), one side are points (matrix products), and
matrices (one Cholesky factor per pair, or per Gaussian if the others are points).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from localsvm._threads import map_in_threads, single_threaded_libraries

Floats = NDArray[np.float64]
# Mean and covariance: variances, matrices, or None for points.
Parts = tuple[Floats, Floats | None]

# Of numbers that are worked on at once, so that they stay in the cache.
_BLOCK_VALUES = 1 << 18
# Of the logarithm of a kernel value.
_LARGEST_ERROR = 1e-5
# Above any squared distance, and far from overflow.
_HUGE = 1e250
_LOG_2_PI = math.log(2.0 * math.pi)


def log_overlap(
    first: Parts, second: Parts | None, width: float, n_jobs: int | None = None
) -> Floats:
    """Logarithms of shape (n_first, n_second); None compares the first with itself."""
    symmetric = second is None
    (mean, covariance), (other_mean, other_covariance) = first, second or first
    if covariance is None or other_covariance is None:
        return _with_points(first, second or first, width, symmetric)
    values = np.empty((len(mean), len(other_mean)))
    if covariance.ndim == 2 and other_covariance.ndim == 2:
        fill, size = _fill_diagonal, mean.shape[1]
    else:
        fill, size = _fill_full, mean.shape[1] ** 2
        covariance, other_covariance = (
            _matrices(covariance),
            _matrices(other_covariance),
        )
    step = max(1, _BLOCK_VALUES // (size * len(other_mean)))

    def fill_block(start: int) -> None:
        rows = slice(start, start + step)
        others = slice(start if symmetric else 0, None)
        fill(
            (mean[rows], covariance[rows]),
            (other_mean[others], other_covariance[others]),
            width,
            values[rows, others],
        )

    with single_threaded_libraries():
        map_in_threads(fill_block, range(0, len(mean), step), n_jobs)
    if symmetric:
        _mirror(values)
    return values


def overlap_with(
    mean: Floats, covariance: Floats | None, width: float, offset: Any, dtype: type
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Prepare ``offset`` plus the logarithms of blocks of points with fixed Gaussians.

    Distances are taken from products of rows that are centred on the means; in float64
    where float32 would lose too much of them to cancellation.
    """
    if covariance is not None and covariance.ndim == 3:
        return _whitened(mean, covariance, width, offset, dtype)
    spread = _spread(mean, covariance, width)
    center: NDArray[Any] = mean.mean(axis=0).astype(dtype)
    shifted = mean - center
    narrow = _products(shifted, spread, offset, dtype)
    narrowest = float(spread.min())
    farthest = float(row_norms(shifted, squared=True).max())

    def compare(X: NDArray[Any]) -> NDArray[Any]:
        moved = X.astype(dtype, copy=False) - center
        reach = farthest + float(row_norms(moved, squared=True).max(initial=0.0))
        if reach / narrowest * np.finfo(dtype).eps < _LARGEST_ERROR:
            return narrow(moved)
        wide = _products(shifted, spread, offset, np.float64)
        return wide(moved.astype(np.float64)).astype(dtype, copy=False)

    return compare


def overlap_gradient(
    mean: Floats, covariance: Floats | None, width: float, shares: Floats, X: Floats
) -> Floats:
    """Gradient by points of sums of Gaussians: ``sum_k shares_k S_k^-1 (mean_k - x)``.

    ``shares`` are the terms of the sums, of shape (n_points, n_sums, n_gaussians);
    returns an array of shape (n_points, n_sums, n_features).
    """
    if covariance is None or covariance.ndim == 2:
        spread = _spread(mean, covariance, width)
        pull = shares @ (mean / spread)
        pull -= X[:, np.newaxis] * (shares @ (1.0 / spread))
        return np.asarray(pull)
    pull = np.zeros((*shares.shape[:2], mean.shape[1]))
    for k, (point, own) in enumerate(zip(mean, covariance, strict=True)):
        toward = np.linalg.solve(own + width * np.eye(len(point)), (point - X).T).T
        pull += shares[:, :, k, np.newaxis] * toward[:, np.newaxis]
    return pull


def _with_points(first: Parts, second: Parts, width: float, symmetric: bool) -> Floats:
    """One side at least are points: they are compared with the other."""
    if first[1] is None and second[1] is not None:
        return _with_points(second, first, width, symmetric).T.copy()
    with single_threaded_libraries():
        values = overlap_with(*first, width, 0.0, np.float64)(second[0]).T
    return (values + values.T) / 2 if symmetric else np.ascontiguousarray(values)


def _products(
    mean: Floats, spread: Floats, offset: Any, dtype: type
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Eq. 12 by two products: of the squares with 1/s and of the rows with mean/s."""
    square_slope: NDArray[Any] = np.ascontiguousarray(-0.5 / spread.T, dtype=dtype)
    slope: NDArray[Any] = np.ascontiguousarray((mean / spread).T, dtype=dtype)
    logs = -0.5 * (mean**2 / spread + np.log(spread) + _LOG_2_PI).sum(axis=1)
    logs = (logs + offset).astype(dtype)

    def compare(moved: NDArray[Any]) -> NDArray[Any]:
        values = moved @ slope
        values += moved**2 @ square_slope
        values += logs
        return np.asarray(values)

    return compare


def _whitened(
    mean: Floats, covariance: Floats, width: float, offset: Any, dtype: type
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """One triangular map per Gaussian, in float64."""
    factor = _cholesky(covariance + width * np.eye(mean.shape[1]))
    inverse = np.linalg.inv(factor)
    logs = np.log(np.diagonal(inverse, axis1=1, axis2=2)).sum(axis=1)
    logs = logs - 0.5 * mean.shape[1] * _LOG_2_PI + offset

    def compare(X: NDArray[Any]) -> NDArray[Any]:
        rows = X.astype(np.float64)
        values = np.empty((len(rows), len(mean)))
        for k, (point, whiten) in enumerate(zip(mean, inverse, strict=True)):
            white = (rows - point) @ whiten.T
            values[:, k] = -0.5 * np.einsum("ij,ij->i", white, white)
        values += logs
        return values.astype(dtype, copy=False)

    return compare


def _fill_diagonal(
    first: tuple[Floats, Floats],
    second: tuple[Floats, Floats],
    width: float,
    out: Floats,
) -> None:
    spread = first[1][:, np.newaxis] + second[1]
    spread += width
    _check_spread(spread)
    away = first[0][:, np.newaxis] - second[0]
    away *= away
    away /= spread
    away += np.log(spread, out=spread)
    np.sum(away, axis=2, out=out)
    out += spread.shape[2] * _LOG_2_PI
    out *= -0.5


def _fill_full(
    first: tuple[Floats, Floats],
    second: tuple[Floats, Floats],
    width: float,
    out: Floats,
) -> None:
    """Read whitened distances off the factor of [[S, away], [away', huge]]."""
    size = first[0].shape[1]
    step = max(1, _BLOCK_VALUES // size**2)
    if len(second[0]) > step:
        for start in range(0, len(second[0]), step):
            part = slice(start, start + step)
            _fill_full(first, (second[0][part], second[1][part]), width, out[:, part])
        return
    away = first[0][:, np.newaxis] - second[0]
    bordered = np.empty((*away.shape[:2], size + 1, size + 1))
    np.add(first[1][:, np.newaxis], second[1], out=bordered[..., :size, :size])
    bordered[..., range(size), range(size)] += width
    bordered[..., size, :size] = bordered[..., :size, size] = away
    bordered[..., size, size] = _HUGE
    factor = _cholesky(bordered)
    away = factor[..., size, :size]
    logs = np.log(factor[..., range(size), range(size)]).sum(axis=2)
    out[...] = -0.5 * ((away**2).sum(axis=2) + size * _LOG_2_PI) - logs


def _mirror(values: Floats) -> None:
    """Put what is above the diagonal below it, too, without a copy of it all."""
    step = max(1, _BLOCK_VALUES // max(1, len(values)))
    for start in range(0, len(values), step):
        stop = min(start + step, len(values))
        own = values[start:stop, start:stop]
        own[...] = np.triu(own) + np.triu(own, 1).T
        values[stop:, start:stop] = values[start:stop, stop:].T


def _matrices(covariance: Floats) -> Floats:
    if covariance.ndim == 3:
        return covariance
    return covariance[:, :, np.newaxis] * np.eye(covariance.shape[1])


def _spread(mean: Floats, covariance: Floats | None, width: float) -> Floats:
    spread = np.full(mean.shape, width)
    if covariance is not None:
        spread += covariance
    _check_spread(spread)
    return spread


def _check_spread(spread: Floats) -> None:
    if not spread.all():
        raise ValueError(
            "Two Gaussians without any spread in a column have no finite product: "
            "expected a variance above 0 in one of them."
        )


def _cholesky(covariance: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "A sum of covariances is not positive definite; expected matrices with "
            "eigenvalues above 0."
        ) from error

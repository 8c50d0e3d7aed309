"""The direction in which weighted rows vary most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator

_DIRECT_SIDE = 200
_LANCZOS_STEPS = 40
_LANCZOS_RESTARTS = 10
_TOLERANCE = 1e-6


def principal_direction(
    rows: Any, weight: NDArray[np.float64], mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Leading principal direction of float64 rows, of length one.

    Its largest entry is positive. It is zero if squares of the deviations underflow.
    Dense rows are overwritten; sparse ones are centred implicitly. Where the smaller
    side of dense rows is at most 200 an eigenvector of that side's matrix is taken,
    else Lanczos steps.
    """
    root = np.sqrt(weight)
    if not sparse.issparse(rows):
        rows -= mean
        rows *= root[:, None]
        return _leading_direction(rows)
    rows, used = _without_empty_columns(rows)
    direction = np.zeros(len(mean))
    direction[used] = _leading_direction(_centered(rows, root, mean[used]))
    return direction


def _without_empty_columns(rows: Any) -> tuple[Any, NDArray[np.intp]]:
    """Sparse rows without empty columns, and which ones are left."""
    used = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
    place = np.zeros(rows.shape[1], dtype=rows.indices.dtype)
    place[used] = np.arange(len(used))
    parts = rows.data, place[rows.indices], rows.indptr
    return sparse.csr_array(parts, shape=(rows.shape[0], len(used))), used


def _centered(
    rows: Any, root: NDArray[np.float64], mean: NDArray[np.float64]
) -> LinearOperator:
    """Deviations of sparse rows from their mean, times the roots of the weights."""
    columns = rows.T

    def multiply(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        vector = vector.ravel()
        return np.asarray(root * (rows @ vector - mean @ vector))

    def multiply_transposed(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        weighted = root * vector.ravel()
        return np.asarray(columns @ weighted - mean * weighted.sum())

    return LinearOperator(
        rows.shape, matvec=multiply, rmatvec=multiply_transposed, dtype=np.float64
    )


def _leading_direction(centered: Any) -> NDArray[np.float64]:
    """Leading right singular vector, from the smaller of the two sides."""
    is_wide = centered.shape[0] < centered.shape[1]
    left, right = (centered, centered.T) if is_wide else (centered.T, centered)
    vector = _leading_eigenvector(left, right)
    direction = np.asarray(right @ vector if is_wide else vector, dtype=np.float64)
    direction *= np.sign(direction[np.argmax(np.abs(direction))])
    length = np.linalg.norm(direction)
    return direction / length if length > 0 else direction


def _leading_eigenvector(left: Any, right: Any) -> NDArray[np.float64]:
    """Leading eigenvector of ``left @ right``."""
    side = left.shape[0]
    if isinstance(left, np.ndarray) and side <= _DIRECT_SIDE:
        _, vectors = linalg.eigh(left @ right, subset_by_index=(side - 1, side - 1))
        return np.asarray(vectors[:, 0])
    # ARPACK would do, but where a Krylov space is exhausted it draws random vectors.
    vector: NDArray[np.float64] = np.random.default_rng(0).standard_normal(side)
    for _ in range(_LANCZOS_RESTARTS):
        vector, is_converged = _ritz_vector(left, right, vector)
        if is_converged:
            break
    return vector


def _ritz_vector(
    left: Any, right: Any, start: NDArray[np.float64]
) -> tuple[NDArray[np.float64], bool]:
    """Best vector of a Krylov space, and whether its residual is small."""
    n_steps = min(_LANCZOS_STEPS, len(start))
    basis = np.empty((n_steps, len(start)))
    diagonal, beside = np.empty(n_steps), np.empty(n_steps)
    image, rest = start, float(np.linalg.norm(start))
    for step in range(n_steps):
        basis[step] = image / rest
        image = left @ (right @ basis[step])
        diagonal[step] = basis[step] @ image
        known = basis[: step + 1]
        for _ in range(2):  # once is not enough in floating point
            image = image - known.T @ (known @ image)
        rest = float(np.linalg.norm(image))
        values, vectors = linalg.eigh_tridiagonal(
            diagonal[: step + 1], beside[:step], select="i", select_range=(step, step)
        )
        beside[step] = rest
        if rest * abs(vectors[-1, 0]) <= _TOLERANCE * max(values[0], 0.0):
            return known.T @ vectors[:, 0], True
    return basis.T @ vectors[:, 0], False


def scatter_around(
    rows: Any, weight: NDArray[np.float64], mean: NDArray[np.float64]
) -> float:
    """Weighted sum of squared distances to the mean; dense rows are overwritten."""
    if not sparse.issparse(rows):
        rows -= mean
        return float(weight @ np.einsum("ij,ij->i", rows, rows))
    # Entries that are not stored deviate by the mean. A difference of sums of squares
    # would be shorter, and cancel.
    entry_weight = np.repeat(weight, np.diff(rows.indptr))
    stored = np.bincount(rows.indices, weights=entry_weight, minlength=len(mean))
    deviation = np.square(rows.data - mean[rows.indices])
    absent = np.maximum(weight.sum() - stored, 0.0)
    return float(entry_weight @ deviation + absent @ np.square(mean))

"""Distances of rows to the span of others in the feature space of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from localsvm._threads import single_threaded_libraries

_BLOCK_ROWS = 2048
# Rows may depend on each other.
_JITTER = 1e-6


class Gram(Protocol):
    """Inner products of rows in a feature space."""

    @property
    def norms(self) -> NDArray[np.float64]:
        """Squared norms."""

    def values(
        self, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Products of some rows with others."""


def fill_spans(
    gram: Gram,
    ridge: NDArray[np.float64],
    free: NDArray[np.intp],
    wanted: NDArray[np.intp],
    spans: NDArray[np.float64],
) -> None:
    """Set the squared distances of the wanted rows to the span of the free ones.

    Parameters
    ----------
    gram : Gram
    ridge : ndarray of shape (n_rows,)
        Added to the norms of the rows.
    free, wanted : ndarray
        Numbers of rows, ascending; a row that is both is compared with the others.
    spans : ndarray of shape (n_rows,)
        Changed at the wanted rows.
    """
    norms = gram.norms
    spans[wanted] = norms[wanted] + ridge[wanted]
    if not len(free):
        return
    with single_threaded_libraries():
        K = gram.values(free, free)
        K[np.diag_indices(len(free))] += ridge[free] + _JITTER * norms[free].mean()
        root = linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
        place = np.searchsorted(free, wanted).clip(max=len(free) - 1)
        within = free[place] == wanted
        for part in _parts(np.flatnonzero(within)):
            own = np.zeros((len(free), len(part)))
            own[place[part], np.arange(len(part))] = 1.0
            square = 1.0 / _squared_lengths(root, own)
            spans[wanted[part]] = np.minimum(square, spans[wanted[part]])
        for part in _parts(wanted[~within]):
            spans[part] -= _squared_lengths(root, gram.values(free, part))
    np.maximum(spans, 0, out=spans)


def _parts(rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    for first in range(0, len(rows), _BLOCK_ROWS):
        yield rows[first : first + _BLOCK_ROWS]


def _squared_lengths(
    root: NDArray[np.float64], columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Squared length of each column after division by a triangular matrix."""
    solved = linalg.solve_triangular(
        root, columns, lower=True, overwrite_b=True, check_finite=False
    )
    return np.asarray(np.square(solved).sum(axis=0))

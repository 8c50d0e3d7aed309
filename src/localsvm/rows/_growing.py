"""Arrays that further rows can follow without a copy of all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.rows._distinct import stack

# Room for rows to come, as a share of those there are.
_SPARE = 0.125
_FEWEST_SPARE = 64


class _Reserve:
    """Memory of rows, of which the first ones are taken."""

    def __init__(self, array: NDArray[Any], taken: int) -> None:
        self.array = array
        self.taken = taken

    def put(self, rows: NDArray[Any]) -> None:
        """Take the next places."""
        end = self.taken + len(rows)
        self.array[self.taken : end] = rows
        self.taken = end


@dataclass(frozen=True)
class GrowingRows:
    """Rows that never change; others with more rows may share their memory.

    Attributes
    ----------
    values : ndarray or CSR of shape (n_rows, ...)
    """

    values: Any
    _reserve: _Reserve | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        """Count the rows."""
        return int(self.values.shape[0])

    def appended(self, rows: Any) -> GrowingRows:
        """Put others behind these rows; costs O(others) but for rare copies.

        CSR rows are copied each time.
        """
        if not rows.shape[0]:
            return self
        if sparse.issparse(self.values):
            return GrowingRows(stack([self.values, rows]))
        n_old, n_new = len(self), len(self) + len(rows)
        reserve = self._reserve
        # Whoever shares the memory may have put other rows behind these.
        if reserve is None or reserve.taken != n_old or len(reserve.array) < n_new:
            room = n_new + max(_FEWEST_SPARE, int(_SPARE * n_new))
            array = np.empty((room, *self.values.shape[1:]), dtype=self.values.dtype)
            array[:n_old] = self.values
            reserve = _Reserve(array, n_old)
        reserve.put(rows)
        return GrowingRows(reserve.array[:n_new], reserve)

    def taken(self, index: NDArray[np.intp]) -> Self:
        """Take part of the rows, in memory of their own."""
        return type(self)(self.values[index])

    def __reduce__(self) -> Any:
        """Leave the spare memory behind, in pickles and copies."""
        return type(self), (self.values,)

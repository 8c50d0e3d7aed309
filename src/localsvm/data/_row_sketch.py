"""A compact record of the rows of a fit, by which they are recognised later."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from localsvm.data._columns._booleans import as_truth
from localsvm.data._columns._codes._dates import CalendarColumn
from localsvm.data._columns._column import Column
from localsvm.data._columns._dates import DateColumn
from localsvm.data._columns._values import as_days, as_numbers, factorize, label_of
from localsvm.data._encoder import TableEncoder
from localsvm.data._frames import as_frame

MOST_BYTES = 2**24
MOST_PROBES = 22
_BITS_PER_ROW = 32
_LEAST_BITS = 64
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MISSING = _GOLDEN
# Rows of a table that equal fitted ones are put down to chance unless it is this small.
_LEAST_CHANCE = 1e-5
_ONES = np.array([value.bit_count() for value in range(256)])


@dataclass(frozen=True, eq=False)
class RowSketch:
    """A Bloom filter of rows and labels: distinguishes rows of a fit from new ones.

    A row that was in the fit is always recognised. A new row is taken for one of them
    if it equals one in all columns that the model uses and in its label, or by
    mistake, in a share of :attr:`mistaken_share`.

    Parameters
    ----------
    bits : ndarray of uint8
        The filter, eight bits a byte.
    n_rows : int
        Rows of the fit.
    n_repeated : int
        Those of them that equal another row of the fit.
    n_probes : int
        Bits that are set for each row.
    salt : int
        Of the hashes; it follows from the rows, so that the same fit gives the same
        file.

    Notes
    -----
    Four bytes for each distinct row, and a mistake in five million, up to four million
    rows. It never takes more than 16 MiB: with ten million rows one new row in 600 is
    mistaken, with a hundred million nearly every second.

    It holds no rows. But whoever has it, and guesses a whole row with its label, learns
    whether that row was in the fit; where columns are few and coarse, all possible rows
    can be tried. Do not keep it where even this must not be known.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.data import RowSketch, row_hashes
    >>> X, y = np.arange(6.0).reshape(3, 2), [0, 1, 1]
    >>> sketch = RowSketch.of(row_hashes(X, y))
    >>> sketch.contains(row_hashes(X, [0, 0, 1])).tolist()
    [True, False, True]
    """

    bits: NDArray[np.uint8]
    n_rows: int
    n_repeated: int
    n_probes: int
    salt: int

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> RowSketch:
        """Record the rows of a fit.

        Parameters
        ----------
        hashes : ndarray of uint64 of shape (n_rows,)
            What :func:`row_hashes` gave.

        Returns
        -------
        RowSketch
        """
        distinct, counts = np.unique(hashes, return_counts=True)
        salt = int(_mixed(distinct.sum(dtype=np.uint64)[None])[0] >> np.uint64(1))
        n_bits = max(_LEAST_BITS, _BITS_PER_ROW * len(distinct))
        n_bits = min(8 * math.ceil(n_bits / 8), 8 * MOST_BYTES)
        n_probes = round(n_bits / max(1, len(distinct)) * math.log(2))
        n_probes = min(max(1, n_probes), MOST_PROBES)
        is_set = np.zeros(n_bits, dtype=bool)
        for place in _places(distinct, salt, n_bits, n_probes):
            is_set[place] = True
        bits = np.packbits(is_set, bitorder="little")
        n_repeated = int(counts[counts > 1].sum())
        return cls(bits, len(hashes), n_repeated, n_probes, salt)

    def contains(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether rows were in the fit.

        Parameters
        ----------
        hashes : ndarray of uint64 of shape (n_rows,)
            Of the rows, as :func:`row_hashes` returns them.

        Returns
        -------
        ndarray of bool of shape (n_rows,)
        """
        found = np.ones(len(hashes), dtype=bool)
        for place in _places(hashes, self.salt, 8 * len(self.bits), self.n_probes):
            shift = (place & np.uint64(7)).astype(np.uint8)
            found &= (self.bits[place >> np.uint64(3)] >> shift) & 1 == 1
        return found

    @property
    def mistaken_share(self) -> float:
        """Share of other rows that are taken for rows of the fit by mistake."""
        n_set = int(np.bincount(self.bits, minlength=256) @ _ONES)
        return float((n_set / (8 * len(self.bits))) ** self.n_probes)

    @property
    def chance(self) -> float:
        """Probability that a new row of the same kind is taken for one of the fit.

        It equals a fitted row as often as the fitted rows equal one another.
        """
        repeated = self.n_repeated / max(1, self.n_rows)
        return repeated + (1 - repeated) * self.mistaken_share

    def compare(self, hashes: NDArray[np.uint64]) -> Overlap:
        """Find the rows of the fit in a table.

        Parameters
        ----------
        hashes : ndarray of uint64 of shape (n_rows,)
            Of the rows, as :func:`row_hashes` returns them.

        Returns
        -------
        Overlap
        """
        return Overlap(self.contains(hashes), self.chance)


@dataclass(frozen=True, eq=False)
class Overlap:
    """Which rows of a table equal rows of a fit; ``str`` of it is a sentence.

    Parameters
    ----------
    seen : ndarray of bool of shape (n_rows,)
    chance : float
        Probability that a new row does.
    """

    seen: NDArray[np.bool_]
    chance: float

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.seen)

    @property
    def n_seen(self) -> int:
        """Those that equal rows of the fit."""
        return int(self.seen.sum())

    @property
    def is_chance(self) -> bool:
        """Whether new rows would give as many by chance."""
        most = stats.binom.isf(_LEAST_CHANCE, self.n_rows, min(self.chance, 1.0))
        return bool(self.n_seen <= most)

    def __str__(self) -> str:
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        if not self.n_seen:
            return f"{rows}, none of which was in the fit."
        if self.is_chance:
            return (
                f"{rows}; {self.n_seen:,} of them equal rows of the fit, no more than "
                f"chance explains: {self.chance:.2%} of new rows would."
            )
        which = "all of" if self.n_seen == self.n_rows else f"{self.n_seen:,} of"
        return (
            f"TRAINING ROWS: {which} these {rows} were in the fit; scores on them are "
            "too good."
        )


def row_hashes(
    X: Any, y: Any, encoder: TableEncoder | None = None
) -> NDArray[np.uint64]:
    """Hashes of rows and their labels, by which equal rows are found.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
        Labels of the rows.
    encoder : TableEncoder, default=None
        Says what the columns of a table are: those it leaves out do not count, and the
        others count by value, whatever file or type they come from. None takes all
        columns as they are.

    Returns
    -------
    ndarray of uint64 of shape (n_rows,)

    Notes
    -----
    Numbers are compared in single precision, so that a table in double precision and
    its copy in single precision agree. O(entries).
    """
    labels = np.asarray(y)
    total = _text_hashes("labels", labels) if len(labels) else np.empty(0, np.uint64)
    if encoder is not None:
        values = encoder._check_columns(X, reset=False)
        for j, (column, each) in enumerate(zip(encoder.columns_, values, strict=True)):
            if column.n_features:
                total += _at(_column_hashes(column, each), j)
    elif sparse.issparse(X):
        total += _sparse_sums(X)
    else:
        for j, each in enumerate(_columns_of(X)):
            total += _at(_plain_hashes(each), j)
    return _mixed(total)


def _columns_of(X: Any) -> list[Any]:
    frame = as_frame(X)
    if frame is None:
        return list(np.asarray(X).T)
    return [frame.iloc[:, j] for j in range(frame.shape[1])]


def _plain_hashes(values: Any) -> NDArray[np.uint64]:
    """Hashes of a column of which nobody says what it is."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf":
        return _number_hashes(np.asarray(values, dtype=np.float64))
    return _text_hashes("", values)


def _column_hashes(column: Column, values: Any) -> NDArray[np.uint64]:
    if column.kind == "number":
        return _number_hashes(as_numbers(column.name, values))
    if column.kind == "boolean":
        return _number_hashes(as_truth(column.name, values))
    if isinstance(column, DateColumn | CalendarColumn):
        days = as_days(column.name, values, column.format)
        return _float_hashes(days, np.uint64)
    return _text_hashes(column.name, values)


def _text_hashes(name: str, values: Any) -> NDArray[np.uint64]:
    if isinstance(values, np.ndarray) and values.dtype != object:
        distinct, codes = np.unique(values, return_inverse=True)
        words = [label_of(each) for each in distinct.tolist()]
    else:
        codes, words = factorize(name, values)
    found = [
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for word in words
    ]
    hashes = np.frombuffer(b"".join(found), dtype="<u8").astype(np.uint64)
    return np.append(hashes, _MISSING)[codes.reshape(-1)]


def _number_hashes(numbers: NDArray[np.float64]) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        return _float_hashes(np.asarray(numbers, dtype=np.float32), np.uint32)


def _float_hashes(numbers: NDArray[Any], bits: Any) -> NDArray[np.uint64]:
    """Hashes of bits; zero has the hash zero, so that sparse rows need not store it."""
    equal = np.where(np.isnan(numbers), np.nan, numbers + 0).astype(numbers.dtype)
    return _mixed(np.ascontiguousarray(equal).view(bits).astype(np.uint64))


def _sparse_sums(X: Any) -> NDArray[np.uint64]:
    rows = sparse.csr_array(X)
    rows.sum_duplicates()
    entries = _at(_number_hashes(rows.data), rows.indices)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return np.asarray(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])


def _at(hashes: NDArray[np.uint64], column: Any) -> NDArray[np.uint64]:
    """Hashes of values in a column; sums over columns are hashes of rows."""
    place = _mixed(np.atleast_1d(np.asarray(column, dtype=np.uint64)) + np.uint64(1))
    return np.where(hashes == 0, np.uint64(0), _mixed(hashes + place))


def _places(hashes: NDArray[np.uint64], salt: int, n_bits: int, n_probes: int) -> Any:
    """Bits that stand for each row, one of them after the other."""
    # Two hashes and their sums would do for large filters, but repeat in small ones.
    salted = _mixed(hashes ^ np.uint64(salt))
    for probe in range(1, n_probes + 1):
        step = np.full(1, probe, dtype=np.uint64) * _GOLDEN
        yield _mixed(salted + step) % np.uint64(n_bits)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits, one to one: the end of SplitMix64 (Steele et al. 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))

"""Where rows come from: numbered blocks that can be read again and again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from localsvm.engine._sources._block import Block, make_block
from localsvm.rows import Rows


class Part(ABC):
    """One block: says where it is, and reads it.

    It is small and can be pickled where a worker shall read it.

    Attributes
    ----------
    place : str
        What the block is called in errors.
    n_rows : int or None
        None if that is not known before it is read.
    """

    place: str
    n_rows: int | None

    @abstractmethod
    def read(self) -> Block:
        """Read and check the rows."""

    @property
    def stamp(self) -> bytes | None:
        """32 bytes that differ if the rows do, known without reading them; or None."""
        return None


@dataclass(frozen=True)
class Source:
    """Rows in blocks.

    Attributes
    ----------
    parts : sequence of Part
    n_features : int
    dtype : dtype
        float32 or float64, the same in all blocks.
    feature_names : tuple of str or None
    """

    parts: Sequence[Part]
    n_features: int
    dtype: np.dtype[Any]
    feature_names: tuple[str, ...] | None = None

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.parts)

    @property
    def n_rows(self) -> int | None:
        """Number of rows, None if that is not known before they are read."""
        counts = [part.n_rows for part in self.parts]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    @property
    def largest_part(self) -> Part | None:
        """Block of most rows, None if no number is known."""
        known = [part for part in self.parts if part.n_rows is not None]
        return max(known, key=lambda part: part.n_rows or 0, default=None)


@dataclass(frozen=True)
class MemoryPart(Part):
    """Rows that are in memory, as one block."""

    rows: Rows
    place: str = "memory"

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return self.rows.n_rows

    def read(self) -> Block:
        """Give the rows as they are."""
        rows = self.rows
        return Block(rows.X, rows.class_index, rows.sample_weight, known=rows)


class Batches:
    """Batches of rows that are fetched by their number.

    For rows that come from a place of one's own, such as a data base: give it to
    ``fit`` in place of ``X``. An iterator or generator can be given to ``fit`` as well;
    it can be read only once, so its batches are first written to the disk.

    Parameters
    ----------
    read : callable
        ``read(number)`` returns ``(X, y)`` or ``(X, y, sample_weight)`` of a batch, the
        same whenever it is called. To run on the workers of a cluster it must be
        picklable.
    n_batches : int
        Numbers go from 0 to ``n_batches - 1``.

    Notes
    -----
    A method calls ``read`` as often as it passes over the rows, from several threads
    with ``n_jobs`` above one. Batches of about 100,000 rows are a good size. All are
    converted to the data type of the first one: float32 if that is float32.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm import SupportClusterSVC
    >>> from localsvm.engine import Batches
    >>> def read(number):
    ...     rng = np.random.default_rng(number)
    ...     X = rng.standard_normal((100, 2))
    ...     return X, (X[:, 0] > 0).astype(int)
    >>> model = SupportClusterSVC(10).fit(Batches(read, 5))
    >>> model.summary_.weight.sum().item()
    500.0
    """

    def __init__(self, read: Callable[[int], Any], n_batches: int) -> None:
        if not callable(read):
            raise TypeError(
                f"read must be callable, got {type(read).__name__}. Give an iterable "
                "of batches to fit as it is."
            )
        if n_batches < 1:
            raise ValueError(f"n_batches must be at least 1, got {n_batches}.")
        self.read = read
        self.n_batches = n_batches
        self.in_memory = False

    @classmethod
    def of(
        cls, X: Any, y: Any, sample_weight: Any = None, *, rows: int = 100_000
    ) -> Batches:
        """Cut arrays in memory into batches.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        rows : int, default=100_000
            Rows of each batch; the last may have fewer.

        Returns
        -------
        Batches
            What a file of row groups of that many rows would give.
        """
        X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
        columns = [np.asarray(y)]
        if sample_weight is not None:
            columns.append(np.asarray(sample_weight))

        def read(number: int) -> tuple[Any, ...]:
            own = slice(number * rows, (number + 1) * rows)
            return (X[own], *(column[own] for column in columns))

        batches = cls(read, max(1, -(-X.shape[0] // rows)))
        batches.in_memory = True
        return batches


@dataclass(frozen=True)
class BatchForm:
    """What the first batch is like, and so has every other one to be.

    Attributes
    ----------
    n_features : int
    dtype : dtype
        float32 or float64, which the rows are converted to.
    names : tuple of str or None
        Of the columns, where the first batch is a data frame.
    has_texts : bool or None
        Whether labels are strings; None if the first batch has no rows.
    """

    n_features: int
    dtype: np.dtype[Any]
    names: tuple[str, ...] | None
    has_texts: bool | None

    @classmethod
    def of(cls, batch: Any) -> BatchForm:
        """See what the first batch is like."""
        X, y, _ = split_batch(batch, "batch 0")
        has_texts = _has_texts(y) if X.shape[0] else None
        return cls(X.shape[1], rows_dtype(X), frame_names(X), has_texts)

    def block(self, batch: Any, place: str) -> Block:
        """Check a batch, and that it is like the first one."""
        X, y, weight = split_batch(batch, place)
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"In {place}: X has {X.shape[1]} columns; expected {self.n_features} "
                "as in batch 0."
            )
        names = frame_names(X)
        if self.names and names and names != self.names:
            odd = next(k for k in range(len(names)) if names[k] != self.names[k])
            raise ValueError(
                f"In {place}: column {odd} of X is {names[odd]!r}; expected "
                f"{self.names[odd]!r} as in batch 0. Give all columns in one order."
            )
        block = make_block(X, y, weight, self.dtype, place)
        if block.n_rows and self.has_texts not in (None, _has_texts(block.y)):
            found, wanted = "strings", "numbers"
            if self.has_texts:
                found, wanted = wanted, found
            raise ValueError(
                f"In {place}: y holds {found}; expected {wanted} as in batch 0."
            )
        return block

    def source(self, parts: Sequence[Part]) -> Source:
        """Blocks of such batches."""
        return Source(parts, self.n_features, self.dtype, self.names)


def _has_texts(y: Any) -> bool:
    labels = np.asarray(y).ravel()
    return labels.dtype.kind == "U" or isinstance(labels[0], str)


@dataclass(frozen=True)
class _BatchPart(Part):
    batches: Batches
    number: int
    form: BatchForm
    n_rows: int | None = None

    @property
    def place(self) -> str:  # type: ignore[override]
        return f"batch {self.number}"

    def read(self) -> Block:
        return self.form.block(self.batches.read(self.number), self.place)


def open_batches(batches: Batches) -> Source:
    """Blocks of :class:`Batches`; the first is read to see what they are like."""
    form = BatchForm.of(batches.read(0))
    numbers = range(batches.n_batches)
    return form.source([_BatchPart(batches, number, form) for number in numbers])


def split_batch(batch: Any, place: str) -> tuple[Any, Any, Any]:
    """Rows, labels and weights (or None) of a batch."""
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        raise TypeError(
            f"In {place}: expected (X, y) or (X, y, sample_weight), got "
            f"{type(batch).__name__}."
        )
    X, y = batch[0], batch[1]
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"In {place}: X has shape {tuple(X.shape)}; expected two dimensions."
        )
    return X, y, batch[2] if len(batch) == 3 else None


def rows_dtype(X: Any) -> np.dtype[Any]:
    """float32 if all columns are at most that, else float64."""
    kinds = X.dtypes.tolist() if hasattr(X, "dtypes") else [X.dtype]
    narrow = all(kind == np.float32 or kind == np.float16 for kind in kinds)
    return np.dtype(np.float32 if narrow else np.float64)


def frame_names(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a data frame, if all are strings."""
    names = list(getattr(X, "columns", ()))
    if names and all(isinstance(name, str) for name in names):
        return tuple(names)
    return None

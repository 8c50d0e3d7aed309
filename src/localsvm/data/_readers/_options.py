"""What readers are told, and what they give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.exceptions import DataError

# Bytes that a process of 64 bits can address.
_ADDRESSES = 2**47


@dataclass(frozen=True)
class ReadOptions:
    """The parameters of ``read_table`` that concern single formats.

    Parameters
    ----------
    delimiter : str or None
        None is what the first lines show.
    decimal : str or None
        Decimal point of csv and tsv; None is what each column shows.
    encoding : str
        Of csv and tsv.
    header : bool
        Whether the first line of csv and tsv holds the names.
    missing : tuple of str
        Fields that stand for a missing value, besides pyarrow's own.
    strings : tuple of str
        Columns of csv and tsv that are not to be taken for anything but strings.
    n_features : int or None
        Columns of svmlight.
    zero_based : bool or "auto"
        First column of svmlight.
    where : tuple of two str or None
        Column and value of the rows that are kept.
    missing_labels : {"error", "drop"}
        What becomes of rows without a label.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    missing: tuple[str, ...] = ("?",)
    strings: tuple[str, ...] = ()
    n_features: int | None = None
    zero_based: bool | str = "auto"
    where: tuple[str, str] | None = None
    missing_labels: str = "error"


@dataclass(frozen=True)
class Content:
    """What a reader found.

    Parameters
    ----------
    rows : DataFrame, arrow table or CSR array
        All columns.
    labels : ndarray or None
        Labels that the format holds apart from the columns.
    target : str or None
        Column that the source itself calls its target.
    filtered : bool
        Whether the reader kept only the rows that ``where`` selects.
    """

    rows: Any
    labels: NDArray[Any] | None = None
    target: str | None = None
    filtered: bool = False


@contextmanager
def arrow_errors(what: str) -> Iterator[None]:
    """Turn whatever pyarrow says of a damaged file into one DataError."""
    arrow = require("pyarrow", "tables", "Reading a table")
    try:
        yield
    except (arrow.ArrowException, OSError, UnicodeError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        if isinstance(error, MemoryError) and not _is_absurd(error):
            raise MemoryError(
                f"The {what} file does not fit into memory: {error}. Allow more, or "
                "read a part of it."
            ) from error
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise DataError(f"cannot be read as {what}: {reason}.") from error


def _is_absurd(error: MemoryError) -> bool:
    """Whether more was requested than a process can address: by a damaged file."""
    size = re.search(r"size (\d+)", str(error))
    return size is not None and int(size[1]) >= _ADDRESSES

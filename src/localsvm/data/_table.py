"""Tables from files of any common format, with one column as the target."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from localsvm.data._frames import close_names
from localsvm.data._readers._arrays import read_npy, read_npz
from localsvm.data._readers._arrow import read_arrow, read_parquet, read_parquet_folder
from localsvm.data._readers._delimited import read_csv, read_tsv
from localsvm.data._readers._lines import check_text, open_text
from localsvm.data._readers._openml import PREFIX, read_openml
from localsvm.data._readers._options import Content, ReadOptions
from localsvm.data._readers._svmlight import is_svmlight, read_svmlight
from localsvm.data._selection import select
from localsvm.exceptions import DataError

_READERS: Mapping[str, Callable[[Path, ReadOptions], Content]] = {
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "arrow": read_arrow,
    "svmlight": read_svmlight,
    "npz": read_npz,
    "npy": read_npy,
}
_FORMAT_OF_ENDING = {
    **dict.fromkeys(["csv"], "csv"),
    **dict.fromkeys(["tsv", "tab"], "tsv"),
    **dict.fromkeys(["parquet", "pq"], "parquet"),
    **dict.fromkeys(["arrow", "feather", "ipc", "arrows"], "arrow"),
    **dict.fromkeys(["svm", "svmlight", "libsvm"], "svmlight"),
    **dict.fromkeys(["npz"], "npz"),
    **dict.fromkeys(["npy"], "npy"),
}
_COMPRESSED = re.compile(r"\.(gz|bz2|zst|lz4|br)$", re.IGNORECASE)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows of a source, and their labels.

    Parameters
    ----------
    X : DataFrame or CSR array
        The columns but for the target; a pandas frame, or a sparse array where the
        source is an svmlight file.
    y : ndarray of shape (n_samples,) or None
        The target: numbers, booleans or str objects. None without a target.
    source : str
        Where it came from.
    """

    X: Any
    y: NDArray[Any] | None
    source: str

    def __repr__(self) -> str:
        labels = "without a target" if self.y is None else "with a target"
        return f"Table({self.source!r}, {self.X.shape}, {labels})"


def read_table(
    source: str | os.PathLike[str],
    *,
    target: str | None = None,
    format: str | None = None,
    where: str | None = None,
    drop: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    missing: str | Sequence[str] = ("?",),
    strings: str | Sequence[str] = (),
    missing_labels: str = "error",
    n_features: int | None = None,
    zero_based: bool | str = "auto",
) -> Table:
    """Read a table from a file or from OpenML.

    Parameters
    ----------
    source : path-like or str
        A file, a folder of up to 2 GiB of Parquet files with the same columns, or
        ``"openml:31"``, ``"openml:adult"``, ``"openml:adult@2"``.
    target : str, default=None
        Column that holds the labels. svmlight and npz files have their labels apart
        from the columns, and OpenML knows its target: leave it None there.
    format : str, default=None
        One of "csv", "tsv", "parquet", "arrow" (also Feather), "svmlight", "npz" and
        "npy". None goes by the ending of the name: .csv; .tsv, .tab; .parquet, .pq;
        .arrow, .feather, .ipc; .svm, .svmlight, .libsvm; .npz; .npy. The text formats
        may be compressed: .csv.gz, .csv.bz2, .csv.zst. Files of other endings are
        looked into, except for .arff, which is refused.
    where : str, default=None
        ``"column=value"`` keeps the rows with that value and drops the column. Of an
        npz file with ``X_train`` and ``X_test``, ``"split=train"`` or ``"split=test"``
        must be said.
    drop : str or sequence of str, default=()
        Columns to leave out.
    keep : str or sequence of str, default=()
        Columns that stay even if `where` names them, such as those of a model.
    delimiter : str, default=None
        What ends a field of csv and tsv. None is the comma, semicolon, tab or bar
        that cuts the first lines into equally many fields; if several do, one has to
        be given.
    decimal : str, default=None
        Decimal point of csv and tsv. With None it is a point, and also a comma in
        columns of numbers such as "1.234,5" where the fields do not end with commas.
    encoding : str, default="utf-8"
        Of csv and tsv. A mark at the beginning of the file is skipped.
    header : bool, default=True
        Whether csv and tsv begin with the names of the columns. Otherwise they are
        "x0", "x1" and so on.
    missing : str or sequence of str, default=("?",)
        Fields of csv and tsv that stand for a missing value, besides the empty field
        and "NA", "N/A", "NaN", "null" and the like.
    strings : str or sequence of str, default=()
        Columns of csv and tsv to be read as strings though they look like numbers or
        dates; those that are absent are ignored. Digits with leading zeros, such as
        postal codes, are strings in any case. Give the category and text columns of a
        model when you read rows for it.
    missing_labels : {"error", "drop"}, default="error"
        Whether rows without a label in the target column are refused or left out.
    n_features : int, default=None
        Number of columns of svmlight, as the model knows it; None is what is found.
    zero_based : bool or "auto", default="auto"
        Whether the first column of svmlight is 0. "auto" says so if a 0 is there; say
        it yourself for rows of a model, since a few of them may happen to have no 0.

    Returns
    -------
    Table
        With ``X``, ``y`` and ``source``.

    Raises
    ------
    DataError
        If the content is not as expected; the message names the file, and the column
        and the row or line where there is one.
    OSError
        If the file cannot be opened, or OpenML cannot be reached.

    Notes
    -----
    Reading is pyarrow's, on several threads: about a second for a million rows of 14
    columns. Blanks around names and strings of csv and tsv are removed. The index
    of a pandas frame in a Parquet or Feather file is not a column.

    Examples
    --------
    >>> from localsvm.data import read_table, sample_path
    >>> table = read_table(sample_path(), target="income", where="split=train")
    >>> table.X.shape, table.y[:2].tolist()
    ((1333, 14), ['<=50K', '<=50K'])
    """
    options = read_options(
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        header=header,
        missing=missing,
        strings=strings,
        missing_labels=missing_labels,
        n_features=n_features,
        zero_based=zero_based,
        where=where,
    )
    name = os.fspath(source)
    try:
        content = _read(name, format, options)
        X, y = select(content, target, options, as_tuple(drop), as_tuple(keep))
    except DataError as error:
        raise error.about(name) from error
    return Table(X, y, name)


def read_options(
    *,
    encoding: str = "utf-8",
    missing: str | Sequence[str] = ("?",),
    strings: str | Sequence[str] = (),
    where: str | None = None,
    missing_labels: str = "error",
    **others: Any,
) -> ReadOptions:
    """Check the parameters of :func:`read_table` that concern single formats."""
    if missing_labels not in ("error", "drop"):
        raise DataError(
            "{remedy} is not known; expected 'error' or 'drop'.",
            parameter="missing_labels",
            value=missing_labels,
        )
    return ReadOptions(
        missing_labels=missing_labels,
        encoding=_known_encoding(encoding),
        missing=as_tuple(missing),
        strings=as_tuple(strings),
        where=_parse_where(where),
        **others,
    )


def _known_encoding(encoding: str) -> str:
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise DataError(
            "{remedy} is not known; expected for instance 'utf-8', 'latin-1' or "
            "'utf-16'.",
            parameter="encoding",
            value=encoding,
        ) from error
    return encoding


def as_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def _parse_where(where: str | None) -> tuple[str, str] | None:
    if where is None:
        return None
    column, sign, value = where.partition("=")
    if not sign or not column.strip():
        raise DataError(
            "{remedy} is not understood; expected 'column=value'.",
            parameter="where",
            value=where,
        )
    return column.strip(), value.strip()


def _read(name: str, format: str | None, options: ReadOptions) -> Content:
    if name.startswith(PREFIX):
        return read_openml(name)
    path = Path(name)
    if path.is_dir() and format in (None, "parquet"):
        return read_parquet_folder(path, options)
    _check_file(path)
    return _READERS[find_format(path, format)](path, options)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file.")
    if not path.exists():
        there = [each.name for each in path.parent.glob("*")]
        close = ", ".join(close_names(path.name, there))
        hint = f" Files of that folder with such a name: {close}." if close else ""
        raise FileNotFoundError(f"There is no file {path}.{hint}")
    if not path.stat().st_size:
        raise DataError("is empty.")


def find_format(path: Path, format: str | None) -> str:
    """Format of a file: as given, or by its name, or by its first line."""
    if format is not None:
        if format not in _READERS:
            raise DataError(
                "cannot be read with {remedy}; expected one of "
                f"{', '.join(map(repr, _READERS))}.",
                parameter="format",
                value=format,
            )
        return format
    ending = _COMPRESSED.sub("", path.name).rpartition(".")[2].lower()
    if ending in _FORMAT_OF_ENDING:
        return _FORMAT_OF_ENDING[ending]
    if ending == "arff":
        *others, last = _READERS
        raise DataError(
            "is an ARFF file, which is not read; expected a file of format "
            f"{', '.join(others)} or {last}. OpenML serves its data sets as Parquet, "
            "and openml:ID reads them without a file."
        )
    check_text(path, "utf-8")
    with open_text(path, "latin-1") as text:
        first = next((line for line in text if line.strip()), "")
    if is_svmlight(first):
        return "svmlight"
    return "tsv" if "\t" in first and "," not in first else "csv"

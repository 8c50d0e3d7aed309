"""Files of svmlight and libsvm: a label and ``column:value`` pairs per line."""

from __future__ import annotations

import io
import itertools
import re
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from localsvm.data._readers._lines import check_text, open_bytes, open_text
from localsvm.data._readers._options import Content, ReadOptions
from localsvm.exceptions import DataError

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_LINE = re.compile(
    rf"\s*{_NUMBER}(?:\s+qid:\d+)?(?P<pairs>(?:\s+\d+:{_NUMBER})*)\s*(?:#.*)?"
)
_LARGEST_COLUMN = 2**31 - 2


def read_svmlight(path: Path, options: ReadOptions) -> Content:
    """Read a sparse matrix and its labels; integral labels are integers."""
    check_text(path, "utf-8")
    try:
        with open_bytes(path) as stream:
            X, y = load_svmlight_file(
                io.BufferedReader(stream),
                n_features=options.n_features,
                zero_based=options.zero_based,
            )
    except (ValueError, OSError, EOFError, OverflowError) as error:
        wrong = _wrong_line(path, options)
        reason = f"cannot be read as svmlight: {str(error).rstrip('.')}."
        raise DataError(wrong or reason) from error
    if not X.shape[0]:
        raise DataError("has no rows.")
    if not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise DataError(
            f"has the label {y[row]} in row {row} (the first is 0); expected a number."
        )
    if np.array_equal(y, np.trunc(y)):
        y = y.astype(np.int64)
    return Content(sparse.csr_array(X), y)


def is_svmlight(line: str) -> bool:
    """Whether a line is of this format and has a pair."""
    match = _LINE.fullmatch(line.rstrip())
    return match is not None and ":" in match["pairs"]


def _wrong_line(path: Path, options: ReadOptions) -> str:
    """Sentence about the first line that is not of this format; "" if all are."""
    try:
        with open_text(path, "latin-1") as text:
            for number, line in enumerate(text, 1):
                wrong = _what_is_wrong(line.strip(), options)
                if wrong:
                    return f"has {line.strip()[:60]!r} in line {number}; {wrong}."
    except OSError:
        return ""
    return ""


def _what_is_wrong(line: str, options: ReadOptions) -> str:
    if not line or line.startswith("#"):
        return ""
    match = _LINE.fullmatch(line)
    if match is None:
        return "expected a label and pairs such as 3:0.5"
    columns = [int(pair.partition(":")[0]) for pair in match["pairs"].split()]
    if any(low >= high for low, high in itertools.pairwise(columns)):
        return "expected columns in ascending order"
    if options.zero_based is False and 0 in columns:
        return "expected columns from 1 on, since zero_based=False"
    most = options.n_features
    if most is not None and columns and columns[-1] > most - (not columns[0]):
        return f"expected at most n_features={most} columns"
    if columns and columns[-1] > _LARGEST_COLUMN:
        return f"expected columns up to {_LARGEST_COLUMN}"
    return ""

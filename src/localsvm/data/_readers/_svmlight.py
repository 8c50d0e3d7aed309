"""Files of svmlight and libsvm: a label and ``column:value`` pairs per line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from localsvm.data._readers._lines import check_text, open_text
from localsvm.data._readers._options import Content, ReadOptions

_LINE = re.compile(
    r"\s*[^\s:#]+(?:\s+qid:\d+)?(?:\s+\d+:[^\s:#]+)*\s*(?:#.*)?", re.IGNORECASE
)


def read_svmlight(path: Path, options: ReadOptions) -> Content:
    """Read a sparse matrix and its labels; integral labels are integers."""
    check_text(path, "utf-8")
    try:
        X, y = load_svmlight_file(
            str(path), n_features=options.n_features, zero_based=options.zero_based
        )
    except (ValueError, OSError, EOFError, OverflowError) as error:
        raise ValueError(_what_is_wrong(path, options, str(error))) from error
    if not X.shape[0]:
        raise ValueError("has no rows.")
    if np.array_equal(y, np.trunc(y)):
        y = y.astype(np.int64)
    return Content(sparse.csr_array(X), y)


def is_svmlight(line: str) -> bool:
    """Whether a line is of this format and has a pair."""
    return ":" in line and _LINE.fullmatch(line) is not None


def _what_is_wrong(path: Path, options: ReadOptions, message: str) -> str:
    if options.n_features is not None and "n_features" in message:
        return f"has more than n_features={options.n_features} columns."
    try:
        with open_text(path, "utf-8") as text:
            for number, line in enumerate(text, 1):
                if line.strip() and not _LINE.fullmatch(line):
                    return (
                        f"has {line.strip()[:60]!r} in line {number}; expected a label "
                        "and pairs such as 3:0.5, by ascending column."
                    )
    except (OSError, UnicodeError) as error:
        message = str(error)
    return f"cannot be read as svmlight: {message.rstrip('.')}."

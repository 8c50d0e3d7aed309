"""Covtype, replicated with noise to as many rows as wanted, as Parquet files.

Of the 581,012 rows 100,000 are set aside as they are, to be tested on. Each of the new
rows is one of the others with Gaussian noise in the ten numeric columns, 5 % of a
column's standard deviation, and the same label. Columns are float32, the numeric ones
standardised; the label is the cover type, or whether it is the second, as is usual for
two classes. ``python benchmarks/scale_data.py FOLDER [--rows N] [--classes 2]`` writes
a file per million rows, in row groups of 100,000.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from environment import use_shared_data
from numpy.typing import NDArray

from localsvm.data import load_benchmark

N_NUMERIC = 10
N_TEST = 100_000
NOISE = 0.05
FILE_ROWS = 1_000_000
GROUP_ROWS = 100_000
LABEL = "label"

Rows = tuple[NDArray[np.float32], NDArray[np.int32]]


def split(n_classes: int) -> tuple[Rows, Rows]:
    """Rows to make others of, and rows to test on."""
    data = load_benchmark("covtype")
    X = np.asarray(data.X_train, dtype=np.float32)
    kind = data.y_train if n_classes == 7 else data.y_train == 2
    y = np.asarray(kind, dtype=np.int32)
    order = np.random.default_rng(0).permutation(len(X))
    test, train = order[:N_TEST], order[N_TEST:]
    numeric = X[:, :N_NUMERIC]
    mean, std = numeric[train].mean(axis=0), numeric[train].std(axis=0)
    X[:, :N_NUMERIC] = (numeric - mean) / std
    return (X[train], y[train]), (X[test], y[test])


def rows_folder(folder: Path, n_classes: int, n_rows: int) -> Path:
    """Folder of the files of so many classes and rows."""
    return folder / f"rows-{n_classes}-{n_rows}"


def write(folder: Path, n_rows: int, n_classes: int) -> None:
    """Write files that are not there yet, each under another name first."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, _ = split(n_classes)
    for number in range(-(-n_rows // FILE_ROWS)):
        path = folder / f"rows-{number:03d}.parquet"
        if not path.exists():
            size = min(FILE_ROWS, n_rows - number * FILE_ROWS)
            temporary = path.with_suffix(".tmp")
            pq.write_table(
                _table(rows, size, number),
                temporary,
                row_group_size=GROUP_ROWS,
                compression="zstd",
            )
            temporary.replace(path)


def _table(rows: Rows, size: int, seed: int) -> Any:
    X, y = rows
    rng = np.random.default_rng([1, seed])
    chosen = rng.integers(len(X), size=size)
    noisy = X[chosen]
    noise = rng.standard_normal((size, N_NUMERIC), dtype=np.float32)
    noisy[:, :N_NUMERIC] += np.float32(NOISE) * noise
    columns = {f"x{column}": noisy[:, column] for column in range(X.shape[1])}
    return pa.table({**columns, LABEL: y[chosen]})


if __name__ == "__main__":
    use_shared_data()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--classes", type=int, choices=(2, 7), default=7)
    given = parser.parse_args()
    write(given.folder, given.rows, given.classes)

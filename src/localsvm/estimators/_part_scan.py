"""First look at a partition: classes, scale of the rows, a sample of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import check_squares, column_range
from localsvm.cluster._row_sample import RowSample
from localsvm.engine import Block, Statistics
from localsvm.estimators._scale import squared_norms


def count_part(block: Block) -> Statistics:
    """Rows of a partition."""
    return {"n_rows": np.array(block.n_rows)}


def merge_counts(first: Statistics, second: Statistics) -> Statistics:
    """Rows of both."""
    return {"n_rows": first["n_rows"] + second["n_rows"]}


def scan_part(block: Block, seed: int, limit: int) -> Statistics:
    """Classes and their weights, squared norms, ranges, and a sample of the rows.

    Parameters
    ----------
    block : Block
    seed : int
        Of the hashes that choose the sample.
    limit : int
        Rows of the sample, at most.
    """
    check_squares(block.X)
    classes, class_index = np.unique(block.y, return_inverse=True)
    low, high = column_range(block.X)
    weight = block.sample_weight
    sample = RowSample.draw(block.X, weight, seed, limit)
    return {
        "n_rows": np.array(block.n_rows),
        "classes": classes,
        "mass": np.bincount(class_index, weight, len(classes)).astype(np.float64),
        "squares": np.array(weight @ squared_norms(block.X)),
        "low": low,
        "high": high,
        "limit": np.array(limit),
        **sample.as_arrays(),
    }


def merge_scans(first: Statistics, second: Statistics) -> Statistics:
    """Say of two partitions what :func:`scan_part` would."""
    limit = int(first["limit"])
    sample = RowSample.from_arrays(first, limit)
    sample = sample.merged(RowSample.from_arrays(second, limit))
    classes = np.union1d(first["classes"], second["classes"])
    return {
        "n_rows": first["n_rows"] + second["n_rows"],
        "classes": classes,
        "mass": _spread(first, classes) + _spread(second, classes),
        "squares": first["squares"] + second["squares"],
        "low": np.minimum(first["low"], second["low"]),
        "high": np.maximum(first["high"], second["high"]),
        "limit": first["limit"],
        **sample.as_arrays(),
    }


def _spread(part: Statistics, classes: NDArray[np.generic]) -> NDArray[np.float64]:
    mass = np.zeros(len(classes))
    mass[np.searchsorted(classes, part["classes"])] = part["mass"]
    return mass

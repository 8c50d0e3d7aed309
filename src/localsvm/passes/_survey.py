"""First look at a partition: classes, scale of the rows, a sample of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._checks import check_squares, column_range
from localsvm.engine import Block, Record, Statistics
from localsvm.kernels import entry_moments, gamma_of_moments
from localsvm.rows import RowSample, squared_norms


def count_part(block: Block) -> Statistics:
    """Rows of a partition."""
    return {"n_rows": np.array(block.n_rows)}


def merge_counts(first: Statistics, second: Statistics) -> Statistics:
    """Rows of both."""
    return {"n_rows": first["n_rows"] + second["n_rows"]}


def survey_part(block: Block) -> Statistics:
    """Classes, their weights and rows, squared norms, ranges and moments.

    Returns
    -------
    dict
        "mass" is the weight of each class, "counts" its rows of positive weight,
        "moments" what :func:`scale_gamma_of` needs; a partition without weight has
        none.
    """
    check_squares(block.X)
    classes, class_index = np.unique(block.y, return_inverse=True)
    low, high = column_range(block.X)
    weight = block.sample_weight
    found = {
        "n_rows": np.array(block.n_rows),
        "classes": classes,
        "mass": np.bincount(class_index, weight, len(classes)).astype(np.float64),
        "counts": np.bincount(class_index, weight > 0, len(classes)).astype(np.float64),
        "squares": np.array(weight @ squared_norms(block.X)),
        "low": low,
        "high": high,
        "is_sparse": np.array(sparse.issparse(block.X)),
    }
    if weight.any():
        found["moments"] = np.array([weight.sum(), *entry_moments(block.X, weight)])
    return found


def merge_surveys(first: Statistics, second: Statistics) -> Statistics:
    """Say of two partitions what :func:`survey_part` would."""
    classes = np.union1d(first["classes"], second["classes"])
    found = {
        "n_rows": first["n_rows"] + second["n_rows"],
        "classes": classes,
        "mass": spread(first, "mass", classes) + spread(second, "mass", classes),
        "counts": spread(first, "counts", classes) + spread(second, "counts", classes),
        "squares": first["squares"] + second["squares"],
        "low": np.minimum(first["low"], second["low"]),
        "high": np.maximum(first["high"], second["high"]),
        "is_sparse": first["is_sparse"] | second["is_sparse"],
    }
    moments = [part["moments"] for part in (first, second) if "moments" in part]
    if moments:
        found["moments"] = moments[0]
    if len(moments) == 2:
        found["moments"] = merge_moments(moments[0], moments[1], len(first["low"]))
    return found


@dataclass(frozen=True)
class Survey(Record):
    """Classes and scale of rows.

    Attributes
    ----------
    n_rows : int
    classes : ndarray of shape (n_classes,)
    mass, counts : ndarray of shape (n_classes,)
        Weight of each class, and its rows of positive weight.
    squares : float
        Sum of the squared norms, each times the weight of its row.
    low, high : ndarray of shape (n_features,)
        Smallest and largest value of each column.
    is_sparse : bool
    moments : ndarray of shape (3,) or None
        Weight, mean and total of the entries; None without weight.
    """

    n_rows: int
    classes: NDArray[np.generic]
    mass: NDArray[np.float64]
    counts: NDArray[np.float64]
    squares: float
    low: NDArray[np.generic]
    high: NDArray[np.generic]
    is_sparse: bool
    moments: NDArray[np.float64] | None = None

    def merge(self, other: Survey) -> Survey:
        """Survey of the rows of both."""
        return Survey.from_arrays(merge_surveys(self.as_arrays(), other.as_arrays()))

    @property
    def scaled_gamma(self) -> float:
        """``gamma="scale"`` of the rows."""
        return scale_gamma_of(self.as_arrays())


def survey_block(block: Block) -> Survey:
    """Survey the rows of a block."""
    return Survey.from_arrays(survey_part(block))


def scan_part(block: Block, seed: int, limit: int) -> Statistics:
    """Survey a partition, and draw a sample of its rows.

    Parameters
    ----------
    block : Block
    seed : int
        Of the hashes that choose the sample.
    limit : int
        Rows of the sample, at most.
    """
    sample = RowSample.draw(block.X, block.sample_weight, seed, limit)
    return survey_part(block) | {"limit": np.array(limit)} | sample.as_arrays()


def merge_scans(first: Statistics, second: Statistics) -> Statistics:
    """Say of two partitions what :func:`scan_part` would."""
    limit = int(first["limit"])
    sample = RowSample.from_arrays(first, limit)
    sample = sample.merged(RowSample.from_arrays(second, limit))
    whole = merge_surveys(first, second) | {"limit": first["limit"]}
    return whole | sample.as_arrays()


def merge_moments(
    first: NDArray[np.float64], second: NDArray[np.float64], columns: int
) -> NDArray[np.float64]:
    """Weight, mean and total of ``entry_moments`` of two parts together."""
    weight = first[0] + second[0]
    share, step = second[0] / weight, second[1] - first[1]
    total = (1 - share) * first[2] + share * second[2]
    total += columns * share * (1 - share) * step**2
    return np.array([weight, first[1] + share * step, total])


def scale_gamma_of(found: Statistics) -> float:
    """``gamma="scale"`` of the rows of all partitions."""
    _, mean, total = found["moments"].tolist()
    return gamma_of_moments(mean, total, len(found["low"]))


def spread(
    part: Statistics, name: str, classes: NDArray[np.generic]
) -> NDArray[np.float64]:
    """Numbers of a part's classes, among all classes."""
    whole = np.zeros(len(classes))
    whole[np.searchsorted(classes, part["classes"])] = part[name]
    return whole

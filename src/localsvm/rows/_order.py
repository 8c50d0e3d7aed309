"""Random orders of rows that keep the classes in proportion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def stratified_order(
    class_index: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Shuffle so that every beginning and every end has the classes in proportion.

    Beginnings are nested samples, and an end can be held out. scikit-learn's
    ``train_test_split(stratify=)`` gives one split of one size, and refuses classes of
    a single row and fewer test rows than classes.

    Parameters
    ----------
    class_index : ndarray of int of shape (n_rows,)
        Classes as numbers from 0; some may have no row.
    rng : numpy.random.Generator

    Returns
    -------
    order : ndarray of int of shape (n_rows,)
        Row numbers. One row of every class comes first, then a second one, so that
        small beginnings have all classes, and no end takes the last row of a class.
    """
    counts = np.bincount(class_index)
    offset = rng.uniform(size=len(counts))[class_index]
    rank = _rank_in_class(class_index, rng)
    key = (rank + offset) / counts[class_index]
    first = rank < 2
    key[first] = rank[first] - 2 + offset[first] / 2
    return np.argsort(key, kind="stable")


def _rank_in_class(
    class_index: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Position of each row in a random order of the rows of its class."""
    counts = np.bincount(class_index)
    start = np.cumsum(counts) - counts
    shuffled = rng.permutation(len(class_index))
    by_class = shuffled[np.argsort(class_index[shuffled], kind="stable")]
    rank = np.empty(len(class_index), dtype=np.intp)
    rank[by_class] = np.arange(len(class_index)) - start[class_index[by_class]]
    return rank

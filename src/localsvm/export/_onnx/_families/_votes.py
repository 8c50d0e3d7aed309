"""One score per class from the decisions of pairs of classes, as in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor


def combine_pairs(
    graph: Graph, decisions: Tensor, pairs: NDArray[Any], n_classes: int
) -> Tensor:
    """Scores where all rows have the same pairs.

    Parameters
    ----------
    graph : Graph
    decisions : Tensor of shape (n_rows, n_pairs)
        Positive for the second class of a pair.
    pairs : ndarray of shape (n_pairs, 2)
    n_classes : int

    Returns
    -------
    scores : Tensor of shape (n_rows, n_classes), or (n_rows, 1) for two classes
        Votes plus the squeezed sum of decisions; -1 for classes without a pair.
    """
    if n_classes == 2:
        return decisions
    negative, positive = (np.eye(n_classes)[classes] for classes in pairs.T)
    won = decisions.above(0.0).real()
    votes = won @ positive + (1.0 - won) @ negative
    scores = votes + squeezed(decisions @ (positive - negative))
    absent = ~(negative + positive).any(axis=0)
    return graph.constant(absent, np.bool_).where(-1.0, scores)


def combine_own_pairs(
    graph: Graph, decisions: Tensor, pairs: tuple[Tensor, Tensor], n_classes: int
) -> Tensor:
    """Scores where each row has pairs of its own.

    Parameters
    ----------
    graph : Graph
    decisions : Tensor of shape (n_rows, n_pairs)
    pairs : (Tensor, Tensor) of shape (n_rows, n_pairs)
        Negative and positive class; -1 where a row has no such pair.
    n_classes : int, more than two

    Returns
    -------
    scores : Tensor of shape (n_rows, n_classes)
    """
    classes = np.arange(n_classes, dtype=np.int64)
    negative, positive = (each.expand(2).equals(classes).real() for each in pairs)
    won = decisions.above(0.0).real().expand(2)
    votes = (won * positive + (1.0 - won) * negative).sum(1)
    sums = (decisions.expand(2) * (positive - negative)).sum(1)
    present = (negative + positive).max(1).above(0.0)
    return present.where(votes + squeezed(sums), -1.0)


def squeezed(sums: Tensor) -> Tensor:
    """Bring sums of decisions between -1/3 and 1/3, in their order."""
    return sums / ((sums.absolute() + 1.0) * 3.0)

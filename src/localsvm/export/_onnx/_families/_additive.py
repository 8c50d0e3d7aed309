"""Additive SVMs: which bin each value is in, and the sum of the tables' entries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators import AdditiveSVC, ColumnBins
from localsvm.export._onnx._answer import Answer, answers
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor


@answers(AdditiveSVC)
def additive_answer(graph: Graph, rows: Tensor, model: AdditiveSVC) -> Answer:
    """Bias plus one table entry per column."""
    fitted = model._fitted_model()
    bins = fitted.bins
    parts = [
        _places(graph, rows, bins, np.flatnonzero(bins.is_category == kind), kind)
        for kind in (False, True)
        if (bins.is_category == kind).any()
    ]
    graph.uses(bins.n_columns * (len(fitted.bias) + 2))
    entries = graph.weight(fitted.tables.T).take(graph.concatenate(parts))
    return Answer(entries.sum(1) + graph.weight(fitted.bias))


def _places(
    graph: Graph,
    rows: Tensor,
    bins: ColumnBins,
    columns: NDArray[np.intp],
    are_categories: bool,
) -> Tensor:
    """Entry of the table for each of some columns, of shape (n_rows, n_columns)."""
    values = rows.take(columns.astype(np.int64), axis=1)
    width = max(1, int(np.diff(bins.cut_start)[columns].max()))
    graph.uses(2 * len(columns) * width)
    cuts, places = _padded(bins, columns, width)
    last = bins.n_bins[columns] - 1.0
    if are_categories:
        # From the bin of rare levels to that of the level.
        known = values.expand(2).equals(_as_stored(cuts, graph)).cast(graph.real)
        rare = last - 1
        found = (known * (places - rare[:, np.newaxis])).sum(2) + rare
    else:
        found = values.expand(2).above(_below(cuts, graph)).cast(graph.real).sum(2)
    missing = graph.apply("IsNaN", values, dtype=np.bool_)
    found = missing.where(graph.weight(last), found)
    return (found + bins.start[columns].astype(np.float64)).cast(np.int64)


def _padded(
    bins: ColumnBins, columns: NDArray[np.intp], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cuts and their bins as rows of equal length; NaN is neither equal nor below."""
    cuts = np.full((len(columns), width), np.nan)
    places = np.zeros((len(columns), width))
    for row, k in enumerate(columns):
        own = slice(bins.cut_start[k], bins.cut_start[k + 1])
        cuts[row, : own.stop - own.start] = bins.cuts[own]
        places[row, : own.stop - own.start] = bins.cut_bin[own]
    return cuts, places


def _below(edges: NDArray[np.float64], graph: Graph) -> NDArray[np.float64]:
    """Edges rounded down to numbers of the graph: the same numbers are above them."""
    stored = edges.astype(graph.real)
    lower = np.nextafter(stored, graph.real.type(-np.inf))
    return np.where(stored > edges, lower, stored).astype(np.float64)


def _as_stored(levels: NDArray[np.float64], graph: Graph) -> NDArray[np.float64]:
    """Levels that are numbers of the graph; no number equals another one."""
    return np.where(levels.astype(graph.real) == levels, levels, np.nan)

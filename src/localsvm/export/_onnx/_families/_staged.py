"""A sum of terms; or two stages, kernel SVMs for the hard rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators import (
    ColumnCode,
    Preparation,
    QuantileMap,
    StagedSVC,
    SumModel,
    SwitchModel,
)
from localsvm.export._onnx._answer import Answer, answer, answers
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._steps._transformers import unit_rows
from localsvm.export._onnx._tensor import Tensor


@answers(StagedSVC)
def staged_answer(graph: Graph, rows: Tensor, model: StagedSVC) -> Answer:
    """Decisions of a sum, or of one of two stages."""
    fitted = model._model
    if isinstance(fitted, SumModel):
        return Answer(_add(graph, rows, model, fitted))
    return Answer(_switch(graph, rows, model, fitted))


def _add(graph: Graph, rows: Tensor, model: StagedSVC, fitted: SumModel) -> Tensor:
    """Weighted sum of the terms, and the bias."""
    prepared: dict[int, Tensor] = {}
    total = graph.weight(np.array(fitted.weights.bias))
    for name, weight in fitted.weights.of_terms.items():
        seen = rows
        if name in fitted.terms:
            preparation = fitted.terms[name].preparation
            if id(preparation) not in prepared:
                prepared[id(preparation)] = _prepare(graph, rows, preparation)
            seen = prepared[id(preparation)]
        scores = answer(graph, seen, model.terms_[name]).scores
        total = scores.cast(graph.real) * weight + total
    return total.cast(graph.rows_dtype)


def _switch(
    graph: Graph, rows: Tensor, model: StagedSVC, fitted: SwitchModel
) -> Tensor:
    """Decisions of the first stage, and of the second where the first is in doubt."""
    rows = _prepare(graph, rows, fitted.preparation)
    if np.isinf(fitted.threshold):
        return _decide_hard(graph, rows, model)
    scores = answer(graph, rows, model.first_stage_).scores
    if model.second_stage_ is None:
        return scores
    sure = _confidences(scores, len(model.classes_)).above(fitted.threshold)
    hard = graph.apply("NonZero", graph.apply("Not", sure), dtype=np.int64)
    answered = _decide_hard(graph, rows.take(hard.drop(0)), model)
    place = graph.apply("Transpose", hard)
    return graph.apply("ScatterND", scores, place, answered)


def _decide_hard(graph: Graph, rows: Tensor, model: StagedSVC) -> Tensor:
    """Decisions of the second stage, votes on the scale of the first."""
    scores = answer(graph, rows, model.second_stage_).scores.cast(graph.rows_dtype)
    n_classes = len(model.classes_)
    return scores if n_classes == 2 else scores * 2.0 / (n_classes - 1.0) - 1.0


def _confidences(scores: Tensor, n_classes: int) -> Tensor:
    """Lead of the class that wins."""
    if n_classes == 2:
        return scores.absolute().drop(1)
    best, _ = scores.extremes(2, largest=True)
    return (best.columns(0, 1) - best.columns(1, 2)).drop(1)


def _prepare(graph: Graph, rows: Tensor, preparation: Preparation) -> Tensor:
    """Code, scale, turn and stretch rows as the model was fitted to them."""
    if preparation.columns is not None:
        rows = _code_columns(graph, rows, preparation.columns)
    if preparation.quantiles is not None and len(preparation.quantiles.columns):
        mapped = _map_quantiles(graph, rows, preparation.quantiles)
        order = np.arange(len(preparation.components))
        order[preparation.quantiles.columns] = len(order) + np.arange(
            len(preparation.quantiles.columns)
        )
        rows = graph.concatenate([rows, mapped]).take(order, axis=1)
    if preparation.unit_rows:
        rows = unit_rows(rows)
    components = graph.weight(preparation.components, graph.rows_dtype)
    offset = graph.weight(preparation.offset, graph.rows_dtype)
    if preparation.components.ndim == 1:
        return rows * components + offset
    return rows @ components + offset


def _code_columns(graph: Graph, rows: Tensor, columns: ColumnCode) -> Tensor:
    """Fill missing values, and give each level of a category its column."""
    numbers = rows.take(columns.numbers.astype(np.int64), axis=1)
    medians = graph.weight(columns.medians, graph.rows_dtype)
    parts = [_is_missing(graph, numbers).where(medians, numbers)]
    if len(columns.flagged):
        flagged = rows.take(columns.flagged.astype(np.int64), axis=1)
        parts.append(_is_missing(graph, flagged).cast(graph.rows_dtype))
    coded = zip(columns.categories, columns.levels, columns.missing_levels, strict=True)
    for column, levels, has_missing in coded:
        value = rows.columns(int(column), int(column) + 1)
        missing = _is_missing(graph, value).cast(graph.rows_dtype)
        known = [value.equals(levels).cast(graph.rows_dtype)] if len(levels) else []
        known += [missing] if has_missing else []
        of_levels = graph.concatenate(known) if known else missing * 0.0
        parts += [*known, 1.0 - of_levels.sum(1, keep=True)]
    return graph.concatenate(parts)


def _is_missing(graph: Graph, values: Tensor) -> Tensor:
    return graph.apply("IsNaN", values, dtype=np.bool_)


def _map_quantiles(graph: Graph, rows: Tensor, quantiles: QuantileMap) -> Tensor:
    """Map columns by their knots; a search by halves finds the last one below."""
    pairs = list(zip(quantiles.values, quantiles.scores, strict=True))
    n_knots = 1 << (max(len(values) for values, _ in pairs) - 1).bit_length()
    knots = _table(graph, quantiles.values, n_knots, np.inf)
    scores = _table(graph, quantiles.scores, n_knots, 0.0)
    slopes = _table(graph, [np.diff(s) / np.diff(v) for v, s in pairs], n_knots, 0.0)
    value = rows.take(quantiles.columns.astype(np.int64), axis=1)
    value = graph.apply("Max", value, np.array([values[0] for values, _ in pairs]))
    value = graph.apply("Min", value, np.array([values[-1] for values, _ in pairs]))
    first = np.arange(len(pairs), dtype=np.int64) * n_knots
    place = value.below(value).cast(np.int64) + first
    step = n_knots // 2
    while step:
        place = value.below(knots.take(place + step)).where(place, place + step)
        step //= 2
    return slopes.take(place) * (value - knots.take(place)) + scores.take(place)


def _table(
    graph: Graph, lists: Sequence[NDArray[np.float64]], length: int, fill: float
) -> Tensor:
    """Put lists into one flat table, each filled up to ``length``."""
    table = np.full((len(lists), length), fill)
    for row, entries in zip(table, lists, strict=True):
        row[: len(entries)] = entries
    return graph.weight(table.ravel())

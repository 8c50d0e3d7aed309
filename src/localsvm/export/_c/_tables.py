"""Models that look up or weigh columns, and the way to prepared rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators import AdditiveModel, ColumnCode, Preparation, joined_lists
from localsvm.export._c._source import Source

# Number of cuts below a value.
_BELOW = """\
static inline int ${name}_below(const double *cuts, int n, double value)
{
    int first = 0;
    while (n > 0) {
        const int half = n / 2;
        if (cuts[first + half] < value) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}
"""
# Linear between knots, constant outside.
_BETWEEN = """\
static inline double ${name}_between(const double *knots, const double *scores, int n,
                                     double value)
{
    int above;
    if (!(value > knots[0])) return scores[0];
    if (!(value < knots[n - 1])) return scores[n - 1];
    above = ${name}_below(knots, n, value);
    if (knots[above] == value) return scores[above];
    return (scores[above] - scores[above - 1]) / (knots[above] - knots[above - 1]) *
               (value - knots[above - 1]) +
           scores[above - 1];
}
"""
_ADDITIVE = """
    int k, p, bin;
    for (p = 0; p < $n_outputs; ++p) out[p] = $bias[p];
    for (k = 0; k < $n_columns; ++k) {
        const double value = row[k];
        const int n = $start[k + 1] - $start[k];
        if (isnan(value)) {
            bin = n + 1;
        } else {
            bin = ${name}_below($cuts + $start[k], n, value);
            if ($is_category[k]) {
                const int known = bin < n && $cuts[$start[k] + bin] == value;
                bin = known ? $cut_bin[$start[k] + bin] : n;
            }
        }
        for (p = 0; p < $n_outputs; ++p)
            out[p] += $table[($start[k] + 2 * k + bin) * $n_outputs + p];
    }
"""
_LINEAR = """
    int j, p;
    for (p = 0; p < $n_outputs; ++p) {
        double sum = 0.0;
        for (j = 0; j < $n_columns; ++j) sum += row[j] * $coef[p * $n_columns + j];
        out[p] = sum + $offset[p];
    }
"""
_DIAGONAL = """
    int j;
    for (j = 0; j < $n_columns; ++j) out[j] = row[j] * $coef[j] + $offset[j];
"""
_CODES = """
    int j = 0, k, l;
    for (k = 0; k < $n_numbers; ++k)
        out[j++] = isnan(row[$numbers[k]]) ? $medians[k] : row[$numbers[k]];
    for (k = 0; k < $n_flagged; ++k) out[j++] = isnan(row[$flagged[k]]) ? 1.0 : 0.0;
    for (k = 0; k < $n_categories; ++k) {
        const double value = row[$categories[k]];
        int known = 0;
        for (l = $start[k]; l < $start[k + 1]; ++l) {
            out[j++] = value == $levels[l] ? 1.0 : 0.0;
            known = known || value == $levels[l];
        }
        if ($has_missing[k]) {
            out[j++] = isnan(value) ? 1.0 : 0.0;
            known = known || isnan(value);
        }
        out[j++] = known ? 0.0 : 1.0;
    }
"""
_COPY = """
    int j;
    for (j = 0; j < $n_columns; ++j) out[j] = row[j];
"""
_PREPARE = """
    double work[$n_coded];
    $code(row, work);
$steps
    $project(work, out);
"""
_MAP = """\
    {
        int k;
        for (k = 0; k < $n; ++k)
            work[$columns[k]] =
                ${name}_between($knots + $start[k], $scores + $start[k],
                                $start[k + 1] - $start[k], work[$columns[k]]);
    }
"""
_UNIT = """\
    {
        double squares = 0.0;
        int j;
        for (j = 0; j < $n; ++j) squares += work[j] * work[j];
        if (squares > 0.0)
            for (j = 0; j < $n; ++j) work[j] /= sqrt(squares);
    }
"""


def write_linear(source: Source, coef: NDArray[Any], offset: NDArray[Any]) -> str:
    """Weights of shape (n_outputs, n_columns), or one per column."""
    body = _DIAGONAL if coef.ndim == 1 else _LINEAR
    return source.decision(
        body,
        n_outputs=len(offset),
        n_columns=coef.shape[-1],
        coef=source.array(np.asarray(coef, dtype=np.float64)),
        offset=source.array(np.asarray(offset, dtype=np.float64)),
    )


def write_additive(source: Source, model: AdditiveModel) -> str:
    """Sum of table entries; the entries of a bin stand side by side."""
    bins = model.bins
    source.share(_BELOW)
    return source.decision(
        _ADDITIVE,
        n_outputs=len(model.bias),
        n_columns=bins.n_columns,
        bias=source.array(model.bias),
        start=source.array(bins.cut_start),
        cuts=source.array(bins.cuts),
        cut_bin=source.array(bins.cut_bin),
        is_category=source.array(bins.is_category),
        table=source.array(model.tables.T),
    )


def write_preparation(source: Source, way: Preparation, n_columns: int) -> str:
    """Write all steps of a preparation."""
    coded = len(way.components)
    code = _write_codes(source, way.columns, n_columns)
    steps = _write_maps(source, way)
    if way.unit_rows:
        steps += _UNIT.replace("$n", str(coded))
    project = write_linear(source, way.components.T, way.offset)
    return source.decision(
        _PREPARE.replace("$steps", steps), n_coded=coded, code=code, project=project
    )


def _write_codes(source: Source, codes: ColumnCode | None, n_columns: int) -> str:
    if codes is None:
        return source.decision(_COPY, n_columns=n_columns)
    start, levels = joined_lists(codes.levels)
    return source.decision(
        _CODES,
        n_numbers=len(codes.numbers),
        numbers=source.array(codes.numbers),
        medians=source.array(codes.medians),
        n_flagged=len(codes.flagged),
        flagged=source.array(codes.flagged),
        n_categories=len(codes.categories),
        categories=source.array(codes.categories),
        start=source.array(start),
        levels=source.array(levels),
        has_missing=source.array(codes.missing_levels),
    )


def _write_maps(source: Source, way: Preparation) -> str:
    if way.quantiles is None or not len(way.quantiles.columns):
        return ""
    source.share(_BELOW)
    source.share(_BETWEEN)
    start, knots = joined_lists(way.quantiles.values)
    names = {
        "$columns": source.array(way.quantiles.columns),
        "$knots": source.array(knots),
        "$scores": source.array(joined_lists(way.quantiles.scores)[1]),
        "$start": source.array(start),
        "$n;": f"{len(way.quantiles.columns)};",
    }
    written = _MAP
    for word, value in names.items():
        written = written.replace(word, value)
    return written

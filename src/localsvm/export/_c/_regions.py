"""Linear SVMs in regions, and kernel SVMs in cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import (
    RIDGE,
    HardRegions,
    LocalCoordinates,
    SoftRegions,
    finds_euclidean,
)
from localsvm.estimators import LocalModel, RegionalModel
from localsvm.export._c._source import Source
from localsvm.export._onnx._families._centers import predicts_nearest

# Squared distance, or more than `enough` if it is more.
_SQUARED = """\
static inline double ${name}_squared(const double *x, const double *z, int n,
                                     double enough)
{
    double sum = 0.0;
    int j;
    for (j = 0; j < n && sum <= enough; ++j) sum += (x[j] - z[j]) * (x[j] - z[j]);
    return sum;
}
"""
_REGIONS = """
    double squared[$n_nearest] = {0.0}, weight[$n_nearest + 1] = {0.0};
    int nearest[$n_nearest + 1] = {0}, l, s, p, j, found = 0;
    for (l = 0; l < $n_regions; ++l) {
        const double bound = found < $n_nearest ? HUGE_VAL : squared[$n_nearest - 1];
        const double own =
            ${name}_squared(row, $centers + l * $n_columns, $n_columns, bound);
        if (!(own < bound)) continue;
        s = found < $n_nearest ? found++ : $n_nearest - 1;
        for (; s > 0 && own < squared[s - 1]; --s) {
            squared[s] = squared[s - 1];
            nearest[s] = nearest[s - 1];
        }
        squared[s] = own;
        nearest[s] = l;
    }
$weigh
    nearest[$n_nearest] = $n_regions;
    weight[$n_nearest] = 1.0;
    for (s = 0; s < $n_nearest; ++s) weight[$n_nearest] -= weight[s];
    for (p = 0; p < $n_outputs; ++p) {
        out[p] = 0.0;
        for (s = 0; s < $n_used; ++s) {
            const double *coef =
                $coef + (nearest[s] * $n_outputs + p) * $n_columns;
            double sum = 0.0;
            if (weight[s] == 0.0) continue;
            for (j = 0; j < $n_columns; ++j) sum += row[j] * coef[j];
            out[p] += weight[s] * (sum + $intercept[nearest[s] * $n_outputs + p]);
        }
    }
"""
_HARD = "    weight[0] = 1.0;"
_SOFTMAX = """\
    {
        double squares = 0.0;
        for (s = 0; s < $n_nearest; ++s) {
            weight[s] = exp(-($tau) * (squared[s] - squared[0])) - $cut;
            if (weight[s] < 0.0) weight[s] = 0.0;
            squares += weight[s] * weight[s];
        }
        for (s = 0; s < $n_nearest; ++s) weight[s] /= sqrt(squares);
    }"""
_INVERSE = """\
    {
        double sum = 0.0;
        for (s = 0; s < $n_nearest; ++s) {
            weight[s] = squared[s] > 0.0 ? sqrt(squared[0]) / sqrt(squared[s]) : 1.0;
            sum += weight[s];
        }
        for (s = 0; s < $n_nearest; ++s) weight[s] /= sum;
    }"""
# (G + ridge) w = 1 with the Gram matrix of the differences, by Gauss's elimination.
_COORDINATES = """\
    {
        double gram[$n_nearest][$n_nearest], trace = 0.0, sum = 0.0;
        int i, t, pivot;
        for (s = 0; s < $n_nearest; ++s) trace += squared[s];
        if (!(trace > 0.0)) trace = 1.0;
        for (s = 0; s < $n_nearest; ++s) {
            weight[s] = 1.0;
            for (t = 0; t < $n_nearest; ++t) {
                gram[s][t] = squared[s] + squared[t];
                gram[s][t] -= ${name}_squared($centers + nearest[s] * $n_columns,
                                              $centers + nearest[t] * $n_columns,
                                              $n_columns, HUGE_VAL);
                gram[s][t] = gram[s][t] / 2.0 / trace + (s == t ? $ridge : 0.0);
            }
        }
        for (s = 0; s < $n_nearest; ++s) {
            pivot = s;
            for (i = s + 1; i < $n_nearest; ++i)
                if (fabs(gram[i][s]) > fabs(gram[pivot][s])) pivot = i;
            for (t = 0; t < $n_nearest; ++t) {
                const double kept = gram[s][t];
                gram[s][t] = gram[pivot][t];
                gram[pivot][t] = kept;
            }
            trace = weight[s];
            weight[s] = weight[pivot];
            weight[pivot] = trace;
            for (i = s + 1; i < $n_nearest; ++i) {
                const double factor = gram[i][s] / gram[s][s];
                for (t = s; t < $n_nearest; ++t) gram[i][t] -= factor * gram[s][t];
                weight[i] -= factor * weight[s];
            }
        }
        for (s = $n_nearest - 1; s >= 0; --s) {
            for (t = s + 1; t < $n_nearest; ++t) weight[s] -= gram[s][t] * weight[t];
            weight[s] /= gram[s][s];
        }
        for (s = 0; s < $n_nearest; ++s) sum += weight[s];
        for (s = 0; s < $n_nearest; ++s) weight[s] /= sum;
    }"""
_CELLS = """
    double decision[$n_pairs] = {0.0}, best = HUGE_VAL;
    int i, j, p, cell = 0;
    for (i = 0; i < $n_points; ++i) {
        const double own =
            ${name}_squared(row, $points + i * $n_columns, $n_columns, best);
        if (own < best) {
            best = own;
            cell = $cell_of[i];
        }
    }
    if ($only_class[cell] >= 0) {
        for (p = 0; p < $n_outputs; ++p)
            out[p] = p + $first_class == $only_class[cell] ? 1.0 : -1.0;
        return;
    }
    {
        const int first = $pair_start[cell], n = $pair_start[cell + 1] - first;
        const int start = $support_start[cell];
        const int count = $support_start[cell + 1] - start;
        for (p = 0; p < n; ++p) decision[p] = $intercept[first + p];
        for (i = 0; i < count; ++i) {
            const double *z = $support + $vector[start + i] * $n_columns;
            double value = 0.0;
$kernel
            for (p = 0; p < n; ++p)
                decision[p] += value * $coef[$coef_start[cell] + p * count + i];
        }
$combine
    }
"""
_ONE_PAIR = "        out[0] = decision[0];"
# A vote per pair, and within equal votes the squeezed sum of the decisions.
_VOTES = """\
        double sum[$n_outputs];
        int present[$n_outputs];
        for (p = 0; p < $n_outputs; ++p) {
            out[p] = sum[p] = 0.0;
            present[p] = 0;
        }
        for (p = 0; p < n; ++p) {
            const int negative = $pairs[2 * (first + p)];
            const int positive = $pairs[2 * (first + p) + 1];
            sum[negative] -= decision[p];
            sum[positive] += decision[p];
            out[decision[p] > 0.0 ? positive : negative] += 1.0;
            present[negative] = present[positive] = 1;
        }
        for (p = 0; p < $n_outputs; ++p)
            out[p] = !present[p]
                         ? -1.0
                         : out[p] + sum[p] / (3.0 * (fabs(sum[p]) + 1.0));"""
_PRODUCT = """\
            for (j = 0; j < $n_columns; ++j) value += row[j] * z[j];
"""
_KERNELS = {
    "linear": _PRODUCT,
    "poly": _PRODUCT
    + """\
            {
                const double base = $gamma[cell] * value + $coef0;
                value = 1.0;
                for (j = 0; j < $degree; ++j) value *= base;
            }
""",
    "rbf": """\
            for (j = 0; j < $n_columns; ++j)
                value += (row[j] - z[j]) * (row[j] - z[j]);
            value = exp(-$gamma[cell] * value);
""",
    "laplace": """\
            {
                double power, sum = 0.0;
                for (j = 0; j < $n_columns; ++j) value += fabs(row[j] - z[j]);
                power = exp(-$gamma[cell] * value);
                for (j = 0; j < 7; ++j) {
                    sum += power;
                    power *= power;
                }
                value = sum / 7.0;
            }
""",
}


def write_regions(source: Source, regions: Any, linear: RegionalModel) -> str:
    """Linear SVMs of the nearest regions."""
    weigh = _weigh(regions)
    source.share(_SQUARED)
    has_rest = bool(linear.coef[-1].any() or linear.intercept[-1].any())
    n_nearest = regions.n_nearest
    return source.decision(
        _REGIONS.replace("$weigh", weigh),
        n_nearest=n_nearest,
        n_used=n_nearest + (has_rest and not isinstance(regions, HardRegions)),
        n_regions=len(regions.centers),
        n_columns=linear.coef.shape[2],
        n_outputs=linear.coef.shape[1],
        tau=repr(float(getattr(regions, "tau", 1.0))),
        cut=repr(float(getattr(regions, "cut", 0.0))),
        ridge=repr(RIDGE),
        centers=_reals(source, regions.centers),
        coef=_reals(source, _of_nodes(linear.coef, len(regions.centers))),
        intercept=_reals(source, _of_nodes(linear.intercept, len(regions.centers))),
    )


def _of_nodes(values: NDArray[Any], n_regions: int) -> NDArray[Any]:
    """Values of each region, then the global ones; those without rows have these."""
    missing = np.repeat(values[-1:], n_regions + 1 - (len(values) - 1), axis=0)
    return np.concatenate([values[:-1], missing])


def _weigh(regions: Any) -> str:
    if isinstance(regions, SoftRegions):
        return _SOFTMAX
    if isinstance(regions, LocalCoordinates):
        return _INVERSE if regions.coding == "inverse_distance" else _COORDINATES
    clusterer = regions.clusterer
    if regions.centers is None or not predicts_nearest(
        clusterer, np.asarray(regions.centers)
    ):
        raise TypeError(
            f"clusterer={type(clusterer).__name__} cannot be written as C: its predict "
            "is not the nearest of cluster_centers_. Use a clusterer whose is, such as "
            "KMeans or SampledKMeans, or n_nearest above 1."
        )
    return _HARD


def write_cells(source: Source, model: LocalModel) -> str:
    """Kernel SVMs of cells; the nearest point finds the cell."""
    _check_cells(model)
    models, kernel = model.models, model.kernel
    source.share(_SQUARED)
    body = _CELLS.replace("$kernel\n", _KERNELS[kernel.name])
    n_outputs = 1 if model.n_classes == 2 else model.n_classes
    body = body.replace("$combine", _ONE_PAIR if n_outputs == 1 else _VOTES)
    return source.decision(
        body,
        n_pairs=max(1, int(np.diff(models.pair_start).max())),
        n_points=len(model.router.rows),
        n_columns=model.router.rows.shape[1],
        n_outputs=n_outputs,
        first_class=int(n_outputs == 1),
        coef0=repr(float(kernel.coef0)),
        degree=kernel.degree,
        points=_reals(source, model.router.rows),
        cell_of=source.array(model.router.regions),
        only_class=source.array(models.only_class),
        pair_start=source.array(models.pair_start),
        pairs=source.array(models.pairs),
        support_start=source.array(models.support_start),
        vector=source.array(models.support),
        coef_start=source.array(models.coef_start),
        coef=source.array(models.coef),
        intercept=source.array(models.intercept),
        gamma=source.array(models.gamma),
        support=_reals(source, model.support_rows),
    )


def _check_cells(model: LocalModel) -> None:
    router = model.router
    if hasattr(router.rows, "toarray"):
        raise TypeError(
            "A model of sparse rows cannot be written as C; expected one that was "
            "fitted to dense rows. Fit to X.toarray()."
        )
    if not finds_euclidean(router.search):
        raise TypeError(
            f"neighbors={router.search!r} cannot be written as C: it searches in its "
            "own way. Use neighbors='auto', 'kd_tree' or 'brute'."
        )
    if model.prior is not None:
        raise TypeError(
            "LocalSVC with a global_model cannot be written as C: its decisions need "
            "that of the global model. Use global_model=None."
        )


def _reals(source: Source, values: Any) -> str:
    return source.array(np.asarray(values, dtype=np.float64))

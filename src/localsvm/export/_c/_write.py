"""C source of a fitted model, complete with labels."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from localsvm._replaced_file import replace_file
from localsvm.estimators import (
    AdditiveSVC,
    BaseLocalSVC,
    BaseRegionalSVC,
    GradientMetric,
    LocalModel,
    ReducedSVC,
    RegionAnswer,
    StagedSVC,
    SumModel,
    SwitchModel,
)
from localsvm.export._c._regions import write_cells, write_regions
from localsvm.export._c._source import Source
from localsvm.export._c._tables import (
    write_additive,
    write_linear,
    write_preparation,
)

_HEAD = """\
/* {estimator} of localsvm {version} as C99: {n_features} columns, {n_classes} classes.

   {name}_predict(row) returns the place of the class of a row in {name}_labels;
   {name}_scores(row, scores) sets the {n_scores} decision values. A row is an array of
   {n_features} doubles. {missing}
   Nothing is allocated and nothing is changed, so threads can share the functions. */
#ifndef {guard}
#define {guard}

#include <math.h>

#define {upper}_N_FEATURES {n_features}
#define {upper}_N_CLASSES {n_classes}
#define {upper}_N_SCORES {n_scores}
"""
_MISSING = {
    True: "NaN stands for a missing value; infinity is not checked for.",
    False: "NaN and infinity are not checked for.",
}
_TAIL = """\
static inline void {name}_scores(const double *row, double *scores)
{{
    {decide}(row, scores);
}}

static inline int {name}_predict(const double *row)
{{
    double scores[{n_scores}];
    int best = 0, c;
    {name}_scores(row, scores);
    if ({n_scores} == 1) return scores[0] > 0.0;
    for (c = 1; c < {n_scores}; ++c)
        if (scores[c] > scores[best]) best = c;
    return best;
}}

#endif
"""
_BEHIND = """
    double prepared[$width];
    $prepare(row, prepared);
    $decide(prepared, out);
"""
_SWITCH = """
    double prepared[$width];
    $prepare(row, prepared);
$first
    $second(prepared, out);
$scale
"""
_DOUBT_OF_ONE = """\
    $decide(prepared, out);
    if (!(fabs(out[0]) <= $threshold)) return;"""
_DOUBT_OF_MANY = """\
    {
        double best = -HUGE_VAL, next = -HUGE_VAL;
        int c;
        $decide(prepared, out);
        for (c = 0; c < $n_outputs; ++c) {
            if (out[c] > best) {
                next = best;
                best = out[c];
            } else if (out[c] > next) {
                next = out[c];
            }
        }
        if (!(best - next <= $threshold)) return;
    }"""
_SCALE = """\
    {
        int c;
        for (c = 0; c < $n_outputs; ++c) out[c] = 2.0 * out[c] / $n_others - 1.0;
    }"""


def to_c(model: Any, *, name: str = "model") -> str:
    """Turn a fitted model into C source that gives the same labels.

    One self-contained C99 header, without allocation and with no dependency but
    ``math.h``: for devices that have neither Python nor an ONNX runtime.

    Parameters
    ----------
    model : fitted estimator
        AdditiveSVC, ClusteredSVC, ClusteredSVCCV, LocallyLinearSVC, LocalSVC,
        LocalSVCCV, ReducedSVC with a linear kernel, or StagedSVC, fitted to dense rows.
        Small files have LocalSVC with ``route="center"`` and the others; that of
        ``route="row"`` holds all training rows.
    name : str, default="model"
        Prefix of the functions.

    Returns
    -------
    str
        The functions ``NAME_predict`` and ``NAME_scores`` of one row of doubles, and
        the array ``NAME_labels``.

    Raises
    ------
    TypeError
        If the model, its metric, its clusterer or its search has no counterpart in C.

    See Also
    --------
    write_c : Writes it to a file.
    to_onnx : A graph, which takes pipelines and tables, too.
    localsvm.compile : The same speed from Python.

    Notes
    -----
    It computes in double. Scores are those of the model for rows of float64 to
    rounding, so labels may differ on rows that lie on a border to the last digits; of
    models that were fitted to float32, within 1e-5 of a border.

    Examples
    --------
    >>> from localsvm import AdditiveSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.export import to_c
    >>> X, y = make_xor(400, random_state=0)
    >>> source = to_c(AdditiveSVC(random_state=0).fit(X, y), name="xor")
    >>> "static inline int xor_predict(const double *row)" in source
    True
    """
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(
            f"name must begin with a letter and hold letters, digits and '_' only. Got "
            f"{name!r}."
        )
    source = Source(name)
    decide = _write_model(source, model)
    n_classes = len(model.classes_)
    words = {
        "name": name,
        "upper": name.upper(),
        "guard": f"LOCALSVM_{name.upper()}_H",
        "estimator": type(model).__name__,
        "version": _version(),
        "n_features": model.n_features_in_,
        "n_classes": n_classes,
        "n_scores": 1 if n_classes == 2 else n_classes,
        "missing": _MISSING[bool(model._allows_nan)],
        "decide": decide,
    }
    labels = _labels(name, model.classes_)
    return "\n".join(
        [_HEAD.format(**words), labels, source.text, _TAIL.format(**words)]
    )


def write_c(model: Any, path: str | os.PathLike[str], *, name: str = "model") -> None:
    """Write the source of :func:`to_c` to a file.

    Parameters
    ----------
    model : fitted estimator
        As for :func:`to_c`.
    path : path
        A file of that name is replaced at once or, if anything fails, not at all.
    name : str, default="model"
        Prefix of the functions.

    See Also
    --------
    to_c : The source itself, and what it promises.
    """
    replace_file(path, [to_c(model, name=name).encode()])


def _version() -> str:
    from localsvm import __version__

    return __version__


def _labels(name: str, classes: NDArray[Any]) -> str:
    """Labels as numbers or texts."""
    head = f"{name}_labels[{len(classes)}] = "
    if classes.dtype.kind in "bui":
        written = [str(int(label)) for label in classes]
        return f"static const long long {head}{{{', '.join(written)}}};"
    if classes.dtype.kind == "f":
        written = [repr(float(label)) for label in classes]
        return f"static const double {head}{{{', '.join(written)}}};"
    written = [_quoted(str(label)) for label in classes]
    return f"static const char *const {head}{{{', '.join(written)}}};"


def _quoted(text: str) -> str:
    """Give a string literal of the text in UTF-8."""
    letters = [
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode()
    ]
    return f'"{"".join(letters)}"'


def _write_model(source: Source, model: Any) -> str:
    """Functions of a model, behind its metric if it has one."""
    check_kind(model)
    check_is_fitted(model)
    decide = _write_own(source, model)
    metric = getattr(model, "metric_", None)
    if metric is None:
        return decide
    if not isinstance(metric, GradientMetric):
        raise TypeError(
            f"metric={type(metric).__name__} cannot be written as C; expected a "
            "GradientMetric or none."
        )
    components = np.asarray(metric.components_).T
    prepare = write_linear(source, components, np.zeros(len(components)))
    return source.decision(
        _BEHIND, width=len(components), prepare=prepare, decide=decide
    )


def check_kind(model: Any) -> None:
    """Raise unless the model is an estimator that can be written as C."""
    known = (AdditiveSVC, BaseRegionalSVC, BaseLocalSVC, ReducedSVC, StagedSVC)
    if isinstance(model, known):
        return
    hint = "."
    if hasattr(model, "steps"):
        names = ", ".join(type(step).__name__ for _, step in model.steps)
        hint = f" alone, not the steps {names}. Write model[-1], for rows that the "
        hint += "other steps have transformed, or use localsvm.export.write_onnx."
    raise TypeError(
        f"{type(model).__name__} cannot be written as C; expected AdditiveSVC, "
        "ClusteredSVC, LocalSVC, LocallyLinearSVC, ReducedSVC with kernel='linear' or "
        f"StagedSVC{hint}"
    )


def _write_own(source: Source, model: Any) -> str:
    kept = model._model
    if isinstance(model, AdditiveSVC):
        return write_additive(source, kept)
    if isinstance(model, BaseRegionalSVC):
        return write_regions(source, model.regions_, kept)
    if isinstance(model, BaseLocalSVC):
        return write_cells(source, kept)
    if isinstance(model, StagedSVC):
        if isinstance(kept, SumModel):
            return _write_sum(source, kept, model.n_features_in_)
        return _write_switch(source, kept, model)
    if not kept.is_linear:
        raise TypeError(
            f"ReducedSVC with kernel={kept.kernel.name!r} cannot be written as C; "
            "expected kernel='linear'. Use localsvm.export.write_onnx."
        )
    return write_linear(source, kept.coef, kept.intercept)


def _write_term(source: Source, model: Any) -> str:
    if isinstance(model, LocalModel):
        return write_cells(source, model)
    assert isinstance(model, RegionAnswer)
    return write_regions(source, model.regions, model.linear)


def _write_sum(source: Source, model: SumModel, n_columns: int) -> str:
    """Weighted terms; those of one preparation share its rows."""
    n_outputs = len(model.weights.bias)
    bias = source.array(np.array(model.weights.bias))
    body = [f"    double own[{n_outputs}];", "    int p;"]
    calls = [f"    for (p = 0; p < {n_outputs}; ++p) out[p] = {bias}[p];"]
    prepared: dict[int, str] = {}
    for term, weight in model.weights.of_terms.items():
        rows = "row"
        if term == "additive":
            assert model.additive is not None
            decide = write_additive(source, model.additive)
        else:
            way = model.terms[term].preparation
            decide = _write_term(source, model.terms[term].model)
            if id(way) not in prepared:
                rows = prepared[id(way)] = f"prepared{len(prepared)}"
                prepare = write_preparation(source, way, n_columns)
                body.append(f"    double {rows}[{len(way.offset)}];")
                calls.append(f"    {prepare}(row, {rows});")
            rows = prepared[id(way)]
        calls.append(f"    {decide}({rows}, own);")
        calls.append(
            f"    for (p = 0; p < {n_outputs}; ++p) out[p] += {weight!r} * own[p];"
        )
    return source.decision("\n".join(body + calls))


def _write_switch(source: Source, model: SwitchModel, estimator: StagedSVC) -> str:
    """First stage, and the second where the first is in doubt."""
    way = model.preparation
    prepare = write_preparation(source, way, estimator.n_features_in_)
    first = write_regions(source, model.regions, model.first)
    words = {"width": len(way.offset), "prepare": prepare, "decide": first}
    if model.second is None:
        return source.decision(_BEHIND, **words)
    n_outputs = 1 if len(estimator.classes_) == 2 else len(estimator.classes_)
    doubt = _DOUBT_OF_ONE if n_outputs == 1 else _DOUBT_OF_MANY
    body = _SWITCH.replace("$first", "" if np.isinf(model.threshold) else doubt)
    body = body.replace("$scale", "" if n_outputs == 1 else _SCALE)
    return source.decision(
        body,
        **words,
        second=write_cells(source, model.second),
        threshold=repr(float(model.threshold)),
        n_outputs=n_outputs,
        n_others=repr(float(n_outputs - 1)),
    )

"""Fitted objects of the fixed table to plain data and back."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from localsvm.state._fields import Field
from localsvm.state._params import read_params, write_params
from localsvm.state._specs import (
    Spec,
    find_spec,
    named_spec,
    read_fields,
    write_fields,
)
from localsvm.state._store import Dims, Sink, Source

_DEEPEST = 40
_OUTPUT = "_sklearn_output_config"
# What updates need; a file holds it only if that is asked for.
_KEPT = "_kept"
_OUTPUTS = ("default", "pandas", "polars")


def write_object(value: Any, place: str, sink: Sink, *kinds: str) -> dict[str, Any]:
    """Write a fitted object of one of the kinds."""
    spec = find_spec(value)
    if spec is None or not spec.fields or spec.kind not in kinds:
        raise TypeError(
            f"{place} is a {type(value).__name__}, which a model file cannot hold; "
            f"{remedy_for(value)}."
        )
    dims = Dims()
    values = _fitted_values(spec, value, place, keep=sink.keeps_rows)
    plain = {
        "class": spec.name,
        "params": write_params(spec, value, place, sink, fitted=True),
        "fitted": write_fields(spec.fields, values, place, sink, dims),
    }
    _check(spec, value, values, place, dims)
    output = vars(value).get(_OUTPUT)
    return plain if not output else plain | {"output": output["transform"]}


def remedy_for(value: Any) -> str:
    """Say what to do with an object that the table does not know."""
    if hasattr(value, "best_estimator_"):
        return "save its best_estimator_"
    if hasattr(value, "best_threshold_"):
        return "save its estimator_ and note its best_threshold_, or use joblib"
    return "use joblib or skops"


def read_object(plain: Any, place: str, source: Source, *kinds: str) -> Any:
    """Rebuild a fitted object of one of the kinds."""
    if place.count(".") > _DEEPEST:
        raise ValueError(f"{place:.100} is nested too deeply.")
    required = {"class", "params", "fitted"}
    if not isinstance(plain, dict) or not required <= set(plain) <= required | {
        "output"
    }:
        raise ValueError(f"{place} is {plain!r:.60}; expected an object.")
    spec = named_spec(plain["class"])
    if spec is None or not spec.fields or spec.kind not in kinds:
        raise ValueError(
            f"{place} is of the class {plain['class']!r:.60}; expected a known "
            f"{' or '.join(kinds)}."
        )
    unfitted = read_params(spec, plain["params"], place, source, fitted=True)
    dims = Dims()
    values = read_fields(spec.fields, plain["fitted"], place, source, dims)
    _check(spec, unfitted, values, place, dims)
    fitted = spec.make(unfitted, values, dims)
    if "output" not in plain:
        return fitted
    if plain["output"] not in _OUTPUTS or not hasattr(fitted, "set_output"):
        raise ValueError(f"{place} has the output {plain['output']!r:.60}.")
    return fitted.set_output(transform=plain["output"])


class Part(Field):
    """A fitted object inside another.

    Parameters
    ----------
    *kinds : str
    columns : str, default=""
        Name of the length that the number of its columns has to be.
    known_only : bool, default=False
        Whether to leave out, as None, what the table does not know: for what tells of
        the fit and takes no part in predictions.
    """

    def __init__(
        self, *kinds: str, columns: str = "", known_only: bool = False
    ) -> None:
        self._kinds, self._columns, self._known_only = kinds, columns, known_only

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the object."""
        spec = find_spec(value)
        if self._known_only and (spec is None or not spec.fields):
            return None
        plain = write_object(value, place, sink, *self._kinds)
        self._bind(value, place, dims)
        return plain

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Rebuild the object."""
        if self._known_only and plain is None:
            return None
        value = read_object(plain, place, source, *self._kinds)
        self._bind(value, place, dims)
        return value

    def _bind(self, value: Any, place: str, dims: Dims) -> None:
        if self._columns:
            dims.bind(self._columns, columns_of(value, place), place)


class Metric(Field):
    """Transformer of the columns, or None; sets the number of mapped columns."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the transformer."""
        plain = None
        if value is not None:
            plain = write_object(value, place, sink, "transformer", "pipeline")
        _bind_width(value, place, dims)
        return plain

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Rebuild the transformer."""
        value = None
        if plain is not None:
            value = read_object(plain, place, source, "transformer", "pipeline")
        _bind_width(value, place, dims)
        return value


def columns_of(value: Any, place: str) -> int:
    """Columns that a fitted object takes; of a pipeline, its first step that is one."""
    while isinstance(value, Pipeline):
        present = [step for _, step in value.steps if step not in (None, "passthrough")]
        value = present[0]
    columns = getattr(value, "n_features_in_", None)
    if columns is None:
        raise ValueError(f"{place} does not say how many columns it takes.")
    return int(columns)


def classes_of(value: Any, place: str) -> Any:
    """Classes of a fitted object, which has to give decisions."""
    if not hasattr(value, "classes_") or not hasattr(value, "decision_function"):
        raise ValueError(f"{place} is a {type(value).__name__}, which decides nothing.")
    return value.classes_


def width_of(transformer: Any, place: str) -> int:
    """Columns that a fitted transformer of the table gives."""
    spec = find_spec(transformer)
    if spec is None or spec.kind not in ("transformer", "pipeline"):
        raise ValueError(
            f"{place} is a {type(transformer).__name__}; expected a transformer."
        )
    return spec.width(transformer)


def _bind_width(metric: Any, place: str, dims: Dims) -> None:
    if metric is None:
        dims.bind("mapped_columns", dims["columns"], place)
        return
    dims.bind("columns", columns_of(metric, place), place)
    dims.bind("mapped_columns", width_of(metric, place), place)


def _fitted_values(spec: Spec, value: Any, place: str, *, keep: bool) -> dict[str, Any]:
    params = spec.params(value)
    values = {name: each for name, each in vars(value).items() if name not in params}
    values.pop(_OUTPUT, None)
    kept = values.pop(_KEPT, None)
    if keep and kept is not None:
        values[_KEPT] = kept
    strange = set(values) - set(spec.fields) - spec.left_out
    # None of ours is to be forgotten.
    if spec.is_ours and strange:
        raise TypeError(
            f"{place} has the attribute {min(strange)!r}, which a model file does not "
            f"know of a {spec.name}."
        )
    for name in spec.fields:
        if name not in values and name != _KEPT and hasattr(value, name):
            values[name] = getattr(value, name)
    return spec.take(values)


def _check(
    spec: Spec, model: Any, values: dict[str, Any], place: str, dims: Dims
) -> None:
    try:
        spec.check(model, values, dims)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error

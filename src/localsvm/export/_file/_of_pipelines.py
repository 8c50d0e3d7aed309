"""Pipelines of steps that a model file knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from localsvm.state import (
    Dims,
    Field,
    Sink,
    Source,
    Spec,
    columns_of,
    find_spec,
    read_object,
    remedy_for,
    width_of,
    write_object,
)

_KINDS = ("transformer", "pipeline", "classifier", "linear", "calibrated")
_EMPTY = (None, "passthrough")


class _Steps(Field):
    """Named steps: transformers, and anything last; each takes what the last gives."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the steps."""
        plain = [[name, _write_step(name, step, place, sink)] for name, step in value]
        _check_widths(value, place)
        return plain

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Rebuild the steps."""
        if not isinstance(plain, list) or not plain:
            raise ValueError(f"{place} is {plain!r:.60}; expected a list of steps.")
        steps = [_read_step(entry, place, source) for entry in plain]
        if len({name for name, _ in steps}) < len(steps):
            raise ValueError(f"{place} has several steps of one name.")
        _check_widths(steps, place)
        return steps


def _write_step(name: str, step: Any, place: str, sink: Sink) -> Any:
    if step in _EMPTY:
        return step
    spec = find_spec(step)
    if spec is None or not spec.fields:
        raise TypeError(
            f"step {name!r} of the pipeline is a {type(step).__name__}, which a model "
            f"file cannot hold; {remedy_for(step)}."
        )
    return write_object(step, f"{place}.{name}", sink, *_KINDS)


def _read_step(entry: Any, place: str, source: Source) -> tuple[str, Any]:
    if (
        not isinstance(entry, list)
        or len(entry) != 2
        or not isinstance(entry[0], str)
        or not entry[0]
        or "__" in entry[0]
    ):
        raise ValueError(f"{place} has the step {entry!r:.60}; expected a name and it.")
    name, plain = entry
    if plain is None or plain == "passthrough":
        return name, plain
    return name, read_object(plain, f"{place}.{name}", source, *_KINDS)


def _check_widths(steps: Any, place: str) -> None:
    """Raise a ValueError unless each step takes as many columns as it is given."""
    width = None
    present = [(name, step) for name, step in steps if step not in _EMPTY]
    if not present:
        raise ValueError(f"{place} has no step.")
    for i, (name, step) in enumerate(present):
        columns = columns_of(step, f"{place}.{name}")
        if width is not None and columns != width:
            raise ValueError(
                f"{place}.{name} takes {columns} columns, but is given {width}."
            )
        if i < len(present) - 1:
            width = width_of(step, f"{place}.{name}")


def _blank(**params: Any) -> Pipeline:
    return Pipeline([], **params)


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    unfitted.steps = values["steps"]
    return unfitted


def _width(pipeline: Any) -> int:
    last = [step for _, step in pipeline.steps if step not in _EMPTY][-1]
    return width_of(last, "the last step of a pipeline")


SPECS = (
    Spec(
        Pipeline,
        "pipeline",
        {"steps": _Steps()},
        make=_make,
        blank=_blank,
        width=_width,
    ),
)

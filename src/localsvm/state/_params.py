"""Parameters of objects: plain values, and objects that are not fitted."""

from __future__ import annotations

import inspect
from numbers import Integral
from typing import Any

import numpy as np

from localsvm.state._fields import Array, Number, Whole
from localsvm.state._specs import Spec, find_spec, named_spec, read_fields
from localsvm.state._store import Dims, Sink, Source
from localsvm.state._values import read_value, write_value

_DEEPEST = 40
_MOST_JOBS = 4096
# Of what a transformer gives.
_TYPES: dict[str, type] = {
    cls.__name__: cls
    for cls in (np.float64, np.float32, np.int64, np.int32, np.int8, np.uint8)
}
_TYPE_NAMES = tuple(_TYPES)
# State of NumPy's Mersenne Twister.
_RANDOM_STATE = {
    "key": Array((np.uint32,), 624),
    "pos": Whole(0, 624),
    "has_gauss": Whole(0, 1),
    "gauss": Number(),
}


def write_params(
    spec: Spec, value: Any, place: str, sink: Sink, *, fitted: bool
) -> dict[str, Any]:
    """Parameters of an object; of a fitted one, those that are not among its fields.

    Those of other libraries are left out where they have their default, since they come
    and go with versions.
    """
    _check(spec, value, place)
    known = inspect.signature(spec.cls).parameters
    return {
        name: _write_param(each, f"{place}.{name}", sink)
        for name, each in spec.params(value).items()
        if not (fitted and name in spec.fields)
        and (spec.is_ours or not _is_default(each, known[name].default))
    }


def read_params(
    spec: Spec, plain: Any, place: str, source: Source, *, fitted: bool
) -> Any:
    """Object with its parameters."""
    if not isinstance(plain, dict):
        raise ValueError(f"{place} has the parameters {plain!r:.60}.")
    known = inspect.signature(spec.cls).parameters
    params = {}
    for name, content in plain.items():
        if name not in known or (fitted and name in spec.fields):
            raise ValueError(
                f"{place} has the parameter {name!r:.60}, which is unknown."
            )
        params[name] = _read_param(content, f"{place}.{name}", source)
    make = spec.blank if fitted and spec.blank is not None else spec.cls
    try:
        value = make(**params)
    except TypeError as error:
        raise ValueError(f"{place} lacks parameters: {error}") from error
    _check(spec, value, place)
    return value


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    simple = (bool, int, float, str)
    return (
        type(value) is type(default)
        and isinstance(value, simple)
        and (value == default)
    )


def _write_param(value: Any, place: str, sink: Sink) -> Any:
    # Only what is frozen is fitted, so the two modules need each other.
    from localsvm.state._objects import write_object

    def write_other(value: Any, place: str) -> Any:
        if isinstance(value, np.random.RandomState):
            return {"random_state": _write_random_state(value, place, sink)}
        if isinstance(value, type) and value in _TYPES.values():
            return {"type": value.__name__}
        spec = find_spec(value)
        if spec is None:
            raise TypeError(
                f"{place} is a {type(value).__name__}, which a model file cannot hold; "
                "use joblib or skops."
            )
        if spec.kind == "frozen":
            return write_object(value, place, sink, "frozen")
        params = write_params(spec, value, place, sink, fitted=False)
        return {"class": spec.name, "params": params}

    return write_value(value, place, sink, write_other)


def _read_param(plain: Any, place: str, source: Source) -> Any:
    from localsvm.state._objects import read_object

    def read_other(plain: dict[str, Any], place: str) -> Any:
        if set(plain) == {"random_state"}:
            return _read_random_state(plain["random_state"], place, source)
        if set(plain) == {"type"} and plain["type"] in _TYPE_NAMES:
            return _TYPES[plain["type"]]
        spec = named_spec(plain.get("class"))
        if spec is not None and spec.kind == "frozen":
            return read_object(plain, place, source, "frozen")
        if spec is None or set(plain) != {"class", "params"}:
            raise ValueError(f"{place} is {plain!r:.60}, which stands for nothing.")
        if place.count(".") > _DEEPEST:
            raise ValueError(f"{place:.100} is nested too deeply.")
        return read_params(spec, plain["params"], place, source, fitted=False)

    return read_value(plain, place, source, read_other)


def _check(spec: Spec, value: Any, place: str) -> None:
    """Raise a ValueError for parameters that ``fit`` would not take."""
    n_jobs = getattr(value, "n_jobs", None)
    if n_jobs is not None and not (
        isinstance(n_jobs, Integral) and 0 < abs(int(n_jobs)) <= _MOST_JOBS
    ):
        raise ValueError(f"{place}.n_jobs is {n_jobs!r:.40}; expected None or an int.")
    if spec.is_ours and hasattr(value, "_check_parameters"):
        value._check_parameters()


def _write_random_state(value: np.random.RandomState, place: str, sink: Sink) -> Any:
    state: Any = value.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise TypeError(
            f"{place} has the bit generator {state['bit_generator']}, which a model "
            "file cannot hold; expected MT19937."
        )
    flat = state | state["state"]
    dims = Dims()
    return {
        name: field.write(flat[name], f"{place}.{name}", sink, dims)
        for name, field in _RANDOM_STATE.items()
    }


def _read_random_state(plain: Any, place: str, source: Source) -> np.random.RandomState:
    flat = read_fields(_RANDOM_STATE, plain, place, source, Dims())
    value = np.random.RandomState()
    value.set_state(
        {
            "bit_generator": "MT19937",
            "state": {"key": flat["key"], "pos": flat["pos"]},
            "has_gauss": flat["has_gauss"],
            "gauss": flat["gauss"],
        }
    )
    return value

"""Where EM on partitions is, as plain arrays that a checkpoint holds."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from localsvm.engine import Statistics
from localsvm.estimators._mixture.gates import (
    CenterGate,
    Gate,
    SoftmaxGate,
    TwoLevelGate,
)
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.watch import EMWatch

_HISTORY = "history"
_WATCHED = ("best_step", "mass", "sizes", "class_counts")


def model_arrays(model: MixtureModel) -> Statistics:
    """Arrays of a mixture, for :func:`model_of`."""
    return _gate_arrays(model.gate) | {
        "coef": model.coef,
        "intercept": model.intercept,
    }


def model_of(arrays: Statistics, dtype: Any) -> MixtureModel:
    """Mixture of such arrays."""
    return MixtureModel(_gate_of(arrays), arrays["coef"], arrays["intercept"], dtype)


def watch_arrays(watch: EMWatch) -> Statistics:
    """Arrays of a course, for :func:`restore_watch`."""
    assert watch.best is not None
    own = {name: np.asarray(getattr(watch, name)) for name in _WATCHED}
    history = {name: np.array(each) for name, each in watch.history.items()}
    return own | nested(_HISTORY, history) | nested("best", model_arrays(watch.best))


def restore_watch(watch: EMWatch, arrays: Statistics, dtype: Any) -> None:
    """Let a course go on from such arrays."""
    for name in _WATCHED:
        setattr(watch, name, arrays[name])
    watch.best_step = int(watch.best_step)
    watch.best = model_of(inner(arrays, "best"), dtype)
    watch.history = {
        name: each.tolist() for name, each in inner(arrays, _HISTORY).items()
    }


def nested(name: str, arrays: Statistics) -> Statistics:
    """Put a name before the names of arrays."""
    return {f"{name}:{key}": array for key, array in arrays.items()}


def inner(arrays: Statistics, name: str) -> Statistics:
    """Arrays that :func:`nested` has put under a name."""
    prefix = f"{name}:"
    return {
        key.removeprefix(prefix): array
        for key, array in arrays.items()
        if key.startswith(prefix)
    }


def _gate_arrays(gate: Gate) -> Statistics:
    if isinstance(gate, TwoLevelGate):
        found = nested("top", _gate_arrays(gate.top))
        for number, group in enumerate(gate.groups):
            found |= nested(f"group{number}", _gate_arrays(group))
        return found
    assert isinstance(gate, SoftmaxGate | CenterGate)
    own = {each.name: np.asarray(getattr(gate, each.name)) for each in fields(gate)}
    return nested("gate", own)


def _gate_of(arrays: Statistics) -> Gate:
    if top := inner(arrays, "top"):
        groups: list[SoftmaxGate | CenterGate] = []
        while own := inner(arrays, f"group{len(groups)}"):
            groups.append(_one_level(own))
        return TwoLevelGate(_one_level(top), tuple(groups))
    return _one_level(arrays)


def _one_level(arrays: Statistics) -> SoftmaxGate | CenterGate:
    own = inner(arrays, "gate")
    if "centers" not in own:
        return SoftmaxGate(own["coef"], own["intercept"])
    return CenterGate(own["centers"], float(own["tau"]), own["prior"])

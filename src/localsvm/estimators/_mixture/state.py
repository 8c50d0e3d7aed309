"""What a model file keeps of mixtures and their gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localsvm.estimators._held_out.state import MAPPED_HELD_OUT
from localsvm.estimators._mixture import (
    CenterGate,
    LinearGate,
    MixtureModel,
    MixtureSVC,
    PaperGate,
    SoftmaxGate,
    TwoLevelGate,
)
from localsvm.state import (
    MAPPED_CLASSIFIER,
    REGIONS,
    Array,
    Dims,
    Either,
    Flag,
    Number,
    Part,
    Record,
    Report,
    Several,
    Sink,
    Source,
    Spec,
    Whole,
    Word,
    doubles,
    indices,
)

_TINY = float(np.finfo(np.float64).tiny)


def _one_level(axis: str) -> Either:
    return Either(
        softmax=(
            LinearGate,
            Record(
                LinearGate,
                coef=doubles(axis, "mapped_columns"),
                intercept=doubles(axis),
            ),
        ),
        centers=(
            CenterGate,
            Record(
                CenterGate,
                centers=doubles(axis, "mapped_columns"),
                tau=Number(0.0),
                prior=Array((np.float64,), axis, low=_TINY),
            ),
        ),
    )


def _check_groups(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    """Raise unless every group has components, and all of them have one."""
    del model
    gate = values["_model"].gate
    if not isinstance(gate, TwoLevelGate):
        return
    if not all(group.n_components for group in gate.groups):
        raise ValueError("_model.gate has a group without components.")
    dims.bind("groups", len(gate.groups), "_model.gate.groups")
    dims.bind("regions", gate.n_components, "_model.gate")


class _Precision(Word):
    """Type in which rows are evaluated."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write its name."""
        return super().read(np.dtype(value).name, place, Source({}), dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read its name."""
        return np.dtype(super().read(plain, place, source, dims))


_GATE = Either(
    one=((LinearGate, CenterGate), _one_level("regions")),
    two=(
        TwoLevelGate,
        Record(
            TwoLevelGate,
            top=_one_level("groups"),
            groups=Several(_one_level("components"), "mapped_columns"),
        ),
    ),
)
SPECS = (
    Spec(SoftmaxGate, "gate"),
    Spec(PaperGate, "gate"),
    Spec(
        MixtureSVC,
        "classifier",
        {
            **MAPPED_CLASSIFIER,
            **MAPPED_HELD_OUT,
            **REGIONS,
            "clusterer_": Part("clusterer", columns="mapped_columns", known_only=True),
            "_model": Record(
                MixtureModel,
                gate=_GATE,
                coef=doubles("regions", "tasks", "mapped_columns"),
                intercept=doubles("regions", "tasks"),
                dtype=_Precision("float32", "float64"),
            ),
            "component_mass_": doubles("regions"),
            "history_": Report(),
            "n_em_steps_": Whole(0),
            "em_step_": Whole(0),
            "n_iter_": Whole(0),
            "converged_": Flag(),
            "C_": Number(0.0),
            "tau_": Number(0.0),
            "intercept_scaling_": Number(),
            "duality_gap_": Number(finite=False),
            "n_support_": indices("classes"),
        },
        check=_check_groups,
    ),
)

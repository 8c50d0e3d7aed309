"""The course of EM: history, when to stop, which step to keep, checkpoints."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Arrays, Checkpoint
from localsvm.estimators._mixture.blocks import Expectation
from localsvm.estimators._mixture.em.experts import Seen
from localsvm.estimators._mixture.gates import (
    CenterGate,
    Gate,
    LinearGate,
    TwoLevelGate,
)
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.settings import FitOptions

_STAGES = ("expect", "gate", "solve")

# Name of the state of EM in a checkpoint.
_STATE = "em"


@dataclass(frozen=True)
class BestStep:
    """The step of EM that is kept.

    Attributes
    ----------
    step : int
        Its number; the start is 0.
    model : MixtureModel
    mass : ndarray of shape (n_components,)
    sizes : ndarray of shape (n_components,)
    class_counts : ndarray of shape (n_components, n_classes)
        As in :class:`Expectation`.
    """

    step: int
    model: MixtureModel
    mass: NDArray[np.float64]
    sizes: NDArray[np.intp]
    class_counts: NDArray[np.float64]


@dataclass
class EMWatch:
    """Follows EM step by step.

    Attributes
    ----------
    options : FitOptions
    patience : int
        Steps without improvement after which to stop.
    history : dict of lists
        One entry per step, the start first.
    best : BestStep or None
        None before the first step.
    """

    options: FitOptions
    patience: int
    history: dict[str, list[Any]] = field(default_factory=dict)
    best: BestStep | None = None
    _last: float = field(default_factory=time.perf_counter)
    _spent: dict[str, float] = field(default_factory=dict)

    @property
    def n_steps(self) -> int:
        """Steps in the history, the start included."""
        return len(self.history.get("log_likelihood", []))

    @property
    def kept(self) -> BestStep:
        """The best step so far."""
        assert self.best is not None
        return self.best

    @property
    def is_over(self) -> bool:
        """Whether EM ends with the last step that was recorded."""
        step, options = self.n_steps - 1, self.options
        return (
            self.converged
            or step == options.em_max_iter
            or step - self.kept.step >= self.patience
            or options.clock.remaining() == 0
        )

    @property
    def converged(self) -> bool:
        """Whether the likelihood rises by less than the tolerance."""
        likelihood = self.history["log_likelihood"]
        sizes = self.history["n_regions"]
        if len(likelihood) < 2 or sizes[-1] != sizes[-2]:
            return False
        total_weight = self.kept.mass.sum()
        rise = likelihood[-1] - likelihood[-2]
        return bool(rise <= self.options.em_tol * total_weight)

    def record(self, model: MixtureModel, found: Expectation, penalty: float) -> None:
        """Add a step to the history, and keep it if it is the best."""
        step = self.n_steps
        entry = {
            "log_likelihood": found.log_likelihood - penalty,
            "accuracy": found.accuracy,
            "n_regions": model.n_components,
        }
        if found.validation_accuracy is not None:
            entry["validation_accuracy"] = found.validation_accuracy
        for name, value in (entry | self._seconds()).items():
            self.history.setdefault(name, []).append(value)
        # Without validation rows the last step is the best.
        scores = self.history.get("validation_accuracy")
        if scores is None or step == 0 or scores[-1] > max(scores[:-1]):
            self.best = BestStep(
                step, model, found.mass, found.sizes, found.class_counts
            )

    def resume(self, saved: SavedEM) -> None:
        """Continue from a checkpoint."""
        self.history, self.best = saved.history, saved.best

    def _seconds(self) -> dict[str, float]:
        """Time since the step before, and what of it the stages took."""
        now, spent = time.perf_counter(), self.options.clock.seconds
        seconds = {"seconds": now - self._last}
        for stage in _STAGES:
            total = spent.get(stage, 0.0)
            seconds[f"{stage}_seconds"] = total - self._spent.get(stage, 0.0)
            self._spent[stage] = total
        self._last = now
        return seconds


class Progress(Protocol):
    """Where EM is; see :class:`~localsvm.estimators._mixture.em.loop.EMState`."""

    @property
    def model(self) -> MixtureModel: ...
    @property
    def seen(self) -> Seen: ...
    @property
    def n_done(self) -> int: ...


@dataclass(frozen=True)
class SavedEM:
    """State of EM that a checkpoint held.

    Attributes
    ----------
    model : MixtureModel
    seen : Seen
        What the last SVMs saw.
    n_done : int
    history : dict of lists
    best : BestStep
    """

    model: MixtureModel
    seen: Seen
    n_done: int
    history: dict[str, list[Any]]
    best: BestStep


def save_em(checkpoint: Checkpoint | None, state: Progress, watch: EMWatch) -> None:
    """Write down where EM is, if there is a checkpoint."""
    if checkpoint is None:
        return
    best, seen = watch.kept, state.seen
    arrays: Arrays = {
        "n_done": np.array(state.n_done),
        "step": np.array([seen.step]),
        "cutoff": np.array(seen.cutoff),
        "ids": seen.ids,
        "sizes": seen.sizes,
    }
    arrays |= _nested("model", _model_arrays(state.model))
    arrays |= _nested("best", _model_arrays(best.model))
    arrays |= {
        f"best_{name}": np.asarray(getattr(best, name))
        for name in ("step", "mass", "sizes", "class_counts")
    }
    history = {name: np.array(each) for name, each in watch.history.items()}
    checkpoint.save(_STATE, arrays | _nested("history", history), now=True)


def load_em(checkpoint: Checkpoint | None, dtype: Any) -> SavedEM | None:
    """Read what :func:`save_em` wrote, or None."""
    arrays = checkpoint.load(_STATE) if checkpoint is not None else None
    if arrays is None:
        return None
    return SavedEM(
        _model_of(_inner(arrays, "model"), dtype),
        Seen(
            str(arrays["step"][0]),
            float(arrays["cutoff"]),
            arrays["ids"],
            arrays["sizes"],
        ),
        int(arrays["n_done"]),
        {name: each.tolist() for name, each in _inner(arrays, "history").items()},
        BestStep(
            int(arrays["best_step"]),
            _model_of(_inner(arrays, "best"), dtype),
            arrays["best_mass"],
            arrays["best_sizes"],
            arrays["best_class_counts"],
        ),
    )


def _model_arrays(model: MixtureModel) -> Arrays:
    own = {"coef": model.coef, "intercept": model.intercept}
    return _gate_arrays(model.gate) | own


def _model_of(arrays: Arrays, dtype: Any) -> MixtureModel:
    return MixtureModel(_gate_of(arrays), arrays["coef"], arrays["intercept"], dtype)


def _nested(name: str, arrays: Arrays) -> Arrays:
    """Put a name before the names of arrays."""
    return {f"{name}:{key}": array for key, array in arrays.items()}


def _inner(arrays: Arrays, name: str) -> Arrays:
    """Arrays that :func:`_nested` has put under a name."""
    prefix = f"{name}:"
    return {
        key.removeprefix(prefix): array
        for key, array in arrays.items()
        if key.startswith(prefix)
    }


def _gate_arrays(gate: Gate) -> Arrays:
    if isinstance(gate, TwoLevelGate):
        found = _nested("top", _gate_arrays(gate.top))
        for number, group in enumerate(gate.groups):
            found |= _nested(f"group{number}", _gate_arrays(group))
        return found
    assert isinstance(gate, LinearGate | CenterGate)
    own = {each.name: np.asarray(getattr(gate, each.name)) for each in fields(gate)}
    return _nested("gate", own)


def _gate_of(arrays: Arrays) -> Gate:
    if top := _inner(arrays, "top"):
        groups: list[LinearGate | CenterGate] = []
        while own := _inner(arrays, f"group{len(groups)}"):
            groups.append(_one_level(own))
        return TwoLevelGate(_one_level(top), tuple(groups))
    return _one_level(arrays)


def _one_level(arrays: Arrays) -> LinearGate | CenterGate:
    own = _inner(arrays, "gate")
    if "centers" not in own:
        return LinearGate(own["coef"], own["intercept"])
    return CenterGate(own["centers"], float(own["tau"]), own["prior"])

"""The methods as they take part in a race: parameters to try, and steps from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from localsvm.estimators import METHODS as ALL_METHODS, SoftmaxGate

Params = dict[str, Any]


@dataclass(frozen=True)
class RowFacts:
    """What numbers of the rows parameters are relative to.

    Parameters
    ----------
    n_rows : int
        Rows of the smallest fit, which no count may exceed.
    n_classes : int
    mean_square : float
        Mean squared norm of the rows.
    gamma : float
        "scale" as scikit-learn defines it.
    """

    n_rows: int
    n_classes: int
    mean_square: float
    gamma: float

    @classmethod
    def of(cls, X: Any, n_classes: int) -> RowFacts:
        """Facts of prepared rows."""
        squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=float)
        mean_square = float(squares.sum() / X.shape[0])
        variance = float(squares.mean() - X.mean(dtype=float) ** 2)
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        return cls(X.shape[0], n_classes, mean_square or 1.0, gamma)


@dataclass(frozen=True)
class Axis:
    """A parameter that can be moved by a factor.

    Parameters
    ----------
    default : callable
        Value that the estimator's default stands for, by the facts of the rows.
    step : float, default=2.0
        Factor between neighbours.
    count : bool, default=False
        Whether it is a whole number of at least 2 and at most the number of rows.
    local : bool, default=False
        Whether it is a factor of the local width: ("local", factor).
    """

    default: Callable[[RowFacts], float]
    step: float = 2.0
    count: bool = False
    local: bool = False

    def neighbors(self, now: Any, facts: RowFacts) -> list[Any]:
        """Values a step away from one, or from the default, which is on the grid."""
        middle = self.default(facts)
        if self.local and now is not None:
            now = now[1]
        place = 0 if now is None else round(math.log(now / middle, self.step))
        return [
            self.value(middle * self.step**next_place, facts)
            for next_place in (place + 1, place - 1)
        ]

    def value(self, number: float, facts: RowFacts) -> Any:
        """Turn a number into a value; three digits can be read and typed."""
        if self.count:
            return int(min(max(round(number), 2), facts.n_rows))
        rounded = float(f"{number:.3g}")
        return ("local", rounded) if self.local else rounded


@dataclass(frozen=True)
class Times:
    """So many times the default of an axis."""

    factor: float


@dataclass(frozen=True)
class Method:
    """How a method of the library takes part.

    Parameters
    ----------
    estimator : class
    exponent : float
        Least power of the number of rows that its seconds grow with.
    axes : dict of Axis
    variants : tuple of dict
        Parameters to try besides the defaults, the most promising first.
    class_variants : tuple of dict
        The same for more than two classes.
    scales_itself : bool, default=False
    """

    estimator: type
    exponent: float
    axes: Mapping[str, Axis] = field(default_factory=dict)
    variants: tuple[Params, ...] = ()
    class_variants: tuple[Params, ...] = ()
    scales_itself: bool = False

    def resolved_variants(self, facts: RowFacts) -> list[Params]:
        """Variants with numbers in place of factors, each once."""
        offered = self.variants
        if facts.n_classes > 2:
            offered = self.class_variants + offered
        resolved = [
            {name: self._resolve(name, value, facts) for name, value in each.items()}
            for each in offered
        ]
        return _distinct(resolved)

    def neighbors(self, params: Params, facts: RowFacts) -> list[Params]:
        """Parameters one step away on one axis."""
        found = []
        for name, axis in self.axes.items():
            if name == "gamma" and params.get("kernel") == "linear":
                continue
            values = axis.neighbors(params.get(name), facts)
            found += [{**params, name: value} for value in values]
        return _distinct(each for each in found if each != params)

    def _resolve(self, name: str, value: Any, facts: RowFacts) -> Any:
        if not isinstance(value, Times):
            return value
        axis = self.axes[name]
        return axis.value(value.factor * axis.default(facts), facts)


def _distinct(several: Iterable[Params]) -> list[Params]:
    """Each once: few rows make different counts the same."""
    kept: list[Params] = []
    for params in several:
        if params not in kept:
            kept.append(params)
    return kept


def _fixed(value: float) -> Callable[[RowFacts], float]:
    return lambda facts: value


def _scale(facts: RowFacts) -> float:
    """C="scale" of the linear methods."""
    return 10.0 / facts.mean_square


def _gamma(facts: RowFacts) -> float:
    return facts.gamma


_HALF_DECADE = math.sqrt(10)
_LOW, _HIGH = {"C": Times(0.1)}, {"C": Times(10)}
_WIDE, _NARROW = {"gamma": Times(0.25)}, {"gamma": Times(4)}
_WIDE_LOCAL = {"gamma": Times(0.25)}
_FEW_ANCHORS = {"n_regions": Times(0.25)}
_FEW_COMPONENTS = {"n_regions": Times(0.5)}
_JOINT = {"multi_class": "crammer_singer"}

# In the order in which they start: the cheapest fit to a few rows first.
_PARTS: Mapping[str, Callable[[type], Method]] = {
    "reduced": partial(
        Method,
        exponent=1.5,
        axes={"C": Axis(_fixed(10.0), _HALF_DECADE), "gamma": Axis(_gamma)},
        variants=(
            _HIGH,
            _LOW,
            *({"C": Times(C), **_WIDE} for C in (1, 10, 0.1)),
            *({"C": Times(C), **_NARROW} for C in (1, 10, 0.1)),
            {"kernel": "linear", "C": Times(0.1)},
            {"kernel": "linear", "C": Times(0.01)},
        ),
    ),
    "clustered": partial(
        Method,
        exponent=1.1,
        axes={"C": Axis(_scale, _HALF_DECADE)},
        variants=(_LOW, _HIGH, {"n_regions": 8}, {"n_regions": 8, **_HIGH}),
        class_variants=(_JOINT, {**_JOINT, **_LOW}, {**_JOINT, **_HIGH}),
    ),
    "locally-linear": partial(
        Method,
        exponent=1.1,
        axes={
            "C": Axis(_scale, _HALF_DECADE),
            "n_regions": Axis(_fixed(100), count=True),
        },
        variants=(
            _FEW_ANCHORS,
            _LOW,
            _HIGH,
            {**_FEW_ANCHORS, **_LOW},
            {**_FEW_ANCHORS, "coding": "local_coordinates"},
        ),
    ),
    "local": partial(
        Method,
        exponent=1.1,
        axes={
            "C": Axis(_fixed(10.0), _HALF_DECADE),
            "gamma": Axis(_fixed(1.0), local=True),
            "n_neighbors": Axis(_fixed(100), count=True),
        },
        variants=(
            _WIDE_LOCAL,
            _LOW,
            {**_HIGH, **_WIDE_LOCAL},
            {"gamma": Times(4)},
            {"n_neighbors": Times(0.5)},
            {"n_neighbors": Times(0.5), **_WIDE_LOCAL},
            {"n_neighbors": Times(2), **_WIDE_LOCAL},
        ),
    ),
    "support-cluster": partial(
        Method,
        exponent=1.0,
        axes={
            "C": Axis(_fixed(10.0), _HALF_DECADE),
            "gamma": Axis(_gamma),
            "n_clusters": Axis(_fixed(200), count=True),
        },
        variants=(
            _HIGH,
            {"C": Times(100)},
            {**_HIGH, **_WIDE},
            {**_HIGH, **_NARROW},
            {"C": Times(100), **_WIDE},
            {**_HIGH, "n_clusters": Times(2)},
        ),
    ),
    "mixture": partial(
        Method,
        exponent=1.0,
        axes={
            "C": Axis(_scale, _HALF_DECADE),
            "n_regions": Axis(_fixed(10), count=True),
        },
        variants=(
            _FEW_COMPONENTS,
            _LOW,
            {**_FEW_COMPONENTS, **_LOW},
            _HIGH,
            {"gate": SoftmaxGate(reg=1e-4)},
        ),
    ),
    "staged": partial(Method, exponent=1.0, scales_itself=True),
}
_CANDIDATES = {each.name: each.estimator for each in ALL_METHODS if each.is_candidate}
METHODS: Mapping[str, Method] = {
    name: take_part(_CANDIDATES[name]) for name, take_part in _PARTS.items()
}

"""Which terms are added, with which weights: what a choice hands to a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from localsvm._checks import Constraint
from localsvm.estimators._join import Join

# In the order in which decisions are added.
TERMS = ("additive", "regions", "rbf", "laplace")


def _is_weights(given: Any) -> bool:
    """Whether this is a mapping of terms to weights, and of "bias" to numbers."""
    if not isinstance(given, Mapping) or "bias" not in given:
        return False
    if not set(given) <= {*TERMS, "bias"}:
        return False
    numbers = [given[name] for name in given if name != "bias"]
    valid = all(isinstance(each, Real) and float(each) >= 0 for each in numbers)
    return valid and any(float(each) > 0 for each in numbers)


SUM_WEIGHTS = Constraint(
    f"a dict with weights >= 0 for some of {', '.join(TERMS)}, and with a 'bias'",
    _is_weights,
)


@dataclass(frozen=True)
class SumWeights:
    """Weights of the terms of a sum, and what is added to it.

    Attributes
    ----------
    weights : tuple of float
        One per term of ``TERMS``; a term of weight zero is not fitted.
    bias : tuple of float
        One number for two classes, otherwise one per class.
    """

    weights: tuple[float, ...]
    bias: tuple[float, ...]

    @classmethod
    def of_join(cls, names: Sequence[str], join: Join) -> SumWeights:
        """Give each joined term its weight, the others zero."""
        known = dict(zip(names, join.weights.tolist(), strict=True))
        weights = tuple(known.get(name, 0.0) for name in TERMS)
        return cls(weights, tuple(join.bias.tolist()))

    @classmethod
    def of_mapping(cls, given: Mapping[str, Any]) -> SumWeights:
        """Read the parameter ``join``."""
        weights = tuple(float(given.get(name, 0.0)) for name in TERMS)
        return cls(weights, tuple(map(float, np.atleast_1d(given["bias"]))))

    def to_mapping(self) -> dict[str, Any]:
        """Give the weights as the parameter ``join``."""
        return {**self.of_terms, "bias": list(self.bias)}

    @property
    def of_terms(self) -> dict[str, float]:
        """Weight of each term that is added."""
        pairs = zip(TERMS, self.weights, strict=True)
        return {name: weight for name, weight in pairs if weight > 0}

    def to_join(self) -> Join:
        """Give the weights of the terms that are added, in their order."""
        return Join(np.array(list(self.of_terms.values())), np.array(self.bias))

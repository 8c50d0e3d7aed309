"""What races: a method with a scaling and parameters, and the model it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from localsvm.tune._methods import METHODS, Method, Params, RowFacts

SCALINGS = ("standard", "minmax", "none")


@dataclass(frozen=True)
class Candidate:
    """A method with a scaling and parameters.

    Parameters
    ----------
    name : str
        Of the method.
    scaling : {"none", "standard", "minmax"}
    items : tuple of (str, value)
        Parameters that differ from the estimator's defaults.
    """

    name: str
    scaling: str
    items: tuple[tuple[str, Any], ...] = ()

    @property
    def method(self) -> Method:
        """The method itself."""
        return METHODS[self.name]

    @property
    def params(self) -> Params:
        """Parameters as a dictionary."""
        return dict(self.items)

    def variants(self, facts: RowFacts) -> list[Candidate]:
        """Other parameters of the method, with this scaling."""
        return self._with(self.method.resolved_variants(facts))

    def neighbors(self, facts: RowFacts) -> list[Candidate]:
        """Parameters one step away."""
        return self._with(self.method.neighbors(self.params, facts))

    def _with(self, several: list[Params]) -> list[Candidate]:
        return [
            Candidate(self.name, self.scaling, tuple(sorted(params.items())))
            for params in several
        ]


def first_candidates(names: Sequence[str], *, scaled: bool) -> list[Candidate]:
    """Every method's defaults, with one scaling after the other.

    Parameters
    ----------
    names : sequence of str
        Of methods.
    scaled : bool
        Whether the rows need no scaling.
    """
    candidates = [
        Candidate(name, "none" if scaled or METHODS[name].scales_itself else scaling)
        for scaling in SCALINGS
        for name in names
    ]
    return list(dict.fromkeys(candidates))


def make_scaler(scaling: str, X: Any) -> Any:
    """Scaler, or None; sparse rows are not centred."""
    if scaling == "none":
        return None
    if scaling == "standard":
        return StandardScaler(with_mean=not sparse.issparse(X))
    return MaxAbsScaler() if sparse.issparse(X) else MinMaxScaler()


def make_estimator(
    candidate: Candidate, seed: int, n_jobs: int | None, max_time: float
) -> Any:
    """Estimator that has not been fitted."""
    return candidate.method.estimator(
        **candidate.params, max_time=max_time, random_state=seed, n_jobs=n_jobs
    )


def make_model(encoder: Any, scaler: Any, estimator: Any) -> Any:
    """Pipeline of what there is, or the estimator alone."""
    steps = [("table", encoder), ("scale", scaler), ("model", estimator)]
    steps = [(name, step) for name, step in steps if step is not None]
    return estimator if len(steps) == 1 else Pipeline(steps)

"""Settings of a mixture of linear SVMs, apart from the estimator that has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.rows import SCALED_C, intercept_constant
from localsvm.solvers import SolverOptions


@dataclass(frozen=True)
class GateSettings:
    """Form of the gate, and how it is fitted.

    Attributes
    ----------
    kind : {"softmax", "paper"}
    levels : {1, 2}
    n_groups : int or "auto"
    tau : float or "scale"
    reg : float
    steps : int
    """

    kind: str
    levels: int
    n_groups: int | str
    tau: float | str
    reg: float
    steps: int


@dataclass(frozen=True)
class MixtureSettings:
    """What a fit is to do, for any rows; as the parameters of ``MixtureSVC``.

    Attributes
    ----------
    n_regions : int
    gate : GateSettings
    C : float or "scale"
    prior : float
    min_responsibility : float
    early_stopping : bool or "auto"
    validation_fraction : float
    n_iter_no_change : int
    clusterer : clusterer or None
    fit_intercept : bool
    intercept_scaling : float or "scale"
    em_tol : float
    em_max_iter : int
    tol : float
    max_iter : int
    n_jobs : int or None
    warm_start : bool, default=True
        Whether the SVMs of a step start from the duals of the step before.
    """

    n_regions: int
    gate: GateSettings
    C: float | str
    prior: float
    min_responsibility: float
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int
    clusterer: Any
    fit_intercept: bool
    intercept_scaling: float | str
    em_tol: float
    em_max_iter: int
    tol: float
    max_iter: int
    n_jobs: int | None
    warm_start: bool = True

    def solver(self, seed: int, clock: StageClock) -> SolverOptions:
        """Limits of the SVMs of one step."""
        return SolverOptions(
            tol=self.tol,
            max_iter=self.max_iter,
            deadline=clock.deadline,
            seed=seed,
            n_threads=effective_n_jobs(self.n_jobs),
        )


@dataclass(frozen=True)
class Scales:
    """Numbers that follow the scale of the rows.

    Attributes
    ----------
    C : float
    intercept : float
        Constant that is appended to the rows, 0 without intercept.
    """

    C: float
    intercept: float

    @classmethod
    def of(cls, settings: MixtureSettings, mean_squared_norm: float) -> Scales:
        """Resolve "scale" for rows of this mean squared norm."""
        mean = mean_squared_norm or 1.0
        C = settings.C
        return cls(
            SCALED_C / mean if isinstance(C, str) else float(C),
            intercept_constant(settings, mean),
        )

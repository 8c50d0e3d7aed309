"""What a fit of a mixture is to do and how it runs, apart from the estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator

from localsvm._checks import Constraint, check_parameters, integer, one_of, real
from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.rows import SCALED_C, intercept_constant
from localsvm.solvers import SolverOptions

# Passes of an SVM in one EM step, if ``max_iter`` is None.
MAX_PASSES = 200


class SoftmaxGate(BaseEstimator):
    r"""Gate of :class:`MixtureSVC` with the prior inside, and a convex M-step.

    Component j has the share :math:`\mathrm{softmax}_j(a_j \cdot x + b_j)`.

    Parameters
    ----------
    levels : {1, 2}, default=1
        2 puts a gate of groups above gates of the components of each group (Eq. 22 of
        Fu et al. 2010).
    n_groups : int or "auto", default="auto"
        Groups at the start with ``levels=2``; "auto" is the square root of the number
        of components.
    tau : float or "scale", default="scale"
        Sharpness at the start. "scale" is 4 divided by the mean squared distance of a
        row to its centre.
    reg : float, default=0.0
        Ridge of the weights, relative to the weight and the squared scale of the rows.
        Noisy data gain from about 1e-4.
    steps : int, default=5
        Steps of L-BFGS in each EM step.

    Examples
    --------
    >>> from localsvm import MixtureSVC
    >>> from localsvm.estimators import SoftmaxGate
    >>> model = MixtureSVC(n_regions=6, gate=SoftmaxGate(levels=2))
    >>> model.set_params(gate__reg=1e-4).gate.reg
    0.0001
    """

    def __init__(
        self,
        levels: int = 1,
        *,
        n_groups: int | str = "auto",
        tau: float | str = "scale",
        reg: float = 0.0,
        steps: int = 5,
    ) -> None:
        self.levels = levels
        self.n_groups = n_groups
        self.tau = tau
        self.reg = reg
        self.steps = steps

    def _check_parameters(self) -> None:
        _check_gate(self)
        check_parameters(self, reg=real(0, closed="left"))


class PaperGate(BaseEstimator):
    r"""Gate of :class:`MixtureSVC` as printed, for comparison.

    :math:`\xi_j\, \mathrm{softmax}_j(-\tau \|x - v_j\|^2)`: its shares do not sum to
    one, and it tends to a single component.

    Parameters
    ----------
    tau : float or "scale", default="scale"
        Sharpness. "scale" is 4 divided by the mean squared distance of a row to its
        centre.
    levels : {1, 2}, default=1
        As in :class:`SoftmaxGate`.
    n_groups : int or "auto", default="auto"
        As in :class:`SoftmaxGate`.
    steps : int, default=5
        Steps of L-BFGS for the centres in each EM step.

    Examples
    --------
    >>> from localsvm import MixtureSVC
    >>> from localsvm.estimators import PaperGate
    >>> MixtureSVC(n_regions=4, gate=PaperGate(tau=1.0)).gate
    PaperGate(tau=1.0)
    """

    def __init__(
        self,
        tau: float | str = "scale",
        *,
        levels: int = 1,
        n_groups: int | str = "auto",
        steps: int = 5,
    ) -> None:
        self.tau = tau
        self.levels = levels
        self.n_groups = n_groups
        self.steps = steps

    def _check_parameters(self) -> None:
        _check_gate(self)


# What ``MixtureSVC`` takes as its gate.
GATES = one_of("softmax", "paper") | Constraint(
    "a SoftmaxGate or PaperGate",
    lambda value: isinstance(value, SoftmaxGate | PaperGate),
)


def gate_of(gate: str | SoftmaxGate | PaperGate) -> SoftmaxGate | PaperGate:
    """Gate that a name stands for."""
    if isinstance(gate, str):
        return PaperGate() if gate == "paper" else SoftmaxGate()
    return gate


def _check_gate(gate: SoftmaxGate | PaperGate) -> None:
    check_parameters(
        gate,
        levels=one_of(1, 2),
        n_groups=integer(2) | one_of("auto"),
        tau=real(0) | one_of("scale"),
        steps=integer(1),
    )


@dataclass(frozen=True)
class MixtureSettings:
    """What a fit is to do; as the parameters of ``MixtureSVC``.

    Attributes
    ----------
    n_regions : int
        Components at the start.
    gate : SoftmaxGate or PaperGate
    C : float or "scale"
    prior : float
    min_responsibility : float
    early_stopping : bool or "auto"
    validation_fraction : float
    n_iter_no_change : int
    clusterer : clusterer or None
    fit_intercept : bool
    intercept_scaling : float or "scale"
    """

    n_regions: int
    gate: SoftmaxGate | PaperGate
    C: float | str
    prior: float
    min_responsibility: float
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int
    clusterer: Any
    fit_intercept: bool
    intercept_scaling: float | str

    @property
    def as_printed(self) -> bool:
        """Whether the gate is that of the paper."""
        return isinstance(self.gate, PaperGate)

    @property
    def gate_reg(self) -> float:
        """Ridge of the gate; the printed one has none."""
        return self.gate.reg if isinstance(self.gate, SoftmaxGate) else 0.0


@dataclass(frozen=True)
class FitOptions:
    """How a fit runs: how exactly, how long, on how many threads.

    Attributes
    ----------
    seed : int
        Of the clusters, the rows set aside and the order of the rows in the solver.
    em_tol : float
        Rise of the log-likelihood per row at which EM stops.
    em_max_iter : int
        EM steps.
    tol : float
        Relative duality gap at which the SVMs of a step stop.
    max_iter : int
        Passes of an SVM in a step.
    n_jobs : int or None
    clock : StageClock
        Times the stages and limits them.
    warm_start : bool
        Whether the SVMs of a step start from the duals of the step before.
    """

    seed: int
    em_tol: float = 1e-4
    em_max_iter: int = 30
    tol: float = 1e-2
    max_iter: int = MAX_PASSES
    n_jobs: int | None = None
    clock: StageClock = field(default_factory=StageClock)
    warm_start: bool = True

    def for_solver(self, step: int = 0) -> SolverOptions:
        """Limits of the SVMs of an EM step."""
        return SolverOptions(
            tol=self.tol,
            max_iter=self.max_iter,
            deadline=self.clock.deadline,
            seed=self.seed + step,
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

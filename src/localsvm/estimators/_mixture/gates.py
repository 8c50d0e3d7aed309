"""Gates of a mixture: which component is responsible for which rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from localsvm.solvers import (
    GateTargets,
    center_logits,
    fit_center_gate,
    fit_linear_gate,
)

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class GateStep:
    """How a gate is updated in one M-step.

    Attributes
    ----------
    max_iter : int
        Steps of L-BFGS.
    ridge : float
        Penalty of the squared norm of a linear gate's weights, halved.
    prior : float
        The :math:`\nu` of Eq. 20, in rows.
    deadline : float or None
        As in :func:`~localsvm.solvers.fit_linear_gate`.
    """

    max_iter: int
    ridge: float
    prior: float
    deadline: float | None = None


class Gate(Protocol):
    """Shares of the components as a function of x.

    ``coef`` and ``intercept`` give linear functions of x, the logits, from which
    ``log_shares`` makes the logarithm of prior times gate; ``slopes`` are its
    derivatives, of shape (n, n_components, n_logits).
    """

    @property
    def coef(self) -> NDArray[np.float64]: ...
    @property
    def intercept(self) -> NDArray[np.float64]: ...
    @property
    def n_components(self) -> int: ...
    def log_shares(self, logits: NDArray[Any]) -> NDArray[Any]: ...
    def slopes(self, logits: NDArray[Any]) -> NDArray[Any]: ...
    def penalty(self, step: GateStep) -> float: ...
    def update(self, targets: GateTargets, step: GateStep) -> Self: ...
    def keep(self, survivors: Mask) -> Self: ...


@dataclass(frozen=True)
class LinearGate:
    r"""The prior inside the gate: :math:`g_j = \mathrm{softmax}_j(a_j \cdot x + b_j)`.

    The M-step is convex and joint in all components. The prior of Eq. 18 enters
    through the targets: those of component j are multiplied by :math:`1 - \nu / m_j`
    with its mass :math:`m_j = \sum_i q_{ij}`, so that they sum to :math:`m_j - \nu`. A
    gate with intercepts alone then has the shares of Eq. 20.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    @classmethod
    def at(cls, centers: NDArray[Any], tau: float) -> LinearGate:
        """Gate that is softest where two centres are equally near."""
        return cls(*center_logits(np.asarray(centers, dtype=np.float64), tau))

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.coef)

    def log_shares(self, logits: NDArray[Any]) -> NDArray[Any]:
        """Logarithms of the shares."""
        return _log_softmax(logits)

    def slopes(self, logits: NDArray[Any]) -> NDArray[Any]:
        """Derive the log shares by the logits."""
        return _softmax_slopes(logits)

    def penalty(self, step: GateStep) -> float:
        """Cost of the ridge in log-likelihood."""
        return 0.5 * step.ridge * float((self.coef**2).sum())

    def update(self, targets: GateTargets, step: GateStep) -> LinearGate:
        """Match the responsibilities (the joint form of Eq. 13)."""
        if self.n_components == 1:
            return self
        if step.prior > 0:
            mass = np.maximum(targets.mass, step.prior)
            targets = targets.scaled(1 - step.prior / mass)
        return LinearGate(
            *fit_linear_gate(
                targets,
                (self.coef, self.intercept),
                ridge=step.ridge,
                max_iter=step.max_iter,
                deadline=step.deadline,
            )
        )

    def keep(self, survivors: Mask) -> LinearGate:
        """Leave components out."""
        return LinearGate(self.coef[survivors], self.intercept[survivors])


@dataclass(frozen=True)
class CenterGate:
    r"""The printed gate: :math:`\xi_j\, \mathrm{softmax}_j(-\tau \|x - v_j\|^2)`.

    Eq. 7 with the prior outside; the shares do not sum to one (Eq. 6).
    """

    centers: NDArray[np.float64]
    tau: float
    prior: NDArray[np.float64]

    @classmethod
    def at(cls, centers: NDArray[Any], tau: float) -> CenterGate:
        """Gate of equal priors."""
        wide = np.asarray(centers, dtype=np.float64)
        return cls(wide, tau, np.full(len(wide), 1 / len(wide)))

    @property
    def coef(self) -> NDArray[np.float64]:
        """Slopes of the logits."""
        return center_logits(self.centers, self.tau)[0]

    @property
    def intercept(self) -> NDArray[np.float64]:
        """Intercepts of the logits."""
        return center_logits(self.centers, self.tau)[1]

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.centers)

    def log_shares(self, logits: NDArray[Any]) -> NDArray[Any]:
        """Logarithms of prior times gate."""
        return np.asarray(
            _log_softmax(logits) + np.log(self.prior).astype(logits.dtype)
        )

    def slopes(self, logits: NDArray[Any]) -> NDArray[Any]:
        """Derive the log shares by the logits."""
        return _softmax_slopes(logits)

    def penalty(self, step: GateStep) -> float:
        """Nothing: the printed gate has no ridge."""
        del step
        return 0.0

    def update(self, targets: GateTargets, step: GateStep) -> CenterGate:
        """Eq. 20 for the priors, Eq. 13 and 14 for the centres."""
        rest = np.maximum(targets.mass - step.prior, np.finfo(float).tiny)
        centers = fit_center_gate(
            targets,
            self.centers,
            self.tau,
            max_iter=step.max_iter,
            deadline=step.deadline,
        )
        return CenterGate(centers, self.tau, rest / rest.sum())

    def keep(self, survivors: Mask) -> CenterGate:
        """Leave components out."""
        prior = self.prior[survivors]
        return replace(self, centers=self.centers[survivors], prior=prior / prior.sum())


@dataclass(frozen=True)
class TwoLevelGate:
    """Gates of groups, and inside each group a gate of its components (Eq. 22).

    Attributes
    ----------
    top : LinearGate or CenterGate
        Shares of the groups.
    groups : tuple of gates
        Shares of the components within each group; the components are numbered group
        by group.
    """

    top: LinearGate | CenterGate
    groups: tuple[LinearGate | CenterGate, ...]

    @property
    def coef(self) -> NDArray[np.float64]:
        """Slopes of the logits: the groups', then the components'."""
        return np.concatenate([gate.coef for gate in (self.top, *self.groups)])

    @property
    def intercept(self) -> NDArray[np.float64]:
        """Intercepts of the logits."""
        return np.concatenate([gate.intercept for gate in (self.top, *self.groups)])

    @property
    def n_components(self) -> int:
        """Number of components in all groups."""
        return sum(gate.n_components for gate in self.groups)

    def log_shares(self, logits: NDArray[Any]) -> NDArray[Any]:
        """Logarithms of the products of both levels' shares."""
        n_groups = self.top.n_components
        of_groups = self.top.log_shares(logits[:, :n_groups])
        within = logits[:, n_groups:]
        return np.concatenate(
            [
                gate.log_shares(within[:, place]) + of_groups[:, [g]]
                for g, (gate, place) in enumerate(self._places())
            ],
            axis=1,
        )

    def slopes(self, logits: NDArray[Any]) -> NDArray[Any]:
        """Derive the log shares by the logits of both levels."""
        n_groups = self.top.n_components
        slopes = np.zeros((len(logits), self.n_components, logits.shape[1]))
        of_groups = self.top.slopes(logits[:, :n_groups])
        for g, (gate, place) in enumerate(self._places()):
            slopes[:, place, :n_groups] = of_groups[:, [g]]
            within = slice(n_groups + place.start, n_groups + place.stop)
            slopes[:, place, within] = gate.slopes(logits[:, within])
        return slopes

    def penalty(self, step: GateStep) -> float:
        """Cost of the ridge in log-likelihood, on both levels."""
        return sum(gate.penalty(step) for gate in (self.top, *self.groups))

    def update(self, targets: GateTargets, step: GateStep) -> TwoLevelGate:
        """Match sums of responsibilities by groups, and within groups by components."""
        each = np.eye(self.n_components)
        own = [each[:, place] for _, place in self._places()]
        sums = np.stack([columns.sum(axis=1) for columns in own], axis=1)
        return TwoLevelGate(
            self.top.update(targets.mapped(sums), step),
            tuple(
                gate.update(targets.mapped(columns), step)
                for gate, columns in zip(self.groups, own, strict=True)
            ),
        )

    def keep(self, survivors: Mask) -> TwoLevelGate:
        """Leave components out, and groups that have none left."""
        left = [survivors[place] for _, place in self._places()]
        alive = np.array([mask.any() for mask in left])
        return TwoLevelGate(
            self.top.keep(alive),
            tuple(
                gate.keep(mask)
                for gate, mask in zip(self.groups, left, strict=True)
                if mask.any()
            ),
        )

    def _places(self) -> list[tuple[LinearGate | CenterGate, slice]]:
        """Gate of each group and where its components are."""
        ends = np.cumsum([gate.n_components for gate in self.groups])
        return [
            (gate, slice(int(end) - gate.n_components, int(end)))
            for gate, end in zip(self.groups, ends, strict=True)
        ]


def _log_softmax(logits: NDArray[Any]) -> NDArray[Any]:
    """Logarithms of shares; SciPy's costs a row three times as much."""
    moved = logits - logits.max(axis=1, keepdims=True)
    moved -= np.log(np.exp(moved).sum(axis=1, keepdims=True))
    return np.asarray(moved)


def _softmax_slopes(logits: NDArray[Any]) -> NDArray[Any]:
    """Jacobian of the log-softmax: the identity minus the shares."""
    return np.asarray(np.eye(logits.shape[1]) - softmax(logits, axis=1)[:, np.newaxis])

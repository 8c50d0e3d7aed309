"""Linear SVMs on rows that come in blocks: selective block minimisation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.rows import as_rows
from localsvm.solvers._coded import CodedRows, CodedTask, RowTerms
from localsvm.solvers._linear import SolverOptions

# Rows of a block whose margin is further away than this, on the right side, are passed
# over until the next pass.
_DOUBT = 0.3
# Passes of one solve over its rows, and its tolerance as a part of the whole problem's.
_EPOCHS = 20
_LOCAL_TOL = 0.1
# Rows that are kept from one solve to the next, as a multiple of the new ones.
_KEPT = 2
# A row's share of the gap, as a part of its C, that may be rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Chosen:
    """Rows at hand, with the places of their duals."""

    rows: CodedRows
    places: NDArray[np.int64]

    def take(self, index: NDArray[Any]) -> _Chosen:
        return _Chosen(self.rows.take(index), self.places[index])

    @staticmethod
    def joined(parts: list[_Chosen]) -> _Chosen:
        return _Chosen(
            CodedRows.joined([part.rows for part in parts]),
            np.concatenate([part.places for part in parts]),
        )


@dataclass
class SelectiveDescent:
    r"""One pass over blocks of rows, of which few are in memory at once.

    The duals of all rows, and the weight vectors that they define, are at hand; rows
    are not. Each block is compared with the weights. Rows that are where the optimality
    conditions want them stay as they are; the others wait until there are
    ``capacity`` of them. Then the dual is maximised over those, and over the rows near
    their margin that earlier solves have kept, with all other duals fixed. The dual
    never falls.

    Parameters
    ----------
    task : CodedTask
    vectors : ndarray of shape (n_nodes, n_vectors, n_features + 1)
        What the duals define, replaced by what they define later.
    duals : ndarray of shape (n_vectors, n_places)
        Of all rows, changed in place.
    capacity : int
        Rows of a solve that are new to it.
    objective : float
        About the primal objective of the whole problem; inf if it is not known.
    options : SolverOptions
        ``tol`` is that of the whole problem; ``max_iter`` counts where one solve takes
        all rows in doubt.

    Notes
    -----
    A pass costs one look at every row and 20 visits at most of those in doubt. Memory
    is that of a block and about ``8 * capacity`` rows. M.-W. Chang, D. Roth. Selective
    block minimization for faster convergence of limited memory large-scale linear
    models. KDD 2011; H.-F. Yu et al. Large linear classification when data cannot fit
    in memory. KDD 2010.
    """

    task: CodedTask
    vectors: NDArray[np.float64]
    duals: NDArray[np.float64]
    capacity: int
    objective: float
    options: SolverOptions
    n_solves: int = field(default=0, init=False)
    _waiting: list[_Chosen] = field(default_factory=list, init=False)
    _kept: _Chosen | None = field(default=None, init=False)

    def limit_time(self, seconds: float) -> None:
        """Let no later solve take longer."""
        self.options = replace(self.options, max_time=seconds)

    def look(self, rows: CodedRows, first: int) -> None:
        """Compare a block whose duals begin at the place ``first``."""
        places = np.arange(first, first + rows.n_rows)
        terms = self._compare(_Chosen(rows, places))
        doubtful = np.flatnonzero(_distance(terms, rows) < _DOUBT)
        if len(doubtful):
            self._waiting.append(_Chosen(rows, places).take(doubtful))
        if sum(len(part.places) for part in self._waiting) >= self.capacity:
            self._solve_waiting(_EPOCHS)

    def finish(self) -> None:
        """Solve for the rows that still wait; with patience if all did."""
        if self._waiting:
            alone = self.n_solves == 0
            self._solve_waiting(self.options.max_iter if alone else _EPOCHS)

    def _solve_waiting(self, epochs: int) -> None:
        chosen = self._take_waiting()
        self._solve(chosen, epochs)
        distance = _distance(self._compare(chosen), chosen.rows)
        nearest = np.argsort(distance, kind="stable")[: _KEPT * self.capacity]
        self._kept = chosen.take(np.sort(nearest))

    def _take_waiting(self) -> _Chosen:
        """Join the rows that wait and those that are kept; leave none."""
        parts = self._waiting if self._kept is None else [*self._waiting, self._kept]
        self._waiting, self._kept = [], None
        return _Chosen.joined(parts)

    def _compare(self, chosen: _Chosen) -> RowTerms:
        scores = self.task.decide(chosen.rows, self.vectors)
        duals = np.ascontiguousarray(self.duals[:, chosen.places])
        return self.task.compare(chosen.rows, scores, duals)

    def _solve(self, chosen: _Chosen, epochs: int) -> None:
        duals = np.ascontiguousarray(self.duals[:, chosen.places])
        own = self.task.weigh(chosen.rows, duals)
        prior = self.vectors - own
        options = replace(
            self.options,
            tol=self._tolerance(chosen, own),
            max_iter=epochs,
            seed=(self.options.seed + self.n_solves) % 2**63,
        )
        self.vectors = prior + solve_with_prior(
            self.task, chosen.rows, duals, prior, options
        )
        self.duals[:, chosen.places] = duals
        self.n_solves += 1

    def _tolerance(self, chosen: _Chosen, own: NDArray[np.float64]) -> float:
        """Tolerance of a solve such that its gap is small for the whole problem.

        The objective that the solver compares its gap with is that of the chosen rows
        alone. What they add to the weights can be much longer than the weights.
        """
        if len(chosen.places) == self.duals.shape[1]:
            return self.options.tol
        local = 0.5 * float(np.vdot(own, own)) + float(self._compare(chosen).loss.sum())
        share = self.objective / local if local > 0 else 1.0
        return _LOCAL_TOL * self.options.tol * min(1.0, share)


def solve_with_prior(
    task: CodedTask,
    rows: CodedRows,
    duals: NDArray[np.float64],
    prior: NDArray[np.float64],
    options: SolverOptions,
) -> NDArray[np.float64]:
    """Maximise the dual over the duals of some rows, with weights added to a prior.

    Parameters
    ----------
    task : CodedTask
    rows : CodedRows
    duals : ndarray of shape (n_vectors, n_rows)
        Start, and changed to the solution.
    prior : ndarray of shape (n_nodes, n_vectors, n_features + 1)
        What all other rows add to the weights.
    options : SolverOptions

    Returns
    -------
    ndarray of the shape of ``prior``
        What these rows add.
    """
    shape = prior.shape if task.is_joint else (1, task.n_nodes, prior.shape[2])
    nodes = np.empty(shape)
    problem = _core.LinearTask(
        labels=task.labels(rows),
        bounds=rows.bounds,
        first_positive=0 if task.is_joint else 1,
        bias=task.intercept_scaling,
        duals=duals,
        nodes=nodes,
        prior=np.ascontiguousarray(prior.reshape(shape)),
    )
    solve = _core.solve_codes_jointly if task.is_joint else _core.solve_codes
    solve(as_rows(rows.X), problem, rows.nodes, rows.weights, options.to_core())
    return nodes.reshape(prior.shape)


def _distance(terms: RowTerms, rows: CodedRows) -> NDArray[np.float64]:
    """How far rows are from a change of their duals; below zero if one is due."""
    part = rows.bounds > 0
    share = np.divide(terms.gap, rows.bounds, out=np.zeros_like(terms.gap), where=part)
    distance = np.where(share > _ROUNDING, -share, np.abs(terms.margin))
    return np.where(part, distance, np.inf)

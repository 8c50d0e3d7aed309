"""Where a two-class SVM is solved: on features, on a kernel matrix, or on kernel rows.

A *unit* is a row, or a group of rows of one class whose duals rise together in
proportion to their bounds: its image is the weighted mean of theirs, its bound the sum
of theirs (Proposition 2.1 of Boley and Cao). Every space solves the SVM of some units
and gives the decisions of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._threads import map_row_blocks, single_threaded_libraries
from localsvm.kernels import Kernel
from localsvm.solvers import (
    BoxProblem,
    KernelOptions,
    KernelSolution,
    Status,
    solve_gram,
    solve_kernel,
    solve_linear_box,
)

Floats = NDArray[np.float64]

_GAP = 1e-9
_BLOCK_VALUES = 1 << 20


class OutOfTimeError(Exception):
    """The deadline came before kernel values that are needed were there."""


@dataclass(frozen=True)
class Units:
    """Rows and groups of rows that stand for all rows.

    Attributes
    ----------
    shares : CSR of shape (n_units, n_samples)
        Share of each row in each unit; those of a unit sum to one.
    sign, bounds : ndarray of shape (n_units,)
    """

    shares: Any
    sign: Floats
    bounds: Floats

    @property
    def are_all_rows(self) -> bool:
        """Whether each row is a unit, in their order."""
        n_units, n_rows = self.shares.shape
        rows = self.shares.indices
        return n_units == n_rows and np.array_equal(rows, np.arange(n_rows))

    @property
    def problem(self) -> BoxProblem:
        """The dual problem of the units."""
        return BoxProblem.of_classes(self.sign, self.bounds)


@dataclass(frozen=True)
class UnitSolution:
    """Signed duals of units, and what they say of all rows.

    Attributes
    ----------
    duals : ndarray of shape (n_units,)
    decisions : ndarray of shape (n_samples,)
    intercept : float
    coef : ndarray of shape (n_features,) or None
        Weights of the features, for the linear kernel.
    status : Status
    n_iter : int
    """

    duals: Floats
    decisions: Floats
    intercept: float
    coef: Floats | None
    status: Status
    n_iter: int


class DualSpace(Protocol):
    """What a reduction asks of a kernel."""

    @property
    def averages_cheaply(self) -> bool:
        """Whether groups of all rows cost less than the kernel values of all pairs."""

    def solve(
        self, units: Units, options: KernelOptions, start: Floats | None
    ) -> UnitSolution:
        """Solve the SVM of the units, from given duals where the solver takes them.

        Raises OutOfTimeError if the deadline is past before there is anything to solve.
        """


@dataclass(frozen=True)
class FeatureSpace:
    """The linear kernel: units are mean rows.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    by_interior_point : bool
        Whether the solver is that; it takes dense rows.
    """

    X: Any
    by_interior_point: bool

    @property
    def averages_cheaply(self) -> bool:
        """Whether groups of all rows are cheap."""
        return True

    def solve(
        self, units: Units, options: KernelOptions, start: Floats | None
    ) -> UnitSolution:
        """Solve the SVM of the units; few features by an interior point method."""
        Z = self.X if units.are_all_rows else self.means(units)
        if self.by_interior_point:
            found = solve_linear_box(
                Z,
                units.sign,
                units.bounds,
                tol=_GAP,
                is_over=lambda: options.is_over,
            )
            return self._answer(
                found.duals, found.coef, found.intercept, found.status, found.n_iter
            )
        solution = solve_kernel(Z, units.problem, Kernel("linear"), options, start)
        with single_threaded_libraries():
            coef = np.asarray(Z.T @ solution.duals, dtype=np.float64)
        certificate = solution.certificate
        return self._answer(
            solution.duals,
            coef,
            solution.intercept,
            certificate.status,
            certificate.n_iter,
        )

    def means(self, units: Units) -> Any:
        """Weighted means of the rows of each unit."""
        means = units.shares @ self.X
        if sparse.issparse(means):
            return sparse.csr_array(means, dtype=self.X.dtype)
        # A mean row in float32 would be off by more than the tolerance of the solver.
        return np.ascontiguousarray(means, dtype=np.float64)

    def _answer(
        self, duals: Floats, coef: Floats, intercept: float, status: Status, n_iter: int
    ) -> UnitSolution:
        with single_threaded_libraries():
            decisions = np.asarray(self.X @ coef, dtype=np.float64) + intercept
        return UnitSolution(duals, decisions, intercept, coef, status, n_iter)


@dataclass(frozen=True)
class MatrixSpace:
    """A kernel matrix of all rows, which several problems can share.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
    """

    gram: NDArray[Any]

    @property
    def averages_cheaply(self) -> bool:
        """Whether groups of all rows are cheap."""
        return True

    def solve(
        self, units: Units, options: KernelOptions, start: Floats | None
    ) -> UnitSolution:
        """Solve the SVM of the units on averages of rows and columns."""
        if units.are_all_rows:
            solution = solve_gram(self.gram, units.problem, options, start)
            return _answer(solution, solution.decisions)
        halfway = units.shares @ self.gram
        gram = np.ascontiguousarray(units.shares @ halfway.T, dtype=np.float64)
        solution = solve_gram(gram, units.problem, options, start)
        used = np.flatnonzero(solution.duals)
        sums = solution.duals[used] @ halfway[used]
        return _answer(solution, sums + solution.intercept)


@dataclass(frozen=True)
class RowSpace:
    """Kernel values that are computed when they are needed.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    kernel : Kernel
    n_jobs : int or None
    """

    X: Any
    kernel: Kernel
    n_jobs: int | None

    @property
    def averages_cheaply(self) -> bool:
        """Whether groups of all rows are cheap."""
        return False

    def solve(
        self, units: Units, options: KernelOptions, start: Floats | None
    ) -> UnitSolution:
        """Solve the SVM of the units; groups take the kernel values of all pairs."""
        if units.are_all_rows:
            solution = solve_kernel(self.X, units.problem, self.kernel, options, start)
            return _answer(solution, solution.decisions)
        members = np.unique(units.shares.indices)
        shares = units.shares[:, members]
        Z = self.X[members]
        gram = shares @ self._mixed(Z, Z, shares, options)
        gram = np.ascontiguousarray((gram + gram.T) / 2)
        solution = solve_gram(gram, units.problem, options, start)
        used = np.flatnonzero(solution.duals)
        weights = sparse.csr_array((solution.duals[used] @ shares[used])[np.newaxis])
        sums = self._mixed(self.X, Z, weights, options)[:, 0]
        return _answer(solution, sums + solution.intercept)

    def _mixed(self, X: Any, Z: Any, shares: Any, options: KernelOptions) -> Floats:
        """Kernel values of rows X with mixtures of the rows Z."""
        used = np.unique(shares.indices)
        Z, weights = Z[used], shares[:, used].T.tocsr()
        values = np.zeros((X.shape[0], weights.shape[1]))
        step = max(1, _BLOCK_VALUES // max(1, Z.shape[0]))

        def mix_block(block: slice) -> None:
            for start in range(block.start, block.stop, step):
                if options.is_over:
                    raise OutOfTimeError
                part = slice(start, min(start + step, block.stop))
                exact = self.kernel(X[part], Z).astype(np.float64, copy=False)
                values[part] = exact @ weights

        if Z.shape[0]:
            map_row_blocks(mix_block, X.shape[0], self.n_jobs)
        return values


def _answer(solution: KernelSolution, decisions: Floats) -> UnitSolution:
    certificate = solution.certificate
    return UnitSolution(
        solution.duals,
        decisions,
        solution.intercept,
        None,
        certificate.status,
        certificate.n_iter,
    )

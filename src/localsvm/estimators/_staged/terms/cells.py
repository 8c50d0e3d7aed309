"""The kernel SVMs of prepared rows: one model, or one per cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import row_norms

from localsvm._checks import check_squares
from localsvm._clock import StageClock
from localsvm._seeds import draw_seed
from localsvm.cluster import neighborhood_sizes
from localsvm.estimators._endings import check_solution
from localsvm.estimators._local import (
    LocalFit,
    LocalOptions,
    LocalSettings,
    LocalSVC,
    fit_local,
)
from localsvm.estimators._staged.setting import KernelTerm, StageOptions
from localsvm.kernels import Kernel, median_gamma
from localsvm.rows import MergedRows, Rows
from localsvm.solvers import LocalKernel

# Of dense copies of rows that came as CSR.
LARGEST_DENSE_BYTES = 1 << 30


@dataclass(frozen=True)
class KernelFit:
    """A fit of kernel SVMs.

    Attributes
    ----------
    fit : LocalFit
    rows : Rows
        Prepared rows that were fitted.
    merged : MergedRows
        Those that the preparation has left distinct.
    seconds : dict of str to float
        Seconds of the fit by stage.
    """

    fit: LocalFit
    rows: Rows
    merged: MergedRows
    seconds: dict[str, float]

    @property
    def is_support(self) -> NDArray[np.bool_]:
        """Whether each of the rows is a support vector of any cell."""
        return np.isin(self.merged.kind, self.fit.support)


def fit_kernel(rows: Rows, term: KernelTerm, options: StageOptions) -> KernelFit:
    """Fit kernel SVMs to prepared rows, in cells or as one."""
    rows = replace(rows, X=densified(rows.X))
    check_squares(rows.X)
    cell_size = term.cell_size
    gamma = 1.0 if cell_size else kernel_gamma(term.kernel, rows, options)
    kernel = Kernel(term.kernel, gamma * term.gamma_factor)
    settings = LocalSettings(
        *neighborhood_sizes(*cover_sizes(rows.n_rows, cell_size), rows.n_rows),
        LocalKernel(kernel, term.C, local_gamma=cell_size is not None),
        route="center",
    )
    run = LocalOptions(
        draw_seed(options.seed),
        options.tol,
        n_jobs=options.n_jobs,
        clock=StageClock(options.time_left),
    )
    with run.clock.stage("merge"):
        merged = rows.merged(run.seed)
    fit = fit_local(merged.rows, settings, run)
    check_solution(fit.report.endings, replace(options, max_iter=None))
    return KernelFit(fit, rows, merged, run.clock.seconds)


def kernel_gamma(name: str, rows: Rows, options: StageOptions) -> float:
    """Width of one model of all rows, before its factor."""
    if name == "laplace":
        return median_gamma(rows.X, rows.penalty_weight, options.seed)
    return 1.0 / typical_distance(rows.X)


def cover_sizes(n_rows: int, cell_size: int | None) -> tuple[int, int]:
    """Rows of a cell, and how many of them it answers; one cell answers all.

    A row is in two cells on average: as accurate as four, at half of their cost.
    """
    return (cell_size, max(1, cell_size // 2)) if cell_size else (n_rows, n_rows)


def kernel_estimator(
    fit: KernelFit, term: KernelTerm, options: StageOptions
) -> LocalSVC:
    """Unfitted estimator of the kernel SVMs."""
    n_neighbors, n_assigned = cover_sizes(fit.rows.n_rows, term.cell_size)
    gamma: Any = fit.fit.model.kernel.gamma
    if term.cell_size:
        gamma = ("local", term.gamma_factor)
    return LocalSVC(
        n_neighbors,
        n_assigned=n_assigned,
        C=term.C,
        kernel=term.kernel,
        gamma=gamma,
        route="center",
        tol=options.tol,
        max_time=options.max_time,
        random_state=options.seed,
        n_jobs=options.n_jobs,
    )


def typical_distance(X: Any) -> float:
    """Squared distance of a row to the middle of the others: half that of pairs.

    The median over neighbours in the order of the rows, which is random; distances of
    zero are left out.
    """
    step = X - X[np.roll(np.arange(X.shape[0]), 1)]
    distance = np.asarray(row_norms(step, squared=True))
    distance = distance[distance > 0]
    return 0.5 * float(np.median(distance)) if distance.size else 1.0


def densified(X: Any) -> Any:
    """Rows as a dense array, if that is small enough."""
    if not sparse.issparse(X):
        return X
    if X.shape[0] * X.shape[1] * X.dtype.itemsize > LARGEST_DENSE_BYTES:
        return X
    return X.toarray()

"""What a fit of linear SVMs over regions keeps, and how it decides rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import row_norms

from localsvm import _core
from localsvm._threads import threads_for
from localsvm.cluster import (
    HardRegions,
    LocalCoordinates,
    RegionCodes,
    SoftRegions,
)
from localsvm.engine import Blocks
from localsvm.passes import BlockSolution
from localsvm.rows import as_rows
from localsvm.solvers import LinearSolution

Regions = HardRegions | SoftRegions | LocalCoordinates


@dataclass(frozen=True)
class RegionalSettings:
    r"""The problem that is solved.

    Attributes
    ----------
    C : float
        Penalty of a margin error.
    n_regions : int or "auto"
    clusterer : clusterer or None
        None is :class:`~localsvm.cluster.SampledKMeans`.
    n_nearest : int
        Regions per row. With the softmax code, 1 is the clusterer's own label.
    coding : {"softmax", "inverse_distance", "local_coordinates"}
        Weights of the nearest regions.
    sharpness : float
        Of the softmax.
    global_reg : float
        :math:`\lambda`, the penalty of the global weights; ``inf`` removes them.
    loss : {"hinge", "squared_hinge"}
    joint : bool
        Whether all classes are one problem.
    constant : float
        Constant column of the intercept, 0 without one.
    """

    C: float
    n_regions: int | str = "auto"
    clusterer: Any = None
    n_nearest: int = 8
    coding: str = "softmax"
    sharpness: float = 2.0
    global_reg: float = 1.0
    loss: str = "hinge"
    joint: bool = False
    constant: float = 1.0

    @property
    def global_weight(self) -> float:
        """Coefficient of the global vector in the code of every row; 0 without one."""
        return float(1.0 / np.sqrt(self.global_reg))


@dataclass(frozen=True)
class RegionalModel:
    """Weights of each region and, last, the global weights.

    A row whose code is c is decided by
    ``global + sum_s c_s (region_s - global)``, all of them linear in x.

    Attributes
    ----------
    coef : ndarray of shape (n_regions + 1, n_tasks, n_features)
    intercept : ndarray of shape (n_regions + 1, n_tasks)
    """

    coef: NDArray[Any]
    intercept: NDArray[Any]

    @classmethod
    def from_solution(
        cls, solution: LinearSolution, global_weight: float, dtype: Any
    ) -> RegionalModel:
        """Add the global vector to the regions' own vectors (Eq. 4).

        The last node of ``solution`` is the global one, ``global_weight`` its
        coefficient in the code of every row; with 0 there is no such node.
        """
        coef, intercept = (
            np.ascontiguousarray(nodes.swapaxes(0, 1))
            for nodes in (solution.coef, solution.intercept)
        )
        if global_weight == 0:
            coef, intercept = (
                np.concatenate([nodes, np.zeros_like(nodes[:1])])
                for nodes in (coef, intercept)
            )
        for nodes in (coef, intercept):
            nodes[-1] *= global_weight
            nodes[:-1] += nodes[-1]
        return cls(coef.astype(dtype), intercept.astype(dtype))

    @property
    def n_regions(self) -> int:
        """Number of regions, the global weights not counted."""
        return len(self.coef) - 1

    @property
    def _has_global_weights(self) -> bool:
        return bool(self.coef[-1].any() or self.intercept[-1].any())

    def decide(self, X: Any, codes: RegionCodes, n_jobs: int | None) -> NDArray[Any]:
        """Decision values of shape (n_samples, n_tasks), in the dtype of ``X``."""
        nodes, weights = self.node_codes(codes)
        out = np.empty((X.shape[0], self.coef.shape[1]), dtype=X.dtype)
        _core.decide(
            as_rows(X),
            nodes,
            weights,
            self.coef.astype(X.dtype, copy=False),
            self.intercept.astype(X.dtype, copy=False),
            out,
            threads_for(X.shape[0], n_jobs),
        )
        return out

    def blend(self, codes: RegionCodes) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights and intercept of the linear function that decides each row."""
        nodes, weights = self.node_codes(codes)
        n_rows, n_kept = nodes.shape
        starts = np.arange(0, nodes.size + 1, n_kept)
        # Far faster than a sum over a copy of the weights per row and region.
        mix = sparse.csr_array(
            (weights.ravel(), nodes.ravel(), starts), shape=(n_rows, len(self.coef))
        )
        flat = mix @ self.coef.reshape(len(self.coef), -1)
        return flat.reshape(n_rows, *self.coef.shape[1:]), mix @ self.intercept

    def node_codes(self, codes: RegionCodes) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Append the global node; a region not seen in training is the global one."""
        regions = np.minimum(codes.regions, self.n_regions)
        rest = 1 - codes.weights.sum(axis=1, keepdims=True)
        if not (rest.any() and self._has_global_weights):
            return regions, codes.weights
        global_node = np.full_like(regions[:, :1], self.n_regions)
        return (
            np.concatenate([regions, global_node], axis=1),
            np.concatenate([codes.weights, rest], axis=1),
        )


@dataclass(frozen=True)
class Coded:
    """Regions, and blocks whose store has the rows with their codes.

    Attributes
    ----------
    blocks : Blocks
    block_sizes : ndarray of shape (n_blocks,), int64
        Rows of each block in the store.
    n_classes : int
    clusterer : fitted clusterer
    regions : HardRegions, SoftRegions or LocalCoordinates
    sizes : ndarray of shape (n_regions,)
        Rows of positive weight whose nearest region it is.
    class_counts : ndarray of shape (n_regions, n_classes)
        Sample weights by nearest region and class.
    mean_square : float
        Weighted mean of the squared norm of a row times that of its code; NaN for a
        code that is learned.
    kept : RegionCodes or None
        Codes of rows in memory.
    """

    blocks: Blocks
    block_sizes: NDArray[np.int64]
    n_classes: int
    clusterer: Any
    regions: Regions
    sizes: NDArray[np.intp]
    class_counts: NDArray[np.float64]
    mean_square: float
    kept: RegionCodes | None = None

    @property
    def codes(self) -> RegionCodes:
        """Codes of rows in memory."""
        assert self.kept is not None
        return self.kept


@dataclass(frozen=True)
class RegionalFit:
    """Result of a fit.

    Attributes
    ----------
    settings : RegionalSettings
    coded : Coded
    model : RegionalModel
    solution : LinearSolution or BlockSolution
        Duals and certificates, of rows in memory or in blocks.
    n_support : ndarray of shape (n_classes,)
        Rows of each class with a non-zero dual in any task.
    """

    settings: RegionalSettings
    coded: Coded
    model: RegionalModel
    solution: LinearSolution | BlockSolution
    n_support: NDArray[np.intp]

    @property
    def duals(self) -> NDArray[np.float64]:
        """Duals of shape (n_tasks, n_rows), of rows in memory."""
        assert isinstance(self.solution, LinearSolution)
        return self.solution.duals

    def decide_training_rows(self, X: Any, n_jobs: int | None = None) -> NDArray[Any]:
        """Decisions of shape (n_rows, n_tasks) for the rows of the fit."""
        return self.model.decide(X, self.coded.codes, n_jobs)

    def decide(self, X: Any, n_jobs: int | None = None) -> NDArray[Any]:
        """Decisions of shape (n_rows, n_tasks) for any rows."""
        return self.model.decide(X, self.coded.regions.code(X, n_jobs), n_jobs)


def coded_squared_norms(
    X: Any, codes: RegionCodes, global_reg: float, constant: float
) -> NDArray[np.float64]:
    """Squared norm of each row in the space of a soft clustered SVM.

    A row stands there once per region of its code, and once for the global weights,
    with a constant column.
    """
    code_norm = (codes.weights.astype(np.float64) ** 2).sum(axis=1) + 1.0 / global_reg
    row_norm = np.asarray(row_norms(X, squared=True), dtype=np.float64)
    return np.asarray(code_norm * (row_norm + constant**2))

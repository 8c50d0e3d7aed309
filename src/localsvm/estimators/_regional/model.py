"""A linear model per region and a global one: built from a solution, then evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm._threads import effective_n_jobs
from localsvm.cluster import RegionCodes
from localsvm.rows import as_rows
from localsvm.solvers import LinearSolution


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
            effective_n_jobs(n_jobs),
        )
        return out

    def blend(self, codes: RegionCodes) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights and intercept of the linear function that decides each row."""
        nodes, weights = self.node_codes(codes)
        coef = np.einsum("im,impj->ipj", weights, self.coef[nodes])
        return coef, np.einsum("im,imp->ip", weights, self.intercept[nodes])

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

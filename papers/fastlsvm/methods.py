"""SVM, kNNSVM and FastLSVM with the four kernels of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from papers._definition import Method, Part
from papers.fastlsvm.search import (
    exact_search,
    global_search,
    local_search,
    neighbor_search,
)

# The paper's polynomials have no factor before the inner product.
KERNELS: Mapping[str, Mapping[str, Any]] = {
    "LIN": {"kernel": "linear"},
    "RBF": {"kernel": "rbf"},
    "HPOL": {"kernel": "poly", "gamma": 1.0},
    "IPOL": {"kernel": "poly", "gamma": 1.0, "coef0": 1.0},
}


@dataclass(frozen=True)
class Grid:
    """Values to choose from.

    Parameters
    ----------
    C, sigma : sequence of float
        Penalties, and widths of exp(-|x - x'|^2 / sigma).
    n_neighbors, degree : sequence of int
    """

    C: Sequence[float]
    sigma: Sequence[float] = ()
    n_neighbors: Sequence[int] = ()
    degree: Sequence[int] = ()

    def of(self, kernel: str) -> dict[str, Sequence[Any]]:
        """Give the grid of one SVM, by the names of scikit-learn."""
        if kernel == "RBF":
            return {"C": self.C, "gamma": [1 / sigma for sigma in self.sigma]}
        if kernel == "LIN":
            return {"C": self.C}
        return {"C": self.C, "degree": self.degree}


def svm(kernel: str, grid: Grid) -> Method:
    """Define one SVM of all rows (LIBSVM, as in the paper)."""
    part = Part("sklearn.svm.SVC", {**KERNELS[kernel], "cache_size": 500})
    return Method(f"{kernel} SVM", part, grid.of(kernel), global_search)


def exact_svm(kernel: str, grid: Grid) -> Method:
    """Define the same SVM by the solver of this library, which is faster."""
    part = Part("localsvm.ReducedSVC", KERNELS[kernel])
    return Method(f"{kernel} SVM", part, grid.of(kernel), exact_search)


def knn_svm(kernel: str, grid: Grid) -> Method:
    """Define an SVM on the neighbours of each query."""
    part = Part("localsvm.NeighborSVC", KERNELS[kernel])
    values = {**grid.of(kernel), "n_neighbors": grid.n_neighbors}
    return Method(f"{kernel} kNNSVM", part, values, neighbor_search)


def fast_lsvm(kernel: str, grid: Grid) -> Method:
    """Define local SVMs that each answer a quarter of their rows."""
    part = Part("localsvm.LocalSVC", KERNELS[kernel])
    values = {**grid.of(kernel), "n_neighbors": grid.n_neighbors}
    return Method(f"{kernel} FastLSVM", part, values, local_search)


def tried_one_by_one(method: Method) -> Method:
    """Let a method choose as the paper does."""
    return replace(method, search=exact_search)

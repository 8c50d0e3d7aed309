"""The methods of the paper's tables, and what its text compares them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from papers import _methods
from papers._definition import Method, Part
from papers.scm.search import summary_search

NOT_AT_HAND = "program not at hand: printed only"
# Section 3.1
PENALTIES = (0.1, 1.0, 10.0, 100.0, 1000.0)
WIDTHS = (1e-1, 1e-2, 1e-3, 1e-4)

LIBSVM = _methods.rbf_svm(PENALTIES, WIDTHS, "libsvm")

Grid = Mapping[str, Sequence[Any]]
_MODELS = "papers.scm.models"


def per_cluster(n_clusters: int, *penalties: float) -> tuple[float, ...]:
    """Convert the paper's C, of all rows together, to that of a mean cluster."""
    return tuple(round(C / n_clusters, 4) for C in penalties)


def scm(
    name: str,
    grid: Grid | None = None,
    path: str = "localsvm.SupportClusterSVC",
    **params: Any,
) -> Method:
    """Define a support cluster machine, or a variant of it, by its parameters."""
    return Method(name, Part(path, params), grid or {}, summary_search)


def scm_em(name: str, grid: Grid, n_components: int) -> Method:
    """Define one on the components of a mixture of Gaussians for each class."""
    mixture = Part(
        "sklearn.mixture.GaussianMixture",
        {"n_components": n_components, "covariance_type": "diag"},
    )
    return scm(name, grid, clusterer=mixture)


def centroids(
    name: str, grid: Grid | None = None, *, priors: bool, **params: Any
) -> Method:
    """Define an SVM on the centroids alone, weighted by their rows or all alike."""
    path = "localsvm.SupportClusterSVC" if priors else f"{_MODELS}.CentroidSVC"
    return scm(name, grid, path, covariance="none", **params)


def three_parties(
    name: str, grid: Grid | None = None, *, n_clusters: int, coarse: bool = False
) -> Method:
    """Define the parties of Section 3.4, with ``n_clusters`` of each class and party.

    Coarse ones share no cluster of fewer than ten rows.
    """
    name_of_class = "CoarseThreePartySVC" if coarse else "ThreePartySVC"
    return scm(name, grid, f"{_MODELS}.{name_of_class}", n_clusters=n_clusters)

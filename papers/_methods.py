"""The methods that the papers compare, by the names that their tables give them.

Each function takes the grid of the paper and returns a definition. Nothing is imported
before a method is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from papers._definition import Method, Part
from papers._selection import clustered_search, single_svm_search

# Tolerance and passes of LIBLINEAR's own dual solver, not those of scikit-learn.
_LIBLINEAR = Part(
    "sklearn.svm.LinearSVC", {"loss": "hinge", "tol": 0.1, "max_iter": 1000}
)
_HARD = {"n_nearest": 1, "intercept_scaling": 1.0}


def linear_svm(C: Sequence[float], name: str = "Linear SVM") -> Method:
    """Define one linear SVM with hinge loss: LIBLINEAR as it is by default."""
    return Method(name, _LIBLINEAR, {"C": C})


def rbf_svm(
    C: Sequence[float], gamma: Sequence[float], name: str = "Kernel SVM"
) -> Method:
    """Define a kernel SVM with Gaussian kernel (LIBSVM)."""
    part = Part("sklearn.svm.SVC", {"cache_size": 500})
    return Method(name, part, {"C": C, "gamma": gamma})


def svm_knn(
    C: Sequence[float], n_neighbors: Sequence[int], name: str = "SVM-KNN"
) -> Method:
    """Define a linear SVM on the neighbours of each query (Zhang et al. 2006)."""
    part = Part("localsvm.NeighborSVC", {"kernel": "linear"})
    return Method(name, part, {"C": C, "n_neighbors": n_neighbors})


def kmeans_svm(
    C: Sequence[float], n_clusters: int, name: str = "K-means+SVM"
) -> Method:
    """Define independent linear SVMs in the clusters of k-means."""
    params = {**_HARD, "n_regions": n_clusters, "global_reg": inf}
    part = Part("localsvm.ClusteredSVC", params)
    return Method(name, part, {"C": C}, clustered_search)


def csvm(
    C: Sequence[float],
    global_reg: Sequence[float],
    n_clusters: int,
    name: str = "CSVM",
) -> Method:
    """Define the clustered SVM with hard regions (Gu and Han 2013)."""
    part = Part("localsvm.ClusteredSVC", {**_HARD, "n_regions": n_clusters})
    return Method(name, part, {"C": C, "global_reg": global_reg}, clustered_search)


def msvm(
    C: Sequence[float], n_regions: int, name: str = "MSVM", **params: Any
) -> Method:
    """Define a mixture of linear SVMs (Fu et al. 2010); ``params`` are further ones."""
    params = {"n_regions": n_regions, **params}
    return Method(name, Part("localsvm.MixtureSVC", params), {"C": C})


def llsvm(
    C: Sequence[float],
    n_anchors: int,
    n_nearest: int,
    name: str = "LLSVM",
    **params: Any,
) -> Method:
    """Define a locally linear SVM (Ladicky and Torr 2011); ``params`` as above."""
    params = {"n_regions": n_anchors, "n_nearest": n_nearest, **params}
    return Method(name, Part("localsvm.LocallyLinearSVC", params), {"C": C})


def boosted_linear_svm(
    C: Sequence[float], n_estimators: int, name: str = "Boosted linear SVM"
) -> Method:
    """Define AdaBoost on linear SVMs, with the C that is best for one of them."""
    weak = Part("papers._boosting.WeightedLinearSVC", _LIBLINEAR.params)
    params = {"estimator": weak, "n_estimators": n_estimators}
    part = Part("sklearn.ensemble.AdaBoostClassifier", params)
    return Method(name, part, {"estimator__C": C}, single_svm_search)


def centroid_svm(params: dict[str, Any], name: str = "Centroids only") -> Method:
    """Define an SVM on the centroids of clusters, without their covariances."""
    part = Part("localsvm.SupportClusterSVC", {**params, "covariance": "none"})
    return Method(name, part)


def nearest_neighbors(n_neighbors: Sequence[int], name: str = "kNN") -> Method:
    """Define the nearest neighbour rule."""
    part = Part("sklearn.neighbors.KNeighborsClassifier")
    return Method(name, part, {"n_neighbors": n_neighbors})

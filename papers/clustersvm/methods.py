"""The exact SVM and ClusterSVM, as the paper sets them."""

from collections.abc import Mapping
from typing import Any

from papers._definition import Method, Part

# A kernel matrix of all rows does not fit: each classifier computes its own kernel
# values, as LIBSVM does in the paper.
SMO = {"solver": "smo", "cache_size": 100.0}
INTERIOR_POINT = {"solver": "interior_point", "tol": 1e-6}
# The matrix fits, and all classifiers of a problem share it.
SHARED_MATRIX = {"solver": "smo"}

_SVC = "localsvm.ReducedSVC"
_REDUCTION = "localsvm.estimators.Reduction"
_ALGORITHM_1 = {"representative": "pseudo_center", "use_bounds": False, "band": 0.0}


def all_rows(name: str, kernel: Mapping[str, Any], solver: Mapping[str, Any]) -> Method:
    """Define the SVM of all rows."""
    return Method(name, Part(_SVC, {"reduction": None, **kernel, **solver}))


def libsvm(name: str, kernel: Mapping[str, Any]) -> Method:
    """Define the program of the paper, one class against the rest."""
    inner = Part("sklearn.svm.SVC", {**kernel, "cache_size": SMO["cache_size"]})
    return Method(
        name, Part("sklearn.multiclass.OneVsRestClassifier", {"estimator": inner})
    )


def cluster_svm(
    name: str,
    kernel: Mapping[str, Any],
    solver: Mapping[str, Any],
    max_passes: int = 1,
    n_clusters: int | None = None,
) -> Method:
    """Define ClusterSVM; without number of clusters by the square root heuristic."""
    reduction = Part(_REDUCTION, {**_ALGORITHM_1, "max_passes": max_passes})
    params: dict[str, Any] = {"reduction": reduction, **kernel, **solver}
    if n_clusters is not None:
        params["clusterer"] = Part("localsvm.cluster.PDDP", {"n_clusters": n_clusters})
    return Method(name, Part(_SVC, params))


def condition_two(
    name: str, kernel: Mapping[str, Any], solver: Mapping[str, Any]
) -> Method:
    """Define the extension that Section 4 announces, to convergence.

    Rows far inside the margin stay in clusters, too.
    """
    reduction = Part(_REDUCTION, {"band": 0.05})
    return Method(name, Part(_SVC, {"reduction": reduction, **kernel, **solver}))

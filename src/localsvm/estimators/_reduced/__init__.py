"""ReducedSVC: an exact SVM from groups of rows."""

from localsvm.estimators._reduced.estimator import ReducedSVC

__all__ = [
    "ReducedSVC",
]

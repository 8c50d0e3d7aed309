"""ReducedSVC: an exact SVM from groups of rows."""

from localsvm.estimators._reduced.estimator import ReducedSVC
from localsvm.estimators._reduced.model import ReducedModel
from localsvm.estimators._reduced.settings import Reduction

__all__ = [
    "ReducedModel",
    "ReducedSVC",
    "Reduction",
]

"""StagedSVC: regions of linear SVMs, then RBF SVMs for the hard rows."""

from localsvm.estimators._staged.estimator import StagedSVC
from localsvm.estimators._staged.model import StagedModel
from localsvm.estimators._staged.preparation import Preparation, QuantileMap

__all__ = [
    "Preparation",
    "QuantileMap",
    "StagedModel",
    "StagedSVC",
]

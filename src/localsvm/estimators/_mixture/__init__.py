"""MixtureSVC: experts and a gate, fitted by EM."""

from localsvm.estimators._mixture.estimator import MixtureSVC
from localsvm.estimators._mixture.gates import CenterGate, SoftmaxGate, TwoLevelGate
from localsvm.estimators._mixture.model import MixtureModel

__all__ = [
    "CenterGate",
    "MixtureModel",
    "MixtureSVC",
    "SoftmaxGate",
    "TwoLevelGate",
]

"""MixtureSVC: experts and a gate, fitted by EM."""

from localsvm.estimators._mixture.estimator import MixtureSVC
from localsvm.estimators._mixture.gates import CenterGate, LinearGate, TwoLevelGate
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.settings import PaperGate, SoftmaxGate

__all__ = [
    "CenterGate",
    "LinearGate",
    "MixtureModel",
    "MixtureSVC",
    "PaperGate",
    "SoftmaxGate",
    "TwoLevelGate",
]

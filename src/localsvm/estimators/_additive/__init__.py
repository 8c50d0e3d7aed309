"""Additive SVMs, one table of effects per column: AdditiveSVC."""

from localsvm.estimators._additive.bins import ColumnBins, learn_bins
from localsvm.estimators._additive.fit import (
    LOSSES,
    AdditiveFit,
    AdditiveSettings,
    fit_additive,
)
from localsvm.estimators._additive.model import AdditiveModel

__all__ = [
    "LOSSES",
    "AdditiveFit",
    "AdditiveModel",
    "AdditiveSettings",
    "ColumnBins",
    "fit_additive",
    "learn_bins",
]

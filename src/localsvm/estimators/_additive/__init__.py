"""Additive SVMs, one table of effects per column: AdditiveSVC."""

from localsvm.estimators._additive.bins import ColumnBins, learn_bins
from localsvm.estimators._additive.effects import ColumnEffect
from localsvm.estimators._additive.estimator import AdditiveSVC
from localsvm.estimators._additive.fit import (
    LOSSES,
    AdditiveFit,
    AdditiveSettings,
    fit_additive,
)
from localsvm.estimators._additive.model import AdditiveModel
from localsvm.estimators._additive.rows import BinnedRows, bin_rows
from localsvm.estimators._additive.search import PenaltyChoice, choose_penalty

__all__ = [
    "LOSSES",
    "AdditiveFit",
    "AdditiveModel",
    "AdditiveSVC",
    "AdditiveSettings",
    "BinnedRows",
    "ColumnBins",
    "ColumnEffect",
    "PenaltyChoice",
    "bin_rows",
    "choose_penalty",
    "fit_additive",
    "learn_bins",
]

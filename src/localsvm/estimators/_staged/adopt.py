"""Fits of terms as the public estimators that they are."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from localsvm.estimators._additive import AdditiveSVC
from localsvm.estimators._local import LocalSVC
from localsvm.estimators._staged.setting import (
    KernelTerm,
    StagedSetting,
    StageOptions,
)
from localsvm.estimators._staged.sum.fit import SumFit
from localsvm.estimators._staged.sum.terms import ADDITIVE_LOSS
from localsvm.estimators._staged.switch.fit import SwitchFit
from localsvm.estimators._staged.terms.cells import KernelFit, kernel_estimator
from localsvm.estimators._staged.terms.regions import region_estimator

Estimators = dict[str, Any]


def terms_of_stages(
    fit: SwitchFit, setting: StagedSetting, options: StageOptions, classes: NDArray[Any]
) -> Estimators:
    """First stage, and second if there is one, of a switch."""
    first = fit.first
    regions = region_estimator(fit.rows, first.fit.settings.C, options)
    terms: Estimators = {
        "regions": regions._adopt(first.fit, fit.rows, classes, first.seconds)
    }
    if fit.second is not None:
        kernel = KernelTerm(
            "rbf", setting.gamma_factor, setting.kernel_C, fit.cell_size
        )
        terms["rbf"] = _adopt_cells(fit.second, kernel, options, classes)
    return terms


def terms_of_sum(
    fit: SumFit, setting: StagedSetting, options: StageOptions, classes: NDArray[Any]
) -> Estimators:
    """Terms of a sum in the order in which they are added."""
    terms: Estimators = {}
    if fit.additive is not None:
        assert setting.additive_C is not None
        terms["additive"] = AdditiveSVC(
            C=setting.additive_C,
            loss=ADDITIVE_LOSS,
            categorical_features=options.categorical,
            max_time=options.max_time,
            random_state=options.seed,
            n_jobs=options.n_jobs,
        )._adopt(fit.additive.fit, fit.additive.rows, classes, fit.additive.seconds)
    if fit.regions is not None:
        stage = fit.regions
        regions = region_estimator(stage.rows, setting.C, options)
        terms["regions"] = regions._adopt(stage.fit, stage.rows, classes, stage.seconds)
    for name, cell in fit.cells.items():
        terms[name] = _adopt_cells(cell.fit, cell.term, options, classes)
    return terms


def _adopt_cells(
    stage: KernelFit, term: KernelTerm, options: StageOptions, classes: NDArray[Any]
) -> LocalSVC:
    estimator = kernel_estimator(stage, term, options)
    return estimator._adopt(stage.fit, stage.rows, stage.merged, classes, stage.seconds)

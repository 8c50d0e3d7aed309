"""The fit of an additive SVM: Newton's method on bins, for one penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.estimators._additive.bins import ColumnBins
from localsvm.estimators._additive.model import AdditiveModel, centred
from localsvm.estimators._additive.rows import BinnedRows
from localsvm.solvers import Certified, RunLimits

LOSSES = {
    "squared_hinge": _core.AdditiveLoss.squared_hinge,
    "logistic": _core.AdditiveLoss.logistic,
}


@dataclass(frozen=True)
class AdditiveSettings:
    """The problem that is solved.

    Attributes
    ----------
    C : float
        Penalty of a row's loss.
    loss : {"squared_hinge", "logistic"}
    """

    C: float = 1.0
    loss: str = "squared_hinge"


@dataclass(frozen=True)
class AdditiveFit(Certified):
    """Result of a fit.

    Attributes
    ----------
    settings : AdditiveSettings
    model : AdditiveModel
    coef : ndarray of shape (n_tasks, n_weights + 1)
        Weights of the code, and the bias; a start for another penalty.
    certificates : list of Certificate
        Primal and dual objective of each task, Newton steps and status.
    """

    settings: AdditiveSettings
    model: AdditiveModel
    coef: NDArray[np.float64]
    certificates: list[_core.Certificate]


def fit_additive(
    codes: NDArray[Any],
    bins: ColumnBins,
    class_index: NDArray[np.int32],
    penalty_weight: NDArray[np.float64],
    n_classes: int,
    settings: AdditiveSettings,
    options: RunLimits,
    start: AdditiveFit | None = None,
) -> AdditiveFit:
    """Solve the additive SVM; each class against the rest if there are several.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_rows)
        As ``bins.encode`` gives them, or some of those rows.
    bins : ColumnBins
    class_index : ndarray of shape (n_rows,), int32
    penalty_weight : ndarray of shape (n_rows,)
        The penalty of a row is C times that.
    n_classes : int
    settings : AdditiveSettings
    options : RunLimits
        ``tol`` is the relative duality gap, an iteration is a Newton step.
    start : AdditiveFit or None, default=None
        Fit of the same bins with another penalty, or to other rows.

    Notes
    -----
    A product with the Hessian costs O(n_rows n_columns), whatever the number of bins;
    a Newton step takes ten to a hundred of them, a fit five to ten steps.
    """
    n_tasks = 1 if n_classes == 2 else n_classes
    coef = np.zeros((n_tasks, bins.n_weights + 1)) if start is None else start.coef
    coef, tables = coef.copy(), np.empty((n_tasks, bins.start[-1]))
    task = _core.AdditiveTask(
        labels=class_index,
        weight=settings.C * penalty_weight,
        first_positive=1 if n_classes == 2 else 0,
        coef=coef,
        table=tables,
    )
    certificates = _core.solve_additive(
        np.ascontiguousarray(codes),
        bins.n_bins,
        bins.n_ordered,
        task,
        _core.AdditiveOptions(
            loss=LOSSES[settings.loss],
            tol=options.tol,
            max_iter=options.max_iter,
            max_time=options.seconds,
            n_threads=options.n_threads,
            cancelled=options.cancelled,
        ),
    )
    model = centred(bins, tables, coef[:, -1])
    return AdditiveFit(settings, model, coef, certificates)


def count_support(fit: AdditiveFit, binned: BinnedRows) -> NDArray[np.int64]:
    """Rows of each class that have a dual in any task.

    Parameters
    ----------
    fit : AdditiveFit
    binned : BinnedRows
    """
    n_classes, classes = binned.n_classes, binned.class_index
    if fit.settings.loss == "logistic":
        return np.bincount(classes, minlength=n_classes)
    decisions = fit.model.decide_codes(binned.codes)
    positive = np.arange(n_classes) if n_classes > 2 else np.ones(1, dtype=np.intp)
    sign = np.where(classes[:, np.newaxis] == positive, 1.0, -1.0)
    within = (sign * decisions < 1).any(axis=1)
    return np.bincount(classes[within], minlength=n_classes)

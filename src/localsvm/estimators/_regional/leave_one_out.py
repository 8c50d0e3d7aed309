"""What a linear SVM would say of a training row if it had not seen the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._regional.model import RegionalFit, coded_squared_norms
from localsvm.rows import Rows


def unseen_decisions(
    rows: Rows, fit: RegionalFit, decisions: NDArray[Any]
) -> NDArray[np.float64]:
    """Estimate the decision on each training row by a fit without that row.

    Parameters
    ----------
    rows : Rows
        Those of the fit.
    fit : RegionalFit
    decisions : ndarray of shape (n_rows, n_tasks)
        Of the fit, on these rows.

    Returns
    -------
    decisions : ndarray of shape (n_rows, n_tasks)
    """
    settings = fit.settings
    return leave_one_out_decisions(
        decisions,
        signed_duals(fit.duals, rows.class_index, settings.joint),
        coded_squared_norms(
            rows.X, fit.coded.codes, settings.global_reg, settings.constant
        ),
    )


def leave_one_out_decisions(
    decisions: NDArray[Any],
    signed_duals: NDArray[np.float64],
    squared_norm: NDArray[np.float64],
) -> NDArray[np.float64]:
    r"""Decisions of training rows without their own part.

    .. math:: f_{-i}(x_i) \approx f(x_i) - \alpha_i y_i K(x_i, x_i)

    which for a two-class SVM is at most as far on the right side as the decision of the
    SVM fitted without the row (Jaakkola and Haussler, 1999).

    Parameters
    ----------
    decisions : ndarray of shape (n_samples, n_tasks)
    signed_duals : ndarray of shape (n_tasks, n_samples)
        :math:`\alpha_i y_i`, in the units of the weights.
    squared_norm : ndarray of shape (n_samples,)
        :math:`K(x_i, x_i)`.

    Returns
    -------
    decisions : ndarray of shape (n_samples, n_tasks)
    """
    return decisions - signed_duals.T * squared_norm[:, np.newaxis]


def signed_duals(
    duals: NDArray[np.float64], class_index: NDArray[np.int32], joint: bool
) -> NDArray[np.float64]:
    """Duals times labels; those of several classes in one problem have signs."""
    if joint:
        return duals
    positive = 1 if len(duals) == 1 else np.arange(len(duals))[:, np.newaxis]
    return duals * np.where(class_index == positive, 1.0, -1.0)


def margins(
    decisions: NDArray[Any], class_index: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Lead of the row's own class, by which the loss asks for one.

    For two classes the signed decision; for more the lead over the best of the others.
    """
    if decisions.shape[1] == 1:
        return np.asarray(np.where(class_index == 1, 1.0, -1.0) * decisions[:, 0])
    rows = np.arange(len(class_index))
    others = decisions.copy()
    others[rows, class_index] = -np.inf
    return np.asarray(decisions[rows, class_index] - others.max(axis=1))


def confidences(decisions: NDArray[Any]) -> NDArray[Any]:
    """Lead of the class that wins."""
    if decisions.shape[1] == 1:
        return np.asarray(np.abs(decisions[:, 0]))
    best_two = np.partition(decisions, -2, axis=1)[:, -2:]
    return np.asarray(best_two[:, 1] - best_two[:, 0])

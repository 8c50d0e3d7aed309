"""Rows whose label a model doubts once it has not seen them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIGITS = 3


@dataclass(frozen=True)
class SuspiciousLabel:
    """A row whose label the rest of the rows speak against.

    Attributes
    ----------
    row : int
        Number of the row.
    label, predicted : object
        Its label, and the class that a model without the row predicts.
    margin : float
        Lead of its label over the best other class, without the row; below zero.
    """

    row: int
    label: Any
    predicted: Any
    margin: float

    def __str__(self) -> str:
        """Tell it in a line."""
        return (
            f"row {self.row}: {self.label!r}, but {self.predicted!r} without it "
            f"(margin {self.margin:.{_DIGITS}f})"
        )


def suspicious_labels(
    model: Any, X: Any, y: Any, *, most: int | None = None, exact: bool = False
) -> list[SuspiciousLabel]:
    """List rows of a model that are misclassified when they are left out.

    Parameters
    ----------
    model : ClusteredSVC
        Fitted with ``updatable=True``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows of the model.
    y : array-like of shape (n_samples,)
        Their labels.
    most : int or None, default=None
        Rows to list; None lists all.
    exact : bool, default=False
        Whether to compute the margins of the rows that are listed by removing each of
        them, as :meth:`ClusteredSVC.leave_one_out` does it; otherwise they are
        estimates.

    Returns
    -------
    list of SuspiciousLabel
        The smallest margin first.

    Notes
    -----
    A ranking, not a verdict: rows near the border of two classes are listed with those
    of a wrong label. It finds about as many wrong labels as the margins of a five-fold
    cross-validation, and hardly more than the margins on the training rows, at the cost
    of a part of a fit.

    Examples
    --------
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import suspicious_labels
    >>> X, y = make_xor(400, random_state=0)
    >>> y[7] = 1 - y[7]
    >>> model = ClusteredSVC(4, random_state=0, updatable=True).fit(X, y)
    >>> 7 in [found.row for found in suspicious_labels(model, X, y, most=10)]
    True
    """
    labels = np.asarray(y)
    margins, _ = _judge(model, model.leave_one_out(X, labels), labels)
    order = np.argsort(margins, kind="stable")
    rows = order[margins[order] < 0][:most]
    if not len(rows):
        return []
    scores = model.leave_one_out(X[rows], labels[rows], exact=exact)
    margins, predicted = _judge(model, scores, labels[rows])
    return [
        SuspiciousLabel(int(rows[i]), labels[rows[i]], predicted[i], float(margins[i]))
        for i in np.argsort(margins, kind="stable")
    ]


def _judge(
    model: Any, scores: NDArray[Any], labels: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Lead of each row's label, and the class that wins."""
    classes = model.classes_
    if scores.ndim == 1:
        scores = np.stack([-scores, scores], axis=1)
        lead = 0.5
    else:
        lead = 1.0
    own, every = np.searchsorted(classes, labels), np.arange(len(labels))
    others = scores.astype(np.float64)
    mine = others[every, own]
    others[every, own] = -np.inf
    return lead * (mine - others.max(axis=1)), classes[scores.argmax(axis=1)]

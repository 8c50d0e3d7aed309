"""What a linear SVM would say of a training row if it had not seen the row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.cluster import RegionCodes
from localsvm.estimators._held_out import HeldOut, sample_rows
from localsvm.estimators._regional.blocks import with_global_node
from localsvm.estimators._regional.model import (
    RegionalFit,
    RegionalSettings,
    coded_squared_norms,
)
from localsvm.kernels import fill_spans
from localsvm.rows import Rows, take_rows

_MOST_FREE = 2000
# Of more: the heaviest of a region, and some of all regions, which span the global
# weights.
_MOST_OF_REGION, _SHARED_FREE = 300, 200
# Of a bound: duals that are less by rounding are there.
_AT_BOUND = 1 - 1e-9


@dataclass(frozen=True)
class CodedGram:
    """Inner products of rows in the space of linear SVMs over regions.

    A row stands there once per region of its code, and once for the global weights,
    with a constant column.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
    codes : CSR of shape (n_rows, n_nodes), float64
        Weights of the regions and, last, of the global vector.
    main : ndarray of shape (n_rows,)
        Region of most weight.
    norms : ndarray of shape (n_rows,)
        Squared norms.
    constant : float
    """

    X: Any
    codes: sparse.csr_array
    main: NDArray[np.int32]
    norms: NDArray[np.float64]
    constant: float

    @classmethod
    def of(cls, X: Any, codes: RegionCodes, settings: RegionalSettings) -> CodedGram:
        """Products of the rows of a fit."""
        n_regions = int(codes.regions.max()) + 1
        nodes, weights = with_global_node(codes, n_regions, settings.global_weight)
        start = np.arange(len(nodes) + 1) * nodes.shape[1]
        values = weights.astype(np.float64).ravel()
        table = sparse.csr_array(
            (values, nodes.ravel(), start), shape=(len(nodes), n_regions + 1)
        )
        heaviest = codes.weights.argmax(axis=1)
        return cls(
            X,
            table,
            codes.regions[np.arange(len(nodes)), heaviest],
            coded_squared_norms(X, codes, settings.global_reg, settings.constant),
            settings.constant,
        )

    def values(
        self, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Products of some rows with others."""
        x, z = (self.X[part].astype(np.float64) for part in (first, second))
        rows, codes = x @ z.T, (self.codes[first] @ self.codes[second].T).toarray()
        rows = rows.toarray() if sparse.issparse(rows) else rows
        return np.asarray((rows + self.constant**2) * codes)


def span_decisions(
    decisions: NDArray[Any],
    signed_duals: NDArray[np.float64],
    bounds: NDArray[np.float64],
    gram: CodedGram,
    *,
    squared: bool = False,
    n_wanted: int | None = None,
) -> NDArray[np.float64]:
    r"""Decisions of training rows by fits without them, by the span rule.

    .. math:: f_{-i}(x_i) \approx f(x_i) - \alpha_i y_i S_i^2

    With :math:`S_i` the distance of the row to the span of the free rows F, those whose
    dual is at neither bound: when a row leaves, these take its place as far as they
    can. :math:`S_i^2 = 1 / (K_{FF}^{-1})_{ii}` for a free row, and :math:`K_{ii} -
    k_{iF} K_{FF}^{-1} k_{Fi}` for one at a bound. A row without a dual changes nothing.
    Exact while the free rows stay free and the others at their bounds. In a space of
    few dimensions, which the free rows fill, others become free in truth: there free
    rows get a decision that is too careful.

    Parameters
    ----------
    decisions : ndarray of shape (n_samples, n_tasks)
    signed_duals : ndarray of shape (n_tasks, n_samples)
        :math:`\alpha_i y_i`, in the units of the weights.
    bounds : ndarray of shape (n_samples,)
        Penalty of each row.
    gram : CodedGram
    squared : bool, default=False
        Whether the loss is the squared hinge, in which no dual has a bound.
    n_wanted : int or None, default=None
        Number of rows, the first ones, that the result is for; None is all.

    Returns
    -------
    decisions : ndarray of shape (n_wanted, n_tasks)

    Notes
    -----
    O(f\ :sup:`3` + b f\ :sup:`2`) for f free rows and b rows at a bound. Of more than
    2000 free rows each region uses 300 in it and 200 of all: fewer rows span less, so
    that the decisions are nearer to those of :func:`leave_one_out_decisions`, never
    beyond.

    References
    ----------
    V. Vapnik, O. Chapelle. Bounds on error expectation for support vector machines.
    Neural Computation 12(9), 2000.
    """
    ridge = np.zeros_like(bounds)
    if squared:
        np.divide(0.5, bounds, out=ridge, where=bounds > 0)
    unseen = np.array(decisions[:n_wanted], dtype=np.float64)
    is_wanted = np.arange(len(bounds)) < len(unseen)
    for task, duals in enumerate(signed_duals):
        size = np.abs(duals)
        is_free = (size > 0) & (squared | (size < bounds * _AT_BOUND))
        spans = np.zeros(len(size))
        groups = _span_groups(gram, is_free, (size > 0) & is_wanted)
        for free, others in groups:
            fill_spans(gram, ridge, free, others, spans)
        unseen[:, task] -= (duals * (spans - ridge))[: len(unseen)]
    return unseen


def _span_groups(
    gram: CodedGram,
    is_free: NDArray[np.bool_],
    has_dual: NDArray[np.bool_],
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Free rows, and the rows with a dual whose distance to their span is wanted."""
    free = np.flatnonzero(is_free)
    if len(free) <= _MOST_FREE:
        yield free, np.flatnonzero(has_dual)
        return
    by_region = sparse.csc_array(gram.codes[free])
    shared = np.linspace(0, len(free) - 1, _SHARED_FREE).astype(np.intp)
    for region in np.unique(gram.main[has_dual]):
        own = slice(*by_region.indptr[region : region + 2])
        heaviest = np.argsort(-by_region.data[own], kind="stable")[:_MOST_OF_REGION]
        near = free[np.union1d(by_region.indices[own][heaviest], shared)]
        yield near, np.flatnonzero(has_dual & (gram.main == region))


def unseen_decisions(
    rows: Rows, fit: RegionalFit, decisions: NDArray[Any]
) -> NDArray[np.float64]:
    """Bound the decision on each training row by a fit without that row.

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
        As :func:`leave_one_out_decisions` gives them: too careful by far where C is
        large. :func:`estimate_unseen` is closer, and costs more.
    """
    settings = fit.settings
    return leave_one_out_decisions(
        decisions,
        signed_duals(fit.duals, rows.class_index, settings.joint),
        coded_squared_norms(
            rows.X, fit.coded.codes, settings.global_reg, settings.constant
        ),
    )


def hold_out(rows: Rows, fit: RegionalFit, n_jobs: int | None) -> HeldOut:
    """Decide a sample of the rows of a fit as if each had not been there.

    Parameters
    ----------
    rows : Rows
        Those of the fit.
    fit : RegionalFit
    n_jobs : int or None

    Returns
    -------
    HeldOut
        Decisions by the span rule; of copies of a row all are left out.
    """
    settings, (merged, drawn) = fit.settings, sample_rows(rows)
    # Equal rows are one point, with all that its copies carry.
    present = merged.kind >= 0
    signed = np.array(
        [
            np.bincount(merged.kind[present], own[present])
            for own in signed_duals(fit.duals, rows.class_index, settings.joint)
        ]
    )
    # Drawn ones come first, whatever the order of the rows.
    matters: NDArray[np.bool_] = np.asarray(signed.any(axis=0))
    matters[: drawn.n_rows] = True
    points = merged.first[matters]
    known = fit.coded.codes
    codes = RegionCodes(known.regions[points], known.weights[points])
    X = take_rows(rows.X, points)
    unseen = span_decisions(
        fit.model.decide(X, codes, n_jobs),
        signed[:, matters],
        settings.C * merged.rows.penalty_weight[matters],
        CodedGram.of(X, codes, settings),
        squared=settings.loss == "squared_hinge",
        n_wanted=drawn.n_rows,
    )
    return HeldOut(drawn, unseen)


def estimate_unseen(
    rows: Rows, fit: RegionalFit, decisions: NDArray[Any]
) -> NDArray[np.float64]:
    """Estimate the decision on each training row by a fit without that row.

    Parameters and result are those of :func:`unseen_decisions`; the estimate is that of
    :func:`span_decisions`.
    """
    settings = fit.settings
    return span_decisions(
        decisions,
        signed_duals(fit.duals, rows.class_index, settings.joint),
        settings.C * rows.penalty_weight,
        CodedGram.of(rows.X, fit.coded.codes, settings),
        squared=settings.loss == "squared_hinge",
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

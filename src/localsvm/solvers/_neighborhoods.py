"""Kernel SVMs of many neighbourhoods, solved and evaluated in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm import _core
from localsvm.rows import Rows, as_rows, row_numbers
from localsvm.solvers._kernel import CoreKernel, KernelOptions
from localsvm.solvers._large_models import LargeModel

_LARGE_MODEL, _MANY_QUERIES = 300, 32


@dataclass(frozen=True)
class LocalKernel:
    """What is fitted in each neighbourhood.

    Parameters
    ----------
    kernel : localsvm.kernels.Kernel
    C : float
    local_gamma : bool, default=False
        Whether the kernel's gamma is a factor of 1 / (median squared distance of the
        neighbourhood's rows to its centre).
    C_factors, gamma_factors : sequence of float, default=(1.0,)
        With more than one, each neighbourhood takes the pair with the fewest errors on
        held-out parts of its own rows, then the smallest hinge loss. C_factors ascend.
    n_folds : int, default=3
        Parts of a neighbourhood for that choice.
    """

    kernel: CoreKernel
    C: float
    local_gamma: bool = False
    C_factors: Sequence[float] = (1.0,)
    gamma_factors: Sequence[float] = (1.0,)
    n_folds: int = 3

    def to_core(self) -> _core.LocalKernel:
        """Give the settings as the core takes them."""
        return _core.LocalKernel(
            kernel=self.kernel.to_core(),
            C=self.C,
            local_gamma=self.local_gamma,
            C_factors=list(self.C_factors),
            gamma_factors=list(self.gamma_factors),
            n_folds=self.n_folds,
        )


@dataclass(frozen=True)
class Endings:
    """How many solves ended.

    Parameters
    ----------
    status : ndarray of shape (n_problems,)
    violation : ndarray of shape (n_problems,)
    """

    status: NDArray[np.int32]
    violation: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Sequence[Endings]) -> Endings:
        """Put several batches into one."""
        return cls(
            np.concatenate([part.status for part in parts]),
            np.concatenate([part.violation for part in parts]),
        )

    @property
    def n_problems(self) -> int:
        """Number of problems."""
        return len(self.status)

    @property
    def shortfall(self) -> str:
        """How far from optimal the worst problem is, in words."""
        return f"worst violation {self.violation.max():.1e}"

    def count(self, status: _core.Status) -> int:
        """Count the problems that ended with ``status``."""
        return int(np.count_nonzero(self.status == status.value))


@dataclass(frozen=True)
class LocalModels:
    """Kernel SVMs of many neighbourhoods, end to end in flat arrays.

    The arrays of model m are those from ``*_start[m]`` to ``*_start[m + 1]``.

    Attributes
    ----------
    support_start, support : ndarray
        Rows with a dual in any pair of classes, as indices into the training rows.
    pair_start, pairs : ndarray
        Negative and positive class of each pair that was solved.
    intercept : ndarray
        One per pair.
    coef_start, coef : ndarray
        Signed duals, pairs x support vectors.
    only_class : ndarray
        The class of a neighbourhood that has no other, -1 elsewhere.
    gamma, C : ndarray of shape (n_models,)
        Of the model; 0 where there was nothing to solve.
    n_iter, violation, relative_gap, status : ndarray of shape (n_models,)
        Steps, and the worst of the pairs.
    """

    support_start: NDArray[np.int64]
    support: NDArray[np.int32]
    pair_start: NDArray[np.int64]
    pairs: NDArray[np.int32]
    intercept: NDArray[np.float64]
    coef_start: NDArray[np.int64]
    coef: NDArray[np.float64]
    only_class: NDArray[np.int32]
    gamma: NDArray[np.float64]
    C: NDArray[np.float64]
    n_iter: NDArray[np.int64]
    violation: NDArray[np.float64]
    relative_gap: NDArray[np.float64]
    status: NDArray[np.int32]

    @classmethod
    def joined(cls, parts: Sequence[LocalModels]) -> LocalModels:
        """Put models that index into the same rows into one."""
        arrays: dict[str, Any] = {}
        for name in (item.name for item in fields(cls)):
            own = [getattr(part, name) for part in parts]
            if name.endswith("_start"):
                ends = np.cumsum([start[-1] for start in own])
                own[1:] = [
                    start[1:] + end for start, end in zip(own[1:], ends, strict=False)
                ]
            arrays[name] = np.concatenate(own)
        return cls(**arrays)

    @property
    def endings(self) -> Endings:
        """How the solve of each neighbourhood ended."""
        return Endings(self.status, self.violation)

    def compact(self) -> tuple[LocalModels, NDArray[np.int32]]:
        """Models that index into their own support vectors, and those rows."""
        rows, position = np.unique(self.support, return_inverse=True)
        return replace(self, support=row_numbers(position, len(rows))), rows

    def decide(
        self,
        support_rows: Any,
        kernel: CoreKernel,
        n_classes: int,
        X: Any,
        route: NDArray[np.int64],
        n_threads: int,
        prior: NDArray[np.float64] | None = None,
    ) -> NDArray[Any]:
        """Scores of each row of X by the model that it is routed to.

        Parameters
        ----------
        support_rows : ndarray or CSR
            The rows that ``support`` points to.
        kernel : localsvm.kernels.Kernel
            Its gamma is replaced by each model's own.
        n_classes : int
        X : ndarray or CSR of shape (n_samples, n_features), stored as the support rows
        route : ndarray of shape (n_samples,), int64
        n_threads : int
        prior : ndarray of shape (n_samples, n_outputs), float64, or None
            As in :class:`Rows`, of the rows of X.

        Returns
        -------
        scores : ndarray of shape (n_samples, 1) or (n_samples, n_classes)
            Two classes: the decision value. More: votes of the pairs of classes in the
            neighbourhood plus the squeezed sum of their decisions, as in scikit-learn;
            -1 for classes that are not there.
        """
        out = np.empty((X.shape[0], 1 if n_classes == 2 else n_classes), X.dtype)
        small = np.ones(X.shape[0], dtype=bool)
        for model in self._large_models(X, route):
            rows = np.flatnonzero(route == model)
            small[rows] = False
            out[rows] = self._large_model(model, support_rows, n_classes).decide(
                kernel, X[rows], None if prior is None else prior[rows], n_threads
            )
        if small.all():
            self._decide_small(
                support_rows, kernel, n_classes, X, route, n_threads, prior, out
            )
        elif small.any():
            part = out[small]
            self._decide_small(
                support_rows,
                kernel,
                n_classes,
                X[small],
                route[small],
                n_threads,
                None if prior is None else prior[small],
                part,
            )
            out[small] = part
        return out

    def _large_models(self, X: Any, route: NDArray[np.int64]) -> list[int]:
        """Models for which matrix products pay: many support vectors and queries."""
        if sparse.issparse(X):
            return []
        n_support = np.diff(self.support_start)
        n_queries = np.bincount(route, minlength=len(n_support))
        large = (n_support >= _LARGE_MODEL) & (n_queries >= _MANY_QUERIES)
        return [int(model) for model in np.flatnonzero(large)]

    def _large_model(self, model: int, support_rows: Any, n_classes: int) -> LargeModel:
        first, last = self.pair_start[model : model + 2]
        support = self.support[
            self.support_start[model] : self.support_start[model + 1]
        ]
        coef = self.coef[self.coef_start[model] : self.coef_start[model + 1]]
        return LargeModel(
            support_rows[support],
            float(self.gamma[model]),
            coef.reshape(last - first, len(support)),
            self.intercept[first:last],
            self.pairs.reshape(-1, 2)[first:last],
            n_classes,
        )

    def _decide_small(
        self,
        support_rows: Any,
        kernel: CoreKernel,
        n_classes: int,
        X: Any,
        route: NDArray[np.int64],
        n_threads: int,
        prior: NDArray[np.float64] | None,
        out: NDArray[Any],
    ) -> None:
        order = np.argsort(route, kind="stable").astype(np.int64, copy=False)
        arrays = _core.ModelArrays(
            support_start=self.support_start,
            support=self.support,
            pair_start=self.pair_start,
            pairs=self.pairs,
            intercept=self.intercept,
            coef_start=self.coef_start,
            coef=self.coef,
            only_class=self.only_class,
            gamma=self.gamma,
        )
        support: Any = as_rows(support_rows)
        queries: Any = as_rows(X)
        _core.decide_by_models(
            support,
            arrays,
            kernel.to_core(),
            n_classes,
            queries,
            route,
            order,
            prior,
            out,
            n_threads,
        )


def fit_neighborhoods(
    rows: Rows,
    neighborhoods: NDArray[np.int32],
    local: LocalKernel,
    options: KernelOptions,
) -> LocalModels:
    """Fit a kernel SVM in each neighbourhood, one per pair of classes that it holds.

    Parameters
    ----------
    rows : Rows
    neighborhoods : ndarray of shape (n_models, n_neighbors), int32
        Rows of each neighbourhood, its centre first.
    local : LocalKernel
    options : KernelOptions

    Returns
    -------
    LocalModels

    Notes
    -----
    O(k² d) for the kernel matrix of k rows and O(k) per step; one matrix per thread is
    held. Neighbourhoods of one class cost O(k).
    """
    return LocalModels(
        **_core.fit_neighborhoods(
            as_rows(rows.X),
            _task(rows, neighborhoods),
            local.to_core(),
            options.to_core(),
        )
    )


def cross_validate_neighborhoods(
    rows: Rows,
    neighborhoods: Sequence[NDArray[np.int32]] | NDArray[np.int32],
    assigned: NDArray[np.int32],
    folds: Sequence[tuple[NDArray[Any], NDArray[Any]]],
    local: LocalKernel,
    options: KernelOptions,
) -> list[NDArray[Any]]:
    """Scores of held-out rows for every width and penalty, on one kernel matrix.

    A fold's models are trained without the rows that are not in its training part; a
    test row is answered by the model that it is assigned to. Rows that no fold trains
    on do not count for the local gamma.

    Parameters
    ----------
    rows, local, options
        As in :func:`fit_neighborhoods`; the factors of ``local`` are the settings.
    neighborhoods : sequence of ndarray of int32
        Rows of each neighbourhood, its centre first; they may differ in size.
    assigned : ndarray of shape (n_samples,), int32
        Neighbourhood that answers for each row, which is one of its members.
    folds : sequence of (train, test) index arrays

    Returns
    -------
    scores : list of ndarray of shape (n_settings, n_test, n_outputs)
        One array per fold, its rows in the order of ``test``; settings run through the
        gammas and, within, the Cs.
    """
    n_samples = rows.X.shape[0]
    in_train = np.zeros((len(folds), n_samples), dtype=np.uint8)
    for fold, (train, _) in enumerate(folds):
        in_train[fold, train] = 1
    tested = np.concatenate([test for _, test in folds])
    fold_of = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
    by_row = np.argsort(tested, kind="stable")
    test_start = np.zeros(n_samples + 1, dtype=np.int64)
    np.cumsum(np.bincount(tested, minlength=n_samples), out=test_start[1:])
    n_settings = len(local.C_factors) * len(local.gamma_factors)
    by_row_scores = np.zeros((n_settings, len(tested), rows.n_outputs), rows.X.dtype)
    _core.cross_validate_neighborhoods(
        as_rows(rows.X),
        _task(rows, neighborhoods),
        local.to_core(),
        assigned,
        in_train,
        test_start,
        fold_of[by_row].astype(np.int32),
        by_row_scores,
        options.to_core(),
    )
    scores = np.empty_like(by_row_scores)
    scores[:, by_row] = by_row_scores
    ends = np.cumsum([len(test) for _, test in folds])[:-1]
    return np.split(scores, ends, axis=1)


def _task(
    rows: Rows, neighborhoods: Sequence[NDArray[np.int32]] | NDArray[np.int32]
) -> _core.NeighborhoodTask:
    start = np.zeros(len(neighborhoods) + 1, dtype=np.int64)
    if isinstance(neighborhoods, np.ndarray):
        start += np.arange(len(start)) * neighborhoods.shape[1]
        members = np.ascontiguousarray(neighborhoods).ravel()
    else:
        np.cumsum([len(each) for each in neighborhoods], out=start[1:])
        members = np.concatenate(neighborhoods)
    return _core.NeighborhoodTask(
        labels=rows.class_index,
        weights=rows.penalty_weight,
        n_classes=rows.n_classes,
        start=start,
        rows=members,
        prior=rows.prior,
    )

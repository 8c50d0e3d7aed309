"""Kernel SVMs of many neighbourhoods, and how they decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm import _core
from localsvm.rows import as_rows, row_numbers
from localsvm.solvers._kernel import CoreKernel
from localsvm.solvers._large_models import LargeModel

_LARGE_MODEL, _MANY_QUERIES = 300, 32


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
    def from_core(cls, fitted: _core.FittedModels) -> LocalModels:
        """Take the arrays of the core's record; they are not copied."""
        return cls(**{item.name: getattr(fitted, item.name) for item in fields(cls)})

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
        queries = _Queries(X, route, prior)
        large = self._large_models(X, route)
        if not large:
            self._decide_small(support_rows, kernel, n_classes, queries, n_threads, out)
            return out
        small = np.ones(X.shape[0], dtype=bool)
        for model in large:
            rows = np.flatnonzero(route == model)
            small[rows] = False
            out[rows] = self._large_model(model, support_rows, n_classes).decide(
                kernel, X[rows], None if prior is None else prior[rows], n_threads
            )
        if small.any():
            part = out[small]
            queries = queries.take(small)
            self._decide_small(
                support_rows, kernel, n_classes, queries, n_threads, part
            )
            out[small] = part
        return out

    def _large_models(self, X: Any, route: NDArray[np.int64]) -> list[int]:
        """Models for which matrix products pay: many support vectors and queries."""
        if sparse.issparse(X) or len(route) < _MANY_QUERIES:
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
        queries: _Queries,
        n_threads: int,
        out: NDArray[Any],
    ) -> None:
        support: Any = as_rows(support_rows)
        X: Any = as_rows(queries.X)
        _core.decide_by_models(
            support,
            self._to_core(n_classes),
            kernel.to_core(),
            X,
            queries.routing(),
            out,
            n_threads,
        )

    def _to_core(self, n_classes: int) -> _core.ModelArrays:
        return _core.ModelArrays(
            support=_core.SupportArrays(
                start=self.support_start,
                rows=self.support,
                coef_start=self.coef_start,
                coef=self.coef,
            ),
            pairs=_core.PairArrays(
                start=self.pair_start, classes=self.pairs, intercept=self.intercept
            ),
            only_class=self.only_class,
            gamma=self.gamma,
            n_classes=n_classes,
        )


@dataclass(frozen=True)
class _Queries:
    """Rows to decide, with the model and the prior of each."""

    X: Any
    route: NDArray[np.int64]
    prior: NDArray[np.float64] | None

    def take(self, rows: NDArray[np.bool_]) -> _Queries:
        """Keep some of the rows."""
        prior = None if self.prior is None else self.prior[rows]
        return _Queries(self.X[rows], self.route[rows], prior)

    def routing(self) -> _core.Routing:
        """Give the queries of one model next to each other."""
        order = np.argsort(self.route, kind="stable").astype(np.int64, copy=False)
        return _core.Routing(route=self.route, order=order, prior=self.prior)

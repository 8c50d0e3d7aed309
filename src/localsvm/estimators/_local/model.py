"""Local kernel SVMs as they are kept: who answers a query, and how."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import threads_for
from localsvm.cluster import (
    NearestRows,
    find_neighbors,
    fit_search,
    index_of,
    make_search,
)
from localsvm.kernels import Kernel
from localsvm.rows import stored_as
from localsvm.solvers import LocalModels, local_gradients


@dataclass(frozen=True)
class Router:
    """Finds the neighbourhood of a query by the nearest of some rows.

    Attributes
    ----------
    rows : ndarray or CSR of shape (n_rows, n_features)
    search : object with ``kneighbors``, fitted to the rows
    regions : ndarray of shape (n_rows,), int32
        Neighbourhood that each row stands for.
    """

    rows: Any
    search: Any
    regions: NDArray[np.int32]

    @classmethod
    def to_centers(cls, centers: Any, neighbors: Any) -> Self:
        """Route to the nearest centre, found with a search by name or object."""
        search = fit_search(make_search(neighbors, centers, 1), centers)
        return cls(centers, search, np.arange(centers.shape[0], dtype=np.int32))

    def route(self, X: Any, n_jobs: int | None) -> NDArray[np.int64]:
        """Neighbourhood of each query."""
        if self._index is not None:
            nearest = self._index.find(X, n_jobs)
        else:
            found = find_neighbors(self.search, X, 1, len(self.regions), n_jobs)
            nearest = found[:, 0]
        return self.regions[nearest].astype(np.int64)

    @cached_property
    def _index(self) -> NearestRows | None:
        """What finds the nearest row sooner than the search, if there is such."""
        return index_of(self.search, self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the index, which is made of the rows."""
        return {name: vars(self)[name] for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class GlobalModel:
    """A fitted classifier whose decisions have one column per output.

    Parameters
    ----------
    classifier : fitted classifier or None
        None decides nothing: zero.
    classes : ndarray of shape (n_classes,)
        All classes; those that the classifier does not know get zero.
    """

    classifier: Any
    classes: NDArray[Any]

    def decide(self, X: Any) -> NDArray[np.float64]:
        """Decisions of shape (n_samples, 1) for two classes, else (.., n_classes)."""
        if self.classifier is None:
            n_classes = len(self.classes)
            return np.zeros((X.shape[0], 1 if n_classes == 2 else n_classes))
        return self.by_output(self.classifier.decision_function(X), X.shape[0])

    def gradients(self, X: Any) -> NDArray[np.float64]:
        """Gradients of the decisions, of shape (n_samples, n_outputs, n_features)."""
        shape = (*self.decide(X).shape, X.shape[1])
        if self.classifier is None:
            return np.zeros(shape)
        if not hasattr(self.classifier, "local_coef"):
            raise AttributeError(
                "Weights need a global_model with local_coef, such as ClusteredSVC; "
                f"got {type(self.classifier).__name__}."
            )
        coef = self.classifier.local_coef(X)[0]
        columns = [
            self.by_output(coef[:, :, feature], X.shape[0])
            for feature in range(X.shape[1])
        ]
        return np.stack(columns, axis=2)

    def by_output(self, scores: Any, n_rows: int) -> NDArray[np.float64]:
        """Check decisions of the classifier and give each class its column."""
        decisions: NDArray[np.float64] = np.asarray(scores, dtype=np.float64)
        known = np.searchsorted(self.classes, self.classifier.classes_)
        columns = 1 if len(known) == 2 else len(known)
        if decisions.size != n_rows * columns or not np.isfinite(decisions).all():
            raise ValueError(
                f"global_model={self.classifier!r} gave decisions of shape "
                f"{decisions.shape}; expected {columns} finite numbers for each of "
                f"{n_rows} rows."
            )
        decisions = np.ascontiguousarray(decisions.reshape(-1, columns))
        if len(self.classes) == 2:
            return decisions
        if len(known) == 2:
            decisions = np.hstack([-decisions, decisions])
        by_class = np.zeros((n_rows, len(self.classes)))
        by_class[:, known] = decisions
        return by_class


@dataclass(frozen=True)
class LocalModel:
    """Kernel SVMs of neighbourhoods, and the way of a query to one of them.

    Attributes
    ----------
    models : LocalModels
    support_rows : ndarray or CSR
        Rows that the models' ``support`` points to.
    kernel : Kernel
        Its gamma is replaced by each model's own.
    router : Router
    n_classes : int
    prior : GlobalModel or None, default=None
        Model whose decisions, times ``shrink``, are added to the local ones.
    shrink : float, default=0.0
    """

    models: LocalModels
    support_rows: Any
    kernel: Kernel
    router: Router
    n_classes: int
    prior: GlobalModel | None = None
    shrink: float = 0.0

    @property
    def n_regions(self) -> int:
        """Number of neighbourhoods."""
        return len(self.models.only_class)

    def route(self, X: Any, n_jobs: int | None) -> NDArray[np.int64]:
        """Neighbourhood that answers each row: Eq. 4, or the nearest centre."""
        return self.router.route(stored_as(X, self.support_rows), n_jobs)

    def decide(self, X: Any, n_jobs: int | None) -> NDArray[Any]:
        """Decisions of shape (n_samples, 1) for two classes, else (.., n_classes)."""
        X = stored_as(X, self.support_rows)
        return self.models.decide(
            self.support_rows,
            self.kernel,
            self.n_classes,
            X,
            self.router.route(X, n_jobs),
            threads_for(X.shape[0], n_jobs),
            None if self.prior is None else self.shrink * self.prior.decide(X),
        )

    def gradients(self, X: Any, n_jobs: int | None) -> NDArray[np.float64]:
        """Gradients of the decisions, of shape (n_samples, n_outputs, n_features)."""
        return local_gradients(
            self.models,
            self.support_rows,
            self.kernel,
            self.n_classes,
            X,
            self.route(X, n_jobs),
            None if self.prior is None else self.shrink * self.prior.gradients(X),
        )

"""What local SVMs on a cover share: its models, who answers a query."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.cluster import NeighborhoodCover, make_search
from localsvm.estimators._base import check_solution
from localsvm.estimators._local.kernel import BaseKernelClassifier
from localsvm.estimators._local.prior import GlobalModel, fit_global
from localsvm.estimators._local.router import Router
from localsvm.rows import MergedRows, Rows, stored_as
from localsvm.solvers import (
    LocalKernel,
    LocalModels,
    fit_neighborhoods,
    local_gradients,
)


class BaseLocalSVC(BaseKernelClassifier):
    """Steps and fitted attributes of local SVMs on a cover, for one setting or many."""

    _global: GlobalModel | None
    _router: Router

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Neighbourhood whose model answers each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return the weights, too, as other estimators do; here it is one.

        Returns
        -------
        regions : ndarray of shape (n_samples,), or (n_samples, 1) with weights
        weights : ndarray of shape (n_samples, 1)
            Only with ``return_weights``.
        """
        regions = self._find_regions(self._check_query_rows(X))
        if return_weights:
            return regions[:, np.newaxis], np.ones((len(regions), 1))
        return regions

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that touches each row's decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
            The gradient of the decision at the row. For several classes, of the mean of
            a class's decisions against the others in the neighbourhood; zero for
            classes that are not there, and where there is but one.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i. With a
            metric this needs one that maps by ``X @ components_``.
        """
        X = self._check_query_rows(X)
        return self._touching(X, self._gradients(X))

    def _find_regions(self, X: Any) -> NDArray[np.int64]:
        return self._route(stored_as(X, self._support_rows))

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        return local_gradients(
            self._models,
            self._support_rows,
            self._kernel,
            len(self.classes_),
            X,
            self._find_regions(X),
            None if self._global is None else self.shrink_ * self._global.gradients(X),
        )

    def _fit_global(
        self, merged: MergedRows, seed: int, clock: StageClock
    ) -> tuple[GlobalModel, NDArray[np.float64]]:
        """Fit the global model; what it says of each row without having seen it."""
        with clock.stage("global"):
            return fit_global(
                self.global_model,
                merged.rows,
                self.classes_,
                seed,
                self.n_jobs,
                clock.remaining(),
            )

    def _draw_to(
        self,
        merged: MergedRows,
        fitted: tuple[GlobalModel, NDArray[np.float64]] | None,
        shrink: float,
    ) -> MergedRows:
        """Give the rows their share of the global decisions."""
        self.shrink_ = shrink
        self._global = self.global_model_ = None
        if fitted is None or shrink == 0:
            return merged
        self._global, unseen = fitted
        self.global_model_ = self._global.classifier
        return replace(merged, rows=replace(merged.rows, prior=shrink * unseen))

    def _fit_setting(
        self,
        merged: MergedRows,
        sizes: tuple[int, int],
        local: LocalKernel,
        seed: int,
        clock: StageClock,
    ) -> NDArray[np.intp]:
        """Algorithm 1; the region of each of the merged rows."""
        with clock.stage("cover"):
            cover = self._fit_cover(merged.rows.X, sizes, seed)
        with clock.stage("solve"):
            options = self._options(cover.n_neighbors_, len(cover.labels_))
            models = fit_neighborhoods(
                merged.rows,
                cover.neighborhoods_,
                local,
                replace(options, deadline=clock.deadline),
            )
        check_solution(models.endings, self)
        with clock.stage("route"):
            self._keep(merged, cover, models)
        self._describe(models)
        self.center_indices_ = merged.first[cover.center_indices_]
        self.n_neighbors_, self.n_assigned_ = cover.n_neighbors_, cover.n_assigned_
        self.region_sizes_ = np.bincount(cover.labels_)
        self.fit_report_ = clock.seconds
        return np.asarray(cover.labels_)

    def _count_classes(
        self, rows: Rows, merged: MergedRows, regions: NDArray[np.intp]
    ) -> None:
        # The last entry is that of rows without weight, whose kind is -1.
        region_of_kind = np.append(regions, -1)
        self.region_class_counts_ = rows.class_counts(
            region_of_kind[merged.kind], self.n_regions_
        )

    def _fit_cover(
        self, X: Any, sizes: tuple[int, int], seed: int
    ) -> NeighborhoodCover:
        """Lines 4-9 and 11-17, in the feature space of the kernel."""
        k = min(sizes[0], X.shape[0])
        neighbors = self.neighbors
        if not self._kernel.keeps_euclidean_order:
            neighbors = make_search(neighbors, X, k, self._kernel)
        return NeighborhoodCover(
            k,
            n_assigned=min(sizes[1], k),
            neighbors=neighbors,
            random_state=seed,
            n_jobs=self.n_jobs,
        ).fit(X)

    def _describe(self, models: LocalModels) -> None:
        self.n_regions_ = len(models.only_class)
        self.n_constant_regions_ = int(np.count_nonzero(models.only_class >= 0))
        self.n_support_ = np.diff(models.support_start)
        self.gamma_ = models.gamma
        self.C_ = models.C
        self.duality_gap_ = float(models.relative_gap.max())
        self.violation_ = float(models.violation.max())
        self.n_iter_ = max(1, int(models.n_iter.max()))

    def _keep(
        self, merged: MergedRows, cover: NeighborhoodCover, models: LocalModels
    ) -> None:
        X = merged.rows.X
        if self.route == "row":
            self._models, self._support_rows = models, X
            self._router = Router(X, cover.router_, cover.labels_)
            return
        self._models, rows = models.compact()
        self._support_rows = X[rows]
        self._router = Router.to_centers(X, cover)

    def _route(self, X: Any) -> NDArray[np.int64]:
        """Eq. 4, or the nearest centre."""
        return self._router.route(X, self.n_jobs)

    def _decide(self, X: Any) -> NDArray[Any]:
        X = stored_as(X, self._support_rows)
        return self._models.decide(
            self._support_rows,
            self._kernel,
            len(self.classes_),
            X,
            self._route(X),
            effective_n_jobs(self.n_jobs),
            None if self._global is None else self.shrink_ * self._global.decide(X),
        )

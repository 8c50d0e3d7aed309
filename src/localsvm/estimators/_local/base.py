"""What the local kernel SVMs share: parameters, and answers by a cover."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import (
    check_parameters,
    class_weights,
    integer,
    one_of,
    real,
)
from localsvm._clock import StageClock
from localsvm.cluster import SEARCHES
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._local.fit import (
    GAMMAS,
    PENALTIES,
    KernelSettings,
    LocalFit,
    LocalOptions,
)
from localsvm.estimators._local.model import LocalModel
from localsvm.estimators._local.prior import Prior, fit_global
from localsvm.estimators._metric import TouchingMixin
from localsvm.kernels import KERNELS
from localsvm.rows import MergedRows, Rows


class BaseKernelClassifier(TouchingMixin, BaseLocalClassifier):
    """Parameters of the classifiers with local kernel SVMs."""

    def _check_setting(self) -> None:
        check_parameters(
            self,
            n_neighbors=integer(1) | one_of("auto"),
            C=PENALTIES,
            gamma=GAMMAS,
        )

    def _check_kernel_parameters(self) -> None:
        check_parameters(
            self,
            kernel=one_of(*KERNELS),
            degree=integer(1),
            coef0=real(-np.inf),
            neighbors=SEARCHES,
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=one_of(None) | integer(1),
            max_time=one_of(None) | real(0),
            cache_size=real(0),
        )

    def _is_curved(self, region: int | None) -> bool:
        # Votes of several classes are not linear even if each of them is.
        return self.kernel != "linear" or len(self.classes_) > 2

    def _has_votes(self, region: int | None) -> bool:
        return len(self.classes_) > 2

    def _kernel_settings(self) -> KernelSettings:
        return KernelSettings(
            self.kernel,
            self.C,
            self.gamma,
            self.degree,
            self.coef0,
        )

    def _options(self, seed: int, clock: StageClock) -> LocalOptions:
        return LocalOptions(
            seed,
            self.tol,
            self.max_iter,
            self.cache_size,
            self.n_jobs,
            clock,
        )


class BaseLocalSVC(BaseKernelClassifier):
    """Answers and fitted attributes of local SVMs on a cover."""

    _model: LocalModel

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

    def _find_regions(self, X: Any) -> NDArray[np.int64]:
        return self._model.route(X, self.n_jobs)

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        return self._model.gradients(X, self.n_jobs)

    def _decide(self, X: Any) -> NDArray[Any]:
        return self._model.decide(X, self.n_jobs)

    def _adopt(
        self,
        fit: LocalFit,
        rows: Rows,
        merged: MergedRows,
        classes: NDArray[Any],
        seconds: dict[str, float],
    ) -> Self:
        """Become the fitted estimator of a fit that was made without one."""
        self.classes_ = classes
        self.n_features_in_ = rows.X.shape[1]
        self.metric_ = None
        self._store(fit, rows, merged)
        self.fit_report_ = seconds
        return self

    def _fit_prior(self, rows: Rows, options: LocalOptions) -> Prior:
        """Fit the global model to distinct rows."""
        clock = options.clock
        with clock.stage("global"):
            return fit_global(
                self.global_model,
                rows,
                self.classes_,
                options.seed,
                self.n_jobs,
                clock.remaining(),
            )

    def _store(self, fit: LocalFit, rows: Rows, merged: MergedRows) -> None:
        """Keep a fit to merged rows as fitted attributes."""
        # The last entry is that of rows without weight, whose kind is -1.
        region_of_kind = np.append(fit.labels, -1)
        class_counts = rows.class_counts(
            region_of_kind[merged.kind], fit.model.n_regions
        )
        self._keep(fit, merged.first[fit.centers], class_counts)
        if fit.held_out is not None:
            self._keep_held_out(fit.held_out)

    def _keep(
        self,
        fit: LocalFit,
        center_indices: NDArray[np.integer[Any]],
        class_counts: NDArray[np.float64],
    ) -> None:
        """Keep a fit, and what is known of all rows."""
        self._describe(fit.model)
        self.C_ = fit.C
        self.n_support_ = fit.n_support
        self.n_neighbors_, self.n_assigned_ = fit.n_neighbors, fit.n_assigned
        self.region_sizes_ = fit.region_sizes
        self.center_indices_ = center_indices
        self.region_class_counts_ = class_counts

    def _describe(self, model: LocalModel) -> None:
        """Keep the model, and the attributes that it tells."""
        self._model = model
        self.shrink_ = model.shrink
        self.global_model_ = None if model.prior is None else model.prior.classifier
        models = model.models
        self.n_regions_ = model.n_regions
        self.n_constant_regions_ = int(np.count_nonzero(models.only_class >= 0))
        self.gamma_ = model.kernel.gamma
        self.region_gamma_, self.region_C_ = models.gamma, models.C
        self.duality_gap_ = float(models.relative_gap.max())
        self.violation_ = float(models.violation.max())
        self.n_iter_ = max(1, int(models.n_iter.max()))

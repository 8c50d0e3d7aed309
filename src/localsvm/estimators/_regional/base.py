"""What the estimators of linear SVMs over regions share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import (
    boolean,
    check_parameters,
    class_weights,
    integer,
    one_of,
    real,
    with_methods,
)
from localsvm._clock import StageClock
from localsvm.engine import Blocks, Labels
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._held_out import rows_in_memory
from localsvm.estimators._metric import in_columns, require_no_metric
from localsvm.estimators._regional.fit import survey_blocks
from localsvm.estimators._regional.leave_one_out import hold_out
from localsvm.estimators._regional.model import (
    RegionalFit,
    RegionalModel,
    RegionalSettings,
)
from localsvm.estimators._regional.solve import (
    MAX_PASSES,
    FitOptions,
    memory_of_a_pass,
)
from localsvm.passes import BlockClusterer, Survey
from localsvm.rows import Rows


class BaseRegionalSVC(BaseLocalClassifier):
    """Linear SVMs that the code of a row mixes: fitted attributes and queries."""

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights of each region, of shape (n_regions, n_tasks, n_features)."""
        return self._in_columns(self._fitted_model().coef[:-1])

    @property
    def intercept_(self) -> NDArray[Any]:
        """Intercept of each region, of shape (n_regions, n_tasks)."""
        return self._fitted_model().intercept[:-1]

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Region that each row falls in.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return all regions of a row with their weights.

        Returns
        -------
        regions : ndarray of shape (n_samples,) or (n_samples, n_nearest)
            The nearest region; with ``return_weights`` all of them, nearest first. A
            label that the clusterer never gave in training is ``n_regions_`` or more;
            such a row is decided by the global weights.
        weights : ndarray of shape (n_samples, n_nearest)
            Only with ``return_weights``: what each region counts for the row.
        """
        X = self._check_query_rows(X)
        codes = self.regions_.code(X, self.n_jobs)
        if return_weights:
            return codes.regions, codes.weights
        return codes.regions[:, 0]

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that decides each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i. With a
            metric this needs one that maps by ``X @ components_``.
        """
        X = self._check_query_rows(X)
        coef, intercept = self._fitted_model().blend(self.regions_.code(X, self.n_jobs))
        return self._in_columns(coef), intercept

    def _in_columns(self, coef: NDArray[Any]) -> NDArray[Any]:
        return in_columns(self.metric_, coef, self.n_features_in_)

    def _fitted_model(self) -> RegionalModel:
        check_is_fitted(self)
        model: RegionalModel = self._model
        return model

    def _find_regions(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.regions_.code(X, self.n_jobs).regions[:, 0])

    def _decide(self, X: Any) -> NDArray[Any]:
        codes = self.regions_.code(X, self.n_jobs)
        return self._fitted_model().decide(X, codes, self.n_jobs)

    def _settings(self, **own: Any) -> RegionalSettings:
        """Problem that the parameters describe, with what ``own`` adds to them."""
        return RegionalSettings(
            clusterer=self.clusterer,
            n_nearest=self.n_nearest,
            loss=self.loss,
            **own,
        )

    def _fit_options(self, blocks: Blocks) -> FitOptions:
        """Options of the parameters; the seed is that of a resumed fit."""
        return FitOptions(
            seed=blocks.seed(self._draw_seed),
            tol=self.tol,
            max_iter=self.max_iter or MAX_PASSES,
            n_jobs=self.n_jobs,
            clock=StageClock(self.max_time),
        )

    def _survey(
        self,
        blocks: Blocks,
        n_regions: int | str,
        options: FitOptions,
        *,
        sampled: bool | None = None,
    ) -> tuple[Survey, Labels]:
        """Look at all rows once; check what is not known of rows outside memory.

        ``n_regions`` is the most that the clusterer has to find.
        """
        if not blocks.is_in_memory:
            require_no_metric(self)
            self.metric_ = None
            blocks.require_memory(memory_of_a_pass(blocks, self.n_nearest))
        clusterer = BlockClusterer(self.clusterer, n_regions, options.seed)
        survey = survey_blocks(blocks, clusterer, options, sampled=sampled)
        return survey, self._accept(survey.content, blocks)

    def _adopt(
        self,
        fit: RegionalFit,
        rows: Rows,
        classes: NDArray[Any],
        seconds: dict[str, float],
    ) -> Self:
        """Become the fitted estimator of a fit that was made without one."""
        self.classes_ = classes
        self.n_features_in_ = rows.X.shape[1]
        self.metric_ = None
        self._store(fit, seconds)
        return self

    def _store(self, fit: RegionalFit, seconds: dict[str, float]) -> None:
        """Set the fitted attributes."""
        coded, solution = fit.coded, fit.solution
        self.clusterer_ = coded.clusterer
        self.regions_ = coded.regions
        self.n_regions_ = coded.regions.n_regions
        self.region_sizes_ = coded.sizes
        self.region_class_counts_ = coded.class_counts
        self._model = fit.model
        self.intercept_scaling_ = fit.settings.constant
        self.C_ = fit.settings.C
        self.duality_gap_ = solution.worst_gap
        self.n_iter_ = max(1, solution.n_iter)
        self.n_support_ = fit.n_support
        self.fit_report_ = seconds

    def _calibrate(self, blocks: Blocks, fit: RegionalFit, options: FitOptions) -> None:
        """Learn probabilities from rows in memory, each left out in turn."""
        if not blocks.is_in_memory:
            return
        rows = rows_in_memory(blocks, "calibrate")
        with options.clock.stage("calibrate"):
            self._keep_held_out(hold_out(rows, fit, self.n_jobs))

    def _check_common_parameters(self) -> None:
        check_parameters(
            self,
            n_nearest=integer(1),
            loss=one_of("hinge", "squared_hinge"),
            clusterer=one_of(None) | with_methods("fit", "predict"),
            fit_intercept=boolean(),
            intercept_scaling=real(0) | one_of("scale"),
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=one_of(None) | integer(1),
            max_time=one_of(None) | real(0),
        )


class BaseClusteredSVC(BaseRegionalSVC):
    """Regions and fitted attributes of the clustered SVM."""

    @property
    def global_coef_(self) -> NDArray[Any]:
        """Global weights w of Eq. 3 and 12, of shape (n_tasks, n_features)."""
        return self._in_columns(self._fitted_model().coef[-1])

    @property
    def global_intercept_(self) -> NDArray[Any]:
        """Intercept that belongs to ``global_coef_``, of shape (n_tasks,)."""
        return np.asarray(self._fitted_model().intercept[-1])

    def _settings(self, **own: Any) -> RegionalSettings:
        return replace(
            super()._settings(**own),
            sharpness=self.sharpness,
            joint=self.multi_class == "crammer_singer" and len(self.classes_) > 2,
        )

    def _check_common_parameters(self) -> None:
        super()._check_common_parameters()
        check_parameters(
            self,
            multi_class=one_of("ovr", "crammer_singer"),
            sharpness=real(0),
        )
        if self.multi_class == "crammer_singer" and (
            self.n_nearest == 1 or self.loss != "hinge"
        ):
            raise ValueError(
                "multi_class='crammer_singer' needs n_nearest > 1 and "
                f"loss='hinge'; found n_nearest={self.n_nearest} and "
                f"loss={self.loss!r}."
            )

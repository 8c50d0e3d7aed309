"""Steps and fitted attributes of the mixture of linear SVMs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from localsvm._checks import NOT_FINITE, level_of_caller
from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs, single_threaded_libraries
from localsvm.engine import is_lazy, is_partitioned
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._metric import in_columns
from localsvm.estimators._mixture.em import MixtureFit, MixtureSteps, StepOptions
from localsvm.estimators._mixture.experts import WeightedProblem
from localsvm.estimators._mixture.gates import Gate, GateStep
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.start import (
    HoldOut,
    assign_to_centers,
    scaled_tau,
    start_gate,
)
from localsvm.estimators._mixture.watch import EMWatch
from localsvm.passes import centers_of, fit_clusterer
from localsvm.rows import (
    SCALED_C,
    Rows,
    intercept_constant,
    spread_around,
    squared_norms,
)
from localsvm.solvers import GateRows, LinearProblem, SolverOptions, Status


class BaseMixture(BaseLocalClassifier):
    """What a mixture of linear SVMs does around its EM loop."""

    # Whether the SVMs of a step start from the duals of the step before.
    _starts_warm = True

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of each component, of shape (n_components, n_tasks, n_features)."""
        coef = self._fitted_model().coef
        return in_columns(self.metric_, coef, self.n_features_in_)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercept of each component, of shape (n_components, n_tasks)."""
        return self._fitted_model().intercept

    @property
    def gate_coef_(self) -> NDArray[np.float64]:
        """Slopes of the gate's logits; of two levels, those of the groups first."""
        coef = self._fitted_model().gate.coef
        return in_columns(self.metric_, coef, self.n_features_in_)

    @property
    def gate_intercept_(self) -> NDArray[np.float64]:
        """Intercepts of the gate's logits."""
        return self._fitted_model().gate.intercept

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class by the mixture's own definition, normalised.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or partitions
            Parquet and batches as in ``predict``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The largest one belongs to the class that ``predict`` gives.

        Notes
        -----
        Eq. 6 divided by its sum over the classes. It is a model of the margin, not
        calibrated; :class:`~sklearn.calibration.CalibratedClassifierCV` is.
        """
        if is_partitioned(X) and not is_lazy(X):
            return self._answer_blocks("predict_proba", X)
        scores = self._class_scores(self._check_query_rows(X))
        return np.asarray(softmax(scores.astype(np.float64), axis=1))

    def gates(self, X: Any) -> NDArray[Any]:
        """Share of each component in each row, by the gate alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        shares : ndarray of shape (n_samples, n_components)
            Rows sum to one.
        """
        X = self._check_query_rows(X)
        return self._fitted_model().shares(X, self.n_jobs)

    def responsibilities(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Responsibility of each component for each row (Eq. 11).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels of the rows. Without them the responsibilities are averaged over the
            classes, each with its probability.

        Returns
        -------
        responsibilities : ndarray of shape (n_samples, n_components)
            Rows sum to one.
        """
        X = self._check_query_rows(X)
        index = None if y is None else self._class_index(X, y)
        return self._fitted_model().responsibilities(X, index, self.n_jobs)

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Component with the largest share in each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return all components of a row with their shares.

        Returns
        -------
        components : ndarray of shape (n_samples,) or (n_samples, n_components)
            With ``return_weights`` all of them, the largest share first.
        weights : ndarray of shape (n_samples, n_components)
            Only with ``return_weights``: their shares.
        """
        shares = self.gates(X)
        if not return_weights:
            return shares.argmax(axis=1)
        order = np.argsort(-shares, axis=1, kind="stable")
        return order, np.take_along_axis(shares, order, axis=1)

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that touches each row's decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
            The gradient of the decision at the row: weights of the SVMs, and of the
            gate where components disagree.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i. With a
            metric this needs one that maps by ``X @ components_``.
        """
        X = self._check_query_rows(X)
        gradient = self._fitted_model().gradients(X)
        if len(self.classes_) == 2:
            gradient = gradient[:, 1:] - gradient[:, :1]
        return self._touching(X, gradient)

    def _fitted_model(self) -> MixtureModel:
        check_is_fitted(self)
        model: MixtureModel = self._model
        return model

    def _class_scores(self, X: Any) -> NDArray[Any]:
        return self._fitted_model().class_scores(X, self.n_jobs)

    def _decide(self, X: Any) -> NDArray[Any]:
        """Log-odds of two classes, else the logarithms of the classes' sums."""
        scores = self._class_scores(X)
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores

    def _class_index(self, X: Any, y: Any) -> NDArray[np.intp]:
        labels = np.asarray(y)
        check_consistent_length(X, labels)
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y contains the label {labels[unknown][0]!r}; expected labels of the "
                f"fitted classes {self.classes_.tolist()}."
            )
        return np.searchsorted(self.classes_, labels)

    def _split(self, rows: Rows, seed: int) -> tuple[Rows, Rows | None]:
        """Rows for EM, and rows to stop by."""
        n_samples = rows.X.shape[0]
        hold_out = HoldOut.of(self, n_samples, seed)
        if hold_out.fraction == 0:
            return rows, None
        aside, present = hold_out.rows(rows.X), rows.penalty_weight > 0
        training, validation = (
            rows.take(np.flatnonzero(present & part)) for part in (~aside, aside)
        )
        counts = [
            np.bincount(part.class_index, minlength=len(self.classes_))
            for part in (training, validation)
        ]
        if not hold_out.accepts(counts[0], counts[1], n_samples):
            return rows, None
        return training, validation

    def _start(
        self,
        rows: Rows,
        validation: Rows | None,
        seed: int,
        clock: StageClock,
    ) -> MixtureFit:
        """Clusters, gates between them, and one SVM per cluster (section III-D)."""
        norms = squared_norms(rows.X)
        self._set_scales(float(np.average(norms, weights=rows.sample_weight)))
        with clock.stage("cluster"):
            self.clusterer_ = fit_clusterer(
                self.clusterer,
                rows,
                self.n_components,
                seed,
                self.n_jobs,
                "n_components",
            )
            centers = centers_of(self.clusterer_, rows)
            labels, distances = assign_to_centers(rows.X, centers, self.n_jobs)
            distance = float(np.average(distances, weights=rows.sample_weight))
            sizes = np.bincount(labels, rows.sample_weight, len(centers)).astype(float)
            gate, order = self._start_gate(centers, sizes, distance, seed)
        weighted = WeightedProblem(self._problem(rows), norms, self._starts_warm)
        with clock.stage("solve"):
            experts, rates, solution = weighted.start(
                np.argsort(order)[labels], len(order), self._solver_options(seed, clock)
            )
        gate_rows = self._gate_rows(rows)
        return MixtureFit(
            gate=gate,
            experts=experts,
            solution=solution,
            clock=clock,
            weight=float(rows.penalty_weight.sum()),
            gate_scale=gate_rows.scale,
            intercept_scaling=self.intercept_scaling_,
            dtype=rows.X.dtype,
            rows=rows,
            validation=validation,
            gate_rows=gate_rows,
            weighted=weighted,
            rates=rates,
        )

    def _set_scales(self, mean_squared_norm: float) -> None:
        """Set the constant column and the penalty."""
        mean = mean_squared_norm or 1.0
        self.intercept_scaling_ = intercept_constant(self, mean)
        self.C_ = SCALED_C / mean if isinstance(self.C, str) else float(self.C)

    def _start_gate(
        self,
        centers: NDArray[Any],
        sizes: NDArray[np.float64],
        mean_distance: float,
        seed: int,
    ) -> tuple[Gate, NDArray[np.intp]]:
        """Gate between the clusters, and the order of its components."""
        scaled = self.tau == "scale"
        self.tau_ = scaled_tau(mean_distance) if scaled else float(self.tau)
        groups = 1 if self.levels == 1 else self.n_groups
        return start_gate(self.gate, centers, sizes, self.tau_, groups, seed)

    def _problem(self, rows: Rows) -> LinearProblem:
        return LinearProblem(
            rows.X,
            rows.class_index,
            len(self.classes_),
            self.C_ * rows.penalty_weight,
            self.intercept_scaling_,
        )

    def _solver_options(self, seed: int, clock: StageClock) -> SolverOptions:
        return SolverOptions(
            tol=self.svm_tol,
            max_iter=self.svm_max_iter,
            deadline=clock.deadline,
            seed=seed,
            n_threads=effective_n_jobs(self.n_jobs),
        )

    def _run(self, fit: MixtureSteps, watch: EMWatch, seed: int) -> None:
        """E-steps and M-steps in turn."""
        # Set once, as the limits cost more than a step on few rows.
        with single_threaded_libraries():
            while True:
                options = self._step_options(fit, seed + watch.n_steps)
                found = fit.expect(options)
                if watch.is_last(fit, found, options):
                    break
                fit.maximize(found, options)
                fit.write_down(watch)
        self._keep(watch, fit)

    def _step_options(self, fit: MixtureSteps, seed: int) -> StepOptions:
        step = GateStep(
            max_iter=self.gate_steps,
            ridge=self.gate_reg * fit.weight * fit.gate_scale**2,
            prior=self.prior * fit.weight,
            deadline=fit.clock.deadline,
        )
        solver = self._solver_options(seed, fit.clock)
        return StepOptions(
            step, solver, self.min_responsibility, prune_at_once=self.gate == "paper"
        )

    def _gate_rows(self, rows: Rows) -> GateRows:
        weight = rows.sample_weight
        origin = np.asarray(weight @ rows.X, dtype=np.float64).ravel() / weight.sum()
        spread = spread_around(rows.X, weight, origin) / weight.sum()
        return GateRows(rows.X, origin, np.sqrt(spread) or 1.0, self.n_jobs)

    def _watch(self) -> EMWatch:
        return EMWatch(self.C_, self.tol, self.max_iter, self.n_iter_no_change)

    def _keep(self, watch: EMWatch, fit: MixtureSteps) -> None:
        """Store the best step, and tell of SVMs or EM that a limit cut short."""
        assert watch.best is not None
        self._model = watch.best
        self.n_components_ = self.n_regions_ = watch.best.n_components
        self.component_mass_ = watch.mass
        self.region_sizes_ = watch.sizes
        self.region_class_counts_ = watch.class_counts
        self.history_ = {name: np.array(each) for name, each in watch.history.items()}
        self.n_iter_ = watch.best_step
        self.converged_ = watch.converged
        self.duality_gap_ = fit.solution.worst_gap
        self.fit_report_ = fit.clock.seconds
        self._check_endings(fit)

    def _check_endings(self, fit: MixtureSteps) -> None:
        solution = fit.solution
        if solution.count(Status.not_finite):
            raise ValueError(NOT_FINITE)
        unsolved = solution.count(Status.max_iter)
        problem = None
        if fit.clock.remaining() == 0:
            problem = f"EM stopped after max_time={self.max_time} seconds"
        elif unsolved:
            problem = (
                f"{unsolved} of {solution.n_problems} linear SVMs of the last EM step "
                f"stopped at svm_max_iter={self.svm_max_iter} ({solution.shortfall}, "
                f"svm_tol={self.svm_tol})"
            )
        if problem:
            warnings.warn(
                f"{problem}. Scale the features, lower C, or allow more.",
                ConvergenceWarning,
                stacklevel=level_of_caller(),
            )

"""A linear map of the features, learned from the gradients of a clustered SVM."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import (
    Constraint,
    boolean,
    check_parameters,
    check_rows,
    check_sample_weight,
    integer,
    one_of,
    real,
    scales_already_told,
    unchanged_on_failure,
    warn_if_unscaled,
)
from localsvm._clock import StageClock
from localsvm._seeds import draw_seed, seeded_clone
from localsvm._threads import single_threaded_libraries
from localsvm.estimators._regional.base import BaseClusteredSVC
from localsvm.estimators._regional.estimator import ClusteredSVC
from localsvm.estimators._regional.gradient_metric.steps import (
    MetricFit,
    MetricSettings,
    gradient_second_moment,
    learn_metric,
    map_rows,
)
from localsvm.exceptions import DataError
from localsvm.rows import Rows


class GradientMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Linear map that stretches the directions in which the classes change.

    A soft :class:`ClusteredSVC` is linear near each row; its weights there are the
    gradient g of the decision. The mean M of g g' over the rows says which directions
    matter, and the rows are mapped by a power of it. Use it before anything that
    measures distances (local SVMs, nearest neighbours, RBF kernels) where columns have
    unequal weight or none at all; where all columns matter alike, such as pixels, it
    gains nothing. A step costs a clustered SVM of ``max_rows`` rows and O(n d²).

    With T the map so far, the identity at first, a step is

    .. math::

        M = \frac{1}{\sum_i w_i} \sum_i w_i\, g_i g_i^\top, \quad
        g_i = \sum_s c_s(x_i)\, W_s, \quad
        T \leftarrow \rho\, T\, (M / \mu)^{p/2}

    with the weights W and codes c of a clustered SVM that is fitted to X T, the codes
    being held fixed; :math:`\mu` is the largest eigenvalue of M, and smaller ones are
    raised to at least 1e-6 of it. For several classes M is the sum over the tasks.
    :math:`\rho` gives the centred rows the root mean squared norm that those of X
    have.

    Parameters
    ----------
    power : float, default=0.5
        The p above. 1 is the average gradient outer product; smaller is more careful.
    diagonal : bool, default=False
        Whether only the diagonal of M is used: columns are scaled and not mixed, and
        sparse rows stay sparse.
    n_steps : int, default=2
        How often the metric is learned anew, each time in the metric before.
    estimator : ClusteredSVC, ClusteredSVCCV or None, default=None
        With ``n_nearest`` above 1 and no metric of its own. None is
        :class:`ClusteredSVC`. Its ``random_state`` is used unless it is None.
    max_rows : int or None, default=50_000
        Distinct rows that take part, chosen by their content as in
        :class:`~localsvm.cluster.SampledKMeans`; None is all.
    max_time : float or None, default=None
        Seconds for the fit. The estimator gets what is left; the first step is made.
    random_state : int, RandomState instance or None, default=None
        Chooses the rows and seeds the estimator.
    n_jobs : int or None, default=None
        Threads; they do not change the result.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map T; diagonal if ``diagonal``.
    importances_ : ndarray of shape (n_features,)
        Share of each column in the squared gradient of the last step:
        :math:`G_{jj} V_j / \sum_k G_{kk} V_k` with :math:`G = T M T^\top` the mean of
        g g' in the columns of X, T being the map before that step, and V_j the
        weighted variance of column j: free of units, and of sum 1. Without any
        gradient all columns share alike.
    fit_report_ : dict
        Seconds of the stages "sample", "fit" and "map", all steps together.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    ClusteredSVC : The model that gives the gradients.

    Notes
    -----
    M is W' S W with S the second moment of the codes, one line and column per region:
    no gradient is formed. Memory above the mapped rows is O(d²).

    Equal rows of one class are merged, so that a row of weight two is the row twice.
    The idea is the average gradient outer product of recursive feature machines
    (Radhakrishnan et al., Science 383, 2024), with local linear models in place of a
    kernel machine.

    Examples
    --------
    Only the first two of ten columns tell the classes apart:

    >>> import numpy as np
    >>> from localsvm import GradientMetric
    >>> X = np.random.default_rng(0).standard_normal((2000, 10))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> metric = GradientMetric(random_state=0).fit(X, y)
    >>> metric.importances_[:2].sum() > 0.7
    np.True_
    """

    def __init__(
        self,
        *,
        power: float = 0.5,
        diagonal: bool = False,
        n_steps: int = 2,
        estimator: Any = None,
        max_rows: int | None = 50_000,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.power = power
        self.diagonal = diagonal
        self.n_steps = n_steps
        self.estimator = estimator
        self.max_rows = max_rows
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of two equals the row twice, zero equals its absence.

        Returns
        -------
        self : GradientMetric
            If fitting fails or is interrupted, it is left as it was.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            clock = StageClock(self.max_time)
            seed = draw_seed(self.random_state)
            rows, labels = self._check_training_rows(X, y, sample_weight)
            with clock.stage("sample"):
                sample = self._sample(rows, seed)
            self._learn(sample, labels, seed, clock)
            self.fit_report_ = clock.seconds
        return self

    @classmethod
    def of_fit(
        cls, fit: MetricFit, settings: MetricSettings, **parameters: Any
    ) -> Self:
        """Make the fitted estimator of a map that was learned by its function."""
        metric = cls(
            power=settings.power,
            diagonal=settings.diagonal,
            n_steps=settings.n_steps,
            **parameters,
        )
        metric.components_, metric.importances_ = fit.components, fit.importances
        metric.n_features_in_ = len(fit.components)
        metric.fit_report_ = {}
        return metric

    def transform(self, X: Any) -> Any:
        """Map rows: ``X @ components_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        X_new : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Of the type of X, float32 or float64; sparse only if X is and ``diagonal``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return map_rows(X, self.components_, self.diagonal, self.n_jobs)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the mapped columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns.

        Returns
        -------
        names : ndarray of shape (n_features,)
            The input names if ``diagonal``, else "gradientmetric0" and so on.
        """
        check_is_fitted(self)
        if self.diagonal:
            names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        else:
            names = super().get_feature_names_out(input_features)
        return np.asarray(names)

    def _check_parameters(self) -> None:
        soft = Constraint(
            "a ClusteredSVC or ClusteredSVCCV with n_nearest > 1 and metric=None",
            lambda value: (
                isinstance(value, BaseClusteredSVC)
                and value.n_nearest > 1
                and value.metric is None
            ),
        )
        check_parameters(
            self,
            power=real(0),
            diagonal=boolean(),
            n_steps=integer(1),
            estimator=one_of(None) | soft,
            max_rows=one_of(None) | integer(2),
            max_time=one_of(None) | real(0),
        )

    def _check_training_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Rows, NDArray[Any]]:
        X, y = check_rows(self, X, y)
        check_classification_targets(y)
        labels, class_index = np.unique(y, return_inverse=True)
        weight = check_sample_weight(sample_weight, X)
        warn_if_unscaled(X, getattr(self, "feature_names_in_", None))
        rows = Rows.weighted(X, class_index.astype(np.int32), weight, len(labels))
        return rows, labels

    def _sample(self, rows: Rows, seed: int) -> Rows:
        """Merge equal rows of one class, and keep ``max_rows`` of them."""
        rows = rows.merged(seed).rows
        if self.max_rows is not None:
            rows = rows.take(slice(self.max_rows))
        if rows.n_rows == self.max_rows and len(np.unique(rows.class_index)) < 2:
            raise DataError(
                f"max_rows={self.max_rows} leaves rows of one class; expected more."
            )
        return rows

    def _learn(
        self, rows: Rows, labels: NDArray[Any], seed: int, clock: StageClock
    ) -> None:
        def moment_of(mapped: Any) -> NDArray[np.float64]:
            estimator = self._new_estimator(seed, clock.remaining())
            return self._fit_moment(estimator, mapped, rows, labels)

        settings = MetricSettings(self.power, self.diagonal, self.n_steps)
        fit = learn_metric(rows, settings, moment_of, clock, self.n_jobs)
        self.components_, self.importances_ = fit.components, fit.importances

    def _fit_moment(
        self, estimator: Any, X: Any, rows: Rows, labels: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Fit the estimator to the mapped rows; return its M."""
        with scales_already_told():
            estimator.fit(X, labels[rows.class_index], rows.sample_weight)
        codes = estimator.regions_.code(X, self.n_jobs)
        with single_threaded_libraries():
            return gradient_second_moment(
                estimator._fitted_model(), codes, rows.sample_weight
            )

    def _new_estimator(self, seed: int, seconds: float | None) -> Any:
        given = self.estimator
        own = ClusteredSVC(n_jobs=self.n_jobs) if given is None else given
        copy = seeded_clone(own, lambda: seed)
        limits = [each for each in (seconds, copy.max_time) if each is not None]
        return copy.set_params(max_time=max(min(limits), 1e-9) if limits else None)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

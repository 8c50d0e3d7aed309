"""Decisions by what errors cost."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import with_methods
from localsvm.exceptions import DataError


def _fitted_has(name: str) -> Any:
    def check(model: Any) -> bool:
        own = getattr(model, "estimator_", model.estimator)
        getattr(own, name)
        return True

    return available_if(check)


class CostClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""A classifier that predicts the class of the least expected cost.

    The probabilities of another classifier are kept; only the labels change. Use it
    where one error is worse than another: fraud that is missed, an alarm for nothing.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        A copy is fitted, unless it is a fitted one in
        :class:`~sklearn.frozen.FrozenEstimator`.
    cost : array-like of shape (n_classes, n_classes), or mapping
        ``cost[i][j]`` is what it costs to predict ``classes_[j]`` where
        ``classes_[i]`` is true. As a mapping from (true, predicted) labels to costs,
        other errors cost one and right answers nothing.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    classes_ : ndarray of shape (n_classes,)
    cost_ : ndarray of shape (n_classes, n_classes)
        The costs as a matrix.

    See Also
    --------
    sklearn.model_selection.FixedThresholdClassifier : A threshold for two classes.
    sklearn.model_selection.TunedThresholdClassifierCV : One that maximises a score.

    Notes
    -----
    .. math:: \hat y(x) = \arg\min_j \sum_i P(i \mid x)\, \mathrm{cost}_{ij}

    the most probable of equals. For two classes it is the threshold
    :math:`(c_{01} - c_{00}) / (c_{01} - c_{00} + c_{10} - c_{11})` on the probability
    of the second. Do not also weight the classes: with ``class_weight`` the
    probabilities are those of weighted rows. C. Elkan. The foundations of
    cost-sensitive learning. IJCAI 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.estimators import CostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 2))
    >>> y = np.where(X[:, 0] + rng.standard_normal(2000) > 2, "fraud", "good")
    >>> cost = {("fraud", "good"): 20}
    >>> model = CostClassifier(ClusteredSVC(4, random_state=0), cost).fit(X, y)
    >>> caught = model.predict(X[y == "fraud"]) == "fraud"
    >>> bool(caught.mean() > 0.9)
    True
    """

    def __init__(self, estimator: Any, cost: Any) -> None:
        self.estimator = estimator
        self.cost = cost

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or what else the classifier takes.
        y : array-like of shape (n_samples,)
            Class labels.
        **fit_params
            For ``fit`` of the classifier, such as ``sample_weight``.

        Returns
        -------
        self : object
        """
        known = with_methods("fit", "predict")
        if not known.holds(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r:.80} should be a classifier with "
                "predict_proba."
            )
        fitted = self.estimator
        if not isinstance(fitted, FrozenEstimator):
            fitted = clone(fitted).fit(X, y, **fit_params)
        if not hasattr(fitted, "predict_proba"):
            raise DataError(
                f"estimator={type(fitted).__name__} gives no probabilities; expected a "
                "classifier with predict_proba. One of this library that was fitted to "
                "rows in blocks has them after calibrate(X, y)."
            )
        self.estimator_ = fitted
        self.classes_ = np.asarray(fitted.classes_)
        self.cost_ = cost_matrix(self.cost, self.classes_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the least expected cost for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        found = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        costs = found @ self.cost_
        # Of answers that cost the same but for rounding, the most probable.
        least = costs.min(axis=1, keepdims=True) + 1e-12 * np.abs(self.cost_).max()
        cheapest = np.where(costs <= least, found, -1.0).argmax(axis=1)
        return np.asarray(self.classes_[cheapest])

    def expected_cost(self, X: Any) -> NDArray[np.float64]:
        """Cost that each answer has on average, by the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in ``fit``.

        Returns
        -------
        costs : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        found = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        return found @ self.cost_

    @_fitted_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, as the classifier gives it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The largest one need not belong to the predicted class.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    @_fitted_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores of the classifier, which the costs do not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a fitted classifier with costs."""
        try:
            check_is_fitted(self, ("estimator_", "cost_"))
        except NotFittedError:
            return False
        return True


def cost_matrix(cost: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Costs by true and predicted class.

    Parameters
    ----------
    cost : array-like of shape (n_classes, n_classes), or mapping
        As in :class:`CostClassifier`.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
    """
    n_classes, names = len(classes), classes.tolist()
    if not hasattr(cost, "items"):
        matrix = np.asarray(cost, dtype=np.float64)
        if matrix.shape != (n_classes, n_classes):
            raise DataError(
                f"cost has shape {matrix.shape}; expected ({n_classes}, {n_classes}), "
                f"the true class by row and the predicted one by column, for {names}."
            )
    else:
        matrix = 1.0 - np.eye(n_classes)
        for pair, value in cost.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise DataError(
                    f"cost has the key {pair!r:.60}; expected (true, predicted)."
                )
            for label in pair:
                if label not in names:
                    raise DataError(
                        f"cost names the class {label!r:.60}; expected one of {names}."
                    )
            matrix[names.index(pair[0]), names.index(pair[1])] = value
    if not np.isfinite(matrix).all():
        raise DataError("cost has NaN or infinity; expected finite numbers.")
    # An error has to cost more than the right answer, or no row is answered well.
    if (matrix < np.diag(matrix)[:, np.newaxis]).any():
        raise DataError(
            "cost has an error that costs less than the right answer; expected the "
            "smallest number of each row on the diagonal."
        )
    return matrix

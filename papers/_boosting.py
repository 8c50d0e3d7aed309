"""Linear SVMs as weak learners of AdaBoost."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

_MOST_DRAWS = 100


class WeightedLinearSVC(LinearSVC):
    """A linear SVM whose sample weights are brought to a mean of one.

    The weights of AdaBoost sum to one. LIBLINEAR multiplies C by them, so that C would
    mean something else for every number of rows.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to weighted rows."""
        if sample_weight is not None:
            weight = np.asarray(sample_weight)
            sample_weight = weight * (len(weight) / weight.sum())
        super().fit(X, y, sample_weight)
        return self


class ResampledLinearSVC(LinearSVC):
    """A linear SVM on rows that are drawn by their weights.

    They are drawn again, up to a hundred times, if the SVM is no better than chance on
    the weighted rows.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to drawn rows."""
        rng = check_random_state(self.random_state)
        n_rows = len(y)
        weight = np.ones(n_rows) if sample_weight is None else sample_weight
        weight = weight / weight.sum()
        for _ in range(_MOST_DRAWS):
            drawn = rng.choice(n_rows, n_rows, p=weight)
            if len(np.unique(y[drawn])) < 2:
                continue
            super().fit(X[drawn], y[drawn])
            if weight[self.predict(X) != y].sum() < 0.5:
                break
        return self

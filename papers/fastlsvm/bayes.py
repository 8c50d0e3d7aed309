"""The best possible rule of 2SPIRAL, as an estimator."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from localsvm.data import bayes_2spiral


class BayesRule(ClassifierMixin, BaseEstimator):
    """Knows how the rows are drawn and learns nothing.

    Parameters
    ----------
    noise_scale : float
    noise : {"variance", "std"}
        As for :func:`localsvm.data.make_2spiral`.
    """

    def __init__(self, noise_scale: float = 0.065, noise: Any = "variance") -> None:
        self.noise_scale = noise_scale
        self.noise = noise

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> BayesRule:
        """Do nothing."""
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Give the more probable class of raw rows."""
        return bayes_2spiral(X, noise_scale=self.noise_scale, noise=self.noise)

"""The sum as it is kept: terms with their rows and weights, and how it predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive import AdditiveModel
from localsvm.estimators._local import LocalModel
from localsvm.estimators._regional import GradientMetric, RegionalModel, Regions
from localsvm.estimators._staged.preparation import Preparation
from localsvm.estimators._staged.sum.swap import swapped_parts
from localsvm.estimators._staged.sum.weights import SumWeights
from localsvm.estimators._staged.switch.model import linear_part
from localsvm.estimators._views import ColumnParts


@dataclass(frozen=True)
class RegionAnswer:
    """Linear SVMs in soft regions."""

    regions: Regions
    linear: RegionalModel

    def decide(self, Z: Any, n_jobs: int | None) -> NDArray[Any]:
        """Decisions of prepared rows."""
        return self.linear.decide(Z, self.regions.code(Z, n_jobs), n_jobs)

    def gradients(self, Z: Any, n_jobs: int | None) -> NDArray[Any]:
        """Slopes of the decisions by prepared columns, the codes held fixed."""
        return self.linear.blend(self.regions.code(Z, n_jobs))[0]


@dataclass(frozen=True)
class SumTerm:
    """One term that sees prepared rows.

    Attributes
    ----------
    preparation : Preparation
    model : RegionAnswer or LocalModel
    """

    preparation: Preparation
    model: RegionAnswer | LocalModel

    def gradients(self, X: Any, n_jobs: int | None) -> NDArray[np.float64]:
        """Slopes of the decisions by the user's columns."""
        Z = self.preparation.apply(X, n_jobs)
        return self.preparation.pull_back(self.model.gradients(Z, n_jobs), X)

    def code(
        self, X: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Regions or cells of the user's rows, and their weights."""
        Z = self.preparation.apply(X, n_jobs)
        if isinstance(self.model, RegionAnswer):
            codes = self.model.regions.code(Z, n_jobs)
            return codes.regions.astype(np.int64), codes.weights
        cells = self.model.route(Z, n_jobs)
        return cells[:, np.newaxis], np.ones((len(cells), 1))


@dataclass(frozen=True)
class SumModel:
    """A weighted sum of decisions.

    Attributes
    ----------
    weights : SumWeights
    additive : AdditiveModel or None
        Sees the rows as they are.
    terms : dict of str to SumTerm
        The other terms by name, in the order in which they are added.
    typical : ndarray of shape (n_features,)
        Median of each number and most frequent level of each category.
    """

    weights: SumWeights
    additive: AdditiveModel | None
    terms: dict[str, SumTerm]
    typical: NDArray[np.float64]

    def decide(self, X: Any, n_jobs: int | None) -> NDArray[Any]:
        """Decisions of shape (n_samples, 1) for two classes, else (.., n_classes).

        They are log odds, up to what was held out when the weights were learned.
        """
        decisions = list(self.parts(X, n_jobs).values())
        return self.weights.to_join().apply(decisions).astype(X.dtype)

    def weighted_parts(
        self, X: Any, n_jobs: int | None
    ) -> dict[str, NDArray[np.float64]]:
        """Weighted decisions of each term, and the bias; they sum to the decisions."""
        found = {
            name: self.weights.of_terms[name] * decisions
            for name, decisions in self.parts(X, n_jobs).items()
        }
        bias = np.tile(np.array(self.weights.bias), (X.shape[0], 1))
        return found | {"bias": bias}

    def parts(self, X: Any, n_jobs: int | None) -> dict[str, NDArray[np.float64]]:
        """Decisions of each term, before its weight."""
        found: dict[str, NDArray[np.float64]] = {}
        if self.additive is not None:
            found["additive"] = self.additive.decide(X, n_jobs)
        prepared: dict[int, Any] = {}
        for name, term in self.terms.items():
            key = id(term.preparation)
            if key not in prepared:
                prepared[key] = term.preparation.apply(X, n_jobs)
            decisions = term.model.decide(prepared[key], n_jobs)
            found[name] = np.asarray(decisions, dtype=np.float64)
        return found

    def contributions(self, X: Any, n_jobs: int | None) -> NDArray[np.float64]:
        """Return what each column adds on its own.

        The array has shape (n_samples, n_features, n_outputs).
        Exact in the additive term. In the others, the change of the decisions from a
        row that has the column's typical value instead.
        """
        return self.column_parts(X, n_jobs).values

    def column_parts(self, X: Any, n_jobs: int | None) -> ColumnParts:
        """Split decisions by column; the base is the decision of a typical row.

        Of the additive term that is one in which each column has its mean effect.
        """
        base = np.array(self.weights.bias)
        values = np.zeros((*X.shape, len(base)))
        together = None
        if self.additive is not None:
            own = self.additive.contributions(X, n_jobs)
            weight = self.weights.of_terms["additive"]
            values += weight * own.reshape(values.shape)
            base = base + weight * self.additive.bias
        if self.terms:
            typical = self.typical.astype(X.dtype)
            (without,) = self._together(typical[np.newaxis], n_jobs)
            decisions = self._together(X, n_jobs)
            swapped = swapped_parts(
                lambda rows: self._together(rows, n_jobs), X, decisions, typical
            )
            values += swapped
            base = base + without
            together = decisions - without - swapped.sum(axis=1)
        is_exact = np.full(X.shape[0], not self.terms)
        return ColumnParts(values, np.tile(base, (X.shape[0], 1)), together, is_exact)

    def _together(self, X: Any, n_jobs: int | None) -> NDArray[np.float64]:
        """Add the terms in which columns act together."""
        parts = replace(self, additive=None).parts(X, n_jobs)
        weights = self.weights.of_terms
        return np.asarray(sum(weights[name] * own for name, own in parts.items()))

    def gradients(self, X: Any, n_jobs: int | None) -> NDArray[np.float64]:
        """Slopes of the decisions by the user's columns; the additive term has steps.

        The array has shape (n_samples, n_tasks, n_features).
        """
        n_outputs = len(self.weights.bias)
        total = np.zeros((X.shape[0], n_outputs, X.shape[1]))
        for name, term in self.terms.items():
            total += self.weights.of_terms[name] * term.gradients(X, n_jobs)
        return total

    def local_coef(
        self, X: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Weights and intercept of the linear function that touches each decision."""
        coef = self.gradients(X, n_jobs)
        return coef, self.decide(X, n_jobs) - linear_part(coef, X)

    def code(
        self, X: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Regions of each row in the first term that has any, and their weights."""
        for term in self.terms.values():
            return term.code(X, n_jobs)
        return np.zeros((X.shape[0], 1), dtype=np.int64), np.ones((X.shape[0], 1))

    @property
    def scaled_coef(self) -> NDArray[Any] | None:
        """Weights of the regions by scaled columns; None without regions."""
        term = self.terms.get("regions")
        if term is None or not isinstance(term.model, RegionAnswer):
            return None
        return term.preparation.pull_back_scaled(term.model.linear.coef[:-1])

    @property
    def metric(self) -> GradientMetric | None:
        """Metric of the rows of the regions and of the RBF kernel."""
        found = [self.terms[name] for name in ("regions", "rbf") if name in self.terms]
        return found[0].preparation.metric if found else None

    @property
    def keeps_zeros(self) -> bool:
        """Whether sparse rows stay sparse: a sum has dense ones."""
        return False

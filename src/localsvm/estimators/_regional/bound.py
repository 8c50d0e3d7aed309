"""The generalization bound of the clustered SVM (Gu & Han 2013, Theorems 4 to 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, column_or_1d


@dataclass(frozen=True)
class GeneralizationBound:
    r"""Terms of the bound on the error of a clustered SVM.

    With probability 1 - delta over n training rows,

    .. math::

        \mathrm{err}(f) \le \widehat{\mathrm{err}}(f)
        + \frac{3 \sqrt B}{n} \sqrt{\textstyle\sum_i \|x_i\|^2 (1 + 1/\lambda)}
        + 15 k \sqrt{\frac{\log n}{n}} + 3 \sqrt{\frac{\ln(2/\delta)}{2n}}

    Attributes
    ----------
    empirical_error : float
        Mean of min(1, max(0, 1 - y f(x))), which is at least the share of errors.
    local_complexity : float
        Second term: the size of the weights,
        :math:`B = \tfrac{\lambda}{2} \|w\|^2 + \tfrac12 \sum_l \|w_l - w\|^2`.
    partition_complexity : float
        Third term: the freedom of the clustering, Theorem 4.
    confidence : float
        Fourth term.
    n_samples, n_regions : int
    delta : float

    Notes
    -----
    Differences from the printed theorems. The matrix M of Definition 3 is
    :math:`I - 11^\top/(\lambda + k)`, whose inverse has the diagonal
    :math:`1 + 1/\lambda`; as printed it is diagonal and does not couple the regions.
    The second term is that of Theorem 5: the per-cluster form in Theorem 6 lacks a
    factor sqrt(n), and with it restored would be a lower bound of Theorem 5's. The
    third term dominates, contrary to the paper, and is below one only for very large n:
    from 174,000 rows on with 8 regions. The theorem takes the weight budget B as fixed
    beforehand; here it is read off the fitted model, so the sum is an indication rather
    than a guarantee.
    """

    empirical_error: float
    local_complexity: float
    partition_complexity: float
    confidence: float
    n_samples: int
    n_regions: int
    delta: float

    @property
    def total(self) -> float:
        """Sum of the four terms."""
        return (
            self.empirical_error
            + self.local_complexity
            + self.partition_complexity
            + self.confidence
        )

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound says nothing, being one or more."""
        return self.total >= 1.0

    def __str__(self) -> str:
        verdict = (
            "vacuous: an error rate is at most 1"
            if self.is_vacuous
            else f"holds with probability {1 - self.delta:g}"
        )
        return (
            f"error <= {self.total:.4g} ({verdict})\n"
            f"  empirical error       {self.empirical_error:.4g}\n"
            f"  local complexity      {self.local_complexity:.4g}\n"
            f"  partition complexity  {self.partition_complexity:.4g}"
            f"  (n={self.n_samples}, k={self.n_regions})\n"
            f"  confidence            {self.confidence:.4g}"
        )


def clustered_bound(model: Any, X: Any, y: Any, delta: float) -> GeneralizationBound:
    """Evaluate the bound for a fitted two-class ``ClusteredSVC`` with hard regions."""
    X = model._check_query_rows(X)
    _check_bound_arguments(model, delta)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, model.classes_)
    if unknown.size:
        raise ValueError(
            f"y has the label {unknown.tolist()[0]!r}, which the model has not seen."
        )
    scores = model.decision_function(X)
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    n_samples, n_regions = len(y), model.n_regions_
    return GeneralizationBound(
        empirical_error=float(np.clip(1 - sign * scores, 0, 1).mean()),
        local_complexity=3
        * np.sqrt(_weight_budget(model))
        / n_samples
        * np.sqrt(_squared_norms(model, X) * (1 + 1 / model.global_reg)),
        partition_complexity=15 * n_regions * np.sqrt(np.log(n_samples) / n_samples),
        confidence=3 * np.sqrt(np.log(2 / delta) / (2 * n_samples)),
        n_samples=n_samples,
        n_regions=n_regions,
        delta=delta,
    )


def _check_bound_arguments(model: Any, delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must be in the range (0, 1). Got {delta!r} instead.")
    if model.n_nearest != 1:
        raise ValueError(
            "The bound is proved for n_nearest=1. "
            f"Got a model with n_nearest={model.n_nearest}."
        )
    if model.metric_ is not None:
        raise ValueError(
            "The bound is proved for rows as they are. "
            f"Got a model with metric={model.metric!r}."
        )
    if len(model.classes_) != 2:
        raise ValueError(
            f"The bound is proved for 2 classes. Got {len(model.classes_)}."
        )


def _weight_budget(model: Any) -> float:
    """B of Definition 2, the intercept's weights included."""
    unit = model.intercept_scaling_ or 1.0
    w = np.append(model.global_coef_[0], model.global_intercept_ / unit).astype(float)
    w_l = np.hstack([model.coef_[:, 0], model.intercept_ / unit]).astype(float)
    local = 0.5 * ((w_l - w) ** 2).sum()
    if np.isinf(model.global_reg):
        return float(local)
    return float(0.5 * model.global_reg * (w @ w) + local)


def _squared_norms(model: Any, X: Any) -> float:
    values = X.data if sparse.issparse(X) else X
    total = float(np.square(values, dtype=np.float64).sum())
    constant = float(model.intercept_scaling_)
    return total + int(X.shape[0]) * constant**2

"""Explain one prediction by the linear function of its regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from localsvm.estimators import MixtureSVC

_SHOWN_FEATURES = 5
_SHOWN_WEIGHT = 0.05


class Contribution(NamedTuple):
    """What one feature adds to a decision value.

    Parameters
    ----------
    name : str
    value : float
        Of the feature in the row.
    weight : float
        Of the feature in the linear function.
    contribution : float
        Weight times value.
    """

    name: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """One prediction and the linear function that made it.

    ``contributions.sum() + intercept`` is the decision value. ``str`` of an explanation
    is a short text with the features that matter most.

    Attributes
    ----------
    predicted_class : label
    decision_value : float
        Of the predicted class; for two classes of ``classes[1]``, so that a negative
        value speaks for ``classes[0]``.
    classes : ndarray of shape (n_classes,)
    regions : ndarray of shape (n_nearest,)
        Regions of the row, the main one first.
    region_weights : ndarray of shape (n_nearest,)
        Their weights in the linear function, other than zero; of a mixture, the shares
        of its components.
    n_region_rows : int
        Training rows in the main region.
    feature_names : tuple of str
    values : ndarray of shape (n_features,)
        The row.
    coef : ndarray of shape (n_features,)
        Weights of the linear function.
    intercept : float
    is_gradient : bool
        Whether a kernel SVM or a mixture decides, and ``coef`` is its gradient at the
        row.

    See Also
    --------
    explain : Makes an explanation.
    """

    predicted_class: Any
    decision_value: float
    classes: NDArray[Any]
    regions: NDArray[np.int32]
    region_weights: NDArray[np.float64]
    n_region_rows: int
    feature_names: tuple[str, ...]
    values: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: float
    is_gradient: bool = False

    @property
    def contributions(self) -> NDArray[np.float64]:
        """Weight times value of each feature."""
        return self.coef * self.values

    @property
    def positive_class(self) -> Any:
        """Class that a positive decision value speaks for."""
        return self.classes[1] if len(self.classes) == 2 else self.predicted_class

    def top(self, n: int = _SHOWN_FEATURES) -> list[Contribution]:
        """Features that contribute most, by absolute value.

        Parameters
        ----------
        n : int, default=5
            Number of features; all of them if there are fewer.

        Returns
        -------
        list of Contribution
            Name, value, weight and contribution, the largest contribution first.
        """
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        return [
            Contribution(
                self.feature_names[j],
                float(self.values[j]),
                float(self.coef[j]),
                float(self.contributions[j]),
            )
            for j in order[: max(n, 0)]
        ]

    def __str__(self) -> str:
        return "\n".join(
            [
                f"Predicted class: {self.predicted_class}",
                f"Decision value:  {self.decision_value:+.4f} ({self._sign_words()})",
                f"Decided by:      {self._region_words()}",
                "",
                *self._table(),
            ]
        )

    def _sign_words(self) -> str:
        other = f"class {self.classes[0]}" if len(self.classes) == 2 else "the others"
        return f"positive speaks for class {self.positive_class}, negative for {other}"

    def _region_words(self) -> str:
        rows = "row" if self.n_region_rows == 1 else "rows"
        words = [
            f"region {self.regions[0]} (weight {self.region_weights[0]:.2f}, "
            f"{self.n_region_rows} training {rows})"
        ]
        others = list(zip(self.regions, self.region_weights, strict=True))[1:]
        shown = [pair for pair in others if abs(pair[1]) >= _SHOWN_WEIGHT]
        words += [f"{region} ({weight:.2f})" for region, weight in shown]
        if len(shown) < len(others):
            words.append(f"{len(others) - len(shown)} more below {_SHOWN_WEIGHT}")
        if self.is_gradient:
            words.append("not linear: weights are its gradient here")
        return ", ".join(words)

    def _table(self) -> list[str]:
        top = self.top()
        n_rest = len(self.coef) - len(top)
        rest = self.contributions.sum() - sum(entry.contribution for entry in top)
        rest_name = f"{n_rest} other feature" + ("s" if n_rest > 1 else "")
        sums = [(rest_name, rest)] if n_rest else []
        sums += [("intercept", self.intercept), ("sum", self.decision_value)]
        names = [*(entry.name for entry in top), *(name for name, _ in sums)]
        width = max(len(name) for name in names)
        blank = " " * 22
        return [
            f"{'feature':<{width}}{'value':>11}{'weight':>11}{'contribution':>14}",
            *(
                f"{entry.name:<{width}}{entry.value:>11.4g}{entry.weight:>+11.4f}"
                f"{entry.contribution:>+14.4f}"
                for entry in top
            ),
            *(f"{name:<{width}}{blank}{total:>+14.4f}" for name, total in sums),
        ]


def explain(estimator: Any, x: Any, *, feature_names: Any = None) -> Explanation:
    """Explain one prediction by the linear function of its regions.

    Parameters
    ----------
    estimator : ClusteredSVC, LocallyLinearSVC, LocalSVC, StagedSVC or the like
        A fitted estimator that has ``local_coef`` and ``region``.
    x : array-like of shape (n_features,) or one row of shape (1, n_features)
        The row: a list, an array, a sparse row, a pandas series or a data frame.
    feature_names : sequence of str, default=None
        None uses ``estimator.feature_names_in_``, or "x0", "x1" and so on.

    Returns
    -------
    Explanation
        Print it for a short text.

    See Also
    --------
    RegionMapDisplay : Draws regions and boundary of a model of two features.

    Notes
    -----
    A kernel SVM, or a mixture, is explained by its gradient at x, which tells how the
    decision changes near x; the intercept makes up for the rest of the decision value.

    Linear SVMs are linear at x once the regions of x are known. With soft assignment
    their weights change with x, too: the explanation says what the decision value is
    made of, not how it would change far from x.

    For several classes it is the linear function of the predicted class against the
    rest.

    Examples
    --------
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import explain
    >>> X, y = make_xor(400, random_state=0)
    >>> model = ClusteredSVC(n_clusters=4, random_state=0).fit(X, y)
    >>> explanation = explain(model, [2.0, 0.1], feature_names=["east", "north"])
    >>> explanation.predicted_class
    np.int64(1)
    >>> explanation.top(1)[0].name
    'east'
    """
    _check_explainable(estimator)
    check_is_fitted(estimator)
    row = _one_row(x)
    predicted_class = estimator.predict(row)[0]
    names = _feature_names(estimator, feature_names)
    # One task stands for both classes of a two-class problem.
    task = int(np.searchsorted(estimator.classes_, predicted_class))
    task = 0 if len(estimator.classes_) == 2 else task
    coef, intercept = estimator.local_coef(row)
    regions, weights = estimator.region(row, return_weights=True)
    present = weights[0] != 0
    return Explanation(
        predicted_class=predicted_class,
        decision_value=float(np.atleast_2d(estimator.decision_function(row))[0, task]),
        classes=estimator.classes_,
        regions=regions[0][present],
        region_weights=weights[0][present].astype(np.float64),
        n_region_rows=_n_training_rows(estimator, int(regions[0, 0])),
        feature_names=names,
        values=_values(row),
        coef=coef[0, task].astype(np.float64),
        intercept=float(intercept[0, task]),
        is_gradient=_is_curved(estimator, int(regions[0, 0])),
    )


def _is_curved(estimator: Any, region: int) -> bool:
    """Whether a region is decided by a kernel SVM, or by several linear ones."""
    if isinstance(estimator, MixtureSVC):
        return True
    stages = getattr(estimator, "region_stage_", None)
    return not hasattr(estimator, "coef_") if stages is None else stages[region] == 2


def _check_explainable(estimator: Any) -> None:
    if hasattr(estimator, "local_coef") and hasattr(estimator, "region"):
        return
    remedy = ""
    if hasattr(estimator, "named_steps"):
        remedy = (
            " Of a pipeline, explain the last step: "
            "explain(pipeline[-1], pipeline[:-1].transform(rows))."
        )
    raise TypeError(
        "explain needs an estimator with 'local_coef' and 'region', such as "
        f"ClusteredSVC or StagedSVC; got {type(estimator).__name__}.{remedy}"
    )


def _one_row(x: Any) -> Any:
    """Give the row its second dimension; a pandas series keeps its names."""
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        return x.to_frame().T
    if not hasattr(x, "shape"):
        x = np.asarray(x)
    if len(x.shape) == 1:
        return (x if sparse.issparse(x) else np.asarray(x)).reshape(1, -1)
    if len(x.shape) != 2 or x.shape[0] != 1:
        raise ValueError(
            f"explain takes one row: found x of shape {tuple(x.shape)}, expected "
            "(n_features,) or (1, n_features). Call it once per row."
        )
    return x


def _values(row: Any) -> NDArray[np.float64]:
    dense = row.toarray() if sparse.issparse(row) else row
    return np.asarray(dense, dtype=np.float64).ravel()


def _feature_names(estimator: Any, feature_names: Any) -> tuple[str, ...]:
    n_features = estimator.n_features_in_
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", None)
    if feature_names is None:
        feature_names = [f"x{j}" for j in range(n_features)]
    if len(feature_names) != n_features:
        raise ValueError(
            f"feature_names has {len(feature_names)} entries, expected {n_features}: "
            "one per feature that the estimator was fitted on."
        )
    return tuple(str(name) for name in feature_names)


def _n_training_rows(estimator: Any, region: int) -> int:
    """Size of a region; a clusterer may predict one that had no training row."""
    sizes = estimator.region_sizes_
    return int(sizes[region]) if region < len(sizes) else 0

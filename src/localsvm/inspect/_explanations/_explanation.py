"""One prediction explained: what made it, and what would have changed it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._changes._border import Border
from localsvm.inspect._changes._one_column import Change
from localsvm.inspect._explanations._explanation_text import explanation_text
from localsvm.inspect._labels import is_missing, plain_count, plain_label

SHOWN_FEATURES = 5


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


class ColumnContribution(NamedTuple):
    """What one column of the table that a pipeline takes adds to a decision value.

    Parameters
    ----------
    name : str
    value : object
        In the table.
    contribution : float
        Sum over the features that the column gives.
    """

    name: str
    value: Any
    contribution: float


class Margin(NamedTuple):
    """How clear a prediction is.

    Parameters
    ----------
    runner_up : label
        Class with the second largest score.
    difference : float
        What it is behind; of two classes, the size of the decision value.
    distance : float or None
        From the row to the border with the runner-up if the linear function held that
        far: the difference, over the norm of the difference of weights. None where the
        weights are zero, classes are decided by votes, or features are codes of a
        table, which have no common scale.
    """

    runner_up: Any
    difference: float
    distance: float | None


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
        Regions of the row, the main one first; empty if the model has none.
    region_weights : ndarray of shape (n_nearest,)
        Their weights in the linear function, other than zero; of a mixture, the shares
        of its components; of a cluster machine, the shares of clusters in the sum. Only
        shares sum to 1; those of soft regions have norm 1.
    n_region_rows : int
        Training rows in the main region, or neighbours of the row; of an exact SVM its
        support vectors.
    has_all_rows : bool
        Whether the main region has all training rows, so that one SVM decides.
    feature_names : tuple of str
    values : ndarray of shape (n_features,)
        The row, as the estimator sees it.
    coef : ndarray of shape (n_features,)
        Weights of the linear function.
    intercept : float
    margin : Margin
    is_gradient : bool
        Whether a kernel SVM or a mixture decides, and ``coef`` is its gradient at the
        row.
    region_class_counts : dict of label to float
        Classes of those training rows, by sample weight; empty where not known.
    region_accuracy : float or None
        Of the main region, if a table of regions was given that has it.
    columns : tuple of ColumnContribution
        Of a pipeline, the columns of its table; empty where features mix columns.
    is_searched : bool
        Whether changes of the row were looked for.
    border : Border or None
        Nearest row of another label; None if none was found.
    changes : tuple of Change
        Changes of one column that change the label, the smallest first.
    unknown_ranges : tuple of str
        Columns of numbers whose range in the training rows the model does not know:
        their changes may lie outside of it.
    effects : ndarray of shape (n_features,) or None
        What each feature adds on its own, of a model that is a sum; there are no
        weights then.
    terms : dict of str to float
        What each term of a sum adds, and the bias; empty of other models.

    See Also
    --------
    explain : Makes an explanation.
    """

    predicted_class: Any
    decision_value: float
    classes: NDArray[Any]
    regions: NDArray[np.intp]
    region_weights: NDArray[np.float64]
    n_region_rows: int
    feature_names: tuple[str, ...]
    values: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: float
    margin: Margin
    is_gradient: bool = False
    region_class_counts: dict[Any, float] = field(default_factory=dict)
    region_accuracy: float | None = None
    columns: tuple[ColumnContribution, ...] = ()
    is_searched: bool = False
    border: Border | None = None
    changes: tuple[Change, ...] = ()
    unknown_ranges: tuple[str, ...] = ()
    has_all_rows: bool = False
    effects: NDArray[np.float64] | None = None
    terms: dict[str, float] = field(default_factory=dict)

    @property
    def contributions(self) -> NDArray[np.float64]:
        """What each feature adds: its effect, or weight times value."""
        return self.coef * self.values if self.effects is None else self.effects

    @property
    def positive_class(self) -> Any:
        """Class that a positive decision value speaks for."""
        return self.classes[1] if len(self.classes) == 2 else self.predicted_class

    def top(self, n: int = SHOWN_FEATURES) -> list[Contribution]:
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

    def top_columns(self, n: int = SHOWN_FEATURES) -> list[ColumnContribution]:
        """Columns of the table that contribute most, by absolute value.

        Parameters
        ----------
        n : int, default=5
            Number of columns; all of them if there are fewer.

        Returns
        -------
        list of ColumnContribution
            The largest contribution first.
        """
        columns = sorted(self.columns, key=lambda column: -abs(column.contribution))
        return columns[: max(n, 0)]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it, the largest contributions first.

        Returns
        -------
        dict
        """
        return {
            "predicted_class": _plain(self.predicted_class),
            "decision_value": self.decision_value,
            "positive_class": _plain(self.positive_class),
            "classes": [_plain(label) for label in self.classes],
            "margin": _plain_tuple(self.margin),
            "regions": [
                {"region": int(region), "weight": float(weight)}
                for region, weight in zip(
                    self.regions, self.region_weights, strict=True
                )
            ],
            "region_rows": self.n_region_rows,
            "region_class_counts": {
                str(label): plain_count(count)
                for label, count in self.region_class_counts.items()
            },
            "region_accuracy": self.region_accuracy,
            "is_gradient": self.is_gradient,
            "intercept": self.intercept,
            "features": [_plain_tuple(each) for each in self.top(len(self.coef))],
            "columns": [
                _plain_tuple(each) for each in self.top_columns(len(self.columns))
            ],
            "border": None if self.border is None else _plain_border(self.border),
            "changes": [_plain_tuple(each) for each in self.changes],
            "unknown_ranges": list(self.unknown_ranges),
        }

    def __str__(self) -> str:
        return explanation_text(self)


def _plain(value: Any) -> Any:
    """Value as JSON holds it: what is missing or infinite is None."""
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value) or value in (np.inf, -np.inf):
        return None
    return plain_label(value)


def _plain_tuple(record: Any) -> dict[str, Any]:
    return {name: _plain(value) for name, value in record._asdict().items()}


def _plain_border(border: Border) -> dict[str, Any]:
    return {
        "label": _plain(border.label),
        "distance": border.distance,
        "is_exact": border.is_exact,
        "in_same_region": border.in_same_region,
        "region": border.region,
        "shifts": [_plain_tuple(shift) for shift in border.shifts],
    }

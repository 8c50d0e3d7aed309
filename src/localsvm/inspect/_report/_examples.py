"""A few scored rows, explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._explanations._explain import explain
from localsvm.inspect._explanations._explanation import Explanation
from localsvm.inspect._explanations._explanation_text import explained
from localsvm.inspect._labels import LabelCoding
from localsvm.inspect._quality._scores import gives_confidence
from localsvm.inspect._regions._region_table import RegionTable
from localsvm.inspect._report._text import clean, describe, number

_SHOWN = 6
_LONGEST = 500


@dataclass(frozen=True)
class ContributionLine:
    """What one column, or feature, adds to the decision value.

    Attributes
    ----------
    name, value, words : str
    share : float
        Of the largest contribution, with its sign.
    """

    name: str
    value: str
    words: str
    share: float


@dataclass(frozen=True)
class Example:
    """One explained row.

    Attributes
    ----------
    title : str
    truth : str
        The true and the predicted class.
    facts : dict of str to str
    lines : list of ContributionLine
    rest : dict of str to str
        What is not in the lines, and the sum.
    is_column : bool
        Whether the lines are columns of a table, not features of the classifier.
    """

    title: str
    truth: str
    facts: dict[str, str]
    lines: list[ContributionLine]
    rest: dict[str, str]
    is_column: bool


def explain_examples(
    model: Any, X: Any, coding: LabelCoding, table: RegionTable | None
) -> list[Example]:
    """Explain the surest mistake, the surest right answer and the closest decision.

    Parameters
    ----------
    model : fitted classifier of this library, or Pipeline
    X : rows
    coding : LabelCoding
        Of their labels.
    table : RegionTable or None
    """
    predicted = coding.encode(model.predict(X))
    chosen = _choose(_leads(model, X), predicted == coding.true)
    return [
        _example(
            title,
            explain(model, _row(X, place), table=table)[0],
            coding.labels[coding.true[place]],
            place,
        )
        for title, place in chosen.items()
    ]


def can_explain(estimator: Any) -> bool:
    """Whether :func:`explain` takes an estimator."""
    return hasattr(estimator, "local_coef") and gives_confidence(estimator)


def _leads(model: Any, X: Any) -> NDArray[np.float64]:
    """Lead of the winning class over the next."""
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        return np.abs(scores)
    ordered = np.sort(scores, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def _choose(leads: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, int]:
    """Rows by what they are an example of."""
    chosen = {}
    for title, rows in (
        ("The surest mistake", np.flatnonzero(~right)),
        ("The surest right answer", np.flatnonzero(right)),
    ):
        if len(rows):
            chosen[title] = int(rows[np.argmax(leads[rows])])
    closest = int(np.argmin(leads))
    if closest not in chosen.values():
        chosen["The closest decision"] = closest
    return chosen


def _row(X: Any, place: int) -> Any:
    return X[place : place + 1]


def _example(title: str, found: Explanation, true: Any, place: int) -> Example:
    is_column = bool(found.columns)
    parts: list[Any] = (
        list(found.top_columns(_SHOWN)) if is_column else list(found.top(_SHOWN))
    )
    largest = max((abs(part.contribution) for part in parts), default=0.0) or 1.0
    n_rest = (len(found.columns) if is_column else len(found.coef)) - len(parts)
    rest = float(found.contributions.sum()) - sum(part.contribution for part in parts)
    noun = "columns" if is_column else "features"
    predicted = found.predicted_class
    outcome = "right" if predicted == true else f"but it is \u201c{clean(true)}\u201d"
    return Example(
        title=f"{title}: scored row {place:,}",
        truth=f"Predicted \u201c{clean(predicted)}\u201d, {outcome}.",
        facts={
            name: clean(words, _LONGEST)
            for name, words in explained(found).items()
            if name != "Predicted class"
        },
        lines=[
            ContributionLine(
                clean(part.name),
                _value(part.value),
                f"{part.contribution:+.3g}",
                part.contribution / largest,
            )
            for part in parts
        ],
        rest={
            **({f"{n_rest} other {noun}": f"{rest:+.3g}"} if n_rest else {}),
            "intercept": f"{found.intercept:+.3g}",
            "decision value": f"{found.decision_value:+.3g}",
        },
        is_column=is_column,
    )


def _value(value: Any) -> str:
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        return clean(value) if isinstance(value, str) else describe(value)
    return number(float(value))

"""Labels of rows as positions, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from localsvm.exceptions import DataError

_SHOWN_LABELS = 5
_LONGEST = 40


@dataclass(frozen=True, eq=False)
class LabelCoding:
    """Labels as positions: those the model knows first, then the others.

    Attributes
    ----------
    labels : tuple
    true : ndarray of int of shape (n_samples,)
        Positions of the true labels.
    n_known : int
    """

    labels: tuple[Any, ...]
    true: NDArray[np.intp]
    n_known: int

    @classmethod
    def of(cls, model: Any, y: Any, name: str = "y") -> LabelCoding:
        """Encode the labels of rows, and name those that cannot be."""
        values = column_or_1d(y).tolist()
        found = set(values)
        known = model.classes_.tolist()
        n_missing = sum(map(is_missing, values)) if any(map(is_missing, found)) else 0
        if n_missing:
            raise DataError(
                f"{name} has {n_missing} missing labels; expected one for each row. "
                "Leave those rows out."
            )
        unknown = sorted(found.difference(known), key=str)
        if found and len(unknown) == len(found):
            raise DataError(
                f"The model knows none of the labels in {name}: found "
                f"{name_some(unknown)}, expected some of {name_some(known)}. Check the "
                "target column and the type of its values."
            )
        labels = (*known, *unknown)
        return cls(labels, _positions(labels, values), len(known))

    @property
    def unknown(self) -> tuple[Any, ...]:
        """Labels that the model does not know."""
        return self.labels[self.n_known :]

    def encode(self, predicted: Any) -> NDArray[np.intp]:
        """Positions of predicted labels."""
        return _positions(self.labels, np.asarray(predicted).tolist())


def plain_label(label: Any) -> Any:
    """Label as JSON holds it."""
    return label if isinstance(label, (str, int, float, bool)) else str(label)


def plain_count(count: float) -> float | int:
    """Rows as a whole number, unless their weights add up to a fraction."""
    return int(count) if float(count).is_integer() else float(count)


def name_some(labels: Sequence[Any]) -> str:
    """Name the first labels."""
    words = ", ".join(f"{label!r:.40}" for label in labels[:_SHOWN_LABELS])
    more = len(labels) - _SHOWN_LABELS
    return f"{words} and {more} more" if more > 0 else words


def shorten(label: Any) -> str:
    """Label in at most 40 characters."""
    text = str(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _positions(labels: tuple[Any, ...], values: list[Any]) -> NDArray[np.intp]:
    place = {label: position for position, label in enumerate(labels)}
    return np.fromiter(map(place.__getitem__, values), np.intp, len(values))


def is_missing(label: Any) -> bool:
    """Whether a label or a value is None, NaN or the like."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True

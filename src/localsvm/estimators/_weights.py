"""Weights of rows and of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

from localsvm.exceptions import DataError


def weigh_rows(
    class_weight: Any,
    classes: NDArray[Any],
    class_index: NDArray[Any],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weights times class weights, of two classes at least and not all zero."""
    if len(classes) < 2:
        raise DataError(
            "The number of classes has to be greater than one; got "
            f"{len(classes)} class ({classes.tolist()[0]!r})."
        )
    own = weigh_classes(class_weight, classes, classes[class_index], weight)
    penalty_weight: NDArray[np.float64] = weight * own[class_index]
    if not penalty_weight.any():
        raise DataError(
            f"class_weight={class_weight!r} leaves no row with a positive "
            "weight; expected at least one class of the data above 0."
        )
    return penalty_weight


def weigh_classes(
    class_weight: Any,
    classes: NDArray[Any],
    y: NDArray[Any],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weight of each class; "balanced" counts rows by their sample weight."""
    if isinstance(class_weight, str):
        mass = np.array([weight[y == label].sum() for label in classes])
        present = mass > 0
        balanced = np.ones(len(mass))
        balanced[present] = weight.sum() / (present.sum() * mass[present])
        return balanced
    return np.asarray(
        compute_class_weight(class_weight, classes=classes, y=y), dtype=float
    )

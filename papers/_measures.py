"""What is measured on a fitted model, besides its accuracy and its times.

A measure is a function of a module that takes a :class:`Fitted` and returns a mapping:
numbers go to the ``scores`` of the record, all else to its ``arrays``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers._rows import TrainTest


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model with its rows.

    Parameters
    ----------
    model : estimator
    rows : TrainTest
    predicted : ndarray
        Predicted labels of the test rows.
    """

    model: Any
    rows: TrainTest
    predicted: NDArray[Any]


def accuracy(fitted: Fitted) -> Mapping[str, Any]:
    """Give the share of right and of wrong labels among the test rows, in percent."""
    right = 100 * float(np.mean(fitted.predicted == fitted.rows.y_test))
    return {"accuracy": right, "error": 100 - right}


def train_accuracy(fitted: Fitted) -> Mapping[str, Any]:
    """Give the share of right labels among the training rows, in percent."""
    right = fitted.model.predict(fitted.rows.X_train) == fitted.rows.y_train
    return {"train_accuracy": 100 * float(np.mean(right))}


def mixture_size(fitted: Fitted) -> Mapping[str, Any]:
    """Give the number of components that a mixture kept, and its EM steps."""
    model = fitted.model
    return {"n_components": int(model.n_regions_), "n_iter": int(model.em_step_)}


def clustered_solution(fitted: Fitted) -> Mapping[str, Any]:
    """Give number of regions, duality gap and passes of a clustered SVM."""
    model = fitted.model
    return {
        "n_regions": int(model.n_regions_),
        "duality_gap": float(model.duality_gap_),
        "n_iter": int(model.n_iter_),
    }

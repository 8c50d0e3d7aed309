"""What is measured on mixtures, boosted SVMs and their rivals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from papers._measures import Fitted


def complexity(fitted: Fitted) -> Mapping[str, Any]:
    """Give what a prediction costs: support vectors, or linear SVMs."""
    model = fitted.model
    if hasattr(model, "n_regions_"):
        return {"complexity": int(model.n_regions_)}
    if hasattr(model, "estimators_"):
        return {"complexity": len(model.estimators_)}
    return {"complexity": int(np.sum(model.n_support_))}


def em_steps(fitted: Fitted) -> Mapping[str, Any]:
    """Give likelihood, training accuracy and components of a mixture by EM step."""
    history = fitted.model.history_
    accuracy = 100 * history["accuracy"]
    return {
        "start_train_accuracy": float(accuracy[0]),
        "n_steps": len(accuracy) - 1,
        "log_likelihood": np.round(history["log_likelihood"], 3).tolist(),
        "train_accuracies": np.round(accuracy, 3).tolist(),
        "n_components": history["n_regions"].tolist(),
    }


def boosting_errors(fitted: Fitted) -> Mapping[str, Any]:
    """Give training and test error of a boosted model by its number of members."""
    model, rows = fitted.model, fitted.rows
    parts = {"train": (rows.X_train, rows.y_train), "test": (rows.X_test, rows.y_test)}
    return {
        f"{name}_errors": [
            round(100 * float(np.mean(labels != y)), 3)
            for labels in model.staged_predict(X)
        ]
        for name, (X, y) in parts.items()
    }

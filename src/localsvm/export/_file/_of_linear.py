"""Linear classifiers of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from localsvm.state import (
    COLUMNS,
    Classes,
    Dims,
    Field,
    Fields,
    Number,
    Sink,
    Source,
    Spec,
    Told,
    floats,
)


class _Intercept(Field):
    """One number per task, or one alone where none was fitted."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write an array or a number."""
        field = floats("tasks") if isinstance(value, np.ndarray) else Number()
        return field.write(value, place, sink, dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read an array or a number."""
        field = floats("tasks") if isinstance(plain, dict) else Number()
        return field.read(plain, place, source, dims)


_LINEAR: Fields = {
    **COLUMNS,
    "classes_": Classes(),
    "coef_": floats("tasks", "columns"),
    "intercept_": _Intercept(),
    "n_iter_": Told(),
}

SPECS = tuple(Spec(cls, "linear", _LINEAR) for cls in (LinearSVC, LogisticRegression))

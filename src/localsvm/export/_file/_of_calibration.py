"""Calibrated classifiers, and classifiers that are fitted once and for all.

scikit-learn's calibrators are of private classes: small ones are fitted, and given the
numbers of those in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from localsvm.estimators import CostClassifier
from localsvm.state import (
    COLUMNS,
    Classes,
    Dims,
    Field,
    Part,
    Record,
    Several,
    Sink,
    Source,
    Spec,
    Word,
    classes_of,
    doubles,
    floats,
)

_INNER = ("classifier", "linear", "pipeline")


class _Scalar(Field):
    """A number whose precision decides that of its products."""

    _array = floats()

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write it as an array without axes."""
        return self._array.write(np.asarray(value), place, sink, dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read it as a scalar."""
        return self._array.read(plain, place, source, dims)[()]


_NUMBERS = {
    "sigmoid": Record(dict, a_=_Scalar(), b_=_Scalar()),
    "isotonic": Record(
        dict, X_thresholds_=floats("knots"), y_thresholds_=floats("knots")
    ),
    "temperature": Record(dict, beta_=_Scalar()),
}
_MARKS = {"a_": "sigmoid", "X_thresholds_": "isotonic", "beta_": "temperature"}


class _Calibrator(Field):
    """The numbers of a calibrator, by its method."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the numbers."""
        for mark, method in _MARKS.items():
            if hasattr(value, mark):
                return {method: _NUMBERS[method].write(value, place, sink, dims)}
        raise TypeError(
            f"{place} is a {type(value).__name__}, which a model file cannot hold; use "
            "joblib or skops."
        )

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read the numbers, and make a calibrator of them."""
        if isinstance(plain, dict) and len(plain) == 1:
            ((method, content),) = plain.items()
            if method in _NUMBERS:
                numbers = _NUMBERS[method].read(content, place, source, dims)
                return method, numbers
        raise ValueError(f"{place} is {plain!r:.60}; expected a calibrator.")


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    vars(unfitted).update(values)
    pairs = values["calibrated_classifiers_"]
    if not pairs:
        raise ValueError("calibrated_classifiers_ is empty.")
    unfitted.calibrated_classifiers_ = [
        _make_pair(pair, values["classes_"]) for pair in pairs
    ]
    return unfitted


def _make_pair(pair: dict[str, Any], classes: Any) -> Any:
    method = pair["method"]
    _check_pair(pair, classes)
    made = copy(_small_pair(method))
    small = made.calibrators[0]
    made.estimator, made.classes = pair["estimator"], classes
    made.calibrators = [_with(small, numbers) for _, numbers in pair["calibrators"]]
    return made


def _check_pair(pair: dict[str, Any], classes: Any) -> None:
    known = classes_of(pair["estimator"], "calibrated_classifiers_")
    method = pair["method"]
    # A temperature asks nothing of the classes but their order.
    scaled = method == "temperature"
    if not scaled and not np.isin(known, classes).all():
        raise ValueError("calibrated_classifiers_ has one of other classes.")
    one = scaled or len(classes) == 2
    if one and len(known) != len(classes):
        raise ValueError("calibrated_classifiers_ has one of other classes.")
    expected = [method] * (1 if one else len(known))
    if [each for each, _ in pair["calibrators"]] != expected:
        raise ValueError(
            f"calibrated_classifiers_ has {len(pair['calibrators'])} calibrators; "
            f"expected {len(expected)} of the method {method}."
        )


def _with(small: Any, numbers: dict[str, Any]) -> Any:
    if "X_thresholds_" in numbers:
        return IsotonicRegression(out_of_bounds="clip").fit(*numbers.values())
    made = copy(small)
    vars(made).update(numbers)
    return made


def _small_pair(method: str) -> Any:
    """Let scikit-learn calibrate four rows, for the objects that it makes."""
    X, y = np.array([[-1.0], [1.0], [-1.0], [1.0]]), np.array([0, 1, 0, 1])
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    fitted = CalibratedClassifierCV(frozen, method=method, cv=2).fit(X, y)
    return fitted.calibrated_classifiers_[0]


def _cost_params(model: CostClassifier) -> dict[str, Any]:
    """Parameters whose costs are a matrix, as any file can hold it."""
    return {"estimator": model.estimator, "cost": model.cost_.tolist()}


def _make_frozen(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del unfitted, dims
    return FrozenEstimator(values["estimator"])


def _blank_frozen() -> None:
    return None


SPECS = (
    Spec(
        CalibratedClassifierCV,
        "calibrated",
        {
            **COLUMNS,
            "classes_": Classes(),
            "calibrated_classifiers_": Several(
                Record(
                    dict,
                    estimator=Part(*_INNER, "frozen", columns="columns"),
                    method=Word(*_NUMBERS),
                    calibrators=Several(_Calibrator()),
                ),
                "columns",
            ),
        },
        make=_make,
    ),
    Spec(
        CostClassifier,
        "calibrated",
        {
            **COLUMNS,
            "classes_": Classes(),
            "estimator_": Part(*_INNER, "frozen", columns="columns"),
            "cost_": doubles("classes", "classes"),
        },
        params=_cost_params,
    ),
    Spec(
        FrozenEstimator,
        "frozen",
        {"estimator": Part(*_INNER, "transformer", "calibrated")},
        make=_make_frozen,
        blank=_blank_frozen,
    ),
)

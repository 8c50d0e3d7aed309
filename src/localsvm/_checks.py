"""Checks of parameters and data with scikit-learn's sentences."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from numbers import Integral, Real
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_consistent_length, validate_data

from localsvm._ranges import column_range
from localsvm.exceptions import DataError

_SCALE = "Scale the features, e.g. with StandardScaler."
NO_WEIGHT = "Sample weights must contain at least one non-zero number."
NOT_FINITE = (
    "Sums of squares are not finite: X has entries too large or too small for their "
    f"squares. {_SCALE}"
)
_SCALE_RATIO = 1000.0
_UNSCALED = "The features have very different scales"
_STORAGE: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}


@dataclass(frozen=True)
class Constraint:
    """What a parameter may be, in words and as a test."""

    words: str
    holds: Callable[[Any], bool]

    def __or__(self, other: Constraint) -> Constraint:
        return Constraint(
            f"{self.words} or {other.words}",
            lambda value: self.holds(value) or other.holds(value),
        )


def real(low: float, high: float = np.inf, *, closed: str = "neither") -> Constraint:
    """Real number between ``low`` and ``high``, ends included as ``closed`` says."""
    left, right = (closed in (side, "both") for side in ("left", "right"))

    def holds(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
            return False
        number = float(value)
        above = number >= low if left else number > low
        return above and (number <= high if right else number < high)

    brackets = "[" if left else "(", "]" if right else ")"
    return Constraint(
        f"a float in the range {brackets[0]}{low}, {high}{brackets[1]}", holds
    )


def integer(low: int) -> Constraint:
    """Integer of at least ``low``."""
    return Constraint(
        f"an int in the range [{low}, inf)",
        lambda value: (
            isinstance(value, Integral)
            and not isinstance(value, (bool, np.bool_))
            and int(value) >= low
        ),
    )


def one_of(*options: Any) -> Constraint:
    """One of the given strings or integers, or None."""
    words = " or ".join(repr(option) for option in options)
    return Constraint(
        words,
        lambda value: any(
            value is option or (isinstance(value, (str, int)) and value == option)
            for option in options
        ),
    )


def list_of(element: Constraint) -> Constraint:
    """Non-empty list, tuple or array of values that each satisfy ``element``."""
    return Constraint(
        f"a non-empty list, each entry {element.words}",
        lambda value: (
            isinstance(value, (list, tuple, np.ndarray))
            and len(value) > 0
            and all(element.holds(entry) for entry in value)
        ),
    )


def with_methods(*methods: str) -> Constraint:
    """Object that has the given methods."""
    words = " and ".join(f"'{method}'" for method in methods)
    return Constraint(
        f"an object with {words}",
        lambda value: all(callable(getattr(value, name, None)) for name in methods),
    )


def instance_of(cls: type) -> Constraint:
    """Accept an object of a class."""
    return Constraint(f"a {cls.__name__}", lambda value: isinstance(value, cls))


def mapping() -> Constraint:
    """Accept a dictionary."""
    return Constraint("a dict", lambda value: isinstance(value, dict))


def class_weights() -> Constraint:
    """Accept None, "balanced", or a dictionary of finite weights of at least zero."""
    weight = real(0, closed="left")
    return one_of(None, "balanced") | Constraint(
        f"a dict, each value {weight.words}",
        lambda value: (
            isinstance(value, dict) and all(map(weight.holds, value.values()))
        ),
    )


def mapping_of(**entries: Constraint) -> Constraint:
    """Accept a dictionary with some of the keys, each value as its constraint says."""
    words = " and/or ".join(f"{key!r}: {each.words}" for key, each in entries.items())
    return Constraint(
        f"a dict with {words}",
        lambda value: (
            isinstance(value, dict)
            and len(value) > 0
            and all(key in entries and entries[key].holds(value[key]) for key in value)
        ),
    )


def boolean() -> Constraint:
    """Accept True and False."""
    return Constraint("a bool", lambda value: isinstance(value, (bool, np.bool_)))


N_JOBS = Constraint(
    "an int other than 0 or None",
    lambda value: (
        value is None
        or (
            isinstance(value, Integral)
            and not isinstance(value, (bool, np.bool_))
            and value != 0
        )
    ),
)


def check_parameters(estimator: Any, /, **constraints: Constraint) -> None:
    """Raise an InvalidParameterError for the first parameter that is not allowed.

    ``n_jobs`` means the same everywhere, so it is checked wherever there is one.
    """
    if hasattr(estimator, "n_jobs"):
        constraints = {**constraints, "n_jobs": N_JOBS}
    for name, constraint in constraints.items():
        value = getattr(estimator, name)
        if not constraint.holds(value):
            raise InvalidParameterError(
                f"The {name!r} parameter of {type(estimator).__name__} must be "
                f"{constraint.words}. Got {value!r} instead."
            )


def check_rows(
    estimator: Any,
    X: Any,
    y: Any = "no_validation",
    *,
    reset: bool = True,
    accept_sparse: bool = True,
    allow_nan: bool = False,
) -> Any:
    """Validate ``X`` (and ``y``) for the core: C order or CSR, float32 or float64.

    Strings and values that are not finite are refused with their row and column. A CSR
    matrix with duplicate or unsorted entries is copied, anything else of the right type
    is not. With ``allow_nan``, for dense rows, NaN stands for a missing value.
    """
    storage = _STORAGE if accept_sparse else {**_STORAGE, "accept_sparse": False}
    try:
        checked = validate_data(estimator, X, y, reset=reset, **storage)
    except (TypeError, ValueError) as error:
        _check_numeric(X, getattr(estimator, "feature_names_in_", None), error)
        if not isinstance(error, TypeError):
            raise DataError(str(error)) from error
        raise
    rows, *target = checked if isinstance(checked, tuple) else (checked,)
    rows = _canonical(rows)
    check_finite(rows, getattr(estimator, "feature_names_in_", None), allow_nan)
    return (rows, *target) if target else rows


def check_mapped_rows(X: Any) -> Any:
    """Validate what a transformer made of rows, as :func:`check_rows` does."""
    rows = _canonical(check_array(X, **_STORAGE))
    check_finite(rows, None)
    return rows


def _canonical(rows: Any) -> Any:
    if sparse.issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _check_numeric(X: Any, feature_names: Any, error: Exception) -> None:
    """Raise a DataError that names the first string or date of a table, if any."""
    if sparse.issparse(X):
        return
    values = np.asarray(X, dtype=object)
    if values.ndim != 2:
        return
    for column, entries in enumerate(values.T):
        row = next((row for row, each in enumerate(entries) if _is_word(each)), None)
        if row is not None:
            raise DataError(
                f"Input X is not numeric: found {entries[row]!r} in row {row}, column "
                f"{_shown_name(column, feature_names)}; expected numbers. Encode the "
                "table first, e.g. make_pipeline(TableEncoder(), estimator) with "
                "localsvm.data.TableEncoder."
            ) from error


def _is_word(value: Any) -> bool:
    if isinstance(value, (date, np.datetime64)):
        return True
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _shown_name(column: int, feature_names: Any) -> str:
    return str(column) if feature_names is None else repr(feature_names[column])


def check_finite(X: Any, feature_names: Any, allow_nan: bool = False) -> None:
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    bad = np.argwhere(np.isinf(values) if allow_nan else ~np.isfinite(values))
    if not len(bad):
        return
    if sparse.issparse(X):
        entry = int(bad[0, 0])
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        column, value = int(X.indices[entry]), values[entry]
    else:
        row, column = (int(index) for index in bad[0])
        value = values[row, column]
    name = _shown_name(column, feature_names)
    kind = "NaN" if np.isnan(value) else "infinity"
    expected, remedy = (
        ("finite numbers, or NaN for missing values", "set the values to NaN.")
        if allow_nan
        else (
            "finite numbers",
            "fill the values, e.g. make_pipeline(SimpleImputer(), estimator).",
        )
    )
    raise DataError(
        f"Input X contains {kind}: found {len(bad)} such entries, the first in row "
        f"{row}, column {name}; expected {expected}. Remove the rows, or {remedy}"
    )


def check_squares(X: Any) -> None:
    """Raise if a squared distance of rows could overflow."""
    values = X.data if sparse.issparse(X) else X
    largest = np.sqrt(np.finfo(X.dtype).max / (4 * X.shape[1]))
    if values.size and max(values.max(), -values.min()) > largest:
        raise DataError(
            "Sums of squares are not finite: X has entries too large for their "
            f"squares. {_SCALE}"
        )


def check_sample_weight(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """Weights as float64, one per row of ``X``, none negative, not all zero."""
    n_samples = X.shape[0]
    if sample_weight is None:
        return np.ones(n_samples)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, float(sample_weight))
    weight: NDArray[np.float64] = check_array(
        sample_weight,
        ensure_2d=False,
        dtype=np.float64,
        order="C",
        input_name="sample_weight",
    )
    if weight.ndim != 1:
        raise DataError(
            f"sample_weight must be a 1D array or a scalar, got {weight.ndim}D array. "
            f"Expected either a scalar value or a 1D array of length {n_samples}."
        )
    check_consistent_length(weight, X)
    if (weight < 0).any():
        raise DataError(
            f"Negative values in data passed to `sample_weight`: found {weight.min()}, "
            "expected values >= 0."
        )
    if not weight.any():
        raise DataError(NO_WEIGHT)
    return weight


def warn_if_unscaled(X: Any, feature_names: Any) -> None:
    """Warn when the ranges of the columns differ by more than 1000.

    They are those of :func:`column_range`. Constant columns do not count.
    """
    extremes = _extreme_ranges(X)
    if extremes is None:
        return
    names = [f"column {j}" for j in extremes]
    if feature_names is not None:
        names = [repr(feature_names[j]) for j in extremes]
    wide, narrow = extremes.values()
    warnings.warn(
        f"{_UNSCALED}: {names[0]} has the range "
        f"{wide:.3g}, {names[1]} the range {narrow:.3g}. "
        "Distances and penalties will see the first alone. Scale the features, e.g. "
        "make_pipeline(StandardScaler(), estimator).",
        UserWarning,
        stacklevel=level_of_caller(),
    )


def is_unscaled(X: Any) -> bool:
    """Whether :func:`warn_if_unscaled` would warn."""
    return _extreme_ranges(X) is not None


def _extreme_ranges(X: Any) -> dict[int, float] | None:
    """Widest and narrowest column with their ranges, if those differ too much."""
    low, high = column_range(X)
    spread = high.astype(np.float64) - low
    varying = np.flatnonzero(spread > 0)
    if varying.size < 2:
        return None
    widest = int(varying[np.argmax(spread[varying])])
    narrowest = int(varying[np.argmin(spread[varying])])
    if spread[widest] / spread[narrowest] <= _SCALE_RATIO:
        return None
    return {j: float(spread[j]) for j in (widest, narrowest)}


@contextmanager
def scales_already_told() -> Iterator[None]:
    """Keep estimators that are fitted inside from warning of the scales again."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _UNSCALED)
        yield


def level_of_caller() -> int:
    """How many frames up the first one outside this package is."""
    level = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(
        "localsvm"
    ):
        level, frame = level + 1, frame.f_back
    return level


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Give the estimator back its attributes if the block raises.

    A ``RandomState`` that it was given returns to where it was.
    """
    before = dict(vars(estimator))
    generators = [
        (value, value.get_state(legacy=False))
        for value in before.values()
        if isinstance(value, np.random.RandomState)
    ]
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        for generator, state in generators:
            generator.set_state(state)
        raise

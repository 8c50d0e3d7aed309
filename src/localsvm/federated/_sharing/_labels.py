"""Class labels as plain data: strings, integers, floats or booleans."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.exceptions import DataError

_TYPES: dict[str, tuple[type, Any]] = {
    "str": (str, np.str_),
    "int": (int, np.int64),
    "float": (float, np.float64),
    "bool": (bool, np.bool_),
}
_LONGEST_LABEL = 200  # arrays of strings give every label the space of the longest
_KINDS = {"U": "str", "i": "int", "u": "int", "f": "float", "b": "bool"}


def plain_labels(labels: Any) -> NDArray[Any]:
    """Labels with one of four types: str, int64, float64 or bool."""
    values = np.asarray(labels)
    if values.dtype.kind == "O" and values.size:
        types = {type(value) for value in values.ravel().tolist()}
        if len(types) == 1:
            values = np.asarray(values.tolist())
    kind = _KINDS.get(values.dtype.kind)
    if kind is None or (kind != "str" and values.dtype.itemsize > 8):
        raise DataError(
            f"Class labels have dtype {values.dtype}; expected strings, integers, "
            "floats or booleans, all of one type."
        )
    if kind == "float" and not np.isfinite(values).all():
        raise DataError("Class labels contain NaN or infinity.")
    if kind == "str" and values.dtype.itemsize > 4 * _LONGEST_LABEL:
        raise DataError(
            f"Class labels have up to {values.dtype.itemsize // 4} characters; "
            f"expected at most {_LONGEST_LABEL}."
        )
    if values.dtype.kind == "u" and values.size and values.max() >= 2**63:
        raise DataError(
            f"Class labels contain {values.max()}; expected numbers below 2**63."
        )
    return values.astype(_TYPES[kind][1], copy=False)


def label_type(labels: NDArray[Any]) -> str:
    """Type of labels that :func:`plain_labels` made."""
    return _KINDS[labels.dtype.kind]


def labels_from_plain(values: Any, type_name: Any) -> NDArray[Any]:
    """Labels as read from a file: distinct, sorted, all of the named type."""
    if not isinstance(type_name, str) or type_name not in _TYPES:
        raise ValueError(
            f"class labels of type {type_name!r:.40}; expected one of "
            f"{', '.join(_TYPES)}."
        )
    plain, dtype = _TYPES[type_name]
    if not isinstance(values, list) or not values:
        raise ValueError(f"class labels {values!r:.60}; expected a non-empty list.")
    for value in values:
        if type(value) is not plain or len(str(value)) > _LONGEST_LABEL:
            raise ValueError(
                f"the class label {value!r:.40}; expected {type_name} of at most "
                f"{_LONGEST_LABEL} characters."
            )
    labels = np.array(values, dtype=dtype)
    if (labels[1:] <= labels[:-1]).any() or labels.tolist() != values:
        raise ValueError("class labels that are not distinct and sorted.")
    return labels


def class_positions(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Position of each label in the sorted ``classes``."""
    if label_type(y) != label_type(classes):
        raise DataError(
            f"y has labels of type {label_type(y)}, but classes of type "
            f"{label_type(classes)}."
        )
    position = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = classes[position] != y
    if unknown.any():
        raise DataError(
            f"y contains the label {y[unknown][0].item()!r}, which is not among the "
            f"classes {classes.tolist()!r:.80}."
        )
    return position

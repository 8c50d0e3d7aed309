"""Shared summaries to files and back; files may come from anybody."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from localsvm._plain_file import prefix_errors, read_plain_file, write_plain_file
from localsvm.cluster import GaussianSummary
from localsvm.federated._sharing._labels import label_type, labels_from_plain
from localsvm.federated._sharing._records import PartyRecord

Result = TypeVar("Result")

_FORMAT = "shared-summary"
_VERSION = 1
_FIELDS = {"classes", "class_type", "feature_names", "parties", "partition"}
_MOST_PARTIES = 10_000
_LARGEST = 1e100  # squares of larger numbers overflow


def write_shared(
    path: str | os.PathLike[str],
    summary: GaussianSummary,
    parties: Sequence[PartyRecord],
    partition: str | None,
    cells: NDArray[np.int64] | None,
) -> None:
    """Write the parts of a shared summary to a file."""
    label = np.asarray(summary.label)
    classes, index = np.unique(label, return_inverse=True)
    header = {
        "parties": [record.to_plain() for record in parties],
        "classes": classes.tolist(),
        "class_type": label_type(label),
        "feature_names": None
        if summary.feature_names is None
        else list(summary.feature_names),
        "partition": partition,
    }
    arrays = {
        "weight": summary.weight,
        "mean": summary.mean,
        "covariance": summary.covariance,
        "class_index": index.astype(np.int32),
        "cells": cells,
    }
    present = {name: array for name, array in arrays.items() if array is not None}
    write_plain_file(path, _FORMAT, _VERSION, header, present)


def read_shared(path: str | os.PathLike[str], make: Callable[..., Result]) -> Result:
    """Give the checked parts of a file to ``make``."""
    header, arrays = read_plain_file(path, _FORMAT, _VERSION)
    with prefix_errors(path):
        _check_fields(header, arrays)
        summary = GaussianSummary(
            arrays["weight"],
            arrays["mean"],
            arrays.get("covariance"),
            _labels(header, arrays["class_index"]),
            _feature_names(header["feature_names"]),
        )
        summary.check_covariance()
        return make(
            summary,
            _parties(header["parties"]),
            header["partition"],
            arrays.get("cells"),
        )


def _check_fields(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    if set(header) != _FIELDS:
        raise ValueError(
            f"its header has the fields {', '.join(sorted(header)):.200}; expected "
            f"{', '.join(sorted(_FIELDS))}."
        )
    expected = {"weight": "f8", "mean": "f8", "class_index": "i4"}
    optional = {"covariance": "f8", "cells": "i8"}
    if not set(expected) <= set(arrays) <= set(expected | optional):
        raise ValueError(
            f"it has the arrays {', '.join(sorted(arrays)):.200}; expected "
            f"{', '.join(expected)} and possibly {', '.join(optional)}."
        )
    for name, array in arrays.items():
        wanted = np.dtype((expected | optional)[name])
        if array.dtype != wanted:
            raise ValueError(f"{name} has dtype {array.dtype}; expected {wanted}.")
        if wanted.kind == "f" and not (np.abs(array) <= _LARGEST).all():
            raise ValueError(
                f"{name} contains NaN, infinity or numbers above {_LARGEST:g}."
            )


def _labels(header: dict[str, Any], index: NDArray[Any]) -> NDArray[Any]:
    classes = labels_from_plain(header["classes"], header["class_type"])
    if index.ndim != 1 or not index.size:
        raise ValueError(f"class_index has shape {index.shape}; expected one axis.")
    if index.min() < 0 or index.max() >= len(classes):
        raise ValueError(
            f"class_index has numbers from {index.min()} to {index.max()}; expected 0 "
            f"to {len(classes) - 1}."
        )
    return np.asarray(classes[index])


def _feature_names(names: Any) -> tuple[str, ...] | None:
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"feature_names is {names!r:.60}; expected a list of strings or null."
        )
    return tuple(names)


def _parties(records: Any) -> list[PartyRecord]:
    if not isinstance(records, list) or len(records) > _MOST_PARTIES:
        raise ValueError(
            f"parties is {records!r:.60}; expected a list of at most {_MOST_PARTIES}."
        )
    return [PartyRecord.from_plain(record) for record in records]

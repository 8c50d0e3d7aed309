"""Attributes that many classes have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.rows import KeptRows, RowIdentity
from localsvm.state._fields import (
    Array,
    Classes,
    Names,
    Number,
    Report,
    Sometimes,
    Whole,
    Word,
    doubles,
    indices,
    short_indices,
)
from localsvm.state._objects import Metric
from localsvm.state._specs import Fields
from localsvm.state._store import Dims

COLUMNS: Fields = {
    "n_features_in_": Whole(1, 2**31 - 1, dim="columns"),
    "feature_names_in_": Sometimes(Names("columns")),
}


class _Ends(Array):
    """Smallest and largest value of each column."""

    def __init__(self) -> None:
        super().__init__((np.float64,), 2, "columns")

    def check(self, array: NDArray[Any], place: str, dims: Dims) -> None:
        """Check type, shape and order."""
        super().check(array, place, dims)
        if (array[0] > array[1]).any():
            raise ValueError(f"{place} has a low end above its high end.")


# Not known of models of rows in blocks, nor of summaries.
RANGES: Fields = {
    "feature_range_": Sometimes(_Ends()),
    "integer_features_": Sometimes(Array((np.bool_,), "columns")),
}
CLASSIFIER: Fields = {
    **COLUMNS,
    **RANGES,
    "classes_": Classes(),
    "fit_report_": Report(),
}
MAPPED_CLASSIFIER: Fields = {**CLASSIFIER, "metric_": Metric()}
REGIONS: Fields = {
    "n_regions_": Whole(1, dim="regions"),
    "region_sizes_": indices("regions"),
    "region_class_counts_": doubles("regions", "classes", low=0),
}
# Of the rows that updates need. Hashes are kept with their sign bit.
KEPT_ROWS: Fields = {
    "class_index": short_indices("kept", below="classes"),
    "hashes": indices("kept", low=-(2**63)),
    "dtype": Word("float32", "float64"),
    "weight": doubles("kept", low=0),
    "class_weight": doubles("classes", low=0),
}
SEARCHED: Fields = {
    "best_params_": Report(),
    "best_score_": Number(finite=False),
    "cv_results_": Report(),
    "n_splits_": Whole(1),
}


def kept_row_values(rows: KeptRows) -> dict[str, Any]:
    """Write rows that are kept as the attributes of ``KEPT_ROWS``."""
    return {
        "class_index": rows.class_index,
        "hashes": rows.identity.hashes.view(np.int64),
        "dtype": rows.identity.dtype.name,
        "weight": rows.weight,
    }


def read_kept_rows(plain: Any, X: Any) -> KeptRows:
    """Build rows that are kept from these attributes, and from what stands for them."""
    identity = RowIdentity(plain.hashes.view(np.uint64), np.dtype(plain.dtype))
    n_classes = len(plain.class_weight)
    return KeptRows.of(X, plain.class_index, identity, plain.weight, n_classes)

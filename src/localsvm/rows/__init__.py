"""What a row is: one record, distinct rows, samples, folds, the view of the core."""

from localsvm.rows._core_view import (
    as_rows,
    check_row_numbers,
    row_numbers,
    stored_as,
    with_indices,
)
from localsvm.rows._distinct import (
    distinct_rows,
    hash_labelled,
    hash_rows,
    merge_weights,
    stack,
    take_rows,
)
from localsvm.rows._folds import (
    Fold,
    held_out_by_content,
    held_out_first,
    out_of_fold,
    split_folds,
    split_weighted,
    stratified_folds,
)
from localsvm.rows._growing import GrowingRows
from localsvm.rows._kept import (
    DistinctRows,
    GivenRows,
    KeptRows,
    RowChange,
    RowIndex,
)
from localsvm.rows._order import stratified_order
from localsvm.rows._records import (
    MergedRows,
    RowIdentity,
    Rows,
    identify_rows,
)
from localsvm.rows._sample import RowSample
from localsvm.rows._scale import (
    SCALED_C,
    intercept_constant,
    mean_squared_norm,
    spread_around,
    squared_norms,
)

__all__ = [
    "SCALED_C",
    "DistinctRows",
    "Fold",
    "GivenRows",
    "GrowingRows",
    "KeptRows",
    "MergedRows",
    "RowChange",
    "RowIdentity",
    "RowIndex",
    "RowSample",
    "Rows",
    "as_rows",
    "check_row_numbers",
    "distinct_rows",
    "hash_labelled",
    "hash_rows",
    "held_out_by_content",
    "held_out_first",
    "identify_rows",
    "intercept_constant",
    "mean_squared_norm",
    "merge_weights",
    "out_of_fold",
    "row_numbers",
    "split_folds",
    "split_weighted",
    "spread_around",
    "squared_norms",
    "stack",
    "stored_as",
    "stratified_folds",
    "stratified_order",
    "take_rows",
    "with_indices",
]

"""What a model file keeps of the additive SVM."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive import (
    AdditiveModel,
    AdditiveSettings,
    AdditiveSVC,
    ColumnBins,
)
from localsvm.estimators._additive.fit import LOSSES
from localsvm.estimators._additive.update import KeptAdditive, restore_additive
from localsvm.estimators._held_out.state import HELD_OUT
from localsvm.state import (
    CLASSIFIER,
    KEPT_ROWS,
    Array,
    Dims,
    Number,
    Record,
    Sometimes,
    Spec,
    Whole,
    Word,
    check_starts,
    doubles,
    indices,
    kept_row_values,
    read_kept_rows,
    short_indices,
)

# A number has a bin for missing values besides those between its cuts; a category has
# one for missing and one for rare levels besides those of its cuts.
_SPECIAL_BINS = 2


def _check_model(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    bins = values["_model"].bins
    check_starts(bins.cut_start, len(bins.cuts), "_model.bins.cut_start")
    n_cuts = np.diff(bins.cut_start)
    expected = n_cuts + _SPECIAL_BINS
    if (bins.n_bins != expected).any():
        raise ValueError("_model.bins.n_bins does not fit to the cuts.")
    if bins.n_bins.sum() != dims["bins"]:
        raise ValueError(
            f"_model.bins.n_bins sums to {bins.n_bins.sum()}; expected {dims['bins']}."
        )
    for k in range(bins.n_columns):
        own = slice(bins.cut_start[k], bins.cut_start[k + 1])
        _check_column(bins.cuts[own], bins.cut_bin[own], bool(bins.is_category[k]))


def _check_column(
    cuts: NDArray[np.float64], places: NDArray[np.int32], is_category: bool
) -> None:
    if (np.diff(cuts) <= 0).any():
        raise ValueError("_model.bins.cuts do not ascend.")
    places = np.sort(places) + 1 if is_category else places
    if (places != np.arange(1, len(cuts) + 1)).any():
        raise ValueError("_model.bins.cut_bin does not number the bins.")


_KEPT = Record(
    SimpleNamespace,
    **KEPT_ROWS,
    codes=Array((np.uint8, np.uint16), "kept", "columns", by_rows=True),
    C=Number(0.0),
    loss=Word(*LOSSES),
    coef=doubles("tasks", "weights"),
)


def _take(values: dict[str, Any]) -> dict[str, Any]:
    if "_kept" not in values:
        return values
    kept: KeptAdditive = values["_kept"].compacted()
    plain = SimpleNamespace(
        **kept_row_values(kept.rows),
        class_weight=kept.class_weight,
        codes=kept.rows.X.values,
        C=kept.settings.C,
        loss=kept.settings.loss,
        coef=kept.coef,
    )
    return values | {"_kept": plain}


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    fitted = unfitted
    for name, value in values.items():
        setattr(fitted, name, value)
    if "_kept" in values:
        fitted._kept = _restore(values["_model"], values["_kept"])
    return fitted


def _restore(model: AdditiveModel, plain: SimpleNamespace) -> KeptAdditive:
    """Rebuild what is kept; its certificates are computed anew, not believed."""
    bins, codes = model.bins, plain.codes
    if codes.dtype != bins.code_type or (codes >= bins.n_bins).any():
        raise ValueError("the bins of its kept rows are not those of the model.")
    if plain.coef.shape[1] != bins.n_weights + 1:
        raise ValueError(
            f"its kept coef has {plain.coef.shape[1]} weights; expected "
            f"{bins.n_weights + 1}."
        )
    settings, rows = AdditiveSettings(plain.C, plain.loss), read_kept_rows(plain, codes)
    return restore_additive(settings, plain.class_weight, rows, plain.coef, model)


SPECS = (
    Spec(
        AdditiveSVC,
        "classifier",
        {
            **CLASSIFIER,
            **HELD_OUT,
            "C_": Number(0.0),
            "_model": Record(
                AdditiveModel,
                bins=Record(
                    ColumnBins,
                    is_category=Array((np.bool_,), "columns"),
                    n_bins=short_indices("columns", low=2),
                    cut_start=indices("columns+1"),
                    cuts=doubles("cuts"),
                    cut_bin=short_indices("cuts"),
                    weight=doubles("bins", low=0),
                ),
                tables=doubles("tasks", "bins"),
                bias=doubles("tasks"),
            ),
            "search_losses_": doubles("tried", 2),
            "duality_gap_": Number(finite=False),
            "n_iter_": Whole(1),
            "n_support_": indices("classes"),
            "_kept": Sometimes(_KEPT),
        },
        left_out=frozenset({"update_report_"}),
        take=_take,
        check=_check_model,
        make=_make,
    ),
)

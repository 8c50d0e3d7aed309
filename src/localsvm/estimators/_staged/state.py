"""What a model file keeps of the staged SVM: preparation and both stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localsvm.estimators._local import LocalSVC
from localsvm.estimators._regional import ClusteredSVC
from localsvm.estimators._staged.estimator import StagedSVC
from localsvm.estimators._staged.model import StagedModel
from localsvm.estimators._staged.preparation.state import PREPARATION, check_preparation
from localsvm.state import (
    CLASSIFIER,
    REGIONS,
    Dims,
    Maybe,
    Number,
    Part,
    Report,
    Spec,
    Whole,
    doubles,
    indices,
)


def _check(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    del model
    check_preparation(values["_preparation"], dims)
    for name, cls in (("first_stage_", ClusteredSVC), ("second_stage_", LocalSVC)):
        stage = values[name]
        if stage is None:
            continue
        if type(stage) is not cls:
            raise ValueError(f"{name} is a {type(stage).__name__}.")
        if stage.metric_ is not None:
            raise ValueError(f"{name} has a metric of its own.")
        if not np.array_equal(stage.classes_, values["classes_"]):
            raise ValueError(f"{name} has other classes.")
    if (values["second_stage_"] is None) != (values["_threshold"] == 0):
        raise ValueError("second_stage_ and _threshold do not fit together.")


def _take(values: dict[str, Any]) -> dict[str, Any]:
    """Write of the model what its two stages do not hold."""
    model = values["_model"]
    own = {"_preparation": model.preparation, "_threshold": model.threshold}
    return {name: each for name, each in values.items() if name != "_model"} | own


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    kept = dict(values)
    preparation, threshold = kept.pop("_preparation"), kept.pop("_threshold")
    first, second = values["first_stage_"], values["second_stage_"]
    vars(unfitted).update(kept)
    unfitted.gradient_metric_ = preparation.metric
    unfitted._model = StagedModel(
        preparation,
        first.regions_,
        first._model,
        None if second is None else second._model,
        threshold,
    )
    return unfitted


SPECS = (
    Spec(
        StagedSVC,
        "classifier",
        {
            **CLASSIFIER,
            **REGIONS,
            "_preparation": PREPARATION,
            "first_stage_": Part("classifier", columns="prepared"),
            "second_stage_": Maybe(Part("classifier", columns="prepared")),
            "_threshold": Number(0.0, finite=False),
            "n_hard_": Whole(0),
            "stage_": indices("training_rows", low=0, below=3),
            "stage_shares_": doubles(2, low=0),
            "region_stage_": indices("regions", low=1, below=3),
            "C_": Number(0.0),
            "n_support_": indices("classes"),
            "duality_gap_": Number(finite=False),
            "n_iter_": Whole(1),
            "best_params_": Report(),
            "selection_": Report(),
        },
        left_out=frozenset({"gradient_metric_", "_model"}),
        take=_take,
        check=_check,
        make=_make,
    ),
)

"""What a model file keeps of the exact SVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from localsvm.estimators._held_out.state import HELD_OUT
from localsvm.estimators._reduced import ReducedModel, ReducedSVC, Reduction
from localsvm.kernels.state import KERNEL
from localsvm.state import (
    CLASSIFIER,
    Dims,
    Flag,
    Number,
    Record,
    Rows,
    Spec,
    Told,
    Whole,
    doubles,
    indices,
)


def _check_model(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    fitted = values["_model"]
    kernel = fitted.kernel.name
    if model.kernel != kernel:
        raise ValueError(
            f"_model.kernel is {kernel!r}, but the parameter {model.kernel!r}."
        )
    expected = dims["columns"] if kernel == "linear" else 0
    if fitted.coef.shape[1] != expected:
        raise ValueError(
            f"_model.coef has {fitted.coef.shape[1]} columns; expected {expected}."
        )
    # With the linear kernel a model of rows in blocks has left them there.
    n_rows, n_support = fitted.support_vectors.shape[0], dims["supports"]
    if n_rows != n_support and (n_rows or kernel != "linear"):
        raise ValueError(
            f"_model.support_vectors has {n_rows} rows; expected {n_support}."
        )


SPECS = (
    Spec(
        ReducedSVC,
        "classifier",
        {
            **CLASSIFIER,
            **HELD_OUT,
            "C_": Number(0.0),
            "gamma_": Number(0.0),
            "method_": Told(),
            "support_": indices("supports"),
            "n_support_": indices("classes"),
            "_model": Record(
                ReducedModel,
                kernel=KERNEL,
                support_vectors=Rows("support_rows", "columns"),
                dual_coef=doubles("tasks", "supports"),
                coef=doubles("tasks", "weights"),
                intercept=doubles("tasks"),
            ),
            "n_rows_used_": Told(),
            "passes_": indices("tasks"),
            "violation_": Number(finite=False),
            "duality_gap_": Number(finite=False),
            "exact_": Flag(),
            "n_iter_": Whole(1),
            "dual_objective_": doubles("tasks", finite=False),
        },
        check=_check_model,
    ),
    Spec(Reduction, "reduction"),
)

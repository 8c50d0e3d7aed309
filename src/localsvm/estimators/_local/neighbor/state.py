"""What a model file keeps of a NeighborSVC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from localsvm.cluster.state import Search
from localsvm.estimators._held_out.state import MAPPED_HELD_OUT
from localsvm.estimators._local.neighbor.estimator import NeighborIndex, NeighborSVC
from localsvm.kernels.state import KERNEL
from localsvm.rows import Rows as TrainingRows
from localsvm.solvers import LocalKernel
from localsvm.state import (
    MAPPED_CLASSIFIER,
    Dims,
    Flag,
    Number,
    Record,
    Rows,
    Spec,
    Whole,
    doubles,
    indices,
    short_indices,
)

# Below this, rounding may keep the solver from ever ending.
_LEAST_TOL = 1e-6


def _check_ends(tol: float, limited: bool) -> None:
    """Raise for a model that solves when it predicts, and may never have done so."""
    if not limited and tol < _LEAST_TOL:
        raise ValueError(
            f"tol={tol} without a limit of steps may keep predictions from ending; "
            f"expected at least {_LEAST_TOL} in a model file, or max_iter."
        )


def _check_neighbor(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    k = values["n_neighbors_"]
    if k > dims["training_rows"]:
        raise ValueError("n_neighbors_ is more than there are rows.")
    # Without a limit, all rows get the generous one.
    every = model.max_iter is None and k == dims["training_rows"]
    _check_ends(model.tol, not every)


def _take_neighbor(values: dict[str, Any]) -> dict[str, Any]:
    """Parts of the index, next to the other attributes."""
    index: NeighborIndex = values["_index"]
    local = index.local
    return values | {"_kernel": local.kernel, "_rows": index.rows, "_local": local}


def _make_neighbor(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    parts = ("_kernel", "_rows", "_local", "search_")
    vars(unfitted).update({n: v for n, v in values.items() if n not in parts})
    rows, local = values["_rows"], values["_local"]
    unfitted._index = NeighborIndex(
        TrainingRows.weighted(
            rows["X"], rows["class_index"], rows["penalty_weight"], dims["classes"]
        ),
        values["search_"](rows["X"]),
        values["n_neighbors_"],
        LocalKernel(values["_kernel"], local["C"], local["local_gamma"]),
    )
    unfitted.search_ = unfitted._index.search
    unfitted.C_, unfitted.gamma_ = local["C"], values["_kernel"].gamma
    return unfitted


SPECS = (
    Spec(
        NeighborSVC,
        "classifier",
        {
            **MAPPED_CLASSIFIER,
            **MAPPED_HELD_OUT,
            "_kernel": KERNEL,
            "_rows": Record(
                dict,
                X=Rows("training_rows", "mapped_columns"),
                class_index=short_indices("training_rows", below="classes"),
                penalty_weight=doubles("training_rows", low=0),
            ),
            "_local": Record(dict, C=Number(0.0, above=True), local_gamma=Flag()),
            "row_indices_": indices("training_rows"),
            "search_": Search(),
            "n_neighbors_": Whole(1),
            "n_iter_": Whole(1),
        },
        left_out=frozenset({"_index", "C_", "gamma_"}),
        take=_take_neighbor,
        check=_check_neighbor,
        make=_make_neighbor,
    ),
)

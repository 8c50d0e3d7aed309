"""What a model file keeps of kernel SVMs in neighbourhoods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from localsvm.cluster.state import Search
from localsvm.estimators._held_out.state import MAPPED_HELD_OUT
from localsvm.estimators._local import (
    GlobalModel,
    LocalModel,
    LocalSVC,
    LocalSVCCV,
    Router,
)
from localsvm.estimators._local.neighbor import state as neighbor_state
from localsvm.kernels.state import KERNEL
from localsvm.solvers import LocalModels
from localsvm.state import (
    MAPPED_CLASSIFIER,
    REGIONS,
    SEARCHED,
    Dims,
    Fields,
    Maybe,
    Number,
    Part,
    Record,
    Rows,
    Spec,
    Whole,
    check_starts,
    classes_of,
    doubles,
    indices,
    short_indices,
)

_MODELS = Record(
    LocalModels,
    support_start=indices("regions+1"),
    support=short_indices("supports", below="support_rows"),
    pair_start=indices("regions+1"),
    pairs=short_indices("pair_ends", below="classes"),
    intercept=doubles("pairs"),
    coef_start=indices("regions+1"),
    coef=doubles("coefs"),
    only_class=short_indices("regions", low=-1, below="classes"),
    gamma=doubles("regions", low=0),
    C=doubles("regions", low=0),
    n_iter=indices("regions"),
    violation=doubles("regions", finite=False),
    relative_gap=doubles("regions", finite=False),
    status=short_indices("regions", below=4),
)
_LOCAL: Fields = {
    **MAPPED_CLASSIFIER,
    **MAPPED_HELD_OUT,
    **REGIONS,
    "_kernel": KERNEL,
    "_support_rows": Rows("support_rows", "mapped_columns"),
    "_models": _MODELS,
    "_router": Record(
        dict,
        rows=Rows("routed_rows", "mapped_columns"),
        search=Search(),
        regions=short_indices("routed_rows", below="regions"),
    ),
    "shrink_": Number(0.0),
    "global_model_": Maybe(
        Part("classifier", "linear", "pipeline", columns="mapped_columns")
    ),
    "C_": Number(0.0, above=True),
    "n_support_": indices("classes"),
    "center_indices_": indices("regions"),
    "n_neighbors_": Whole(1),
    "n_assigned_": Whole(1),
}
# What the model tells, of which the parts are written.
_TOLD_BY_MODELS = frozenset(
    (
        *("n_constant_regions_", "gamma_", "region_gamma_", "region_C_"),
        *("duality_gap_", "violation_", "n_iter_", "_model"),
    )
)


def _check_models(values: Mapping[str, Any], dims: Dims) -> None:
    """Raise unless the arrays of the models fit together, as the core trusts."""
    models: LocalModels = values["_models"]
    dims.bind("pair_ends", 2 * dims["pairs"], "_models.pairs")
    check_starts(models.support_start, dims["supports"], "_models.support_start")
    check_starts(models.pair_start, dims["pairs"], "_models.pair_start")
    check_starts(models.coef_start, dims["coefs"], "_models.coef_start")
    n_support, n_pairs = np.diff(models.support_start), np.diff(models.pair_start)
    # Neither product can overflow: both factors are lengths of parts of arrays.
    if (np.diff(models.coef_start) != n_support * n_pairs).any():
        raise ValueError("_models.coef has not one number per pair and support vector.")
    if ((models.only_class >= 0) != (n_pairs == 0)).any():
        raise ValueError("_models.only_class is not that of models without pairs.")
    negative, positive = models.pairs.reshape(-1, 2).T
    if (negative >= positive).any():
        raise ValueError("_models.pairs has a pair that is not in ascending order.")
    if dims["classes"] == 2 and (n_pairs > 1).any():
        raise ValueError("_models.pairs has several pairs of two classes.")
    if (models.gamma[n_pairs > 0] <= 0).any() and values["_kernel"].of_distances:
        raise ValueError("_models.gamma has 0 for a model with pairs.")


def _check_local(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    del model
    _check_models(values, dims)
    rows, routed = values["_support_rows"], _rows_of(values["_router"])
    if rows.dtype != routed.dtype or sparse.issparse(rows) != sparse.issparse(routed):
        raise ValueError("_router.rows are not stored as _support_rows are.")
    if values["global_model_"] is not None:
        known = classes_of(values["global_model_"], "global_model_")
        if not np.isin(known, values["classes_"]).all():
            raise ValueError("global_model_ knows other classes.")


def _rows_of(router: Any) -> Any:
    """Rows of a router, which is written as it is and read in parts."""
    return router.rows if isinstance(router, Router) else router["rows"]


def _take_local(values: dict[str, Any]) -> dict[str, Any]:
    """Parts of the model, next to the other attributes."""
    model: LocalModel = values["_model"]
    return values | {
        "_kernel": model.kernel,
        "_support_rows": model.support_rows,
        "_models": model.models,
        "_router": model.router,
    }


_PARTS = ("_kernel", "_support_rows", "_models", "_router")


def _make_local(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    vars(unfitted).update({n: v for n, v in values.items() if n not in _PARTS})
    router = values["_router"]
    prior = None
    if values["shrink_"] > 0:
        prior = GlobalModel(values["global_model_"], values["classes_"])
    unfitted._describe(
        LocalModel(
            values["_models"],
            values["_support_rows"],
            values["_kernel"],
            Router(router["rows"], router["search"](router["rows"]), router["regions"]),
            dims["classes"],
            prior,
            values["shrink_"],
        )
    )
    return unfitted


SPECS = (
    Spec(
        LocalSVC,
        "classifier",
        _LOCAL,
        left_out=_TOLD_BY_MODELS,
        take=_take_local,
        check=_check_local,
        make=_make_local,
    ),
    Spec(
        LocalSVCCV,
        "classifier",
        {**_LOCAL, **SEARCHED},
        left_out=_TOLD_BY_MODELS,
        take=_take_local,
        check=_check_local,
        make=_make_local,
    ),
    *neighbor_state.SPECS,
)

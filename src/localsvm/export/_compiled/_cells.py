"""Kernel SVMs of cells, and of one set of support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from localsvm import _core
from localsvm.cluster import finds_euclidean, sketch_of
from localsvm.estimators import LocalModel, ReducedModel


def cell_rows(model: LocalModel, dtype: Any) -> Any:
    """Kernel SVMs of neighbourhoods behind a search for the nearest point."""
    router = model.router
    if not finds_euclidean(router.search):
        raise TypeError(
            f"neighbors={router.search!r} cannot be compiled: it searches in its own "
            "way. Use neighbors='auto', 'kd_tree' or 'brute'."
        )
    if model.prior is not None:
        raise TypeError(
            "LocalSVC with a global_model cannot be compiled: its decisions need that "
            "of the global model. Use global_model=None and StagedSVC for a sum."
        )
    support, points = (_dense(each) for each in (model.support_rows, router.rows))
    models = model.models
    middle, directions = sketch_of(points)
    cells = _core.CellModels(
        starts=[models.support_start, models.pair_start, models.coef_start],
        support=models.support,
        pairs=models.pairs.ravel(),
        intercept=models.intercept,
        coef=models.coef,
        only_class=models.only_class,
        gamma=models.gamma,
        n_classes=model.n_classes,
    )
    made = rows_maker("cell_rows", support.dtype)(
        cells=cells,
        kernel=model.kernel.to_core(),
        support=support,
        points=points,
        cell_of=router.regions,
        middle=middle,
        directions=directions,
    )
    return as_dtype(made, support.dtype, dtype)


def reduced_rows(model: ReducedModel, dtype: Any) -> Any:
    """Weights of the columns, or one kernel SVM per task."""
    if model.is_linear:
        return rows_maker("linear_rows", dtype)(
            np.ascontiguousarray(model.coef), model.intercept
        )
    support = _dense(model.support_vectors)
    made = rows_maker("kernel_rows", support.dtype)(
        support=support,
        kernel=model.kernel.to_core(),
        duals=np.ascontiguousarray(model.dual_coef),
        intercept=model.intercept,
    )
    return as_dtype(made, support.dtype, dtype)


def as_dtype(model: Any, own: Any, dtype: Any) -> Any:
    """Let a model take rows of another type than its own."""
    if np.dtype(own) == np.dtype(dtype):
        return model
    return rows_maker("converted_rows", dtype)(model)


def rows_maker(name: str, dtype: Any) -> Any:
    """Maker of models of rows of a type, by its name in the core."""
    return getattr(_core, f"{name}_{np.dtype(dtype).name}")


def _dense(rows: Any) -> Any:
    if sparse.issparse(rows):
        raise TypeError(
            "A model of sparse rows cannot be compiled; expected one that was fitted "
            "to dense rows. Fit to X.toarray()."
        )
    return np.ascontiguousarray(rows)

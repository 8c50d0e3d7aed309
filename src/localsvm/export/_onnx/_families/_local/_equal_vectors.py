"""Support vectors that are equal, counted as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from localsvm.solvers import LocalModels


def first_of_equals(points: NDArray[np.floating]) -> NDArray[np.intp]:
    """Index of the first of the points that are equal to each one."""
    _, first, kind = np.unique(points, axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[kind.ravel()])


def with_distinct_vectors(
    models: LocalModels, points: NDArray[np.floating]
) -> LocalModels:
    """Add up the duals of equal support vectors, model by model.

    The same row in two classes has opposite duals. Where they cancel, the model's
    decision is zero, a tie; sums in another order would leave a rounding error of it.
    """
    first = first_of_equals(points)
    if (first == np.arange(len(points))).all():
        return models
    parts = [_merged(models, model, first) for model in range(len(models.only_class))]
    supports, coefs = ([part[i] for part in parts] for i in (0, 1))
    return replace(
        models,
        support=np.concatenate(supports).astype(np.int32),
        support_start=_starts(supports),
        coef=np.concatenate(coefs),
        coef_start=_starts(coefs),
    )


def _merged(
    models: LocalModels, model: int, first: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Support vectors of one model and its duals, pairs of classes x vectors."""
    own = slice(*models.support_start[model : model + 2])
    support, place = np.unique(first[models.support[own]], return_inverse=True)
    coef = models.coef[slice(*models.coef_start[model : model + 2])]
    by_pair = coef.reshape(-1, len(place)) if len(place) else coef.reshape(0, 0)
    sums = np.zeros((len(by_pair), len(support)))
    for line, duals in zip(sums, by_pair, strict=True):
        np.add.at(line, place, duals)
    used = sums.any(axis=0)
    return support[used], sums[:, used].ravel()


def _starts(parts: Sequence[NDArray[np.generic]]) -> NDArray[np.int64]:
    sizes = [len(part) for part in parts]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

"""Rows close to where a model changes its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BISECTIONS = {"float64": 40, "float32": 26}


def border_rows(
    kind: Callable[[Any], NDArray[Any]],
    X: NDArray[Any],
    n_pairs: int,
    distances: Sequence[float],
    seed: int = 0,
) -> NDArray[Any]:
    """Rows on both sides of where ``kind`` (regions, labels) changes.

    The border between two rows of different kinds is found by bisection. Distances are
    relative to that of the two rows.
    """
    rng = np.random.default_rng(seed)
    first, second = rng.integers(len(X), size=(2, 20 * n_pairs))
    kinds = kind(X)
    apart = np.flatnonzero(kinds[first] != kinds[second])[:n_pairs]
    start, stop = X[first[apart]].astype(float), X[second[apart]].astype(float)
    near, far = np.zeros(len(apart)), np.ones(len(apart))
    for _ in range(_BISECTIONS[str(X.dtype)] if len(apart) else 0):
        middle = (near + far) / 2
        at_middle = start + middle[:, np.newaxis] * (stop - start)
        same = kind(at_middle.astype(X.dtype)) == kinds[first[apart]]
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    places = [far + sign * step for step in distances for sign in (-1, 1)]
    rows = [start + place[:, np.newaxis] * (stop - start) for place in places]
    return np.concatenate([X[:0], *rows]).astype(X.dtype)

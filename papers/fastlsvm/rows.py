"""Rows of the paper's experiments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data import load_benchmark

Rows = tuple[NDArray[np.float64], NDArray[Any]]


def load_training_part(name: str) -> Rows:
    """Load a data set without its test part, if it has one.

    Parameters
    ----------
    name : str
        As for :func:`localsvm.data.load_benchmark`.

    Returns
    -------
    X, y : ndarray
    """
    data = load_benchmark(name)
    return data.X_train.astype(np.float64), data.y_train


def load_leukemia() -> Rows:
    """Load the 38 training rows of leukemia, each with mean zero and variance one.

    Returns
    -------
    X, y : ndarray
    """
    X, y = load_training_part("leukemia")
    X -= X.mean(axis=1, keepdims=True)
    return X / X.std(axis=1, keepdims=True), y

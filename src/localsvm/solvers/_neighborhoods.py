"""Fit and cross-validate the kernel SVMs of many neighbourhoods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.rows import Rows, as_rows
from localsvm.solvers._kernel import CoreKernel, KernelOptions
from localsvm.solvers._local_models import LocalModels


@dataclass(frozen=True)
class LocalKernel:
    """What is fitted in each neighbourhood.

    Parameters
    ----------
    kernel : localsvm.kernels.Kernel
    C : float
    local_gamma : bool, default=False
        Whether the kernel's gamma is a factor of 1 / (median squared distance of the
        neighbourhood's rows to its centre).
    C_factors, gamma_factors : sequence of float, default=(1.0,)
        With more than one, each neighbourhood takes the pair with the fewest errors on
        held-out parts of its own rows, then the smallest hinge loss. C_factors ascend.
    n_folds : int, default=3
        Parts of a neighbourhood for that choice.
    """

    kernel: CoreKernel
    C: float
    local_gamma: bool = False
    C_factors: Sequence[float] = (1.0,)
    gamma_factors: Sequence[float] = (1.0,)
    n_folds: int = 3

    def to_core(self) -> _core.LocalKernel:
        """Give the settings as the core takes them."""
        return _core.LocalKernel(
            kernel=self.kernel.to_core(),
            C=self.C,
            local_gamma=self.local_gamma,
            C_factors=list(self.C_factors),
            gamma_factors=list(self.gamma_factors),
            n_folds=self.n_folds,
        )


def fit_neighborhoods(
    rows: Rows,
    neighborhoods: Sequence[NDArray[np.int32]] | NDArray[np.int32],
    local: LocalKernel,
    options: KernelOptions,
) -> LocalModels:
    """Fit a kernel SVM in each neighbourhood, one per pair of classes that it holds.

    Parameters
    ----------
    rows : Rows
    neighborhoods : sequence of ndarray of int32
        Rows of each neighbourhood, its centre first; they may differ in size.
    local : LocalKernel
    options : KernelOptions

    Returns
    -------
    LocalModels

    Notes
    -----
    O(k² d) for the kernel matrix of k rows and O(k) per step; one matrix per thread is
    held. Neighbourhoods of one class cost O(k).
    """
    return LocalModels.from_core(
        _core.fit_neighborhoods(
            as_rows(rows.X),
            _task(rows, neighborhoods),
            local.to_core(),
            options.to_core(),
        )
    )


def cross_validate_neighborhoods(
    rows: Rows,
    neighborhoods: Sequence[NDArray[np.int32]] | NDArray[np.int32],
    assigned: NDArray[np.int32],
    folds: Sequence[tuple[NDArray[Any], NDArray[Any]]],
    local: LocalKernel,
    options: KernelOptions,
) -> list[NDArray[Any]]:
    """Scores of held-out rows for every width and penalty, on one kernel matrix.

    A fold's models are trained without the rows that are not in its training part; a
    test row is answered by the model that it is assigned to. Rows that no fold trains
    on do not count for the local gamma.

    Parameters
    ----------
    rows, local, options
        As in :func:`fit_neighborhoods`; the factors of ``local`` are the settings.
    neighborhoods : sequence of ndarray of int32
        Rows of each neighbourhood, its centre first; they may differ in size.
    assigned : ndarray of shape (n_samples,), int32
        Neighbourhood that answers for each row, which is one of its members.
    folds : sequence of (train, test) index arrays

    Returns
    -------
    scores : list of ndarray of shape (n_settings, n_test, n_outputs)
        One array per fold, its rows in the order of ``test``; settings run through the
        gammas and, within, the Cs.
    """
    n_samples = rows.X.shape[0]
    in_train = np.zeros((len(folds), n_samples), dtype=np.uint8)
    for fold, (train, _) in enumerate(folds):
        in_train[fold, train] = 1
    tested = np.concatenate([test for _, test in folds])
    fold_of = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
    by_row = np.argsort(tested, kind="stable")
    test_start = np.zeros(n_samples + 1, dtype=np.int64)
    np.cumsum(np.bincount(tested, minlength=n_samples), out=test_start[1:])
    held_out = _core.HeldOutRows(
        assigned=assigned,
        in_train=in_train,
        test_start=test_start,
        test_fold=fold_of[by_row].astype(np.int32),
    )
    n_settings = len(local.C_factors) * len(local.gamma_factors)
    by_row_scores = np.zeros((n_settings, len(tested), rows.n_outputs), rows.X.dtype)
    _core.cross_validate_neighborhoods(
        as_rows(rows.X),
        _task(rows, neighborhoods),
        local.to_core(),
        held_out,
        by_row_scores,
        options.to_core(),
    )
    scores = np.empty_like(by_row_scores)
    scores[:, by_row] = by_row_scores
    ends = np.cumsum([len(test) for _, test in folds])[:-1]
    return np.split(scores, ends, axis=1)


def _task(
    rows: Rows, neighborhoods: Sequence[NDArray[np.int32]] | NDArray[np.int32]
) -> _core.NeighborhoodTask:
    start = np.zeros(len(neighborhoods) + 1, dtype=np.int64)
    if isinstance(neighborhoods, np.ndarray):
        start += np.arange(len(start)) * neighborhoods.shape[1]
        members = np.ascontiguousarray(neighborhoods).ravel()
    else:
        np.cumsum([len(each) for each in neighborhoods], out=start[1:])
        members = np.concatenate(neighborhoods)
    return _core.NeighborhoodTask(
        labels=rows.class_index,
        weights=rows.penalty_weight,
        n_classes=rows.n_classes,
        start=start,
        rows=members,
        prior=rows.prior,
    )

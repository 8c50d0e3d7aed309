"""A mixture of linear SVMs, evaluated: shares, losses, classes, responsibilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from localsvm._threads import map_row_blocks
from localsvm.estimators._mixture.gates import Gate, Mask


@dataclass(frozen=True)
class MixtureModel:
    r"""Gate and linear SVMs of a mixture.

    Component j gives class c of row x the value (Eq. 10)

    .. math:: P(c \mid x, j) = e^{-\ell_{jc}(x)}, \quad
        \ell_{jc} = \sum_t \max(0,\, 1 - s_{tc} f_{jt}(x))

    with :math:`s_{tc} = 1` if t is the task of class c and -1 otherwise. Two classes
    are one task.

    Attributes
    ----------
    gate : Gate
    coef : ndarray of shape (n_components, n_tasks, n_features)
    intercept : ndarray of shape (n_components, n_tasks)
    dtype : data type in which rows are evaluated
    """

    gate: Gate
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    dtype: Any

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.coef)

    @property
    def n_tasks(self) -> int:
        """Number of linear SVMs per component."""
        return int(self.coef.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(2, self.n_tasks)

    def keep(self, survivors: Mask) -> MixtureModel:
        """Leave components out."""
        return MixtureModel(
            self.gate.keep(survivors),
            self.coef[survivors],
            self.intercept[survivors],
            self.dtype,
        )

    def evaluate(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Log shares (n, n_components) and decisions (n, n_components, n_tasks).

        One matrix product for gates and SVMs together.
        """
        logits, decisions = self._linear_values(X)
        return self.gate.log_shares(logits), decisions

    def class_scores(self, X: Any, n_jobs: int | None = None) -> NDArray[Any]:
        """Logarithm of each class's sum over the components (Eq. 6 and 21)."""
        out = np.empty((X.shape[0], self.n_classes), dtype=self.dtype)

        def score(rows: slice) -> None:
            log_shares, decisions = self.evaluate(X[rows])
            out[rows] = class_scores(log_shares, class_losses(decisions))

        map_row_blocks(score, X.shape[0], n_jobs)
        return out

    def decide(self, X: Any, n_jobs: int | None = None) -> NDArray[Any]:
        """Log-odds of two classes, else the logarithms of the classes' sums."""
        scores = self.class_scores(X, n_jobs)
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores

    def probabilities(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Eq. 6 divided by its sum over the classes."""
        scores = self.class_scores(X, n_jobs).astype(np.float64)
        return np.asarray(softmax(scores, axis=1))

    def regions(
        self, X: Any, n_jobs: int | None = None
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Components of each row and their shares, the largest share first."""
        shares = self.shares(X, n_jobs)
        order = np.argsort(-shares, axis=1, kind="stable")
        return order, np.take_along_axis(shares, order, axis=1)

    def shares(self, X: Any, n_jobs: int | None = None) -> NDArray[Any]:
        """Share of each component by the gate alone, normalised."""
        out = np.empty((X.shape[0], self.n_components), dtype=self.dtype)

        def share(rows: slice) -> None:
            out[rows] = normalized(self.evaluate(X[rows])[0])

        map_row_blocks(share, X.shape[0], n_jobs)
        return out

    def responsibilities(
        self, X: Any, class_index: NDArray[Any] | None, n_jobs: int | None = None
    ) -> NDArray[Any]:
        """Eq. 11; without classes, averaged over them by their probability."""
        out = np.empty((X.shape[0], self.n_components), dtype=self.dtype)

        def respond(rows: slice) -> None:
            log_shares, decisions = self.evaluate(X[rows])
            losses = class_losses(decisions)
            if class_index is None:
                joint = log_shares + logsumexp(-losses, axis=2)
            else:
                joint = log_shares - true_losses(losses, class_index[rows])
            out[rows] = normalized(joint)

        map_row_blocks(respond, X.shape[0], n_jobs)
        return out

    def slopes(self, X: Any) -> NDArray[np.float64]:
        """Gradient of :meth:`decide` at each row, (n, n_tasks, n_features)."""
        gradient = self._gradients(X)
        return gradient[:, 1:] - gradient[:, :1] if self.n_tasks == 1 else gradient

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        """Gradient of each class's score at each row, (n, n_classes, n_features)."""
        logits, decisions = self._linear_values(X)
        losses = class_losses(decisions)
        joint = self.gate.log_shares(logits)[:, :, np.newaxis] - losses
        share = normalized(joint)
        slopes = self.gate.slopes(logits)
        by_gate = np.einsum("ijc,ijl,ld->icd", share, slopes, self.gate.coef)
        by_svm = np.einsum(
            "ijc,ijtc,jtd->icd", share, _loss_slopes(decisions), self.coef
        )
        return np.asarray(by_gate - by_svm)

    def _linear_values(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Logits of the gate, and decisions of the SVMs."""
        slope, offset = self.stacked
        values = np.asarray(X @ slope) + offset
        n_logits = values.shape[1] - self.n_components * self.n_tasks
        decisions = values[:, n_logits:].reshape(-1, self.n_components, self.n_tasks)
        return values[:, :n_logits], decisions

    @cached_property
    def stacked(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Slopes and offsets of the gate's logits, then of the SVMs."""
        n_features = self.coef.shape[2]
        slope = np.concatenate([self.gate.coef, self.coef.reshape(-1, n_features)])
        offset = np.concatenate([self.gate.intercept, self.intercept.ravel()])
        return np.ascontiguousarray(slope.T, dtype=self.dtype), offset.astype(
            self.dtype
        )


def class_losses(decisions: NDArray[Any]) -> NDArray[Any]:
    """Loss of each class, of shape (n, n_components, n_classes)."""
    own = np.maximum(0, 1 - decisions)
    other = np.maximum(0, 1 + decisions)
    if decisions.shape[2] == 1:
        return np.concatenate([other, own], axis=2)
    own -= other
    own += other.sum(axis=2, keepdims=True)
    return np.asarray(own)


def _loss_slopes(decisions: NDArray[Any]) -> NDArray[Any]:
    """Derive the losses by the decisions: (n, n_components, n_tasks, n_classes)."""
    n_tasks = decisions.shape[2]
    own = np.where(decisions < 1, -1.0, 0.0)
    other = np.where(decisions > -1, 1.0, 0.0)
    if n_tasks == 1:
        return np.stack([other, own], axis=3)
    own_task = np.eye(n_tasks, dtype=bool)
    return np.where(own_task, own[..., np.newaxis], other[..., np.newaxis])


def class_scores(log_shares: NDArray[Any], losses: NDArray[Any]) -> NDArray[Any]:
    """Logarithm of the sum over the components, of shape (n, n_classes)."""
    joint = log_shares[:, :, np.newaxis] - losses
    top = joint.max(axis=1)
    # SciPy's sum costs a single row four times as much.
    return np.asarray(np.log(np.exp(joint - top[:, np.newaxis]).sum(axis=1)) + top)


def true_losses(losses: NDArray[Any], class_index: NDArray[Any]) -> NDArray[Any]:
    """Loss of each row's own class, of shape (n, n_components)."""
    return np.take_along_axis(losses, class_index[:, np.newaxis, np.newaxis], axis=2)[
        :, :, 0
    ]


def task_losses(decisions: NDArray[Any], class_index: NDArray[Any]) -> NDArray[Any]:
    """Hinge loss of each row in each task, of shape (n, n_components, n_tasks)."""
    n_tasks = decisions.shape[2]
    first = 1 if n_tasks == 1 else 0
    positive = class_index[:, np.newaxis] == np.arange(first, first + n_tasks)
    signs = np.where(positive, 1, -1).astype(decisions.dtype)
    return np.asarray(np.maximum(0, 1 - signs[:, np.newaxis, :] * decisions))


def normalized(logarithms: NDArray[Any]) -> NDArray[Any]:
    """Exponentials, scaled so that rows sum to one."""
    shares = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares)

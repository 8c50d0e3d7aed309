"""Rows that mix several weight vectors, and what a solution means for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm import _core
from localsvm.rows import as_rows


@dataclass(frozen=True)
class CodedRows:
    """Rows with their classes, penalties and codes.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features), float32 or float64
    class_index : ndarray of shape (n_rows,), int32
    bounds : ndarray of shape (n_rows,), float64
        The C of each row.
    nodes, weights : ndarray of shape (n_rows, m)
        The nodes of each row, int32, and what each counts, in the dtype of X.
    """

    X: Any
    class_index: NDArray[np.int32]
    bounds: NDArray[np.float64]
    nodes: NDArray[np.int32]
    weights: NDArray[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.bounds)

    def take(self, index: NDArray[Any]) -> CodedRows:
        """Part of the rows."""
        return CodedRows(
            self.X[index],
            self.class_index[index],
            self.bounds[index],
            self.nodes[index],
            self.weights[index],
        )

    @staticmethod
    def joined(parts: Sequence[CodedRows]) -> CodedRows:
        """Put rows one after the other."""
        if len(parts) == 1:
            return parts[0]
        stacked = [part.X for part in parts]
        return CodedRows(
            sparse.csr_array(sparse.vstack(stacked, format="csr"))
            if sparse.issparse(stacked[0])
            else np.concatenate(stacked),
            np.concatenate([part.class_index for part in parts]),
            np.concatenate([part.bounds for part in parts]),
            np.concatenate([part.nodes for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


@dataclass(frozen=True)
class CodedTask:
    """A linear SVM on coded rows: two classes, or several in one problem.

    Attributes
    ----------
    n_classes : int
        Of the rows.
    positive : int or None
        Class that is told from all others; None solves all classes jointly, by the loss
        of Crammer and Singer.
    n_nodes : int
    intercept_scaling : float
    loss : {"hinge", "squared_hinge"}
    """

    n_classes: int
    positive: int | None
    n_nodes: int
    intercept_scaling: float
    loss: str = "hinge"

    @property
    def is_joint(self) -> bool:
        """Whether all classes are one problem."""
        return self.positive is None

    @property
    def n_vectors(self) -> int:
        """Weight vectors of a node, and duals of a row."""
        return self.n_classes if self.is_joint else 1

    def labels(self, rows: CodedRows) -> NDArray[np.int32]:
        """Class of each row, 1 for the positive one of a two-class task."""
        if self.is_joint:
            return rows.class_index
        return np.asarray(rows.class_index == self.positive, dtype=np.int32)

    def weigh(self, rows: CodedRows, duals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weight vectors that the duals of some rows define.

        Returns
        -------
        ndarray of shape (n_nodes, n_vectors, n_features + 1)
            The last entry belongs to the constant column.
        """
        signed = duals
        if not self.is_joint:
            signed = np.where(self.labels(rows) == 1, duals, -duals)
        nodes = np.empty((self.n_nodes, self.n_vectors, rows.X.shape[1] + 1))
        _core.weigh_codes(
            as_rows(rows.X),
            np.ascontiguousarray(signed),
            self.intercept_scaling,
            rows.nodes,
            rows.weights,
            nodes,
        )
        return nodes

    def within_bounds(
        self, rows: CodedRows, duals: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Duals that the bounds of the rows allow, near some that others allowed."""
        if not self.is_joint:
            free = self.loss == "squared_hinge"
            most = np.where(rows.bounds > 0, np.inf, 0.0) if free else rows.bounds
            return np.clip(duals, 0.0, most)
        own = duals[rows.class_index, np.arange(rows.n_rows)]
        over = own > rows.bounds
        return duals * np.divide(rows.bounds, own, out=np.ones_like(own), where=over)

    def decide(self, rows: CodedRows, vectors: NDArray[np.float64]) -> NDArray[Any]:
        """Decision values of shape (n_rows, n_vectors), in the dtype of the rows."""
        dtype = rows.X.dtype
        out = np.empty((rows.n_rows, self.n_vectors), dtype=dtype)
        _core.decide(
            as_rows(rows.X),
            rows.nodes,
            rows.weights,
            np.ascontiguousarray(vectors[:, :, :-1], dtype=dtype),
            np.ascontiguousarray(
                vectors[:, :, -1] * self.intercept_scaling, dtype=dtype
            ),
            out,
            1,
        )
        return out

    def compare(
        self, rows: CodedRows, scores: NDArray[Any], duals: NDArray[np.float64]
    ) -> RowTerms:
        """Tell what each row adds to primal and dual, and how far its margin is."""
        if self.is_joint:
            return _joint_terms(rows, scores.astype(np.float64), duals)
        sign = np.where(self.labels(rows) == 1, 1.0, -1.0)
        margin = sign * scores[:, 0].astype(np.float64) - 1.0
        slack, dual = np.maximum(0.0, -margin), duals[0]
        linear = dual
        if self.loss == "squared_hinge":
            slack = slack**2
            ridge = np.divide(
                dual**2, 4 * rows.bounds, out=np.zeros_like(dual), where=rows.bounds > 0
            )
            linear = dual - ridge
        return RowTerms(rows.bounds * slack, linear, dual * (margin + 1.0), margin)


@dataclass(frozen=True)
class RowTerms:
    """Terms of single rows; the duality gap is the sum of theirs.

    Attributes
    ----------
    loss : ndarray
        Share of the primal's losses.
    linear : ndarray
        Share of the dual's linear part, the ridge of the squared hinge included.
    product : ndarray
        Share of the inner product of the weights with themselves.
    margin : ndarray
        By how much the row keeps its distance from the boundary.
    """

    loss: NDArray[np.float64]
    linear: NDArray[np.float64]
    product: NDArray[np.float64]
    margin: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """Share of the duality gap, not negative but for rounding."""
        return self.loss - self.linear + self.product


def _joint_terms(
    rows: CodedRows, scores: NDArray[np.float64], duals: NDArray[np.float64]
) -> RowTerms:
    every, own_class = np.arange(rows.n_rows), rows.class_index
    own = scores[every, own_class]
    others = scores.copy()
    others[every, own_class] = -np.inf
    margin = own - others.max(axis=1) - 1.0
    linear = duals[own_class, every]
    product = np.einsum("rn,nr->n", duals, scores)
    return RowTerms(rows.bounds * np.maximum(0.0, -margin), linear, product, margin)

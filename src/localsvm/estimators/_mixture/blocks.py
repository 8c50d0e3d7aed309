"""What a mixture does with one block of rows: write, assign, E-step, loss of a gate.

A block is written to the store once. The other functions get its number and read it
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from localsvm._threads import sum_row_blocks
from localsvm.cluster import NearestCenters
from localsvm.engine import Block, Labels, Record, Store
from localsvm.estimators._mixture.model import (
    MixtureModel,
    class_losses,
    class_scores,
    task_losses,
    true_losses,
)
from localsvm.estimators._mixture.survey import HoldOut
from localsvm.rows import Rows
from localsvm.solvers import gate_loss

# Names the responsibilities of the nearest centres, and the SVMs solved by them.
START = "start"

_TRAINING, _ASIDE = "training", "aside"

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class StoredRows:
    """Rows of all blocks in a store, and responsibilities for them.

    Attributes
    ----------
    store : Store
    C : float
    n_classes : int
    n_jobs : int or None
        Threads that work on a block.
    """

    store: Store
    C: float
    n_classes: int
    n_jobs: int | None

    def training(self, number: int) -> Rows:
        """Rows that EM sees; dense ones in files are read as they are looked at."""
        return self._rows(_TRAINING, number)

    def validation(self, number: int) -> Rows:
        """Rows set aside."""
        return self._rows(_ASIDE, number)

    def arrays(self, number: int) -> Mapping[str, Any]:
        """Fields of the rows that EM sees, each read when it is looked up."""
        return self.store.get(f"{_TRAINING}-{number}", mapped=True)

    def bounds(self, number: int) -> Matrix:
        """C times the weights of the rows that EM sees."""
        return np.asarray(self.C * self.arrays(number)["penalty_weight"])

    def shares(self, number: int, step: str) -> NDArray[Any]:
        """Responsibilities of a step, of shape (n_rows, n_components)."""
        stored = self.store.get(f"shares-{step}-{number}", mapped=True)
        return np.asarray(stored["values"])

    def put_rows(self, number: int, training: Rows, aside: Rows) -> None:
        """Keep the rows of a block."""
        for name, rows in ((_ASIDE, aside), (_TRAINING, training)):
            arrays = {
                "X": rows.X,
                "class_index": rows.class_index,
                "sample_weight": rows.sample_weight,
                "penalty_weight": rows.penalty_weight,
            }
            self.store.put(f"{name}-{number}", arrays)

    def put_labels(self, number: int, labels: NDArray[np.int32]) -> None:
        """Keep the nearest centre of each row."""
        self.store.put(f"labels-{number}", {"values": labels})

    def labels(self, number: int) -> NDArray[np.int32]:
        """Nearest centre of each row that EM sees."""
        return np.asarray(self.store.get(f"labels-{number}")["values"])

    def put_shares(self, number: int, step: str, shares: NDArray[Any]) -> None:
        """Keep responsibilities under the name of a step."""
        self.store.put(f"shares-{step}-{number}", {"values": shares})

    def drop_shares(self, number: int, step: str) -> None:
        """Remove the responsibilities of a step."""
        self.store.drop(f"shares-{step}-{number}")

    def _rows(self, name: str, number: int) -> Rows:
        stored = self.store.get(f"{name}-{number}", mapped=True)
        return Rows(
            stored["X"],
            stored["class_index"],
            stored["sample_weight"],
            stored["penalty_weight"],
            self.n_classes,
        )


@dataclass(frozen=True)
class Written(Record):
    """Numbers of the blocks that were written, and the penalty weight of EM's rows."""

    numbers: NDArray[np.int64]
    weight: float

    def merge(self, other: Written) -> Written:
        """Blocks of both."""
        numbers = np.concatenate([self.numbers, other.numbers])
        return Written(numbers, self.weight + other.weight)


def write_block(
    block: Block, stored: StoredRows, labels: Labels, hold_out: HoldOut
) -> Written:
    """Put the rows of a block into the store, those set aside apart."""
    rows = block.rows(labels)
    training, aside = rows, rows.take(np.arange(0))
    if hold_out.fraction:
        chosen, present = hold_out.rows(rows.X), rows.sample_weight > 0
        training = rows.take(np.flatnonzero(present & ~chosen))
        aside = rows.take(np.flatnonzero(present & chosen))
    number = max(block.number, 0)
    stored.put_rows(number, training, aside)
    return Written(np.array([number]), float(training.penalty_weight.sum()))


@dataclass(frozen=True)
class Assigned(Record):
    """Clusters of rows.

    Attributes
    ----------
    distance : float
        Weighted sum of the squared distances to the nearest centres.
    sizes : ndarray of shape (n_clusters,)
        Weights.
    counts : ndarray of shape (n_clusters, n_classes)
        Rows of positive penalty weight.
    """

    distance: float
    sizes: Matrix
    counts: NDArray[np.int64]

    def merge(self, other: Assigned) -> Assigned:
        """Clusters of both."""
        return Assigned(
            self.distance + other.distance,
            self.sizes + other.sizes,
            self.counts + other.counts,
        )


def assign_block(number: int, stored: StoredRows, centers: NDArray[Any]) -> Assigned:
    """Find the nearest centre of each row of a block."""
    rows = stored.training(number)
    search = NearestCenters(centers, rows.X.dtype, stored.n_jobs)
    nearest, scores = search.search(rows.X, 1)
    labels, distances = nearest[:, 0], search.squared_distances(rows.X, scores[:, 0])
    stored.put_labels(number, labels)
    seen = rows.penalty_weight > 0
    counts = np.zeros((len(centers), rows.n_classes), dtype=np.int64)
    np.add.at(counts, (labels[seen], rows.class_index[seen]), 1)
    weight = rows.sample_weight
    return Assigned(
        float(np.multiply(distances, weight, dtype=np.float64).sum()),
        np.bincount(labels, weight, len(centers)).astype(np.float64),
        counts,
    )


def start_shares(
    number: int, stored: StoredRows, order: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Make each row of a block belong to its cluster; component j is ``order[j]``.

    Returns
    -------
    ndarray of shape (n_components,)
        Rows that each SVM sees.
    """
    rows = stored.training(number)
    shares = stored.labels(number)[:, np.newaxis] == order
    stored.put_shares(number, START, shares.astype(rows.X.dtype))
    return count_seen(shares, rows.penalty_weight)


def count_seen(above: NDArray[np.bool_], bounds: Matrix) -> NDArray[np.int64]:
    """Rows of each component with a positive bound."""
    seen = above & (bounds > 0)[:, np.newaxis]
    return np.asarray(seen.sum(axis=0, dtype=np.int64))


@dataclass(frozen=True)
class Expectation(Record):
    """Sums over rows that the E-step finds; those of two blocks add up.

    Attributes
    ----------
    mass : ndarray of shape (n_components,)
        Weighted sums of the responsibilities.
    losses : ndarray of shape (n_components, n_tasks)
        Hinge losses times bound and responsibility, of the rows above the cut-off.
    log_likelihood : float
        Weighted sum of the logarithms of Eq. 6.
    hits : ndarray of shape (2,)
        Weight of the rows whose class has the largest score, and of all rows.
    sizes : ndarray of shape (n_components,)
        Rows by the component that is most responsible for them.
    class_counts : ndarray of shape (n_components, n_classes)
        The same by class and sample weight.
    validation_hits : ndarray of shape (2,)
        As ``hits``, of rows set aside.
    """

    mass: Matrix
    losses: Matrix
    log_likelihood: float
    hits: Matrix
    sizes: NDArray[np.intp]
    class_counts: Matrix
    validation_hits: Matrix

    def merge(self, other: Self) -> Self:
        """Add up the sums over two blocks."""
        both = {name: mine + getattr(other, name) for name, mine in vars(self).items()}
        return replace(self, **both)

    @property
    def accuracy(self) -> float:
        """Weighted share of the rows that are classified right."""
        return float(self.hits[0] / self.hits[1])

    @property
    def validation_accuracy(self) -> float | None:
        """The same of the rows set aside, or None if there are none."""
        hits, weight = self.validation_hits.tolist()
        return hits / weight if weight else None


def expect_block(
    number: int, stored: StoredRows, model: MixtureModel, step: str, cutoff: float
) -> tuple[Expectation, NDArray[np.int64]]:
    """E-step of a block; responsibilities go to the store.

    Returns
    -------
    found : Expectation
        Sums over the block.
    seen : ndarray of shape (n_components,)
        Rows that the SVM of each component sees.
    """
    rows = stored.training(number)
    bounds = np.asarray(stored.C * rows.penalty_weight)
    shares, found = expectation(model, rows, bounds, cutoff, stored.n_jobs)
    stored.put_shares(number, step, shares)
    hits = count_hits(model, stored.validation(number), stored.n_jobs)
    return replace(found, validation_hits=hits), count_seen(shares > cutoff, bounds)


def expectation(
    model: MixtureModel,
    rows: Rows,
    bounds: NDArray[np.float64],
    cutoff: float,
    n_jobs: int | None,
) -> tuple[NDArray[Any], Expectation]:
    """Responsibilities (Eq. 11), and sums that the M-step and the history need."""
    n_samples = rows.X.shape[0]
    shares = np.empty((n_samples, model.n_components), dtype=rows.X.dtype)
    shape = model.n_components, model.n_classes

    def expect(block: slice) -> tuple[Any, ...]:
        classes = rows.class_index[block]
        weight, sample_weight = rows.penalty_weight[block], rows.sample_weight[block]
        log_shares, decisions = model.evaluate(rows.X[block])
        losses = class_losses(decisions)
        joint = log_shares - true_losses(losses, classes)
        total = logsumexp(joint, axis=1, keepdims=True)
        shares[block] = np.exp(joint - total)
        main = shares[block].argmax(axis=1)
        seen = np.where(shares[block] > cutoff, shares[block], 0)
        hit = class_scores(log_shares, losses).argmax(axis=1) == classes
        counts = np.bincount(main * shape[1] + classes, sample_weight, np.prod(shape))
        return (
            weight @ shares[block],
            np.einsum(
                "i,ij,ijt->jt", bounds[block], seen, task_losses(decisions, classes)
            ),
            float(weight @ total[:, 0].astype(np.float64)),
            np.array([weight @ hit, weight.sum()]),
            np.bincount(main[sample_weight > 0], minlength=shape[0]),
            counts.astype(np.float64).reshape(shape),
            np.zeros(2),
        )

    sums = sum_row_blocks(expect, n_samples, n_jobs)
    return shares, Expectation(*sums)


def count_hits(
    model: MixtureModel, rows: Rows, n_jobs: int | None
) -> NDArray[np.float64]:
    """Weight of the rows that are classified right, and of all."""
    predicted = model.class_scores(rows.X, n_jobs).argmax(axis=1)
    weight = rows.penalty_weight
    return np.array([weight @ (predicted == rows.class_index), weight.sum()])


@dataclass(frozen=True)
class Targets:
    """Targets of a gate for rows: responsibilities times weights, and then mapped.

    Rows of them are computed when they are needed.

    Attributes
    ----------
    weight : ndarray of shape (n_rows,)
        Penalty weights, in the data type of the rows.
    shares : ndarray of shape (n_rows, n_components)
    maps : tuple of ndarray
        Each multiplies the columns by its entries, or by a matrix if it is one.
    """

    weight: NDArray[Any]
    shares: NDArray[Any]
    maps: tuple[Matrix, ...]

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        values = np.asarray(self.shares[rows] * self.weight[rows, np.newaxis])
        for each in self.maps:
            own = each.astype(self.weight.dtype)
            values = values * own if own.ndim == 1 else values @ own
        return values


def target_mass(
    number: int, stored: StoredRows, step: str, maps: tuple[Matrix, ...]
) -> Matrix:
    """Sum the targets of a gate over a block."""
    targets = _targets(number, stored, step, maps)
    return np.asarray(targets[slice(None)].sum(axis=0, dtype=np.float64))


def gate_block(
    number: int,
    stored: StoredRows,
    step: str,
    maps: tuple[Matrix, ...],
    coef: Matrix,
    intercept: Matrix,
) -> tuple[float, Matrix, Matrix]:
    """Loss of a gate on a block, and its gradients."""
    targets = _targets(number, stored, step, maps)
    X = stored.arrays(number)["X"]
    return gate_loss(X, targets, coef, intercept, stored.n_jobs)


def _targets(
    number: int, stored: StoredRows, step: str, maps: tuple[Matrix, ...]
) -> Targets:
    shares = stored.shares(number, step)  # in the data type of the rows
    weight = stored.arrays(number)["penalty_weight"].astype(shares.dtype)
    return Targets(weight, shares, maps)

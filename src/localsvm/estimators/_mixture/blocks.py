"""What MixtureSVC does with one partition: scan, write, E-step, gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import (
    Block,
    Statistics,
    read_array,
    read_rows,
    save_array,
    write_folder,
    write_rows,
)
from localsvm.estimators._mixture.em import (
    Expectation,
    count_hits,
    expectation,
    weighted_by,
)
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.start import HoldOut, assign_to_centers
from localsvm.passes import merge_scans, scan_part, spread
from localsvm.rows import Rows, spread_around
from localsvm.solvers import gate_loss

# Names the responsibilities of nearest centres, and of what is solved by them.
START = "start"

_ASIDE = "aside"


@dataclass(frozen=True)
class MixtureFiles:
    """Rows of all partitions in files, and responsibilities for them.

    Attributes
    ----------
    folder : Path
        That all workers see.
    C : float
    n_classes : int
    """

    folder: Path
    C: float
    n_classes: int

    def of(self, number: int) -> Path:
        """Folder of the files of a partition."""
        return self.folder / f"part-{number}"

    def training(self, number: int) -> Rows:
        """Rows that EM sees; dense ones are read as they are looked at."""
        return _read(self.of(number), self.n_classes)

    def validation(self, number: int) -> Rows:
        """Rows set aside."""
        return _read(self.of(number) / _ASIDE, self.n_classes)

    def read(self, number: int) -> Any:
        """X of the rows that EM sees."""
        return read_rows(self.of(number), mapped=True)

    def class_index(self, number: int) -> NDArray[np.int32]:
        """Classes of these rows."""
        return read_array(self.of(number), "class")

    def bounds(self, number: int) -> NDArray[np.float64]:
        """C times the weights of the rows that EM sees."""
        return self.C * read_array(self.of(number), "weight")

    def shares(self, number: int, step: str) -> NDArray[Any]:
        """Responsibilities of a step, of shape (n_rows, n_components)."""
        return read_array(self.of(number), f"shares-{step}", mapped=True)

    def write_shares(self, number: int, step: str, shares: NDArray[Any]) -> None:
        """Write responsibilities under the name of a step."""
        save_array(self._shares_file(number, step), shares)

    def remove_shares(self, number: int, step: str) -> None:
        """Remove the responsibilities of a step."""
        self._shares_file(number, step).unlink(missing_ok=True)

    def _shares_file(self, number: int, step: str) -> Path:
        return self.of(number) / f"shares-{step}.npy"


def scan_rows(block: Block, hold_out: HoldOut, seed: int, limit: int) -> Statistics:
    """Scan the rows of a partition that are not set aside, and count the others.

    Returns
    -------
    dict
        What :func:`scan_part` gives of the former; "aside_mass" and "aside_counts",
        weights and rows of the latter by class; "sums", the weighted sum of the former,
        and "spread", that of their squared distances to its mean.
    """
    aside = hold_out.rows(block.X)
    weight = block.sample_weight
    training = np.where(aside, 0.0, weight)
    found = scan_part(replace(block, sample_weight=training), seed, limit)
    classes = found["classes"]
    index, n_classes = np.searchsorted(classes, block.y), len(classes)
    counted = aside & (weight > 0)
    sums = np.asarray(training @ block.X, dtype=np.float64).ravel()
    mean = sums / (training.sum() or 1.0)
    return found | {
        "aside_mass": np.bincount(index, weight * aside, n_classes).astype(np.float64),
        "aside_counts": np.bincount(index, counted, n_classes).astype(np.float64),
        "sums": sums,
        "spread": np.array(spread_around(block.X, training, mean)),
    }


def merge_scanned_rows(first: Statistics, second: Statistics) -> Statistics:
    """Say of two partitions what :func:`scan_rows` would."""
    whole = merge_scans(first, second)
    for name in ("aside_mass", "aside_counts"):
        whole[name] = sum(
            (spread(part, name, whole["classes"]) for part in (first, second)),
            np.zeros(len(whole["classes"])),
        )
    whole["sums"] = first["sums"] + second["sums"]
    whole["spread"] = (
        first["spread"] + second["spread"] + _spread_between(first, second)
    )
    return whole


def _spread_between(first: Statistics, second: Statistics) -> float:
    """Spread of two parts whose rows stand at their means."""
    mass = [float(part["mass"].sum()) for part in (first, second)]
    if not all(mass):
        return 0.0
    step = first["sums"] / mass[0] - second["sums"] / mass[1]
    return float(mass[0] * mass[1] / sum(mass) * (step @ step))


def training_weight(block: Block, hold_out: HoldOut) -> NDArray[np.float64]:
    """Weights of rows, zero for those set aside."""
    return np.where(hold_out.rows(block.X), 0.0, block.sample_weight)


def write_part(
    block: Block,
    files: MixtureFiles,
    classes: NDArray[Any],
    class_weight: NDArray[np.float64],
    centers: NDArray[Any],
    hold_out: HoldOut,
) -> Statistics:
    """Write the rows of a partition to files, with their nearest centre as a start.

    Files that an earlier, interrupted fit wrote are taken as they are.

    Returns
    -------
    dict
        Number of the partition, weight of its rows, sum of their squared distances to
        the nearest centre, weights of each cluster, rows of each cluster in the
        partition ("seen") and by class ("counts").
    """
    own = files.of(block.number)
    if not own.exists():
        class_index = np.searchsorted(classes, block.y).astype(np.int32)
        weight = block.sample_weight
        rows = Rows(
            block.X,
            class_index,
            weight,
            weight * class_weight[class_index],
            len(class_weight),
        )
        _write(own, block.number, rows, len(classes), centers, hold_out)
    return {
        name: read_array(own, name)
        for name in ("number", "total", "distance", "sizes", "seen", "counts")
    }


def merge_written(first: Statistics, second: Statistics) -> Statistics:
    """Add up the sums of two partitions; put what is theirs side by side."""
    return {
        name: np.concatenate([first[name], second[name]])
        if name in ("number", "seen")
        else first[name] + second[name]
        for name in first
    }


def expect_part(
    number: int, files: MixtureFiles, model: MixtureModel, step: str, cutoff: float
) -> tuple[Expectation, NDArray[np.int64]]:
    """E-step of a partition; responsibilities go to a file.

    Returns
    -------
    found : Expectation
        Sums over the partition.
    seen : ndarray of shape (n_components,)
        Rows that the SVM of each component sees.
    """
    rows, bounds = files.training(number), files.bounds(number)
    shares, found = expectation(model, rows, bounds, cutoff, 1)
    files.write_shares(number, step, shares)
    seen = (shares > cutoff) & (bounds > 0)[:, np.newaxis]
    hits = count_hits(model, files.validation(number), 1)
    return replace(found, validation_hits=hits), seen.sum(axis=0, dtype=np.int64)


def gate_part(
    number: int,
    files: MixtureFiles,
    step: str,
    matrix: NDArray[np.float64],
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Loss of a gate on a partition, and its gradients.

    ``matrix`` maps the responsibilities to the targets of the gate.
    """
    rows = files.training(number)
    targets = weighted_by(rows, files.shares(number, step))
    targets = targets @ matrix.astype(targets.dtype)
    return gate_loss(rows.X, targets, coef, intercept, 1)


def _read(folder: Path, n_classes: int) -> Rows:
    return Rows(
        read_rows(folder, mapped=True),
        read_array(folder, "class"),
        read_array(folder, "sample_weight"),
        read_array(folder, "weight"),
        n_classes,
    )


def _write(
    own: Path,
    number: int,
    rows: Rows,
    n_classes: int,
    centers: NDArray[Any],
    hold_out: HoldOut,
) -> None:
    aside = hold_out.rows(rows.X)
    kept = rows.penalty_weight > 0 if hold_out.fraction else rows.sample_weight > 0
    training = rows.take(np.flatnonzero(kept & ~aside))
    labels, distance = assign_to_centers(training.X, centers, 1)
    seen = training.penalty_weight > 0
    place = labels[seen], training.class_index[seen]
    counts = np.zeros((len(centers), n_classes), dtype=np.int64)
    np.add.at(counts, place, 1)
    shares = labels[:, np.newaxis] == np.arange(len(centers))
    weight = training.sample_weight
    arrays: Statistics = {
        f"shares-{START}": shares.astype(rows.X.dtype),
        "number": np.array([number]),
        "total": np.array(training.penalty_weight.sum()),
        "distance": np.array(weight @ distance),
        "sizes": np.bincount(labels, weight, len(centers)).astype(np.float64),
        "seen": counts.sum(axis=1)[np.newaxis],
        "counts": counts,
    }
    with write_folder(own) as folder:
        _write_rows(folder, training)
        (folder / _ASIDE).mkdir()
        _write_rows(folder / _ASIDE, rows.take(np.flatnonzero(kept & aside)))
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)


def _write_rows(folder: Path, rows: Rows) -> None:
    write_rows(folder, rows.X)
    np.save(folder / "class.npy", rows.class_index)
    np.save(folder / "sample_weight.npy", rows.sample_weight)
    np.save(folder / "weight.npy", rows.penalty_weight)

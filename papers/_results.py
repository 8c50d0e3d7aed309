"""Records of an experiment, brought together with what the paper printed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers._definition import Run
from papers._experiment import Cell, Experiment, Size, Table
from papers._paired import compare_paired
from papers._store import Record, Store


@dataclass(frozen=True)
class Result:
    """A run with its record.

    Parameters
    ----------
    run : Run
    record : dict
    """

    run: Run
    record: Record

    def value(self, score: str) -> float | None:
        """Look up a number such as "scores.accuracy"; None if there is none."""
        found: Any = self.record
        for name in score.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        return None if found is None else float(found)


@dataclass(frozen=True)
class CellResult:
    """A place of a table with what is known about it.

    Parameters
    ----------
    cell : Cell
    values : tuple of float
        One per recorded repetition.
    n_runs : int
        Repetitions that the size asks for.
    missing : str
        Why there are no values, or "" if there are.
    repeated : bool, default=True
        Whether the values are repetitions and not of different problems.
    arrow : str, default=""
        Whether it is significantly better or worse than what it is compared with.
    """

    cell: Cell
    values: tuple[float, ...]
    n_runs: int
    missing: str
    repeated: bool = True
    arrow: str = ""

    @property
    def mean(self) -> float | None:
        """Mean of the repetitions, or what else the cell takes of them."""
        if not self.values:
            return None
        if self.cell.take == "mean":
            return float(np.mean(self.values))
        return min(self.values) if self.cell.take == "min" else max(self.values)

    @property
    def spread(self) -> float | None:
        """Standard deviation of the repetitions, None if there is only one."""
        if len(self.values) < 2 or not self.repeated or self.cell.take != "mean":
            return None
        return float(np.std(self.values, ddof=1))

    @property
    def difference(self) -> float | None:
        """Ours minus the printed value."""
        if self.mean is None or self.cell.printed is None:
            return None
        return self.mean - self.cell.printed.value

    @property
    def quotient(self) -> float | None:
        """Ours divided by the printed value, None if that is zero."""
        if (
            self.mean is None
            or self.cell.printed is None
            or not self.cell.printed.value
        ):
            return None
        return self.mean / self.cell.printed.value

    def differs(self, table: Table) -> bool:
        """Whether ours is not the printed value, by the measure of the table."""
        if table.ratio or self.difference is None or self.cell.printed is None:
            return False
        spread = math.hypot(self.spread or 0.0, self.cell.printed.spread or 0.0)
        if table.folds:
            spread *= 2 / math.sqrt(len(self.values))
        return abs(self.difference) > max(table.tolerance, spread)


def results_of(experiment: Experiment, size: Size, store: Store) -> list[Result]:
    """Give the runs that have a record, in the order of the definition."""
    records = store.read(experiment.store_id, size)
    return [
        Result(run, records[run.key])
        for run in experiment.runs(size)
        if run.key in records
    ]


def fill_table(
    experiment: Experiment, size: Size, store: Store
) -> dict[tuple[str, str], CellResult]:
    """Fill the cells of an experiment's table from records alone.

    Parameters
    ----------
    experiment : Experiment
    size : Size
    store : Store

    Returns
    -------
    dict of (str, str) to CellResult
        By the names of row and column; empty for an experiment without table.
    """
    if experiment.table is None:
        return {}
    results: dict[str, list[Result]] = {}
    for result in results_of(experiment, size, store):
        results.setdefault(result.run.group, []).append(result)
    runs: dict[str, list[Run]] = {}
    for run in experiment.runs(size):
        runs.setdefault(run.group, []).append(run)
    return {
        place: _fill(cell, results, runs.get(cell.group, []), experiment, size)
        for place, cell in experiment.table.cells.items()
    }


def _fill(
    cell: Cell,
    results: Mapping[str, Sequence[Result]],
    runs: list[Run],
    experiment: Experiment,
    size: Size,
) -> CellResult:
    by_seed = _scored(cell, results.get(cell.group, []))
    if cell.baseline:
        base = dict(_scored(cell, results.get(cell.baseline, [])))
        by_seed = [(s, base[s] / v) for s, v in by_seed if v and s in base]
    values = tuple(value for _, value in by_seed)
    missing = "" if values else _why_missing(cell, runs, experiment, size)
    repeated = experiment.table is None or experiment.table.repeated
    others = _scored(cell, results.get(cell.against, []))
    arrow = compare_paired(dict(by_seed), dict(others))
    return CellResult(cell, values, len(runs), missing, repeated, arrow)


def _scored(cell: Cell, results: Sequence[Result]) -> list[tuple[int, float]]:
    """Give seed and score of each run that has what the cell shows."""
    scored = []
    for result in results:
        parts = [result.value(score) for score in cell.score]
        if None not in parts:
            total = sum(part for part in parts if part is not None)
            scored.append((result.run.seed, total))
    return scored


def _why_missing(
    cell: Cell, runs: list[Run], experiment: Experiment, size: Size
) -> str:
    if cell.absent:
        return cell.absent
    if not runs:
        why = experiment.cuts.get(size, "")
        return f"not run at size {size}" + (f": {why}" if why else "")
    absent = [run for run in runs if not run.is_available()]
    if absent:
        return f"pending: {absent[0].method.estimator.path} is not there yet"
    return f"not run yet at size {size}"

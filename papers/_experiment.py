"""A table or a figure of a paper: its runs, its cells, what the paper printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from papers._definition import Run
from papers._printed import Printed


class Size(StrEnum):
    """How much of an experiment is run."""

    SMOKE = "smoke"
    STANDARD = "standard"
    FULL = "full"


@dataclass(frozen=True)
class Cell:
    """A place in a table.

    Parameters
    ----------
    group : str
        The runs whose mean it shows.
    score : sequence of str
        What of their records: "scores.accuracy", "cpu_seconds.fit", ...; several are
        added up.
    printed : Printed or None, default=None
        What the paper has there.
    note : str, default=""
        Why ours differs, shown where it does.
    absent : str, default=""
        Why it is never run, such as a program that is not at hand.
    take : {"mean", "min", "max"}, default="mean"
        What of the repetitions is shown.
    baseline : str, default=""
        Runs whose score is divided by that of ``group``, seed by seed: a speed-up.
    against : str, default=""
        Group that it is compared with by a paired t-test; a significant difference is
        marked by an arrow.
    """

    group: str
    score: Sequence[str] = ("scores.accuracy",)
    printed: Printed | None = None
    note: str = ""
    absent: str = ""
    take: Literal["mean", "min", "max"] = "mean"
    baseline: str = ""
    against: str = ""


@dataclass(frozen=True)
class Table:
    """The cells of a table, by row and column.

    Parameters
    ----------
    cells : mapping of (str, str) to Cell
        By the names of row and column, in the order of the paper.
    unit : str, default="%"
    digits : int, default=2
        Decimals shown.
    ratio : bool, default=False
        Whether ours is compared by its quotient and not by its difference: times.
    tolerance : float, default=0.5
        Largest difference that needs no note; ours may also differ by one standard
        deviation, that of both values together.
    repeated : bool, default=True
        Whether the runs of a group are repetitions, whose spread says how far off a
        mean may be, and not different problems.
    scales : mapping of str to mapping, default={}
        Other ``digits``, ``ratio`` or ``tolerance`` of single rows.
    folds : bool, default=False
        Whether repetitions are the folds of a cross-validation: then it is two standard
        deviations of their mean.
    """

    cells: Mapping[tuple[str, str], Cell]
    unit: str = "%"
    digits: int = 2
    ratio: bool = False
    tolerance: float = 0.5
    repeated: bool = True
    folds: bool = False
    scales: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of_row(self, row: str) -> Table:
        """Give the table with the scale of a row."""
        return replace(self, **self.scales.get(row, {}))

    @property
    def rows(self) -> list[str]:
        """Names of the rows."""
        return list(dict.fromkeys(row for row, _ in self.cells))

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(dict.fromkeys(column for _, column in self.cells))


@dataclass(frozen=True)
class Experiment:
    """A table or a figure, made from the records of runs alone.

    Parameters
    ----------
    id : str
        Such as "csvm/table2".
    title : str
        As printed above it.
    shows : str
        What is compared and how, in a few sentences.
    runs : callable
        Takes a :class:`Size` and returns the runs.
    cuts : mapping of Size to str
        What was left out at a size; also the reason of cells without runs there.
    table : Table or None, default=None
    draw : callable or None, default=None
        Takes a list of :class:`~papers.Result`, returns a matplotlib figure.
    remarks : str, default=""
        What was found, and what was tried where ours differs.
    records_of : str or None, default=None
        Id of the experiment in whose file its records are kept; None is its own.
        Experiments that have runs in common keep them in one file, so that none is done
        twice.
    """

    id: str
    title: str
    shows: str
    runs: Callable[[Size], Sequence[Run]]
    cuts: Mapping[Size, str] = field(default_factory=dict)
    table: Table | None = None
    draw: Callable[..., Any] | None = None
    remarks: str = ""
    records_of: str | None = None

    @property
    def store_id(self) -> str:
        """Id under which its records are kept."""
        return self.records_of or self.id

    def distinct_runs(self, size: Size) -> dict[str, Run]:
        """Give the runs by their keys, in order."""
        return {run.key: run for run in self.runs(size)}


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments.

    Parameters
    ----------
    id : str
    title : str
    citation : str
    experiments : sequence of Experiment
    summary : str, default=""
        What of the paper holds here.
    """

    id: str
    title: str
    citation: str
    experiments: Sequence[Experiment]
    summary: str = ""

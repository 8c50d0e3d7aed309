"""What the pages of the report say, made from records and free of any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.environment import measured_at

from papers._experiment import Experiment, Paper, Size, Table
from papers._results import CellResult, fill_table, results_of
from papers._store import Store
from papers._text import comparison, note, ours


@dataclass(frozen=True)
class CellText:
    """A cell in words.

    Parameters
    ----------
    printed, ours, comparison : str
    state : {"agrees", "differs", "compared", "missing"}
        "compared" has no verdict: a time, or nothing printed.
    mark : str
        Number of its note, or "".
    """

    printed: str
    ours: str
    comparison: str
    state: str
    mark: str


@dataclass(frozen=True)
class Section:
    """An experiment in words.

    Parameters
    ----------
    experiment : Experiment
    anchor : str
    cut : str
        What the size leaves out.
    columns : list of str
    lines : list of (str, list of CellText)
        Name and cells of each row.
    notes : list of str
        In the order of their marks, from 1.
    picture : str
        File of its figure, relative to the page; "" if it has none.
    seconds : float
        CPU time of its records.
    n_records, n_runs : int
    """

    experiment: Experiment
    anchor: str
    cut: str
    columns: list[str]
    lines: list[tuple[str, list[CellText]]]
    notes: list[str]
    picture: str
    seconds: float
    n_records: int
    n_runs: int

    @property
    def states(self) -> Counter[str]:
        """How many cells there are of each state."""
        return Counter(cell.state for _, cells in self.lines for cell in cells)


@dataclass(frozen=True)
class Page:
    """A paper in words.

    Parameters
    ----------
    paper : Paper
    size : Size
    sections : list of Section
    versions : list of str
        Versions that made the records, "name version".
    measured : str
        Sentence with the commits and CPUs of the records; "" if none has them.
    """

    paper: Paper
    size: Size
    sections: list[Section]
    versions: list[str]
    measured: str


def make_page(paper: Paper, size: Size, store: Store, pictures: Sequence[str]) -> Page:
    """Put a paper into words; ``pictures`` are the files that were drawn."""
    sections = [
        _section(experiment, size, store, pictures) for experiment in paper.experiments
    ]
    records = [
        result.record
        for experiment in paper.experiments
        for result in results_of(experiment, size, store)
    ]
    versions = {
        f"{name} {version}"
        for record in records
        for name, version in record["versions"].items()
    }
    measured = measured_at(record.get("environment", {}) for record in records)
    return Page(paper, size, sections, sorted(versions), measured)


def picture_name(experiment: Experiment) -> str:
    """Name the file of an experiment's figure, relative to the pages."""
    return f"figures/{experiment.id.replace('/', '-')}.png"


def _section(
    experiment: Experiment, size: Size, store: Store, pictures: Sequence[str]
) -> Section:
    notes: list[str] = []
    lines, columns = [], []
    table = experiment.table
    if table is not None:
        filled = fill_table(experiment, size, store)
        columns = table.columns
        lines = [
            (
                row,
                [
                    _cell_text(filled.get((row, column)), table.of_row(row), notes)
                    for column in columns
                ],
            )
            for row in table.rows
        ]
    results = results_of(experiment, size, store)
    picture = picture_name(experiment)
    return Section(
        experiment=experiment,
        anchor=experiment.id.replace("/", "-"),
        cut=experiment.cuts.get(size, ""),
        columns=columns,
        lines=lines,
        notes=notes,
        picture=picture if picture in pictures else "",
        seconds=sum(sum(r.record["cpu_seconds"].values()) for r in results),
        n_records=len(results),
        n_runs=len(experiment.runs(size)),
    )


def _cell_text(result: CellResult | None, table: Table, notes: list[str]) -> CellText:
    if result is None:
        return CellText("", "", "", "compared", "")
    printed = "" if result.cell.printed is None else result.cell.printed.text
    mark = ""
    if said := note(result, table):
        if said not in notes:
            notes.append(said)
        mark = str(notes.index(said) + 1)
    return CellText(
        printed,
        ours(result, table),
        comparison(result, table),
        _state(result, table),
        mark,
    )


def _state(result: CellResult, table: Table) -> str:
    if result.mean is None:
        return "missing"
    if table.ratio or result.difference is None:
        return "compared"
    return "differs" if result.differs(table) else "agrees"

"""The table of a problem: what Tables 2 to 4 have in common."""

from collections.abc import Callable, Mapping
from typing import Any

from papers._experiment import Cell, Table
from papers._printed import Printed

_SPEEDUP = "Speedup"
_CLUSTERING = "Clustering time (s)"
_ROWS_OF_CLASS = "N_train,"
_SCORES = {
    "N_train": "scores.n_train",
    "Training time (s)": "cpu_seconds.fit",
    _CLUSTERING: "scores.clustering_seconds",
    _SPEEDUP: "cpu_seconds.fit",
    "Error rate (%)": "scores.error",
}


def make_table(
    printed: Mapping[tuple[str, str], Printed | None],
    baselines: Mapping[str, str],
    notes: Mapping[str, str],
    position: Callable[[int], int] = int,
) -> Table:
    """Make the table.

    Parameters
    ----------
    printed : mapping
        As read from the paper.
    baselines : mapping of str to str
        By column, the one of all rows whose time is divided by its own; "" for one of
        all rows, which has neither clusters nor a speed-up.
    notes : mapping of str to str
        Why cells of a row differ from what is printed.
    position : callable
        From the paper's number of a class to its place among the sorted labels, from 1.
    """
    rows = list(dict.fromkeys(row for row, _ in printed))
    cells = {
        (row, column): Cell(
            column,
            (_score(row, position),),
            printed.get((row, column)),
            notes.get(row, "") if (row, column) in printed else "",
            baseline=baseline if row == _SPEEDUP else "",
        )
        for row in rows
        for column, baseline in baselines.items()
        if baseline or row not in (_CLUSTERING, _SPEEDUP)
    }
    scales = {row: _scale(row, printed[row, "ClusterSVM"]) for row in rows}
    return Table(cells, unit="", scales=scales)


def _score(row: str, position: Callable[[int], int]) -> str:
    if row.startswith(_ROWS_OF_CLASS):
        return f"scores.n_train_{position(int(row.removeprefix(_ROWS_OF_CLASS)))}"
    return _SCORES[row]


def _scale(row: str, printed: Printed | None) -> dict[str, Any]:
    if "(s)" in row:
        return {"ratio": True}
    if row.startswith("N_train") and printed is not None:
        # The paper leaves details of the clustering open: a tenth is near.
        return {"digits": 0, "tolerance": 0.1 * printed.value}
    return {}

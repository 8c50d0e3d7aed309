"""The tables and figures of the papers, from definitions to a report.

Each table or figure is one declarative file in the folder of its paper. Their runs are
recorded, and everything that is shown is made from records. See the README beside this
file for how to add one; ``python -m papers`` is the command.
"""

from papers._definition import Data, Method, Part, Run, Selection, Split
from papers._experiment import Cell, Experiment, Paper, Size, Table
from papers._printed import Printed, read_printed
from papers._registry import find_experiments, list_papers
from papers._report import (
    draw_picture as draw_picture,
    write_report as write_report,
)
from papers._results import CellResult, Result, fill_table
from papers._runner import (
    Summary,
    drop_old_records as drop_old_records,
    run_experiments,
)
from papers._store import Store
from papers._text import table_lines as table_lines

__all__ = [
    "Cell",
    "CellResult",
    "Data",
    "Experiment",
    "Method",
    "Paper",
    "Part",
    "Printed",
    "Result",
    "Run",
    "Selection",
    "Size",
    "Split",
    "Store",
    "Summary",
    "Table",
    "fill_table",
    "find_experiments",
    "list_papers",
    "read_printed",
    "run_experiments",
]

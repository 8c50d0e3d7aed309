"""Tables from files, benchmark data sets, the papers' tasks, synthetic problems."""

from localsvm.data._batches import read_batches
from localsvm.data._columns._booleans import BooleanColumn, as_truth as as_truth
from localsvm.data._columns._categories import CategoryColumn
from localsvm.data._columns._codes._categories import CodeColumn
from localsvm.data._columns._codes._dates import (
    FIRST_WEEKDAY as FIRST_WEEKDAY,
    MILLISECONDS_OF_DAY as MILLISECONDS_OF_DAY,
    MILLISECONDS_OF_HOUR as MILLISECONDS_OF_HOUR,
    CalendarColumn,
)
from localsvm.data._columns._codes._numbers import RawBooleanColumn, RawNumberColumn
from localsvm.data._columns._codes._ordered import OrderedColumn
from localsvm.data._columns._column import Column, DroppedColumn
from localsvm.data._columns._dates import (
    DAYS_OF_WEEK as DAYS_OF_WEEK,
    DAYS_OF_YEAR as DAYS_OF_YEAR,
    DateColumn,
)
from localsvm.data._columns._kinds import KINDS as KINDS, split_kind as split_kind
from localsvm.data._columns._numbers import NumberColumn
from localsvm.data._columns._text import TextColumn
from localsvm.data._columns._values import (
    as_days as as_days,
    as_numbers as as_numbers,
    factorize as factorize,
)
from localsvm.data._encoder import TableEncoder
from localsvm.data._frames import (
    absent_columns as absent_columns,
    as_frame as as_frame,
    close_names as close_names,
)
from localsvm.data._row_sketch import (
    MOST_BYTES as MOST_BYTES,
    MOST_PROBES as MOST_PROBES,
    Overlap,
    RowSketch,
    row_hashes,
)
from localsvm.data._sets._benchmarks import Benchmark, benchmark_names, load_benchmark
from localsvm.data._sets._labels import odd_even, one_vs_rest, pair
from localsvm.data._sets._samples import sample_path
from localsvm.data._sets._spirals import bayes_2spiral, make_2spiral, make_two_spirals
from localsvm.data._sets._synthetic import (
    make_circle_in_square,
    make_three_gaussians,
    make_xor,
)
from localsvm.data._sets._tasks import benchmark_file, load_task, task_names
from localsvm.data._table import Table, read_table

__all__ = [
    "Benchmark",
    "BooleanColumn",
    "CalendarColumn",
    "CategoryColumn",
    "CodeColumn",
    "Column",
    "DateColumn",
    "DroppedColumn",
    "NumberColumn",
    "OrderedColumn",
    "Overlap",
    "RawBooleanColumn",
    "RawNumberColumn",
    "RowSketch",
    "Table",
    "TableEncoder",
    "TextColumn",
    "bayes_2spiral",
    "benchmark_file",
    "benchmark_names",
    "load_benchmark",
    "load_task",
    "make_2spiral",
    "make_circle_in_square",
    "make_three_gaussians",
    "make_two_spirals",
    "make_xor",
    "odd_even",
    "one_vs_rest",
    "pair",
    "read_batches",
    "read_table",
    "row_hashes",
    "sample_path",
    "task_names",
]

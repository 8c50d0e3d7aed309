"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DATA, MODEL, OUTPUT, RUN = "Data", "Model", "Output", "Run"
ALL_CORES = -1
_DATA_HELP = (
    "Table: CSV or TSV (also .gz), Parquet, Feather, svmlight, npz or npy; a folder "
    "of Parquet files; or openml:ID."
)

DataArgument = Annotated[str, typer.Argument(metavar="DATA", help=_DATA_HELP)]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file, as `fit` writes it.")
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="Class column.", rich_help_panel=DATA
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="FILE", help="File to write.", rich_help_panel=OUTPUT
    ),
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="COLUMN=VALUE",
        help="Use only the rows with this value. The column is left out, unless the "
        "model or recipe knows it.",
        rich_help_panel=DATA,
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Leave a column out; repeatable.",
        rich_help_panel=DATA,
    ),
]
ColumnTypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column-type",
        metavar="COLUMN=TYPE",
        help="Treat a column as number, category, ordered, date, text, boolean or "
        "drop. A date may have a format, as date:%d/%m/%Y. Repeatable.",
        rich_help_panel=DATA,
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="Parameter of the method, such as C=10; repeatable.",
        rich_help_panel=MODEL,
    ),
]
TestSizeOption = Annotated[
    float,
    typer.Option(
        "--test-size",
        min=0,
        max=0.9,
        help="Fraction of the rows held out to score the model; 0 means no score.",
        rich_help_panel=DATA,
    ),
]
TestOption = Annotated[
    str | None,
    typer.Option(
        "--test",
        metavar="TABLE",
        help="Score on this table, instead of on held-out rows of DATA.",
        rich_help_panel=DATA,
    ),
]
TrainingRowsOption = Annotated[
    bool,
    typer.Option(
        "--training-rows",
        help="Also score rows the model was fitted to; the result is marked.",
        rich_help_panel=DATA,
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Random seed.", rich_help_panel=RUN)
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        help="Number of threads; -1 uses all cores. The result does not depend on it.",
        rich_help_panel=RUN,
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace the output if it exists.", rich_help_panel=OUTPUT
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the result as one JSON document, and an error as one.",
        rich_help_panel=OUTPUT,
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print no messages and no progress.",
        rich_help_panel=OUTPUT,
    ),
]

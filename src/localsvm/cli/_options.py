"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    typer.Option("--target", "-t", metavar="COLUMN", help="Column of the classes."),
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="File to write.")
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="COLUMN=VALUE",
        help="Use only the rows with this value. The column is left out, unless the "
        "model or recipe knows it.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave a column out; repeatable."),
]
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="Take a column as number, category, ordered, date, text, boolean or drop; "
        "dates may have a format, as date:%d/%m/%Y.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PARAMETER=VALUE", help="Parameter of the method; repeatable."
    ),
]
TestSizeOption = Annotated[
    float,
    typer.Option(
        "--test-size",
        min=0,
        max=0.9,
        help="Part of the rows that is held out for the score; 0 gives no score.",
    ),
]
TestOption = Annotated[
    str | None,
    typer.Option("--test", metavar="DATA", help="Score on this table instead."),
]
TrainingRowsOption = Annotated[
    bool,
    typer.Option(
        "--training-rows",
        help="Score rows that the model was fitted to, too; the result says so.",
    ),
]
ReadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="OPTION=VALUE",
        help="How to read a table, where it is not found: delimiter=';', decimal=',', "
        "encoding=latin-1, header=no, missing=-,n/a, missing_labels=drop or "
        "format=csv; repeatable. A model remembers them.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Of random choices.")]
JobsOption = Annotated[
    int,
    typer.Option("--jobs", "-j", help="Threads; -1 is all. The result is the same."),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace the output if it exists.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Give the result as one JSON document.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No messages and no progress.")
]

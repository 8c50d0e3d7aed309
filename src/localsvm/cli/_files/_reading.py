"""How a table is read where that cannot be found out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from localsvm.cli._wording import TAB
from localsvm.exceptions import DataError


def _option(*names: str, metavar: str | None = None, help: str) -> Any:
    return typer.Option(
        *names, metavar=metavar, help=help, rich_help_panel="Reading of tables"
    )


@dataclass(frozen=True)
class Reading:
    """Options that say how to read a table; a model remembers those of its fit.

    Parameters
    ----------
    format, delimiter, decimal, encoding, missing, missing_labels : str, default=None
    header : bool, default=None
    """

    format: Annotated[
        str | None,
        _option("--format", metavar="FORMAT", help="csv, tsv, parquet, ..."),
    ] = None
    delimiter: Annotated[
        str | None,
        _option("--delimiter", metavar="CHARACTER", help="Ends a field; \\t is a tab."),
    ] = None
    decimal: Annotated[
        str | None,
        _option("--decimal", metavar="CHARACTER", help="Decimal sign of numbers."),
    ] = None
    encoding: Annotated[
        str | None,
        _option("--encoding", metavar="NAME", help="Such as latin-1; else UTF-8."),
    ] = None
    header: Annotated[
        bool | None,
        _option("--header/--no-header", help="Whether the first line has names."),
    ] = None
    missing: Annotated[
        str | None,
        _option(
            "--missing", metavar="WORD,...", help="Words for missing values: -,n/a"
        ),
    ] = None
    missing_labels: Annotated[
        str | None,
        _option(
            "--missing-labels",
            metavar="drop",
            help="drop leaves out rows without a label, instead of refusing them.",
        ),
    ] = None

    def noted(self) -> list[str]:
        """Return the options that were given, as model files note them."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.header is not None:
            given["header"] = "yes" if self.header else "no"
        return [f"{name}={value}" for name, value in given.items() if value is not None]


AS_FOUND = Reading()


def reading_options(noted: Sequence[str]) -> dict[str, Any]:
    """Arguments of ``read_table`` from what was noted; the last of a name counts."""
    options = {}
    for text in noted:
        name, _, value = text.partition("=")
        if name not in _PARSERS:  # a model file may note anything
            names = ", ".join(_PARSERS)
            raise DataError(
                f"The file notes {text!r} as an option of reading tables; expected "
                f"one of {names}."
            )
        options[name] = _PARSERS[name](value)
    return options


_PARSERS: dict[str, Callable[[str], Any]] = {
    "delimiter": lambda text: text.replace(TAB, "\t"),
    "decimal": str,
    "encoding": str,
    "header": lambda text: text == "yes",
    "missing": lambda text: text.split(","),
    "missing_labels": str,
    "format": str,
}

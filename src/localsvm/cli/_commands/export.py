"""``localsvm export``: a model as an ONNX graph, or as C source."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from localsvm._replaced_file import replace_file
from localsvm.cli import _options as options
from localsvm.cli._files._outputs import check_output, size_of
from localsvm.cli._group import misuse
from localsvm.cli._model._models import load_model
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching
from localsvm.exceptions import DataError
from localsvm.export import to_c, to_onnx


class NumberType(StrEnum):
    """Type of the numbers that a graph takes."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"


_NumberType = Annotated[
    NumberType,
    typer.Option(
        "--dtype",
        help="Type of the numbers that the graph takes.",
        rich_help_panel=options.MODEL,
    ),
]
_GraphOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="ONNX file to write.",
        rich_help_panel=options.OUTPUT,
    ),
]
_SourceOption = Annotated[
    Path | None,
    typer.Option(
        "--c",
        metavar="FILE",
        help="C99 header to write instead.",
        rich_help_panel=options.OUTPUT,
    ),
]


def export(
    model: options.ModelArgument,
    out: _GraphOption = None,
    c: _SourceOption = None,
    dtype: _NumberType = NumberType.FLOAT32,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Write a model as an ONNX graph or C source, which run without this library.

    Both predict the same labels as the model.
    """
    screen = Screen("export", as_json, quiet)
    if c is not None and out is None:
        _export_source(screen, model, c, force)
        return
    if out is None or c is not None:
        misuse("Give one file to write: --out for an ONNX graph, or --c for C source.")
    check_output(out, force=force)
    loaded = load_model(model)
    with watching(screen, "Writing the graph"):
        try:
            graph = to_onnx(loaded.fitted, dtype=dtype.value)
        except TypeError as error:  # a part of it has no counterpart in ONNX
            raise DataError(f"{model}: {error}") from error
        replace_file(out, [graph.SerializeToString()])
    inputs = [each.name for each in graph.graph.input]
    outputs = [each.name for each in graph.graph.output]
    document = {
        "onnx": out,
        "bytes": out.stat().st_size,
        "dtype": dtype.value,
        "inputs": inputs,
        "outputs": outputs,
    }
    text = (
        f"ONNX graph of {model}: {out} ({size_of(out)})\n"
        f"It takes {', '.join(inputs)}\nand returns {', '.join(outputs)}."
    )
    screen.show(document, text)


def _export_source(screen: Screen, model: Path, path: Path, force: bool) -> None:
    """Write C source."""
    check_output(path, force=force)
    loaded: Any = load_model(model)
    with watching(screen, "Writing the source"):
        try:
            source = to_c(loaded.fitted)
        except TypeError as error:  # a part of it has no counterpart in C
            raise DataError(f"{model}: {error}") from error
        replace_file(path, [source.encode()])
    document = {"c": path, "bytes": path.stat().st_size}
    screen.show(document, f"C source of {model}: {path} ({size_of(path)})")

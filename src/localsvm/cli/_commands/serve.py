"""``localsvm serve``: a model over HTTP."""

from __future__ import annotations

import socket
from typing import Annotated

import typer

from localsvm.cli import _options as options
from localsvm.cli._model._models import load_model
from localsvm.cli._show._screen import Screen
from localsvm.serve import run

_MEGABYTE = 2**20

_Host = Annotated[
    str,
    typer.Option(
        "--host",
        help="Address to listen on. There is no authentication.",
        rich_help_panel=options.RUN,
    ),
]
_Port = Annotated[
    int,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help="Port; 0 picks a free one.",
        rich_help_panel=options.RUN,
    ),
]
_Name = Annotated[
    str | None,
    typer.Option(
        "--name",
        help="Name of the model in addresses; by default that of the file.",
        rich_help_panel=options.RUN,
    ),
]
_MaxBody = Annotated[
    float,
    typer.Option(
        "--max-body",
        min=0.001,
        help="Largest request in megabytes.",
        rich_help_panel=options.RUN,
    ),
]
_MaxRows = Annotated[
    int,
    typer.Option(
        "--max-rows", min=1, help="Most rows per request.", rich_help_panel=options.RUN
    ),
]
_Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        min=0.01,
        help="Time limit per request in seconds.",
        rich_help_panel=options.RUN,
    ),
]
_MaxPerAddress = Annotated[
    int,
    typer.Option(
        "--max-per-address",
        min=0,
        help="Most connections per address; 0 means no limit, for instance behind a "
        "reverse proxy.",
        rich_help_panel=options.RUN,
    ),
]
_Workers = Annotated[
    int,
    typer.Option(
        "--workers",
        min=1,
        help="Processes that share the address and the model's memory.",
        rich_help_panel=options.RUN,
    ),
]
_AccessLog = Annotated[
    bool,
    typer.Option(
        "--access-log", help="Log a line per request.", rich_help_panel=options.RUN
    ),
]


def serve(
    model: options.ModelArgument,
    host: _Host = "127.0.0.1",
    port: _Port = 8000,
    name: _Name = None,
    max_body: _MaxBody = 8.0,
    max_rows: _MaxRows = 10_000,
    timeout: _Timeout = 30.0,
    max_per_address: _MaxPerAddress = 64,
    workers: _Workers = 1,
    access_log: _AccessLog = False,
    quiet: options.QuietOption = False,
) -> None:
    """Serve a model over HTTP, with a page to try a row.

    Speaks the Open Inference Protocol v2, as KServe and Triton do, and explains
    predictions at /explain. Ctrl-C stops it.
    """
    load_model(model)  # says what is wrong, unlike a server that does not start
    _check_address(host, port)
    Screen("serve", as_json=False, quiet=quiet).say(
        f"Serving {model} at http://{host}:{port}; stop it with Ctrl-C."
    )
    run(
        model,
        host=host,
        port=port,
        name=name,
        max_body=int(max_body * _MEGABYTE),
        max_rows=max_rows,
        timeout=timeout,
        max_per_address=max_per_address,
        workers=workers,
        access_log=access_log,
    )


def _check_address(host: str, port: int) -> None:
    """Refuse an address at which nobody can listen, in a line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise OSError(
            f"cannot listen at {host}:{port}: {error.strerror}. Give another --host or "
            "--port."
        ) from error

"""A model file, served by uvicorn."""

from __future__ import annotations

import ipaddress
import logging
import re
from pathlib import Path
from typing import Any

from localsvm._extras import require
from localsvm.export import load
from localsvm.serve._app import MAX_BODY, MAX_ROWS, TIMEOUT, create_app

_MAX_CONNECTIONS = 256
_SHUTDOWN_SECONDS = 10
_log = logging.getLogger("localsvm.serve")


def run(
    model_path: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    name: str | None = None,
    max_body: int = MAX_BODY,
    max_rows: int = MAX_ROWS,
    timeout: float = TIMEOUT,
) -> None:
    """Load a model file and serve it until a signal to stop.

    The file is plain data: nothing in it is executed. On SIGINT and SIGTERM no new
    connection is accepted, running requests have ten seconds to end, and it returns.

    Parameters
    ----------
    model_path : path
        Written by :func:`localsvm.save`.
    host : str, default="127.0.0.1"
        Address to listen at; the default is reached from this machine alone. There is
        no authentication.
    port : int, default=8000
        0 takes a free one; the log says which.
    name : str or None, default=None
        Name of the model in addresses; None is that of the file.
    max_body : int, default=8388608
        Bytes of a request.
    max_rows : int, default=10000
        Rows of a request.
    timeout : float, default=30.0
        Seconds that a body may take to arrive, and an answer to be made.

    See Also
    --------
    create_app : The application, with all addresses.
    """
    uvicorn = require("uvicorn", "serve", "The server")
    path = Path(model_path)
    app = create_app(
        load(path),
        name=_name_of(path) if name is None else name,
        max_body=max_body,
        max_rows=max_rows,
        timeout=timeout,
    )
    if not _is_loopback(host):
        _log.warning("Listening at %s, where others may ask: no authentication.", host)
    config: Any = uvicorn.Config(
        app,
        host=host,
        port=port,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    uvicorn.Server(config).run()


def _name_of(path: Path) -> str:
    """Name of a file as an address can have it."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", path.stem)[:100] or "model"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

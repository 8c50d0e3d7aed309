"""A model file, served by uvicorn."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import logging
import re
import resource
import sys
from pathlib import Path
from typing import Any

from localsvm._extras import require
from localsvm.export import load
from localsvm.serve._app import MAX_BODY, MAX_ROWS, TIMEOUT, create_app
from localsvm.serve._running._processes import serve_in_processes

MAX_PER_ADDRESS = 64

_MAX_CONNECTIONS = 1000
_BACKLOG = 2048
_ACCEPTED = 64
_HEAD_SECONDS = 10.0
_UNSENT_BODIES = 8  # answers that clients do not read, in times the limit of a body
# Of the ten seconds that a shutdown takes at most: running requests have seven to end,
# are then told, and the last second is for what does not listen.
_GRACE_SECONDS = 7
_SHUTDOWN_SECONDS = 8
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
    max_per_address: int = MAX_PER_ADDRESS,
    workers: int = 1,
    access_log: bool = False,
) -> None:
    """Load a model file and serve it until a signal to stop.

    The file is plain data: nothing in it is executed. On SIGINT and SIGTERM no new
    connection is accepted, running requests have seven seconds to end, and it returns
    within ten.

    Parameters
    ----------
    model_path : path
        Written by :func:`localsvm.save`.
    host : str, default="127.0.0.1"
        Address to listen on; the default is reached only from this machine. There is
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
        Seconds that a body may take to arrive, an answer to be made, and to be read.
    max_per_address : int, default=64
        Connections of one address, or of one /64 network of IPv6. 0 is no limit: behind
        a reverse proxy all clients have the address of the proxy, which has to limit
        them itself.
    workers : int, default=1
        Processes that share the address and the memory of the model. Limits are those
        of each process. More than one needs a system that can fork.
    access_log : bool, default=False
        Whether to log a line per request, which slows small ones down.

    See Also
    --------
    create_app : The application, with all addresses.
    """
    require("uvicorn", "serve", "The server")
    if isinstance(max_per_address, bool) or max_per_address < 0:
        raise ValueError(
            f"max_per_address should be at least 0; got {max_per_address!r}."
        )
    if isinstance(workers, bool) or workers < 1:
        raise ValueError(f"workers should be at least 1; got {workers!r}.")
    path = Path(model_path)
    app = create_app(
        load(path),
        name=_name_of(path) if name is None else name,
        max_body=max_body,
        max_rows=max_rows,
        timeout=timeout,
    )
    if not _is_loopback(host):
        _log.warning(
            "Listening on %s, which others can reach: there is no authentication.", host
        )
    limits = _limits(max_body, timeout, max_per_address)
    server = functools.partial(_server, app, host, port, limits, access_log)
    if workers == 1:
        server().run()
        return

    def serve(listener: Any, parent: int) -> None:
        server(parent).run(sockets=[listener])

    serve_in_processes(serve, host, port, workers)


def _limits(max_body: int, timeout: float, max_per_address: int) -> Any:
    from localsvm.serve._guard import ConnectionLimits

    return ConnectionLimits(
        max_connections=min(_MAX_CONNECTIONS, _n_files() // 2),
        max_per_address=max_per_address,
        head_timeout=min(timeout, _HEAD_SECONDS),
        read_timeout=timeout,
        max_unsent=_UNSENT_BODIES * max_body,
    )


def _n_files() -> int:
    """Files that the process may have open; connections are files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if files == resource.RLIM_INFINITY else files


def _server(
    app: Any,
    host: str,
    port: int,
    limits: Any,
    access_log: bool,
    parent: int | None = None,
) -> Any:
    """Server of an application; it stops when the pipe ``parent`` ends."""
    import uvicorn

    from localsvm.serve._guard import GuardedProtocol

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if parent is not None:
                loop = asyncio.get_running_loop()
                loop.add_reader(parent, self._leave, parent)
            for server in self.servers:
                for listener in server.sockets:
                    with listener.dup() as same:
                        same.listen(_BACKLOG)

        def _leave(self, pipe: int) -> None:
            asyncio.get_running_loop().remove_reader(pipe)
            self.should_exit = True

        async def shutdown(self, sockets: Any = None) -> None:
            loop = asyncio.get_running_loop()
            loop.call_later(_GRACE_SECONDS, app.state.workers.stop)
            await super().shutdown(sockets)

    protocol: Any = functools.partial(GuardedProtocol, limits=limits)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol,
        ws="none",
        # asyncio accepts so many before it hands over the first of them. Those that
        # wait in the system are no files yet: there may be more.
        backlog=min(_ACCEPTED, _n_files() // 16),
        server_header=False,
        access_log=access_log,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    return Server(config)


def _name_of(path: Path) -> str:
    """Name of a file as an address can have it."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", path.stem)[:100] or "model"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

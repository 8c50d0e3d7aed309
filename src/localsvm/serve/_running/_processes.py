"""Several processes that serve one model at one address."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LEAST_SECONDS = 2.0
_log = logging.getLogger("localsvm.serve")

ServeAt = Callable[[socket.socket, int], None]


def bind(host: str, port: int) -> socket.socket:
    """Bind an address that other processes of this user may share.

    The system deals connections to the processes that listen there.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    found = socket.socket(family, kind, protocol)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    found.bind(address)
    return found


def serve_in_processes(serve: ServeAt, host: str, port: int, n_processes: int) -> None:
    """Fork processes that serve until a signal to stop; replace those that die.

    The model has been loaded before, so that all share its memory. A process also ends
    when this one does, however that happens.

    Parameters
    ----------
    serve : callable
        Serves at a socket until SIGINT or SIGTERM, or until a pipe ends.
    host : str
    port : int
    n_processes : int
    """
    reserved = bind(host, port)  # does not listen, but keeps the port
    port = reserved.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    _log.warning("%d processes serve at http://%s:%d", n_processes, shown, port)
    reading, writing = os.pipe()
    family = _Family(serve, host, port, reading, writing)
    with _remembering_signals() as stops:
        for _ in range(n_processes):
            family.fork()
        try:
            while not stops:
                family.replace_dead()
                time.sleep(0.1)
        finally:
            family.end()
            reserved.close()
    signal.raise_signal(stops[0])


class _Family:
    """The processes, by id, and when each began."""

    def __init__(
        self, serve: ServeAt, host: str, port: int, reading: int, writing: int
    ) -> None:
        self._serve, self._host, self._port = serve, host, port
        self._reading, self._writing = reading, writing
        self._began: dict[int, float] = {}

    def fork(self) -> None:
        """Begin one more."""
        pid = os.fork()
        if pid:
            self._began[pid] = time.monotonic()
            return
        code = 1
        try:
            os.close(self._writing)  # or its end would never be seen
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.default_int_handler)
            with contextlib.suppress(KeyboardInterrupt):
                self._serve(bind(self._host, self._port), self._reading)
            code = 0
        except BaseException:
            _log.exception("A process of the server failed.")
        finally:
            logging.shutdown()
            os._exit(code)

    def replace_dead(self) -> None:
        """Begin another for each that has ended by itself."""
        for pid in list(self._began):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                continue
            seconds = time.monotonic() - self._began.pop(pid)
            code = os.waitstatus_to_exitcode(status)
            if seconds < _LEAST_SECONDS:
                raise RuntimeError(
                    f"A process of the server ended with code {code} after "
                    f"{seconds:.1f} s; its log has the reason."
                )
            _log.error("A process ended with code %d; another takes its place.", code)
            self.fork()

    def end(self) -> None:
        """Ask all to end, and wait for them: they take ten seconds at most."""
        for pid in self._began:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        os.close(self._writing)
        for pid in self._began:
            os.waitpid(pid, 0)
        os.close(self._reading)


@contextmanager
def _remembering_signals() -> Iterator[list[int]]:
    """Collect signals to stop, and put the handlers back."""
    stops: list[int] = []

    def stop(number: int, frame: Any) -> None:
        stops.append(number)

    before = {
        number: signal.signal(number, stop)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stops
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

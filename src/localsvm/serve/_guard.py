"""Limits of connections, which uvicorn leaves to a server in front of it.

uvicorn bounds the time that an idle connection is kept after an answer, and no other
time: a client that sends half a head, or does not read its answer, is kept for ever.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from localsvm.serve._content import dump

_PIECE = 2**14
_PHRASES = {
    400: "Bad Request",
    408: "Request Timeout",
    429: "Too Many Requests",
    503: "Service Unavailable",
}


@dataclass(frozen=True)
class ConnectionLimits:
    """Bounds of all connections together, and of each.

    Parameters
    ----------
    max_connections : int
    max_per_address : int
        Of one address, or one /64 network of IPv6; 0 is no limit.
    head_timeout : float
        Seconds from the start of a connection, or from an answer, until the head of the
        next request is there.
    read_timeout : float
        Seconds that a client may take to read an answer.
    max_unsent : int
        Bytes of all answers that clients have not read yet.
    """

    max_connections: int
    max_per_address: int
    head_timeout: float
    read_timeout: float
    max_unsent: int


class GuardedProtocol(H11Protocol):
    """One connection of uvicorn, with limits.

    Where there are too many connections, a new one takes the place of the one whose
    client has let the server wait longest: for a head, for a body, or for an answer to
    be read. Requests that are worked on keep theirs.
    """

    def __init__(self, *args: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*args, **options)
        self.limits = limits
        self.since = self.loop.time()
        self.address: str | None = None
        self.is_dropped = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None

    @property
    def awaits_client(self) -> bool:
        """Whether the next step is the client's."""
        arriving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        return arriving or self.flow.write_paused

    def connection_made(self, transport: Any) -> None:
        """Make place, or refuse the connection."""
        super().connection_made(transport)
        self.address = _address_of(self.client)
        self._watch_head()
        limit = self.limits.max_per_address
        if limit and self.address is not None:
            same = [each for each in self._others() if each.address == self.address]
            if len(same) >= limit and not _drop_slowest(same):
                self.refuse(429, f"{self.address} has {limit} connections already.")
        others = self._others()
        full = len(others) >= self.limits.max_connections
        if full and not self.is_dropped and not _drop_slowest(others):
            self.refuse(503, "The server has too many connections; try again later.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all clocks."""
        _cancel(self._head_timer)
        _cancel(self._read_timer)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hand over small pieces: h11 bounds a head only when it needs more of it."""
        for start in range(0, len(data), _PIECE):
            if self.transport.is_closing():
                return
            self._take(data[start : start + _PIECE])
        self._watch_head()

    def _take(self, piece: bytes) -> None:
        """Refuse bodies in chunks of a few bytes, each of which costs as a packet."""
        cycle = self.cycle if self._in_request else None
        before = 0 if cycle is None else len(cycle.body)
        super().data_received(piece)
        if len(piece) < _PIECE or self.conn.their_state is not h11.SEND_BODY:
            return
        if cycle is not None and len(cycle.body) - before < _PIECE // 2:
            self.drop(400, "The body has chunks of a few bytes; expected larger ones.")
        if not self._in_request and (b"transfer-encoding", b"chunked") in self.headers:
            self.drop(400, "")  # has been answered

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.since = self.loop.time()
        super().on_response_complete()
        self._watch_head()

    def pause_writing(self) -> None:
        """Give the client some time to read, and bound what all have not read."""
        super().pause_writing()
        self._read_timer = self.loop.call_later(
            self.limits.read_timeout, self.transport.abort
        )
        slow = sorted((c for c in self._all() if c.flow.write_paused), key=_since)
        unsent = sum(_unsent(each) for each in slow)
        for each in slow:
            if unsent <= self.limits.max_unsent:
                break
            unsent -= _unsent(each)
            each.transport.abort()

    def resume_writing(self) -> None:
        """Stop the clock: the client has read."""
        _cancel(self._read_timer)
        super().resume_writing()

    def shutdown(self) -> None:
        """End what has not arrived; running requests may end by themselves."""
        if self._in_request and self.conn.their_state is h11.SEND_BODY:
            self.drop(503, "The server is shutting down.")
        else:
            super().shutdown()

    def refuse(self, status: int, message: str) -> None:
        """End the connection before any request."""
        self._end(_answer(status, message))

    def drop(self, status: int, message: str) -> None:
        """End the connection; a request that has not been answered is told why."""
        answered = self._in_request and self.cycle.response_started
        asked = self._in_request or self.conn.trailing_data[0]
        self._end(_answer(status, message) if asked and not answered else b"")

    def _end(self, answer: bytes) -> None:
        self.is_dropped = True
        self.transport.write(answer)
        self.transport.close()
        if _unsent(self):
            self.transport.abort()

    @property
    def _in_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch_head(self) -> None:
        """Run the clock whenever no request is being answered."""
        if self._in_request or self.transport.is_closing():
            _cancel(self._head_timer)
            self._head_timer = None
        elif self._head_timer is None:
            end = self.since + self.limits.head_timeout
            self._head_timer = self.loop.call_at(end, self._end_head)

    def _end_head(self) -> None:
        seconds = self.limits.head_timeout
        if self.flow.write_paused:  # has a clock of its own
            self._head_timer = self.loop.call_later(seconds, self._end_head)
        else:
            self.drop(408, f"The request did not arrive within {seconds:g} s.")

    def _others(self) -> list[GuardedProtocol]:
        return [c for c in self._all() if c is not self and not c.is_dropped]

    def _all(self) -> list[GuardedProtocol]:
        everyone: Any = self.connections
        return list(everyone)


def _drop_slowest(connections: Iterable[GuardedProtocol]) -> bool:
    """Drop the one that has waited longest for its client; False if none waits."""
    waiting = [each for each in connections if each.awaits_client]
    if not waiting:
        return False
    min(waiting, key=_since).drop(503, "The server needs the connection for others.")
    return True


def _since(connection: GuardedProtocol) -> float:
    return connection.since


def _unsent(connection: GuardedProtocol) -> int:
    return int(connection.transport.get_write_buffer_size())


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _address_of(client: tuple[str, int] | None) -> str | None:
    """Name what counts as one client: an address, or a /64 network of IPv6."""
    if client is None:
        return None
    try:
        address = ipaddress.ip_address(client[0])
    except ValueError:
        return client[0]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


def _answer(status: int, message: str) -> bytes:
    body = dump({"error": message})
    lines = [
        f"HTTP/1.1 {status} {_PHRASES[status]}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body

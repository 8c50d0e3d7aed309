"""Bodies of requests, read with limits of size, time and memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from localsvm.serve._errors import RequestError, busy, too_large

_DROPPED = 4  # times the limit


@dataclass(eq=False)
class _Arriving:
    """A body of which not all has arrived."""

    limit: asyncio.Timeout
    since: float
    content: bytearray = field(default_factory=bytearray)
    is_refused: bool = False

    def cost(self, now: float) -> float:
        """Memory held times the seconds that it was held for."""
        return len(self.content) * (now - self.since)

    def refuse(self, now: float) -> None:
        """Give the memory back, and wake up who waits for the rest."""
        self.is_refused = True
        self.content.clear()
        if not self.limit.expired():
            self.limit.reschedule(now)  # raises TimeoutError in its task


class BodyReader:
    """Reads bodies; all that are held at once have a bound.

    Beyond the bound, the unfinished body that has cost the most memory times seconds is
    refused: stalled uploads make room for those that arrive.

    Parameters
    ----------
    max_body : int
        Bytes of a body.
    max_held : int
        Bytes of all bodies that arrive, wait or are worked on.
    timeout : float
        Seconds that a body may take to arrive.
    """

    def __init__(self, max_body: int, max_held: int, timeout: float) -> None:
        self.max_body = max_body
        self.max_held = max_held
        self.timeout = timeout
        self.n_held = 0
        self._arriving: set[_Arriving] = set()

    @asynccontextmanager
    async def read(self, request: Any) -> AsyncIterator[bytearray]:
        """Read a body, and account for it until the context ends.

        The length that the client declares is only used to refuse early; the bytes that
        come are counted. Of a body that is somewhat too long the rest is read and
        dropped: a client that is still writing when the connection ends would not see
        the answer.

        Raises
        ------
        RequestError
            Of status 408, 413, 415 or 503.
        """
        _check_encoding(request.headers)
        told = request.headers.get("content-length", "")
        if told.isdecimal() and int(told[:20]) > _DROPPED * self.max_body:
            raise self._too_long()
        body = await self._receive(request)
        try:
            yield body
        finally:
            self.n_held -= len(body)

    async def _receive(self, request: Any) -> bytearray:
        now = asyncio.get_running_loop().time()
        body = _Arriving(asyncio.timeout_at(now + self.timeout), now)
        self._arriving.add(body)
        try:
            async with body.limit:
                await self._collect(request, body)
        except BaseException as error:
            self.n_held -= len(body.content)
            if body.is_refused:
                raise _no_room(self.max_held) from error
            if isinstance(error, TimeoutError):
                message = f"The body did not arrive within {self.timeout:g} s."
                raise RequestError(408, message) from error
            raise
        finally:
            self._arriving.discard(body)
        return body.content

    async def _collect(self, request: Any, body: _Arriving) -> None:
        length = 0
        async for chunk in request.stream():
            length += len(chunk)
            if length > _DROPPED * self.max_body:
                break
            if length <= self.max_body:
                self._make_room(body, len(chunk))
                body.content += chunk
                self.n_held += len(chunk)
        if length > self.max_body:
            raise self._too_long()

    def _make_room(self, body: _Arriving, n_bytes: int) -> None:
        now = asyncio.get_running_loop().time()
        if body.is_refused:
            raise _no_room(self.max_held)
        while self.n_held + n_bytes > self.max_held:
            costly = max(self._arriving, key=lambda each: each.cost(now))
            if costly is body:
                raise _no_room(self.max_held)
            self.n_held -= len(costly.content)
            costly.refuse(now)
            self._arriving.discard(costly)

    def _too_long(self) -> RequestError:
        return too_large(f"The body is longer than {self.max_body} bytes.")


def _no_room(max_held: int) -> RequestError:
    return busy(f"All requests together have more than {max_held} bytes; try later.")


def _check_encoding(headers: Any) -> None:
    coding = headers.get("content-encoding", "identity")
    if coding.strip().lower() != "identity":
        raise RequestError(
            415,
            "The body is compressed; expected plain JSON, without Content-Encoding.",
        )
    if "inference-header-content-length" in headers:
        raise RequestError(
            415, "Binary tensors are not supported; expected the data in the JSON."
        )

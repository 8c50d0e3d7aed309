"""Bodies of requests, read with limits."""

from __future__ import annotations

import asyncio
from typing import Any

from localsvm.serve._errors import RequestError, too_large

_DROPPED = 4  # times the limit


async def read_body(request: Any, max_body: int, timeout: float) -> bytes:
    """Read a body of at most ``max_body`` bytes within ``timeout`` seconds.

    The length that the client tells is only used to refuse early; the bytes that come
    are counted. Of a body that is somewhat too long the rest is read and dropped: a
    client that is still writing when the connection ends would not see the answer.

    Raises
    ------
    RequestError
        Of status 413, 408 or 415.
    """
    _check_encoding(request.headers)
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told[:20]) > _DROPPED * max_body:
        raise _too_long(max_body)
    try:
        async with asyncio.timeout(timeout):
            return await _collect(request, max_body)
    except TimeoutError as error:
        raise RequestError(
            408, f"The body did not arrive within {timeout:g} s."
        ) from error


async def _collect(request: Any, max_body: int) -> bytes:
    chunks, length = [], 0
    async for chunk in request.stream():
        length += len(chunk)
        if length > _DROPPED * max_body:
            break
        if length <= max_body:
            chunks.append(chunk)
    if length > max_body:
        raise _too_long(max_body)
    return b"".join(chunks)


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


def _too_long(max_body: int) -> RequestError:
    return too_large(f"The body is longer than {max_body} bytes.")

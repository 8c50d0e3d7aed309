"""Answers as JSON, written in pieces within a number of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from localsvm.serve._content import dump
from localsvm.serve._errors import RequestError, too_large

BLOCK_ROWS = 256
NUMBER_BYTES = 26  # at most, of a float and the comma before it


class AnswerWriter:
    """Writes JSON piece by piece, so that other threads run in between.

    Parameters
    ----------
    max_bytes : int
        Of the answer.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.n_bytes = 0

    def write(self, content: Any) -> bytes:
        """Write one piece.

        Raises
        ------
        RequestError
            Of status 413 if all pieces together are too long.
        ValueError
            If not all is finite.
        """
        piece = dump(content)
        self.n_bytes += len(piece)
        if self.n_bytes > self.max_bytes:
            raise _too_long(self.n_bytes, self.max_bytes)
        return piece

    def write_items(self, items: list[Any]) -> bytes:
        """Write items of a list without its brackets."""
        return self.write(items)[1:-1]


def check_length(n_rows: int, row_bytes: int, max_bytes: int) -> None:
    """Refuse to compute an answer that may be too long."""
    if n_rows * row_bytes > max_bytes:
        raise _too_long(n_rows * row_bytes, max_bytes, max_bytes // row_bytes)


def blocks_of(n_rows: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    """Cut rows into blocks, between which a request may end."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def with_list(head: dict[str, Any], name: str, items: list[bytes]) -> bytes:
    """Write an object whose last field is a list of written items."""
    start = dump({**head, name: []})[: -len("]}")]
    return b"".join([start, b", ".join(items), b"]}"])


def _too_long(
    n_bytes: int, max_bytes: int, max_rows: int | None = None
) -> RequestError:
    advice = "fewer rows" if not max_rows else f"at most {max_rows} rows"
    return too_large(
        f"The answer has up to {n_bytes} bytes; expected at most {max_bytes}. Send "
        f"{advice} a request, or ask for fewer outputs."
    )

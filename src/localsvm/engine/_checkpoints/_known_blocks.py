"""Which rows the results in a checkpoint are of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._record import Arrays
from localsvm.engine._checkpoints._checkpoint import Checkpoint
from localsvm.engine._checkpoints._identity import digest_block
from localsvm.engine._drivers import Merge, NumberedPart, merge_present
from localsvm.engine._sources import Block, Source

_NAME = "blocks"
# In place of a digest: of a block without rows, of a file without a stamp.
_NOTHING = bytes(32)

Digests = dict[int, bytes]


class KnownBlocks:
    """Digests of the blocks that a fit has read, in its checkpoint.

    A block is digested when it is first read. A resumed fit that would not read it
    again has to, once, to compare; unless it is part of a file that has been left
    alone.

    Parameters
    ----------
    checkpoint : Checkpoint
    source : Source
    """

    def __init__(self, checkpoint: Checkpoint, source: Source) -> None:
        self._checkpoint = checkpoint
        self._parts = source.parts
        self._digests: Digests = {}
        self._stamps: Digests = {}
        known = checkpoint.load(_NAME)
        if known is not None:
            numbers = known["numbers"].tolist()
            rows = zip(known["digests"], known["stamps"], strict=True)
            for number, (digest, stamp) in zip(numbers, rows, strict=True):
                self._digests[number] = digest.tobytes()
                self._stamps[number] = stamp.tobytes()

    def doubtful(self) -> list[NumberedPart]:
        """Blocks of an earlier call that may have changed since."""
        return [
            (number, self._parts[number])
            for number, stamp in sorted(self._stamps.items())
            if stamp == _NOTHING or stamp != self._parts[number].stamp
        ]

    def has(self, parts: Iterable[NumberedPart]) -> bool:
        """Whether all of these blocks have been read."""
        return all(number in self._digests for number, _ in parts)

    def note(self, number: int, digest: bytes | None) -> None:
        """Take down what was read, None for no rows; refuse other rows than before."""
        found = digest or _NOTHING
        if self._digests.setdefault(number, found) != found:
            self._checkpoint.refuse(
                f"{self._parts[number].place} had other rows, labels or weights when "
                "it was first read"
            )

    def save(self) -> None:
        """Write all to the checkpoint, ahead of results that stem from them."""
        numbers = sorted(self._digests)
        stamps = [self._parts[number].stamp or _NOTHING for number in numbers]
        state: Arrays = {
            "numbers": np.array(numbers, dtype=np.int64),
            "digests": _as_array(self._digests[number] for number in numbers),
            "stamps": _as_array(stamps),
        }
        self._checkpoint.save(_NAME, state, now=True)


def _as_array(digests: Iterable[bytes]) -> NDArray[np.uint8]:
    whole = np.frombuffer(b"".join(digests), dtype=np.uint8)
    return whole.reshape(-1, len(_NOTHING))


def call_and_digest(
    block: Block, function: Callable[..., Any], *arguments: Any
) -> tuple[Digests, Any]:
    """Digest of the block, under its number, and ``function`` of it."""
    return {block.number: digest_block(block)}, function(block, *arguments)


def merge_digested(
    first: tuple[Digests, Any], second: tuple[Digests, Any], merge: Merge
) -> tuple[Digests, Any]:
    """Join the digests of two groups of blocks, and their results by ``merge``."""
    return first[0] | second[0], merge_present(first[1], second[1], merge)

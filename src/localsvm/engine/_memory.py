"""What a block needs in memory, and what there is."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path

from localsvm.engine._sources import Source
from localsvm.exceptions import NotEnoughMemoryError


@dataclass(frozen=True)
class MemoryNeed:
    """What a method keeps in memory while it works on one block.

    Parameters
    ----------
    copies : float
        How often the rows of the block are there at the same time.
    bytes_per_row : float, default=0
        What else grows with the rows.
    fixed : float, default=0
        Bytes that do not depend on the rows: the model, sums.
    """

    copies: float
    bytes_per_row: float = 0.0
    fixed: float = 0.0

    def of(self, n_rows: int, n_features: int, itemsize: int) -> float:
        """Bytes for a block of so many rows."""
        per_row = self.copies * n_features * itemsize + self.bytes_per_row
        return n_rows * per_row + self.fixed

    def words(self, n_rows: int, n_features: int, itemsize: int) -> str:
        """Write the sum out."""
        terms = []
        if self.copies:
            columns = f"{n_features} columns x {itemsize} bytes"
            terms.append(f"{columns} x {self.copies:g} copies")
        if self.bytes_per_row:
            terms.append(f"{self.bytes_per_row:,.0f} bytes")
        text = f"{n_rows:,} rows x ({' + '.join(terms)})"
        if self.fixed:
            text += f" + {format_bytes(self.fixed)}"
        return text


@dataclass(frozen=True)
class MemoryRoom:
    """Memory that is left for work.

    Parameters
    ----------
    limit : float
        Bytes that may be used.
    used : float
        Bytes that are used already.
    origin : str
        What sets the limit.
    """

    limit: float
    used: float
    origin: str


def tasks_that_fit(source: Source, need: MemoryNeed, room: MemoryRoom) -> int:
    """How many blocks fit into memory at once; refuses if it is none.

    Blocks of unknown size are taken to fit.
    """
    part = source.largest_part
    if part is None or part.n_rows is None:
        return 2**30
    return times_that_fit(
        f"The largest block ({part.place})",
        (part.n_rows, source.n_features, source.dtype.itemsize),
        need,
        room,
        "Use smaller blocks (row groups, chunks, batches) or allow more memory.",
    )


def times_that_fit(
    what: str,
    shape: tuple[int, int, int],
    need: MemoryNeed,
    room: MemoryRoom,
    cure: str,
) -> int:
    """How often rows fit into memory; refuses if they do not.

    Parameters
    ----------
    what : str
        What the rows are called in the message.
    shape : (int, int, int)
        Rows, columns, bytes per entry.
    need : MemoryNeed
    room : MemoryRoom
    cure : str
        What the message advises.
    """
    needed, left = need.of(*shape), room.limit - room.used
    if needed > left:
        raise NotEnoughMemoryError(
            f"{what} needs {format_bytes(needed)} = {need.words(*shape)}, but "
            f"{format_bytes(max(0.0, left))} are left: {room.origin} of "
            f"{format_bytes(room.limit)} less {format_bytes(room.used)} in use. {cure}"
        )
    return int(left // needed) if needed else 2**30


def room_of_process(memory_limit: int | None) -> MemoryRoom:
    """Room in this process: what was allowed, else what the system allows."""
    if memory_limit is not None:
        return MemoryRoom(memory_limit, resident_bytes(), "memory_limit")
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        return MemoryRoom(soft, _virtual_bytes(), "the address space limit (ulimit -v)")
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    group = _control_group_limit()
    if group is not None and group < physical:
        return MemoryRoom(group, resident_bytes(), "the control group's limit")
    return MemoryRoom(physical, resident_bytes(), "the memory of the machine")


def resident_bytes() -> int:
    """Memory that this process uses."""
    return _statm(1) or 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _virtual_bytes() -> int:
    return _statm(0) or resident_bytes()


def _statm(column: int) -> int:
    try:
        fields = Path("/proc/self/statm").read_text().split()
    except OSError:
        return 0
    return int(fields[column]) * os.sysconf("SC_PAGE_SIZE")


def _control_group_limit() -> int | None:
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def format_bytes(size: float) -> str:
    """Size in the largest unit that makes it at least one."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"

"""Where rows are worked on: threads, files that are streamed, a Dask cluster."""

from localsvm.engine._blocks import Blocks, Partitions as Partitions
from localsvm.engine._checkpoints import Checkpoint, Statistics as Statistics
from localsvm.engine._drivers import cancel_event
from localsvm.engine._lazy import is_lazy, predict_lazily
from localsvm.engine._memory import MemoryNeed
from localsvm.engine._open import is_partitioned, open_partitions
from localsvm.engine._options import options
from localsvm.engine._queries import predict_blocks
from localsvm.engine._record import Arrays as Arrays, Record as Record
from localsvm.engine._sources import (
    Batches,
    Block,
    Labels as Labels,
    read_array,
    read_rows,
    save_array,
    write_folder,
    write_rows,
)
from localsvm.engine._store import (
    FolderStore as FolderStore,
    MemoryStore as MemoryStore,
    Store as Store,
)
from localsvm.exceptions import (
    FolderInUseError,
    NotEnoughMemoryError,
    UnreadablePartitionError,
)

__all__ = [
    "Batches",
    "Block",
    "Blocks",
    "Checkpoint",
    "FolderInUseError",
    "MemoryNeed",
    "NotEnoughMemoryError",
    "Partitions",
    "UnreadablePartitionError",
    "cancel_event",
    "is_lazy",
    "is_partitioned",
    "open_partitions",
    "options",
    "predict_blocks",
    "predict_lazily",
    "read_array",
    "read_rows",
    "save_array",
    "write_folder",
    "write_rows",
]

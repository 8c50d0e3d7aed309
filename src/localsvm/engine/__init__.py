"""Where rows are worked on: threads, files that are streamed, a Dask cluster."""

from localsvm._record import Arrays as Arrays, Record as Record
from localsvm.engine._blocks import Blocks
from localsvm.engine._checkpoints import Checkpoint
from localsvm.engine._drivers import cancel_event
from localsvm.engine._lazy import is_lazy, predict_lazily
from localsvm.engine._memory import MemoryNeed
from localsvm.engine._merging import record_of as record_of
from localsvm.engine._open import is_in_blocks, open_blocks
from localsvm.engine._options import options
from localsvm.engine._queries import predict_blocks
from localsvm.engine._sources import (
    Batches,
    Block,
    Labels as Labels,
)
from localsvm.engine._store import (
    FolderStore as FolderStore,
    MemoryStore as MemoryStore,
    Store as Store,
)
from localsvm.exceptions import (
    FolderInUseError,
    NotEnoughMemoryError,
    UnreadableBlockError,
)

__all__ = [
    "Batches",
    "Block",
    "Blocks",
    "Checkpoint",
    "FolderInUseError",
    "MemoryNeed",
    "NotEnoughMemoryError",
    "UnreadableBlockError",
    "cancel_event",
    "is_in_blocks",
    "is_lazy",
    "open_blocks",
    "options",
    "predict_blocks",
    "predict_lazily",
]

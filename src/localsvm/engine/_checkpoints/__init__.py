"""The state of a fit on the disk, and whether it belongs to the rows at hand."""

from localsvm.engine._checkpoints._checkpoint import (
    Checkpoint as Checkpoint,
)
from localsvm.engine._checkpoints._identity import (
    describe as describe,
    digest_block as digest_block,
)
from localsvm.engine._checkpoints._known_blocks import (
    Digests as Digests,
    KnownBlocks as KnownBlocks,
    call_and_digest as call_and_digest,
    merge_digested as merge_digested,
)
from localsvm.engine._checkpoints._lock import locked_folder as locked_folder

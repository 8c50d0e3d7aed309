"""Merge the records of blocks in a tree, and keep its state in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

import numpy as np

from localsvm.engine._checkpoints import Checkpoint, Statistics
from localsvm.engine._drivers import NumberedPart
from localsvm.engine._record import Record

# Height of the part of the tree that is merged where its blocks are.
GROUP_HEIGHT = 3


def cut_groups(parts: Sequence[NumberedPart]) -> list[Sequence[NumberedPart]]:
    """Cut the blocks into groups that are merged where they are."""
    size = 2**GROUP_HEIGHT
    return [parts[first : first + size] for first in range(0, len(parts), size)]


def as_state(n_groups: int, pending: list[tuple[int, Any]]) -> Statistics:
    """Put merged groups into one dict of arrays."""
    state: Statistics = {
        "groups": np.array(n_groups),
        "heights": np.array([height for height, _ in pending], dtype=np.int64),
    }
    for index, (_, result) in enumerate(pending):
        arrays = result.as_arrays() if isinstance(result, Record) else result
        for key, array in (arrays or {}).items():
            state[f"{index}:{key}"] = array
    return state


def merge_records(first: Record, second: Record) -> Record:
    """Merge two records."""
    return first.merge(second)


def record_of(function: Callable[..., Any]) -> type[Record] | None:
    """Kind of record that a function of a block returns, by its annotation."""
    kind = get_type_hints(function).get("return")
    return kind if isinstance(kind, type) and issubclass(kind, Record) else None


def restore(
    checkpoint: Checkpoint | None, stage: str, kind: type[Record] | None
) -> tuple[int, list[tuple[int, Any]]]:
    """How many groups are merged already, and what waits for a partner."""
    state = checkpoint.load(stage) if checkpoint is not None else None
    if state is None:
        return 0, []
    pending: list[tuple[int, Any]] = []
    for index, height in enumerate(state["heights"].tolist()):
        prefix = f"{index}:"
        own = {
            key.removeprefix(prefix): array
            for key, array in state.items()
            if key.startswith(prefix)
        }
        known = kind.from_arrays(own) if kind is not None and own else own
        pending.append((height, known or None))
    return int(state["groups"]), pending

"""Merge the records of blocks in a tree, and keep its state in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

import numpy as np

from localsvm._record import Arrays, Record
from localsvm.engine._checkpoints import Checkpoint
from localsvm.engine._drivers import NumberedPart

# Height of the part of the tree that is merged where its blocks are.
GROUP_HEIGHT = 3


def cut_groups(parts: Sequence[NumberedPart]) -> list[Sequence[NumberedPart]]:
    """Cut the blocks into groups that are merged where they are."""
    size = 2**GROUP_HEIGHT
    return [parts[first : first + size] for first in range(0, len(parts), size)]


def as_state(n_groups: int, pending: list[tuple[int, Any]]) -> Arrays:
    """Put merged groups into one dict of arrays."""
    state: Arrays = {
        "groups": np.array(n_groups),
        "heights": np.array([height for height, _ in pending], dtype=np.int64),
    }
    for index, (_, result) in enumerate(pending):
        arrays = {} if result is None else result.as_arrays()
        for key, array in arrays.items():
            state[f"{index}:{key}"] = array
    return state


def merge_records(first: Record, second: Record) -> Record:
    """Merge two records."""
    return first.merge(second)


def record_of(function: Callable[..., Any]) -> type[Record]:
    """Kind of record that a function of rows returns, by its annotation."""
    kind = get_type_hints(function).get("return")
    if not (isinstance(kind, type) and issubclass(kind, Record)):
        raise TypeError(
            f"{function.__module__}.{function.__qualname__} must be annotated with the "
            f"Record that it returns; found {kind}."
        )
    return kind


def restore(
    checkpoint: Checkpoint | None, stage: str, kind: type[Record]
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
        pending.append((height, kind.from_arrays(own) if own else None))
    return int(state["groups"]), pending

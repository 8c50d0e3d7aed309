"""Batches that can be read once, kept on the disk as blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localsvm.engine._sources._block import Block
from localsvm.engine._sources._source import BatchForm, Part, Source
from localsvm.engine._store import FolderStore, Store


@dataclass(frozen=True)
class _SpooledPart(Part):
    store: Store
    place: str
    n_rows: int

    def read(self) -> Block:
        kept = self.store.get(self.place)
        return Block(kept["X"], kept["y"], kept["weight"])


def spool(batches: Iterable[Any], folder: Path) -> Source:
    """Write batches to a folder, one after the other, and give them as blocks.

    Parameters
    ----------
    batches : iterable of (X, y) or (X, y, sample_weight)
    folder : Path
        Exists already; what is written there is for the caller to remove.
    """
    parts: list[Part] = []
    form: BatchForm | None = None
    store = FolderStore(folder)
    for number, batch in enumerate(batches):
        form = form or BatchForm.of(batch)
        place = f"batch {number}"
        block = form.block(batch, place)
        kept = {"X": block.X, "y": block.y, "weight": block.sample_weight}
        store.put(place, kept)
        parts.append(_SpooledPart(store, place, block.n_rows))
    if form is None:
        raise ValueError("The iterator of batches gave none; expected at least one.")
    return form.source(parts)

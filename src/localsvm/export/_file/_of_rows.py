"""The record of the rows that a model was fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm.data import MOST_BYTES, MOST_PROBES, RowSketch
from localsvm.export._file._fields import Array, Whole
from localsvm.export._file._specs import Record


def _make(**values: Any) -> RowSketch:
    sketch = RowSketch(**values)
    if not 1 <= len(sketch.bits) <= MOST_BYTES:
        raise ValueError(
            f"fitted_rows.bits has {len(sketch.bits)} bytes; expected 1 to "
            f"{MOST_BYTES}."
        )
    if sketch.n_repeated > sketch.n_rows:
        raise ValueError(
            f"fitted_rows.n_repeated is {sketch.n_repeated}; expected at most "
            f"{sketch.n_rows}, the number of rows."
        )
    return sketch


ROW_SKETCH = Record(
    _make,
    bits=Array((np.uint8,), "bytes"),
    n_rows=Whole(1),
    n_repeated=Whole(0),
    n_probes=Whole(1, MOST_PROBES),
    salt=Whole(0, 2**63 - 1),
)

"""What a model file keeps of held-out rows."""

from __future__ import annotations

import numpy as np

from localsvm.estimators._held_out.calibration import Calibration, Conformity
from localsvm.estimators._held_out.familiarity import Familiarity
from localsvm.estimators._held_out.maps import ClassMap, SignMap
from localsvm.state import (
    Array,
    Either,
    Fields,
    Flag,
    Maybe,
    Record,
    Rows,
    Sometimes,
    doubles,
    indices,
)

_MAPS = Either(
    signed=(
        SignMap,
        Record(
            SignMap,
            knots=doubles(2, "pieces", low=0.0),
            slopes=doubles(2, "pieces", low=0.0),
        ),
    ),
    classes=(
        ClassMap,
        Record(
            ClassMap,
            slope=doubles("classes", low=0.0),
            bias=doubles("classes"),
            squashed=Flag(),
        ),
    ),
)
_CONFORMITY = Record(
    Conformity,
    probability=doubles("held_out", low=0.0),
    region=indices("held_out"),
    weight=doubles("held_out", low=0.0),
)


def _familiarity(columns: str) -> Record:
    return Record(
        Familiarity,
        references=Rows("references", columns),
        missing=Maybe(Array((np.bool_,), "references", columns)),
        scale=Array((np.float64,), columns, low=0.0),
        middle=doubles(columns),
        distance=doubles("measured", low=0.0),
        region=indices("measured"),
        weight=doubles("measured", low=0.0),
    )


def held_out_fields(columns: str) -> Fields:
    """Attributes of a classifier that sees rows of so many columns."""
    return {
        "_calibration": Sometimes(
            Record(Calibration, map=_MAPS, conformity=Maybe(_CONFORMITY))
        ),
        "_familiarity": Sometimes(_familiarity(columns)),
    }


HELD_OUT = held_out_fields("columns")
MAPPED_HELD_OUT = held_out_fields("mapped_columns")

"""What rows that were held out of a fit tell: probabilities, sets, familiarity."""

from localsvm.estimators._held_out.calibration import Calibration
from localsvm.estimators._held_out.familiarity import Familiarity
from localsvm.estimators._held_out.maps import ClassMap, SignMap, identity_map
from localsvm.estimators._held_out.mixin import HeldOutMixin
from localsvm.estimators._held_out.record import (
    MOST_HELD_OUT,
    HeldOut,
    rows_in_memory,
    sample_rows,
)

__all__ = [
    "MOST_HELD_OUT",
    "Calibration",
    "ClassMap",
    "Familiarity",
    "HeldOut",
    "HeldOutMixin",
    "SignMap",
    "identity_map",
    "rows_in_memory",
    "sample_rows",
]

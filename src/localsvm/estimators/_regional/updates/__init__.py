"""Rows in and out of a fit of linear SVMs over regions."""

from localsvm.estimators._regional.updates.base import UpdatableRegional
from localsvm.estimators._regional.updates.kept import (
    KeptRegional,
    keep_regional,
    restore_regional,
    with_vectors,
)
from localsvm.estimators._regional.updates.measure import measured
from localsvm.estimators._regional.updates.repair import (
    RegionalUpdate,
    update_regional,
)

__all__ = [
    "KeptRegional",
    "RegionalUpdate",
    "UpdatableRegional",
    "keep_regional",
    "measured",
    "restore_regional",
    "update_regional",
    "with_vectors",
]

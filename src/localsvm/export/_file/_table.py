"""The fixed table of classes that a model file may name."""

from __future__ import annotations

from functools import cache

from localsvm.cluster import state as of_clusters
from localsvm.data import state as of_tables
from localsvm.estimators import METHODS, specs_of_family
from localsvm.export._file import (
    _of_calibration,
    _of_columns,
    _of_encoders,
    _of_linear,
    _of_pipelines,
    _of_splitters,
    _of_transformers,
)
from localsvm.kernels import state as of_kernels
from localsvm.state import enter_specs

_DECLARED = (
    of_clusters,
    of_kernels,
    of_tables,
    _of_calibration,
    _of_columns,
    _of_encoders,
    _of_linear,
    _of_pipelines,
    _of_splitters,
    _of_transformers,
)


@cache
def fill_table() -> None:
    """Enter all that is declared: of every family of methods, and of what they use."""
    for family in dict.fromkeys(method.family for method in METHODS):
        enter_specs(specs_of_family(family))
    for module in _DECLARED:
        enter_specs(module.SPECS)

"""The fixed table of classes that a model file may name."""

from __future__ import annotations

from localsvm.export._file import (
    _of_calibration,
    _of_clusterers,
    _of_columns,
    _of_encoders,
    _of_exact,
    _of_local,
    _of_mixtures,
    _of_pipelines,
    _of_regions,
    _of_searches,
    _of_splitters,
    _of_stages,
    _of_summaries,
    _of_tables,
    _of_transformers,
)
from localsvm.export._file._specs import Spec

SPECS: dict[str, Spec] = {
    spec.name: spec
    for module in (
        _of_calibration,
        _of_clusterers,
        _of_columns,
        _of_encoders,
        _of_exact,
        _of_local,
        _of_mixtures,
        _of_pipelines,
        _of_regions,
        _of_searches,
        _of_splitters,
        _of_stages,
        _of_summaries,
        _of_tables,
        _of_transformers,
    )
    for spec in module.SPECS
}

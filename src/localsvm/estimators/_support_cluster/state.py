"""What a model file keeps of SVMs on clusters, and of the streams that extend them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localsvm.cluster import GaussianSummary, ThresholdClustering
from localsvm.estimators._held_out.state import HELD_OUT
from localsvm.estimators._support_cluster import (
    ClusterMachine,
    SupportClusterFit,
    SupportClusterSVC,
    as_gaussians,
)
from localsvm.kernels import ClusterKernel
from localsvm.solvers import Endings
from localsvm.state import (
    COLUMNS,
    RANGES,
    Classes,
    Dims,
    Field,
    Flag,
    Labels,
    Maybe,
    Number,
    Part,
    Record,
    Report,
    Several,
    Sink,
    Source,
    Spec,
    Text,
    Word,
    doubles,
    indices,
    read_value,
    short_indices,
    write_value,
)


class _Covariance(Field):
    """Variances, or matrices, of the clusters."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the array."""
        return self._kind(value.ndim).write(value, place, sink, dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read the array."""
        ndim = source.take(plain, place).ndim
        return self._kind(ndim).read(plain, place, source, dims)

    def _kind(self, ndim: int) -> Field:
        more = () if ndim == 2 else ("columns",)
        return doubles("clusters", "columns", *more)


class _Streams(Field):
    """Clusterers of the classes, by label."""

    _part = Part("clusterer", columns="columns")

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write labels and clusterers."""
        return [
            [
                write_value(label, place, sink),
                self._part.write(stream, f"{place}[{i}]", sink, dims),
            ]
            for i, (label, stream) in enumerate(value.items())
        ]

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read labels and clusterers."""
        streams: dict[Any, Any] = {}
        for i, entry in enumerate(plain if isinstance(plain, list) else [None]):
            if not isinstance(entry, list) or len(entry) != 2:
                raise ValueError(f"{place} is {plain!r:.60}; expected pairs.")
            label = read_value(entry[0], place, source)
            if not isinstance(label, (bool, int, float, str)) or label in streams:
                raise ValueError(f"{place} has the label {label!r:.60}.")
            streams[label] = self._part.read(entry[1], f"{place}[{i}]", source, dims)
        return streams


def _check(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    summary, classes = values["summary_"], values["classes_"]
    del model
    if values["_machine"] is None and len(classes) > 1:
        raise ValueError("_machine is missing; expected one of several classes.")
    if not np.isin(np.asarray(summary.label), classes).all():
        raise ValueError("summary_.label has labels that are not in classes_.")
    streams = values["_streams"]
    if not set(streams) <= set(classes.tolist()):
        raise ValueError("_streams has labels that are not in classes_.")
    if not all(type(each) is ThresholdClustering for each in streams.values()):
        raise ValueError("_streams has a clusterer that cannot go on.")
    summary.check_covariance()
    if values["_machine"] is not None:
        _check_machine(values["_machine"], dims)


def _check_machine(machine: ClusterMachine, dims: Dims) -> None:
    if (np.diff(machine.support) <= 0).any():
        raise ValueError("_machine.support must ascend.")
    if not len(machine.pairs):
        return
    negative, positive = machine.pairs.T
    if (positive < 0).any() or (negative == positive).any():
        raise ValueError("_machine.pairs has a class against itself or none.")
    if (negative >= 0).any() and (negative < 0).any():
        raise ValueError("_machine.pairs has pairs of both kinds.")
    if dims["classes"] == 2 and len(machine.pairs) > 1:
        raise ValueError("_machine.pairs has several pairs of two classes.")
    if dims["classes"] == 2 and negative[0] < 0:
        raise ValueError("_machine.pairs has one class of two.")


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    own = {
        name: values[name] for name in (*COLUMNS, *RANGES, *HELD_OUT) if name in values
    }
    vars(unfitted).update(own)
    summary, machine = values["summary_"], values["_machine"]
    if machine is not None:
        clusters = as_gaussians(summary).take(machine.support)
        machine = ClusterMachine(**vars(machine) | {"clusters": clusters})
    fit = SupportClusterFit(
        values["classes_"],
        summary,
        machine,
        values["_streams"],
        values["_classes_named"],
    )
    unfitted._store(fit, values["fit_report_"])
    return unfitted


def _machine_without_clusters(**parts: Any) -> ClusterMachine:
    return ClusterMachine(**parts, clusters=None)  # type: ignore[arg-type]


# Attributes that follow from the summary and the machine.
_DERIVED = (
    "n_regions_",
    "region_sizes_",
    "region_class_counts_",
    "support_",
    "dual_coef_",
    "intercept_",
    "n_support_",
    "C_",
    "gamma_",
    "log_scale_",
    "duality_gap_",
    "violation_",
    "n_iter_",
)

SPECS = (
    Spec(
        SupportClusterSVC,
        "classifier",
        {
            **COLUMNS,
            **RANGES,
            **HELD_OUT,
            "classes_": Classes(fewest=1),
            "fit_report_": Report(),
            "summary_": Record(
                GaussianSummary,
                weight=doubles("clusters"),
                mean=doubles("clusters", "columns"),
                covariance=Maybe(_Covariance()),
                label=Labels("clusters"),
                feature_names=Maybe(Several(Text())),
            ),
            "_machine": Maybe(
                Record(
                    _machine_without_clusters,
                    kernel=Record(
                        ClusterKernel,
                        form=Word("expected_rbf", "paper"),
                        gamma=Number(0.0, above=True),
                    ),
                    log_scale=Number(),
                    C=Number(0.0, above=True),
                    support=indices("supports", below="clusters"),
                    duals=doubles("svms", "supports"),
                    intercept=doubles("svms"),
                    pairs=short_indices("svms", 2, low=-1, below="classes"),
                    endings=Record(
                        Endings,
                        status=short_indices("svms", below=4),
                        violation=doubles("svms", finite=False),
                    ),
                    n_iter=indices("svms"),
                    relative_gap=doubles("svms", finite=False),
                )
            ),
            "_streams": _Streams(),
            "_classes_named": Flag(),
        },
        left_out=frozenset((*_DERIVED, "_tested")),
        check=_check,
        make=_make,
    ),
)

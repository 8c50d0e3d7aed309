"""The fit of a Support Cluster Machine: cluster each class, learn on the clusters.

``fit_support_clusters`` does both for blocks of rows, ``learn_summary`` only the second
for clusters that others have found, and ``extend_support_clusters`` continues a fit
with the next rows of a stream. None of them knows an estimator; what they return is
frozen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.cluster import GaussianSummary, ThresholdClustering
from localsvm.engine import Block, Blocks, MemoryNeed
from localsvm.estimators._held_out import HeldOut
from localsvm.estimators._support_cluster.blocks import (
    cluster_block,
    finish_merging,
    wanted_clusters,
)
from localsvm.estimators._support_cluster.held_out import draw_rows, without_rows
from localsvm.estimators._support_cluster.learn import learn_clusters, make_tasks
from localsvm.estimators._support_cluster.model import ClusterMachine
from localsvm.estimators._support_cluster.stream import (
    extend_classes,
    extend_clusters,
)
from localsvm.estimators._weights import weigh_rows
from localsvm.exceptions import DataError
from localsvm.kernels import ClusterKernel, scale_gamma
from localsvm.rows import SCALED_C, Rows
from localsvm.solvers import KernelOptions

# The table that is read, the rows made of it, and the distinct rows of a class; as much
# again is what the allocator keeps of arrays that are gone.
_COPIES = 6.0
# Clusters that are merged, as a multiple of those of a block: both sides, what they are
# joined to, and what the reduction makes of it.
_SUMMARIES = 64
# Clusters of a class that are reckoned with where the clusterer finds their number.
_CLUSTERS = 200

# Steps of the solver where ``max_iter`` is None.
MAX_STEPS = 1_000_000


@dataclass(frozen=True)
class SupportClusterSettings:
    """The problem that is solved.

    Attributes
    ----------
    clusterer : clusterer
        A copy is fitted to each class.
    C : float or "scale"
        Penalty of a cluster of mean weight; "scale" is 10.
    covariance : {"diag", "full", "none"}
    kernel_form : {"expected_rbf", "paper"}
    gamma : float, "scale" or "auto"
    multi_class : {"ovo", "ovr"}
    class_weight : dict, "balanced" or None
    """

    clusterer: Any
    C: float | str = "scale"
    covariance: str = "diag"
    kernel_form: str = "expected_rbf"
    gamma: float | str = "scale"
    multi_class: str = "ovo"
    class_weight: Any = None


@dataclass(frozen=True)
class FitOptions:
    """How a fit runs: how exactly, how long, on how many threads.

    Attributes
    ----------
    seed : int
        Chooses the order in which a clusterer gets the rows.
    tol : float
        Violation of the optimality conditions at which the solver stops.
    max_iter : int
        Steps of the solver per SVM.
    n_jobs : int or None
    clock : StageClock
        Times the stages "cluster" and "learn", and limits the second.
    """

    seed: int = 0
    tol: float = 1e-3
    max_iter: int = MAX_STEPS
    n_jobs: int | None = None
    clock: StageClock = field(default_factory=StageClock)

    def for_solver(self) -> KernelOptions:
        """Translate to the options of the solver."""
        return KernelOptions(
            tol=self.tol, max_iter=self.max_iter, deadline=self.clock.deadline
        )


@dataclass(frozen=True)
class SupportClusterFit:
    """Result of a fit.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    summary : GaussianSummary
        The clusters, with labels.
    machine : ClusterMachine or None
        None in a stream of one class so far. It may have stopped before ``tol``; the
        caller checks that.
    streams : mapping of label to ThresholdClustering
        Clusterers that ``extend_support_clusters`` continues.
    classes_named : bool
        Whether ``classes`` are all that may come.
    ends : ndarray of shape (2, n_features) or None
        Smallest and largest value of each column, if rows were read.
    """

    classes: NDArray[Any]
    summary: GaussianSummary
    machine: ClusterMachine | None
    streams: Mapping[Any, ThresholdClustering] = field(default_factory=dict)
    classes_named: bool = False
    ends: NDArray[Any] | None = None

    def class_index(self) -> NDArray[np.intp]:
        """Class of each cluster."""
        return np.searchsorted(self.classes, np.asarray(self.summary.label))

    def attributes(self) -> dict[str, Any]:
        """Public attributes of an estimator; those of the SVMs if there are any."""
        summary, machine, class_index = self.summary, self.machine, self.class_index()
        of_class = np.arange(len(self.classes)) == class_index[:, np.newaxis]
        found = {
            "classes_": self.classes,
            "summary_": summary,
            "n_regions_": summary.n_clusters,
            "region_sizes_": summary.weight,
            "region_class_counts_": of_class * summary.weight[:, np.newaxis],
        }
        if machine is None:
            return found
        own = class_index[machine.support]
        return found | {
            "support_": machine.support,
            "dual_coef_": machine.duals,
            "intercept_": machine.intercept,
            "n_support_": np.bincount(own, minlength=len(self.classes)),
            "C_": machine.C,
            "gamma_": machine.kernel.gamma,
            "log_scale_": machine.log_scale,
            "duality_gap_": float(machine.relative_gap.max(initial=0.0)),
            "violation_": float(machine.endings.violation.max(initial=0.0)),
            "n_iter_": int(machine.n_iter.max(initial=1)),
        }


def fit_support_clusters(
    blocks: Blocks,
    settings: SupportClusterSettings,
    options: FitOptions,
    classes: NDArray[Any] | None = None,
) -> SupportClusterFit:
    """Section 2.2: cluster each class, then learn on the clusters.

    Parameters
    ----------
    blocks : Blocks
    settings : SupportClusterSettings
    options : FitOptions
    classes : ndarray of shape (n_classes,) or None, default=None
        Labels of blocks that hold class numbers, as those in memory do.

    Returns
    -------
    SupportClusterFit
    """
    if not blocks.is_in_memory:
        blocks.require_memory(_memory_of_block(settings, blocks.n_features))
    with options.clock.stage("cluster"):
        found = blocks.reduce(
            cluster_block,
            settings.clusterer,
            settings.covariance,
            options.seed,
            blocks.n_jobs,
            stage="summary",
        )
        summary = finish_merging(found)
    if not blocks.is_in_memory:
        _require_memory_to_learn(blocks, summary.n_clusters, options.n_jobs)
    if classes is not None:
        summary = replace(summary, label=classes[np.asarray(summary.label)])
    learned = learn_summary(
        summary,
        settings,
        options,
        found.content.totals.classes if classes is None else classes,
    )
    return replace(learned, ends=found.content.ends)


def join_summaries(summaries: Any, covariance: str) -> GaussianSummary:
    """Join the clusters of several sources, in an order of their own.

    Parameters
    ----------
    summaries : GaussianSummary, object with one as ``summary``, or sequence of them
        With labels and at least the covariances asked for.
    covariance : {"diag", "full", "none"}

    Returns
    -------
    GaussianSummary
    """
    several = summaries if isinstance(summaries, Sequence) else [summaries]
    parts: list[Any] = [getattr(each, "summary", each) for each in several]
    whole = GaussianSummary.concatenated(parts)
    if whole.label is None:
        raise DataError("The summaries have no labels; expected one a cluster.")
    whole.check_covariance()
    return whole.with_covariance(covariance).ordered()


def learn_summary(
    summary: GaussianSummary,
    settings: SupportClusterSettings,
    options: FitOptions,
    classes: NDArray[Any] | None = None,
) -> SupportClusterFit:
    """Section 2.2.2: learn on given clusters.

    Parameters
    ----------
    summary : GaussianSummary
        With labels.
    settings : SupportClusterSettings
    options : FitOptions
    classes : ndarray of shape (n_classes,) or None, default=None
        Sorted labels; None takes those of the clusters.

    Returns
    -------
    SupportClusterFit
    """
    labels = np.asarray(summary.label)
    classes = np.unique(labels) if classes is None else classes
    class_index = np.searchsorted(classes, labels)
    weight = weigh_rows(settings.class_weight, classes, class_index, summary.weight)
    with options.clock.stage("learn"):
        machine = learn_clusters(
            summary,
            make_tasks(class_index, len(classes), settings.multi_class),
            ClusterKernel(settings.kernel_form, _gamma(settings.gamma, summary)),
            weight / summary.weight.mean(),
            SCALED_C if settings.C == "scale" else float(settings.C),
            options.for_solver(),
            options.n_jobs,
        )
    return SupportClusterFit(classes, summary, machine)


def hold_out(
    rows: Rows,
    fit: SupportClusterFit,
    settings: SupportClusterSettings,
    options: FitOptions,
) -> HeldOut | None:
    """Take some rows out of the clusters, learn again, and decide them.

    Parameters
    ----------
    rows : Rows
        Those of the fit.
    fit : SupportClusterFit
    settings : SupportClusterSettings
    options : FitOptions

    Returns
    -------
    HeldOut or None
        None where no row can be spared.
    """
    parts = []
    for drawn in draw_rows(rows):
        summary = without_rows(fit.summary, drawn, fit.classes)
        machine = learn_summary(summary, settings, options, fit.classes).machine
        assert machine is not None
        first = int(np.searchsorted(fit.classes, np.asarray(summary.label)[0]))
        found = machine.class_scores(drawn.X, first, len(fit.classes), options.n_jobs)
        parts.append(HeldOut(drawn, found.astype(np.float64)))
    if not parts:
        return None
    return reduce(HeldOut.followed_by, parts)


def extend_support_clusters(
    start: SupportClusterFit | None,
    batch: Block,
    settings: SupportClusterSettings,
    options: FitOptions,
    named: Any = None,
) -> SupportClusterFit:
    """Add the rows of a batch to the clusters, and learn on them.

    Parameters
    ----------
    start : SupportClusterFit or None
        Fit that is continued; None begins a stream.
    batch : Block
    settings : SupportClusterSettings
        Its clusterer is a :class:`~localsvm.cluster.ThresholdClustering`.
    options : FitOptions
    named : array-like or None, default=None
        All classes that may come.

    Returns
    -------
    SupportClusterFit
        Without a machine as long as there is one class.
    """
    known = None if start is None else start.classes
    all_named = start is not None and start.classes_named
    classes = extend_classes(known, all_named, batch.y, named)
    with options.clock.stage("cluster"):
        summary, streams = extend_clusters(
            None if start is None else start.summary,
            {} if start is None else start.streams,
            batch,
            settings.clusterer,
            settings.covariance,
        )
    if len(classes) > 1:
        fit = learn_summary(summary, settings, options, classes)
    else:
        fit = SupportClusterFit(classes, summary, None)
    return replace(fit, streams=streams, classes_named=all_named or named is not None)


def _gamma(gamma: float | str, summary: GaussianSummary) -> float:
    if gamma == "auto":
        return 1.0 / summary.n_features
    if gamma == "scale":
        return scale_gamma(summary.mean, summary.weight, _within(summary))
    return float(gamma)


def _within(summary: GaussianSummary) -> float:
    """Variance of the rows of a cluster, summed over columns, on average over rows."""
    if summary.covariance is None:
        return 0.0
    variance = np.asarray(summary.with_covariance("diag").covariance)
    return float(summary.weight @ variance.sum(axis=1) / summary.weight.sum())


def _memory_of_block(settings: SupportClusterSettings, n_features: int) -> MemoryNeed:
    """Memory of one block, assuming two classes; their number is not known yet."""
    per_cluster = {"none": 1, "diag": 2, "full": 1 + n_features}[settings.covariance]
    clusters = 2 * (wanted_clusters(settings.clusterer) or _CLUSTERS)
    fixed = 8.0 * _SUMMARIES * clusters * per_cluster * n_features
    return MemoryNeed(copies=_COPIES, bytes_per_row=100.0, fixed=fixed)


def _require_memory_to_learn(
    blocks: Blocks, n_clusters: int, n_jobs: int | None
) -> None:
    """Refuse a kernel matrix that does not fit, with its copies per thread."""
    matrices = 1 + effective_n_jobs(n_jobs)
    blocks.require_memory_here(
        MemoryNeed(copies=0.0, bytes_per_row=8.0 * n_clusters * matrices),
        n_clusters,
        f"The kernel matrix of {n_clusters:,} clusters",
        "Use fewer clusters (n_clusters) or allow more memory.",
    )

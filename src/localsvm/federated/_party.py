"""A party that shares clusters of its rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets

from localsvm._checks import (
    check_parameters,
    check_rows,
    integer,
    level_of_caller,
    one_of,
    with_methods,
)
from localsvm._seeds import draw_seed
from localsvm.cluster import (
    GaussianSummary,
    class_clusterer,
    map_classes,
    summarize_classes,
)
from localsvm.exceptions import DataError
from localsvm.federated._ledger import Ledger
from localsvm.federated._protection._encoding import (
    Lattice,
    half_diagonal,
    sensitivity,
    totals_by_cell,
)
from localsvm.federated._protection._levels import (
    DifferentialPrivacy,
    MinimumSize,
    PrivacyLevel,
    min_size,
)
from localsvm.federated._protection._noise import add_noise, plan_noise
from localsvm.federated._protection._noisy_summary import NoisyTotals
from localsvm.federated._protection._partition import (
    cells_by_class,
    check_centers,
    partition_digest,
    summarize_cells,
)
from localsvm.federated._protection._rare_values import indicator_groups
from localsvm.federated._protection._small_clusters import CoarseClusters, Coarsening
from localsvm.federated._sharing._labels import class_positions, plain_labels
from localsvm.federated._sharing._records import PartyRecord, check_name
from localsvm.federated._sharing._shared import SharedSummary


class _Rows(NamedTuple):
    """Validated rows of a party."""

    X: Any
    y: NDArray[Any]
    feature_names: tuple[str, ...] | None


class Party:
    """Somebody with rows who shares clusters of them, never the rows.

    For hospitals or banks that want one classifier and must keep their rows: each makes
    a summary of its own, :func:`merge` puts them together, and a support cluster
    machine learns from the result (Li et al. 2007, Section 3.4). Choose the level of
    privacy with care: clusters are data about people, and fewer rows per cluster tell
    more.

    Parameters
    ----------
    name : str
        Stands in the file.
    n_clusters : int, default=200
        Most clusters of each class.
    clusterer : clusterer or None, default=None
        Fitted to each class. None is
        :class:`~localsvm.cluster.ThresholdClustering`, as in the paper.
    covariance : {"diag", "full", "none"}, default="diag"
        What is told of the spread. "full" tells most, and is refused with :func:`dp`.
    centers : array-like of shape (n_centers, n_features) or None, default=None
        Centres that all parties agreed on and that were *not made from these rows*:
        rows go to the nearest one and nothing is clustered. Clusters of the same class
        and centre can then be joined exactly by :func:`merge`. Needed for :func:`dp`;
        see :func:`random_centers`.
    classes : array-like or None, default=None
        All labels that may occur, known beforehand. Needed for :func:`dp`.
    ledger : Ledger or None, default=None
        Counts what was released of these rows. None is a new one, which allows a single
        release.
    random_state : int, RandomState instance or None, default=0
        Of the clusterer. It does not touch the noise of :func:`dp`, which nobody can
        repeat.

    See Also
    --------
    min_size : The default level of privacy.
    dp : The only one with a guarantee.

    Notes
    -----
    Costs what the clusterer does, or O(n K d) for K centres, and O(n d log n) with
    :func:`min_size`. Rows may be CSR; clusters are dense. With :func:`min_size`,
    adjacent columns of zeros and ones that exclude each other are taken for one
    category column: keep the indicators of a category together.

    What is not defended against: partners who compare releases that no common ledger
    counts; conclusions about everybody in a cluster of one class, if it is known who is
    in it; parties that lie (see ``max_share`` of :func:`merge`).

    References
    ----------
    B. Li, M. Chi, J. Fan, X. Xue. Support cluster machine. ICML 2007.

    Examples
    --------
    >>> from localsvm.data import make_two_spirals
    >>> from localsvm.federated import Party, merge, min_size
    >>> X, y = make_two_spirals(2000, random_state=0)
    >>> parts = [
    ...     Party(name, n_clusters=30).summarize(X[rows], y[rows], min_size(20))
    ...     for name, rows in (("a", slice(0, 1000)), ("b", slice(1000, 2000)))
    ... ]
    >>> shared = merge(parts)
    >>> weight = shared.summary.weight
    >>> bool(weight.min() >= 20), bool(abs(weight.sum() - 2000) < 200)
    (True, True)
    """

    def __init__(
        self,
        name: str,
        *,
        n_clusters: int = 200,
        clusterer: Any = None,
        covariance: str = "diag",
        centers: Any = None,
        classes: Any = None,
        ledger: Ledger | None = None,
        random_state: Any = 0,
    ) -> None:
        self.name = name
        self.n_clusters = n_clusters
        self.clusterer = clusterer
        self.covariance = covariance
        self.centers = None if centers is None else check_centers(centers)
        self.classes = None if classes is None else np.unique(plain_labels(classes))
        self.ledger = Ledger() if ledger is None else ledger
        self.random_state = random_state
        check_name(name)
        check_parameters(
            self,
            n_clusters=integer(1),
            clusterer=one_of(None) | with_methods("fit", "get_params"),
            covariance=one_of("diag", "full", "none"),
            ledger=with_methods("enter"),
        )

    def summarize(
        self, X: Any, y: Any, privacy: PrivacyLevel | None = None
    ) -> SharedSummary:
        """Summarise rows for others, and enter that into the ledger.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite numbers. The names of a data frame's columns leave as well.
        y : array-like of shape (n_samples,)
            Class labels.
        privacy : level of privacy or None, default=None
            What :func:`none`, :func:`min_size` or :func:`dp` returns. None is
            ``min_size()``.

        Returns
        -------
        SharedSummary
            What may leave. The ledger has counted it, sent or not.
        """
        level = min_size() if privacy is None else privacy
        if not isinstance(level, PrivacyLevel):
            raise ValueError(
                "privacy must be what none(), min_size() or dp() returns. Got "
                f"{level!r:.60} instead."
            )
        rows = self._check_rows(X, y)
        if isinstance(level, DifferentialPrivacy):
            return self._summarize_with_noise(rows, level)
        if isinstance(level, MinimumSize):
            return self._summarize_coarsely(rows, level)
        summary, cells = self._clusters(rows)
        record = PartyRecord(
            self.name,
            level,
            float(summary.weight.sum()),
            dropped_rows=0.0,
            dropped_share=0.0,
            accounting=self.ledger.enter(self.name, level),
        )
        return self._shared(summary, record, cells)

    def _check_rows(self, X: Any, y: Any) -> _Rows:
        reader = BaseEstimator()
        X, y = check_rows(reader, X, y)
        labels = plain_labels(y)
        check_classification_targets(labels)
        if self.classes is not None:
            class_positions(labels, self.classes)
        if self.centers is not None and self.centers.shape[1] != X.shape[1]:
            raise DataError(
                f"centers have {self.centers.shape[1]} columns, but X has {X.shape[1]}."
            )
        names = getattr(reader, "feature_names_in_", None)
        return _Rows(X, labels, None if names is None else tuple(names.tolist()))

    def _clusters(
        self, rows: _Rows
    ) -> tuple[GaussianSummary, NDArray[np.int64] | None]:
        """Exact clusters, in cells where there are centres."""
        summary, cells = self._nameless_clusters(rows)
        return replace(summary, feature_names=rows.feature_names), cells

    def _nameless_clusters(
        self, rows: _Rows
    ) -> tuple[GaussianSummary, NDArray[np.int64] | None]:
        if self.centers is not None:
            return summarize_cells(rows.X, rows.y, self.centers, self.covariance)
        summary = summarize_classes(
            class_clusterer(self.clusterer, self.n_clusters),
            rows.X,
            rows.y,
            covariance=self.covariance,
            seed=draw_seed(self.random_state),
        )
        return summary, None

    def _coarse_clusters(self, rows: _Rows, level: MinimumSize) -> CoarseClusters:
        """Clusters of many rows, of common values, rounded."""
        coarsening = Coarsening(
            level, self.covariance, rows.X.shape[1], indicator_groups(rows.X)
        )
        if self.centers is not None:
            classes = [
                coarsening.apply(label, X, clusters, np.ones(X.shape[0]), cells)
                for label, X, clusters, cells in cells_by_class(
                    rows.X, rows.y, self.centers
                )
            ]
        else:
            classes = map_classes(
                coarsening.apply,
                class_clusterer(self.clusterer, self.n_clusters),
                rows.X,
                rows.y,
                np.ones(rows.X.shape[0]),
                seed=draw_seed(self.random_state),
            )
        return coarsening.joined(classes)

    def _summarize_coarsely(self, rows: _Rows, level: MinimumSize) -> SharedSummary:
        coarse = self._coarse_clusters(rows, level)
        if coarse.dropped:
            warnings.warn(
                f"Left out classes of too few rows: {coarse.dropped!r} (rounded).",
                UserWarning,
                stacklevel=level_of_caller(),
            )
        released = float(coarse.summary.weight.sum())
        # The names of rare classes do not leave: that somebody has them may be enough.
        dropped = sum(coarse.dropped.values())
        record = PartyRecord(
            self.name,
            level,
            released,
            dropped_rows=dropped,
            dropped_share=dropped / (released + dropped),
            accounting=self.ledger.enter(self.name, level),
        )
        named = replace(coarse.summary, feature_names=rows.feature_names)
        return self._shared(named, record, coarse.cells)

    def _summarize_with_noise(
        self, rows: _Rows, level: DifferentialPrivacy
    ) -> SharedSummary:
        centers, classes = self._public_parts()
        with_squares = self.covariance == "diag"
        low, high = level.box(rows.X.shape[1])
        largest = half_diagonal(low, high)
        radius = largest if level.radius is None else min(level.radius, largest)
        lattice = Lattice(low, high, radius)
        plan = plan_noise(level.epsilon, level.delta, sensitivity(with_squares))
        exact = totals_by_cell(
            rows.X,
            class_positions(rows.y, classes),
            len(classes),
            centers,
            lattice,
            with_squares,
        )
        accounting = self.ledger.enter(self.name, level, plan.rho)
        noisy = NoisyTotals(add_noise(exact, plan), plan.scale, classes, lattice)
        summary, cells = noisy.clusters(rows.feature_names)
        record = PartyRecord(
            self.name,
            level,
            float(summary.weight.sum()),
            accounting={**accounting, "count_deviation": noisy.count_deviation},
        )
        return self._shared(summary, record, cells)

    def _public_parts(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Centres and classes, which noise cannot hide if they come from the rows."""
        if self.covariance == "full":
            raise ValueError(
                "Full covariances need more noise than they are worth: use "
                "covariance='diag' or 'none' with dp."
            )
        if self.centers is None:
            raise ValueError(
                "dp needs centers that are public: clusters found in the rows would "
                "tell of them, whatever noise is added later. Agree on centers, e.g. "
                "random_centers(bounds, n_centers, seed=0), and give them to Party."
            )
        if self.classes is None:
            raise ValueError(
                "dp needs classes that are public: which labels occur tells of the "
                "rows. Agree on classes and give them to Party."
            )
        return self.centers, self.classes

    def _shared(
        self,
        summary: GaussianSummary,
        record: PartyRecord,
        cells: NDArray[np.int64] | None,
    ) -> SharedSummary:
        partition = None
        if cells is not None and self.centers is not None:
            partition = partition_digest(self.centers)
        return SharedSummary(summary, (record,), partition, cells)

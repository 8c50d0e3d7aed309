"""A table of a model's regions: size, classes, accuracy, features that matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length

from localsvm._extras import require
from localsvm._text import aligned
from localsvm.inspect._labels import LabelCoding, plain_label
from localsvm.inspect._local_view import LocalView, leads
from localsvm.inspect._opened import OpenedModel
from localsvm.inspect._regions._region_row import RegionRow, TopFeature
from localsvm.inspect._regions._weights import region_weights

_SHOWN_REGIONS = 20
_LEFT = ("kind", "classes", "top features")
_SORTED = ("region", "kind", "stage", "size", "share", "n_rows", "accuracy")


@dataclass(frozen=True, eq=False)
class RegionTable:
    """Regions of a model, one row each; ``str`` of it is a table.

    Attributes
    ----------
    rows : tuple of RegionRow
    classes : tuple
        Labels of the model.
    feature_names : tuple of str

    See Also
    --------
    region_table : Makes one.
    """

    rows: tuple[RegionRow, ...]
    classes: tuple[Any, ...]
    feature_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RegionRow]:
        return iter(self.rows)

    def __getitem__(self, position: int) -> RegionRow:
        return self.rows[position]

    def sorted_by(self, column: str, *, descending: bool = True) -> RegionTable:
        """Table with its rows in another order.

        Parameters
        ----------
        column : {"region", "kind", "stage", "size", "share", "n_rows", "accuracy", \
                "mean_margin"}
            Regions without a value come last.
        descending : bool, default=True
            Whether the largest value is first.

        Returns
        -------
        RegionTable
        """
        if column not in (*_SORTED, "mean_margin"):
            raise ValueError(
                f"column={column!r} cannot be sorted by; expected one of "
                f"{', '.join(map(repr, (*_SORTED, 'mean_margin')))}."
            )
        known = [row for row in self.rows if getattr(row, column) is not None]
        known.sort(key=lambda row: getattr(row, column), reverse=descending)
        unknown = [row for row in self.rows if getattr(row, column) is None]
        return replace(self, rows=(*known, *unknown))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it.

        Returns
        -------
        dict
            With "classes" and "regions".
        """
        return {
            "classes": [plain_label(label) for label in self.classes],
            "regions": [row.to_dict() for row in self.rows],
        }

    def to_pandas(self) -> Any:
        """Table as a data frame.

        Returns
        -------
        pandas.DataFrame
            Indexed by region; the share of a class is in the column "share of LABEL",
            the top features are one string.
        """
        pandas = require("pandas", "tables", "RegionTable.to_pandas")
        records = [
            {
                "region": row.region,
                "kind": row.kind,
                "stage": row.stage,
                "size": row.size,
                "share": row.share,
                **{f"share of {k}": share for k, share in row.class_mix.items()},
                "n_rows": row.n_rows,
                "accuracy": row.accuracy,
                "mean_margin": row.mean_margin,
                "top_features": row.feature_words(),
            }
            for row in self.rows
        ]
        frame = pandas.DataFrame.from_records(records).set_index("region")
        return frame.dropna(axis="columns", how="all")

    def __str__(self) -> str:
        shown = self.rows[:_SHOWN_REGIONS]
        scored = any(row.n_rows is not None for row in self.rows)
        header = ["region", "kind", "size", "share", "classes"]
        header += ["rows", "accuracy", "margin"] if scored else []
        header += ["top features"] if any(row.top_features for row in shown) else []
        cells = [_cells(row, scored)[: len(header)] for row in shown]
        sides = "".join("l" if name in _LEFT else "r" for name in header)
        lines = aligned([header, *cells], sides)
        more = len(self.rows) - len(shown)
        return "\n".join([*lines, f"... and {more} more regions"] if more else lines)


def region_table(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    feature_names: Any = None,
    n_top: int = 3,
) -> RegionTable:
    """Describe the regions of a model.

    Parameters
    ----------
    model : fitted estimator with regions, or Pipeline that ends in one
        ``ClusteredSVC``, ``LocallyLinearSVC``, ``LocalSVC``, ``MixtureSVC``,
        ``StagedSVC``, ``SupportClusterSVC``, and those that search their parameters.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), \
            default=None
        Rows, best such as the model has not seen, for the columns "rows", "accuracy"
        and "margin", and for the top features of kernel regions.
    y : array-like of shape (n_samples,), default=None
        Labels of the rows.
    feature_names : sequence of str, default=None
        None takes those of the fit, or of the pipeline's steps.
    n_top : int, default=3
        Number of top features.

    Returns
    -------
    RegionTable
        Regions in the order of their numbers.

    See Also
    --------
    explain : Explains predictions, with the regions that made them.
    RegionMapDisplay : Draws the regions.

    Notes
    -----
    The classes of a region are those of the training rows, as the fit has counted
    them. The hard rows of a :class:`~localsvm.StagedSVC` are counted in its first stage
    and in the cells of the second, so its shares sum to more than one.

    Top features are the largest weights of linear regions. They are comparable where
    features have been scaled. Of kernel regions they are mean gradients, at the middle
    of a cluster of ``SupportClusterSVC`` or at no more than twenty rows of X.

    Costs, with X, one prediction of all rows and twenty gradients a kernel region.

    Examples
    --------
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import region_table
    >>> X, y = make_xor(400, random_state=0)
    >>> model = ClusteredSVC(4, random_state=0).fit(X, y)
    >>> table = region_table(model, *make_xor(400, random_state=1))
    >>> sum(row.size for row in table), table.sorted_by("accuracy")[0].accuracy > 0.9
    (400.0, True)
    """
    opened = OpenedModel.of(model, feature_names)
    _check_arguments(opened, X, y)
    view = LocalView.of(opened.estimator)
    rows = None if X is None else as_matrix(opened.features(X))
    table = RegionTable(
        tuple(_rows_of_fit(opened, view, region_weights(view, rows), n_top)),
        tuple(view.classes.tolist()),
        opened.feature_names,
    )
    if rows is None:
        return table
    hits = None if y is None else _hits(opened, X, y)
    return replace(table, rows=tuple(_with_rows(table.rows, view, rows, hits)))


def as_matrix(rows: Any) -> Any:
    """Rows of numbers as an array or CSR, without names."""
    return rows.tocsr() if sparse.issparse(rows) else np.asarray(rows)


def _check_arguments(opened: OpenedModel, X: Any, y: Any) -> None:
    name = type(opened.estimator).__name__
    if not hasattr(opened.estimator, "region_class_counts_"):
        raise TypeError(
            "region_table needs an estimator with regions, such as ClusteredSVC or "
            f"StagedSVC; got {name}."
        )
    if y is not None and X is None:
        raise ValueError("y needs the rows that it labels: found y without X.")
    if y is not None:
        check_consistent_length(X, y)


def _rows_of_fit(
    opened: OpenedModel,
    view: LocalView,
    weights: NDArray[np.float64],
    n_top: int,
) -> Iterator[RegionRow]:
    estimator = opened.estimator
    counts = estimator.region_class_counts_
    stages = estimator._region_stages()
    total = counts.sum() if stages is None else counts[stages == 1].sum()
    for region, (size, count) in enumerate(
        zip(estimator.region_sizes_, counts, strict=True)
    ):
        stage = None if stages is None else int(stages[region])
        yield RegionRow(
            region=region,
            kind=_kind(view, region),
            stage=stage,
            size=float(size),
            share=float(count.sum() / total),
            class_counts=dict(zip(view.classes.tolist(), count.tolist(), strict=True)),
            top_features=top_features(
                weights[region], opened.feature_names, view.classes, n_top
            ),
        )


def _kind(view: LocalView, region: int) -> str:
    """Kind of SVM in a region; a mixture is curved, its components are not."""
    linear = hasattr(view.estimator, "coef_") or not view.is_curved(region)
    return "linear" if linear else "kernel"


def top_features(
    weights: NDArray[np.float64],
    names: tuple[str, ...],
    classes: NDArray[Any],
    n_top: int,
) -> tuple[TopFeature, ...]:
    """Features with the largest weights, of shape (n_tasks, n_features)."""
    if np.isnan(weights).any():
        return ()
    sizes = np.abs(weights)
    order = np.argsort(-sizes.max(axis=0), kind="stable")[: max(n_top, 0)]
    tasks = sizes[:, order].argmax(axis=0)
    labels = classes.tolist()[1 if len(classes) == 2 else 0 :]
    return tuple(
        TopFeature(names[j], float(weights[task, j]), labels[task])
        for task, j in zip(tasks, order, strict=True)
        if weights[task, j] != 0
    )


def _hits(opened: OpenedModel, X: Any, y: Any) -> NDArray[np.bool_]:
    """Whether each row is predicted right; labels not known to the model never are."""
    coding = LabelCoding.of(opened.estimator, y)
    return np.asarray(coding.encode(opened.model.predict(X)) == coding.true)


def _with_rows(
    known: tuple[RegionRow, ...],
    view: LocalView,
    rows: Any,
    hits: NDArray[np.bool_] | None,
) -> Iterator[RegionRow]:
    """Add what the rows say of each region."""
    regions, margins = view.regions(rows), leads(view.scores(rows))
    for row in known:
        own = regions == row.region
        found = replace(row, n_rows=int(own.sum()))
        if own.any():
            accuracy = None if hits is None else float(hits[own].mean())
            found = replace(
                found, accuracy=accuracy, mean_margin=float(margins[own].mean())
            )
        yield found


def _cells(row: RegionRow, scored: bool) -> list[str]:
    kind = row.kind if row.stage is None else f"{row.kind}, stage {row.stage}"
    cells = [str(row.region), kind, f"{row.size:.0f}", f"{row.share:.1%}"]
    cells.append(row.mix_words())
    if scored:
        accuracy, margin = row.accuracy, row.mean_margin
        cells.append(str(row.n_rows))
        cells.append("" if accuracy is None else f"{accuracy:.3f}")
        cells.append("" if margin is None else f"{margin:.2f}")
    return [*cells, row.feature_words()]

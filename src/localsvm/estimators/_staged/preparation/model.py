"""From the user's columns to the space in which regions and cells are cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils.extmath import randomized_svd, row_norms

from localsvm import _core
from localsvm._threads import map_row_blocks
from localsvm.estimators._regional import GradientMetric
from localsvm.estimators._staged.preparation.columns import ColumnCode
from localsvm.estimators._staged.preparation.ranks import BINARY_KNOTS, capped_ranks
from localsvm.rows import Rows

SCALINGS = ("none", "standard", "unit", "quantile", "ranks")

_SAMPLED_ROWS = 10_000
_N_QUANTILES = 1000
_LARGEST_COVARIANCE = 1000


@dataclass(frozen=True)
class QuantileMap:
    """Monotone maps of columns to normal scores or ranks, linear between knots.

    Attributes
    ----------
    columns : ndarray
        Columns that are mapped; the others stay as they are.
    values, scores : list of ndarray
        Knots of each map.
    """

    columns: NDArray[np.intp]
    values: list[NDArray[np.float64]]
    scores: list[NDArray[np.float64]]

    @classmethod
    def learn(cls, rows: Rows, columns: NDArray[np.intp]) -> QuantileMap:
        """Weighted quantiles of the columns."""
        weight = rows.sample_weight
        return cls._of(
            columns, [_normal_scores(rows.X[:, each], weight) for each in columns]
        )

    @classmethod
    def learn_ranks(cls, rows: Rows, numeric: NDArray[np.intp]) -> QuantileMap:
        """Capped ranks of all columns; those not listed hold only 0 and 1."""
        knots = [BINARY_KNOTS] * rows.X.shape[1]
        for column in numeric:
            knots[column] = capped_ranks(rows.X[:, column], rows.sample_weight)
        return cls._of(np.arange(len(knots)), knots)

    @classmethod
    def _of(cls, columns: NDArray[np.intp], knots: list[Any]) -> QuantileMap:
        return cls(columns, [v for v, _ in knots], [s for _, s in knots])

    def apply(self, X: NDArray[Any]) -> NDArray[Any]:
        """Map the columns of a copy."""
        mapped = np.array(X, order="C")
        self.to_core.apply(np.ascontiguousarray(X), mapped)
        return mapped

    @cached_property
    def to_core(self) -> _core.ColumnMaps:
        """The maps as the core takes them."""
        return _core.ColumnMaps(
            columns=self.columns.astype(np.int64),
            knots=_core.NumberLists(*joined_lists(self.values)),
            scores=joined_lists(self.scores)[1],
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made of the knots."""
        return {name: vars(self)[name] for name in self.__dataclass_fields__}

    def slope(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Differentiate each column's map at each row; 0 outside of the knots."""
        slope = np.ones(X.shape)
        for column, values, scores in self._maps():
            steps = np.diff(scores) / np.diff(values)
            padded = np.concatenate([[0.0], steps, [0.0]])
            slope[:, column] = padded[np.searchsorted(values, X[:, column], "right")]
        return slope

    def _maps(self) -> Any:
        return zip(self.columns, self.values, self.scores, strict=True)


@dataclass(frozen=True)
class Preparation:
    """Map of rows to prepared rows: ``scaled(x) @ components + offset``.

    Missing values are filled and categories coded first. Then columns are scaled (those
    with the values 0 and 1 alone stay as they are, but for ranks, which halve them), or
    rows divided by their norm; they are centred, projected on their principal
    components if there are many, and divided by the root mean squared norm. A metric is
    one more factor of ``components``. Sparse rows are not centred and stay sparse.

    Attributes
    ----------
    quantiles : QuantileMap or None
        Maps columns first.
    unit_rows : bool
        Whether rows are divided by their norm first.
    components : ndarray of shape (n_features, n_components), or (n_features,)
        One-dimensional where it is diagonal.
    offset : ndarray of shape (n_components,)
    metric : GradientMetric or None
        Whose map is the last factor.
    columns : ColumnCode or None
        Codes dense rows before all else; None of sparse rows.
    """

    quantiles: QuantileMap | None
    unit_rows: bool
    components: NDArray[np.float64]
    offset: NDArray[np.float64]
    metric: GradientMetric | None = None
    columns: ColumnCode | None = None

    @classmethod
    def learn(
        cls,
        rows: Rows,
        scaling: str,
        n_components: int | None,
        seed: int,
        columns: ColumnCode | None = None,
    ) -> Preparation:
        """Learn from the first rows, which are in random order, by sample weights."""
        if columns is not None:
            rows = replace(rows, X=columns.apply(rows.X))
        numeric = _many_valued(rows.X)
        rows = rows.take(np.arange(min(_SAMPLED_ROWS, rows.X.shape[0])))
        quantiles = None
        if scaling == "quantile":
            quantiles = QuantileMap.learn(rows, numeric)
        elif scaling == "ranks":
            quantiles = QuantileMap.learn_ranks(rows, numeric)
        scaler = cls(quantiles, scaling == "unit", np.zeros(0), np.zeros(0))
        scaled = replace(rows, X=scaler._scale(rows.X))
        mean, scale = _moments(scaled)
        directions = np.ones_like(scale)
        if scaling == "standard":
            directions[numeric] /= scale[numeric]
        if sparse.issparse(rows.X):
            mean = np.zeros_like(scale)
        elif n_components is not None and n_components < len(scale):
            basis = _principal_axes(scaled, mean, directions, n_components, seed)
            directions = directions[:, np.newaxis] * basis
        offset = -_project(mean, directions)
        learnt = replace(scaler, components=directions, offset=offset)
        return replace(learnt._of_unit_norm(rows), columns=columns)

    def apply(self, X: Any, n_jobs: int | None = None) -> Any:
        """Prepare rows, in their dtype."""
        components = self.components.astype(X.dtype, copy=False)
        offset = self.offset.astype(X.dtype, copy=False)
        if sparse.issparse(X):
            return self._scale(X).multiply(components).tocsr()
        out = np.empty((X.shape[0], len(offset)), dtype=X.dtype)

        def prepare_block(block: slice) -> None:
            coded = X[block] if self.columns is None else self.columns.apply(X[block])
            out[block] = _project(self._scale(coded), components)
            out[block] += offset

        map_row_blocks(prepare_block, X.shape[0], n_jobs)
        return out

    @property
    def keeps_zeros(self) -> bool:
        """Whether sparse rows stay sparse."""
        centred = self.quantiles is not None or self.offset.any()
        return self.components.ndim == 1 and not centred

    def then(self, metric: GradientMetric) -> Preparation:
        """Go on with the map of a metric that was fitted to the prepared rows."""
        components, factor = self.components, metric.components_
        if metric.diagonal:
            scale = np.diagonal(factor)
            return replace(
                self,
                components=components * scale,
                offset=self.offset * scale,
                metric=metric,
            )
        if components.ndim == 1:
            components = np.diag(components)
        return replace(
            self,
            components=components @ factor,
            offset=self.offset @ factor,
            metric=metric,
        )

    def pull_back(self, gradient: NDArray[Any], X: Any) -> NDArray[np.float64]:
        """Gradients by the user's columns, from gradients by the prepared ones.

        ``gradient`` has shape (n_samples, n_tasks, n_components).
        """
        coded = X if self.columns is None else self.columns.apply(X)
        pulled = self._pull_back_coded(gradient)
        if self.quantiles is not None:
            pulled = pulled * self.quantiles.slope(coded)[:, np.newaxis]
        if self.unit_rows:
            pulled = _along_sphere(pulled, coded)
        if self.columns is not None:
            pulled = self.columns.pull_back(pulled)
        return np.asarray(pulled, dtype=np.float64)

    def pull_back_scaled(self, gradient: NDArray[Any]) -> NDArray[Any]:
        """Gradients by the scaled columns: those before centring and projection."""
        pulled = self._pull_back_coded(gradient)
        return pulled if self.columns is None else self.columns.pull_back(pulled)

    def _pull_back_coded(self, gradient: NDArray[Any]) -> NDArray[Any]:
        """Gradients by the scaled ones of the coded columns."""
        if self.components.ndim == 1:
            return np.asarray(gradient * self.components)
        return np.asarray(gradient @ self.components.T)

    def _scale(self, X: Any) -> Any:
        if self.quantiles is not None:
            return self.quantiles.apply(X)
        return normalize(X) if self.unit_rows else X

    def _of_unit_norm(self, rows: Rows) -> Preparation:
        """Divide by the root mean squared norm of prepared rows."""
        Z = self.apply(rows.X)
        squared = np.asarray(row_norms(Z, squared=True), dtype=np.float64)
        mean = float(np.average(squared, weights=rows.sample_weight))
        norm = np.sqrt(mean) if 0 < mean < np.inf else 1.0
        return replace(
            self, components=self.components / norm, offset=self.offset / norm
        )


def joined_lists(
    lists: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Put lists end to end: where each begins, and the numbers."""
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return starts, np.concatenate([np.empty(0), *lists])


def _project(X: Any, components: NDArray[Any]) -> Any:
    return X * components if components.ndim == 1 else X @ components


def _moments(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted mean and scale of each column; a constant column has scale 1."""
    scaler = StandardScaler(with_mean=not sparse.issparse(rows.X))
    # The variance of a constant column may be rounded to less than zero.
    with np.errstate(invalid="ignore"):
        scaler.fit(rows.X, sample_weight=rows.sample_weight)
    return np.asarray(scaler.mean_, np.float64), np.asarray(scaler.scale_, np.float64)


def _many_valued(X: Any) -> NDArray[np.intp]:
    """Columns with values other than 0 and 1."""
    if sparse.issparse(X):
        return np.unique(X.indices[(X.data != 0) & (X.data != 1)])
    many = ~_is_binary(X[:_SAMPLED_ROWS])
    rest = np.flatnonzero(~many)
    if rest.size:
        many[rest] = ~_is_binary(X[_SAMPLED_ROWS:, rest])
    return np.flatnonzero(many)


def _is_binary(X: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(((X == 0) | (X == 1)).all(axis=0))


def _normal_scores(
    column: NDArray[Any], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Knots of the map of a column: its quantiles, and the normal ones.

    A value with mass, a quantile more than once, gets the score of its middle.
    """
    levels = (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES
    quantiles = np.quantile(column, levels, weights=weight, method="inverted_cdf")
    values, group = np.unique(quantiles, return_inverse=True)
    middle = np.bincount(group, weights=levels) / np.bincount(group)
    return values.astype(np.float64), ndtri(middle)


def _principal_axes(
    rows: Rows,
    mean: NDArray[np.float64],
    directions: NDArray[np.float64],
    n_kept: int,
    seed: int,
) -> NDArray[np.float64]:
    """Leading principal axes of scaled rows, as columns."""
    dtype = rows.X.dtype
    centred = rows.X - mean.astype(dtype)
    centred *= np.sqrt(rows.sample_weight).astype(dtype)[:, np.newaxis]
    centred *= directions.astype(dtype)
    if centred.shape[1] > _LARGEST_COVARIANCE:
        _, _, axes = randomized_svd(centred, n_kept, random_state=seed)
        return np.asarray(axes.T, dtype=np.float64)
    _, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    return np.asarray(axes[:, ::-1][:, :n_kept])


def _along_sphere(gradient: NDArray[Any], X: Any) -> NDArray[np.float64]:
    """Gradients by x, from gradients by x / |x|: no change along x, and shorter."""
    norms = np.asarray(row_norms(X), dtype=np.float64)
    norms[norms == 0] = 1.0
    unit = (X.toarray() if sparse.issparse(X) else X) / norms[:, np.newaxis]
    along = np.einsum("ipj,ij->ip", gradient, unit)[:, :, np.newaxis]
    return np.asarray(
        (gradient - along * unit[:, np.newaxis]) / norms[:, np.newaxis, np.newaxis]
    )

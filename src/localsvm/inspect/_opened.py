"""A model opened: the estimator inside a pipeline, and what leads to its features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils.validation import check_is_fitted

from localsvm._extras import require
from localsvm.data import (
    BooleanColumn,
    NumberColumn,
    RawBooleanColumn,
    RawNumberColumn,
    TableEncoder,
    as_frame,
)
from localsvm.inspect._labels import is_missing

# Steps for which numbers may be names of categories.
_ENCODERS = (
    ColumnTransformer,
    FeatureUnion,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)
_AS_THEY_ARE = (BooleanColumn, RawBooleanColumn, RawNumberColumn)


@dataclass(frozen=True)
class OpenedModel:
    """A fitted estimator and, of a pipeline, the steps before it.

    Attributes
    ----------
    model : object
        As it was given.
    steps : Pipeline or None
        What transforms the rows first.
    estimator : object
        The last step, or the model itself.
    given_names : tuple of str or None
        Names of the estimator's features that the user wants to read.
    """

    model: Any
    steps: Pipeline | None
    estimator: Any
    given_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, model: Any, feature_names: Any = None) -> OpenedModel:
        """Open a fitted model.

        Parameters
        ----------
        model : estimator or Pipeline
        feature_names : sequence of str, default=None
            Names of the features of the estimator.
        """
        steps, estimator = None, model
        if isinstance(model, Pipeline):
            estimator = model.steps[-1][1]
            steps = model[:-1] if len(model.steps) > 1 else None
        check_is_fitted(estimator)
        if feature_names is None:
            return cls(model, steps, estimator)
        names = tuple(str(name) for name in feature_names)
        if len(names) != estimator.n_features_in_:
            raise ValueError(
                f"feature_names has {len(names)} entries, expected "
                f"{estimator.n_features_in_}: one per feature that the estimator was "
                "fitted on."
            )
        return cls(model, steps, estimator, names)

    def features(self, X: Any) -> Any:
        """Rows as the estimator sees them: an array, a CSR matrix or a frame."""
        return X if self.steps is None else self.steps.transform(X)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the estimator's features; "x0", "x1" and so on if it has none."""
        if self.given_names is not None:
            return self.given_names
        names = getattr(self.estimator, "feature_names_in_", None)
        if names is None and hasattr(self.steps, "get_feature_names_out"):
            names = self._names_of_steps()
        if names is None:
            names = [f"x{j}" for j in range(self.estimator.n_features_in_)]
        return tuple(str(name) for name in names)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of the table that a pipeline takes."""
        if self.steps is None:
            return self.feature_names
        names = getattr(self.steps, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.steps.n_features_in_)]
        return tuple(str(name) for name in names)

    @cached_property
    def column_of_feature(self) -> NDArray[np.intp] | None:
        """Column of the table that each feature comes from; None if they are mixed."""
        if self.encoder is not None:
            return np.asarray(self.encoder.column_of_feature_)
        if self.steps is None or self._keeps_names(self.steps, self.column_names):
            return np.arange(len(self.feature_names))
        return None

    @cached_property
    def encoder(self) -> TableEncoder | None:
        """The table encoder at the start, if what follows keeps its features apart."""
        if self.steps is None or not isinstance(self.steps[0], TableEncoder):
            return None
        rest = self.after_encoder
        names = self.steps[0].get_feature_names_out()
        if rest is not None and not self._keeps_names(rest, tuple(names)):
            return None
        return self.steps[0]

    @property
    def after_encoder(self) -> Pipeline | None:
        """Steps between a table encoder and the estimator."""
        steps = self.steps
        return None if steps is None or len(steps) == 1 else steps[1:]

    def column_values(self, X: Any) -> list[tuple[Any, ...]]:
        """Values of each row of a table, in the order of ``column_names``.

        A column that gives no features may be absent: its values are missing.
        """
        frame = as_frame(X)
        if frame is None:
            dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
            return [tuple(row) for row in dense.tolist()]
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        places = {name: j for j, name in enumerate(frame.columns)}
        if not hasattr(self.steps, "feature_names_in_"):
            places = {name: j for j, name in enumerate(self.column_names)}
        absent = [np.nan] * len(frame)
        columns = [
            frame.iloc[:, places[name]].tolist() if name in places else absent
            for name in self.column_names
        ]
        return list(zip(*columns, strict=True))

    def in_units(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Features of a point in the units of the table; NaN for those without one."""
        if self.steps is None:
            return point
        unknown = np.full(len(point), np.nan)
        scalers = self.steps if self.encoder is None else self.after_encoder
        if self.column_of_feature is None or not _can_undo(scalers):
            return unknown
        if scalers is not None:
            point = np.asarray(scalers.inverse_transform(point[np.newaxis])).ravel()
        return point if self.encoder is None else self._decoded(point)

    def _decoded(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers and booleans in their own units; NaN for other features."""
        assert self.encoder is not None
        values = np.full(len(point), np.nan)
        for number, column in enumerate(self.encoder.columns_):
            first = np.searchsorted(self.encoder.column_of_feature_, number)
            if isinstance(column, NumberColumn):
                values[first] = column.center + column.scale * point[first]
            elif isinstance(column, _AS_THEY_ARE):
                values[first] = point[first]
        return values

    @property
    def first_encoder(self) -> TableEncoder | None:
        """The table encoder at the start, whatever follows it."""
        first = None if self.steps is None else self.steps[0]
        return first if isinstance(first, TableEncoder) else None

    @property
    def has_codes(self) -> bool:
        """Whether the table encoder gives codes, which have no common scale."""
        encoder = self.first_encoder
        return encoder is not None and encoder.encoding == "codes"

    @property
    def after_base(self) -> Pipeline | None:
        """Steps that make features of base rows; None where these are the features.

        Base rows hold numbers only: what a table encoder gives, else what the model
        takes.
        """
        return self.steps if self.first_encoder is None else self.after_encoder

    def base_rows(self, X: Any) -> Any:
        """Give the base rows of X, without columns if these may not be all numbers."""
        if self.steps is None:
            return X
        if self.first_encoder is not None:
            return self.first_encoder.transform(X)
        frame = as_frame(X)
        types = [X.dtype] if frame is None else frame.dtypes
        numeric = all(getattr(each, "kind", "O") in "biuf" for each in types)
        if not numeric or any(
            isinstance(step, _ENCODERS) for _, step in self.steps.steps
        ):
            return np.empty((X.shape[0], 0))
        values = [
            [np.nan if is_missing(value) else value for value in row]
            for row in self.column_values(X)
        ]
        return np.array(values, dtype=np.float64)

    def from_base(self, base: NDArray[np.float64]) -> NDArray[np.float64]:
        """Features of base rows."""
        if self.after_base is None:
            return base
        scaler = self._only_scaler
        if scaler is not None:
            return _scaled(scaler, base)
        rows: Any = base
        if self.first_encoder is None and hasattr(self.steps, "feature_names_in_"):
            pandas = require("pandas", "tables", "Explaining a table")
            rows = pandas.DataFrame(base, columns=list(self.column_names))
        found = self.after_base.transform(rows)
        dense = np.ascontiguousarray(
            found.toarray() if sparse.issparse(found) else found
        )
        return dense if dense.dtype.kind == "f" else dense.astype(np.float64)

    @cached_property
    def _only_scaler(self) -> StandardScaler | None:
        """The scaler that alone makes features of base rows, if it is one of these."""
        steps = self.after_base
        last = None if steps is None or len(steps) > 1 else steps[0]
        return last if type(last) is StandardScaler else None

    def undone(self, features: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Columns of rows of features; None where steps mix them or have no inverse."""
        if self.steps is None or self.column_of_feature is None:
            return None
        if not _can_undo(self.steps):
            return None
        return np.asarray(self.steps.inverse_transform(features), dtype=np.float64)

    def table_of(self, rows: list[tuple[Any, ...]]) -> Any:
        """Rows of values as the steps of a pipeline take them."""
        if not hasattr(self.steps, "feature_names_in_"):
            return np.array(rows)
        pandas = require("pandas", "tables", "Explaining a table")
        names = list(self.column_names)
        return pandas.DataFrame(rows, columns=names, dtype=object).infer_objects()

    def _names_of_steps(self) -> Any:
        assert self.steps is not None
        try:
            return self.steps.get_feature_names_out()
        except (AttributeError, ValueError):  # a step without names, or with too few
            return None

    def _keeps_names(self, steps: Pipeline, names: tuple[str, ...]) -> bool:
        """Whether steps change features one by one."""
        if not hasattr(steps, "get_feature_names_out"):
            return False
        given = None if hasattr(steps, "feature_names_in_") else np.array(names, object)
        try:
            found = steps.get_feature_names_out(given)
        except ValueError:
            return False
        return [str(name) for name in found] == list(names)


def _scaled(scaler: StandardScaler, base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale as the scaler does, without its checks, which take longer."""
    scaled = base
    if scaler.with_mean:
        scaled = scaled - scaler.mean_
    return scaled / scaler.scale_ if scaler.with_std else scaled


def _can_undo(steps: Pipeline | None) -> bool:
    return steps is None or hasattr(steps, "inverse_transform")

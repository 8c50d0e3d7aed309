"""What each column adds to the decisions of many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._threads import single_threaded_libraries
from localsvm.data import as_frame
from localsvm.exceptions import MissingExtraError
from localsvm.inspect._explanations._explain import as_rows, check_explainable
from localsvm.inspect._local_view import LocalView
from localsvm.inspect._opened import OpenedModel

Floats = NDArray[np.float64]
# Name that the part of no single column has among columns.
TOGETHER = "(columns together)"


@dataclass(frozen=True, eq=False)
class Contributions:
    """Decisions of rows as sums over columns.

    ``base + values.sum(axis=1) + together`` is the decision function. With two classes
    it is that of the second class, and the last axis of the arrays is left out.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns) or (.., n_classes)
        What each column adds.
    base : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Decision without any column.
    together : ndarray of the same shape
        What columns add only together, so that no single one has it; zero for all
        models but sums with kernels.
    names : tuple of str
        Names of the columns.
    data : array-like of shape (n_samples, n_columns)
        The rows in these columns.
    classes : ndarray of shape (n_classes,)
    is_exact : ndarray of shape (n_samples,)
        Whether the values are the terms of the sum that the model itself computes.
    split : {"gradient", "swap"}
        Where the values of the other rows come from, see :func:`contributions`.

    See Also
    --------
    contributions : Computes them.
    """

    values: Floats
    base: Floats
    together: Floats
    names: tuple[str, ...]
    data: Any
    classes: NDArray[Any]
    is_exact: NDArray[np.bool_]
    split: str

    @property
    def decisions(self) -> Floats:
        """Sum of all parts: the decision function."""
        return np.asarray(self.base + self.values.sum(axis=1) + self.together)

    @property
    def importances(self) -> Floats:
        """Mean size of what each column adds, of shape (n_columns,) or by class."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    def to_shap(self) -> Any:
        """Give the contributions as the plots of the package shap take them.

        What columns add together is one more column, ``"(columns together)"``, if it is
        not zero, so that values and base values sum to the decision function.

        Returns
        -------
        shap.Explanation
        """
        shap = _import_shap()
        values, names = self.values, list(self.names)
        data = _table_values(self.data, self.names)
        if self.together.any():
            values = np.concatenate([values, self.together[:, np.newaxis]], axis=1)
            names.append(TOGETHER)
            nothing = np.full((len(data), 1), np.nan, dtype=data.dtype)
            data = np.concatenate([data, nothing], axis=1)
        several = len(self.classes) > 2
        return shap.Explanation(
            values=values,
            base_values=self.base,
            data=data,
            feature_names=names,
            output_names=[str(label) for label in self.classes] if several else None,
        )


def contributions(
    model: Any, X: Any, *, feature_names: Any = None, as_shap: bool = False
) -> Any:
    r"""Split the decisions of rows into what each column adds.

    The bulk form of :func:`explain`: same contributions, without regions and changes.

    Parameters
    ----------
    model : fitted classifier of this library, or Pipeline that ends in one
        Of a pipeline whose steps keep columns apart, contributions are those of the
        columns of X; otherwise of the features that its last step sees.
    X : array-like of shape (n_samples, n_features) or (n_features,)
        An array, a sparse matrix or a data frame; or one row.
    feature_names : sequence of str, default=None
        Names of the estimator's features, as in :func:`explain`.
    as_shap : bool, default=False
        Whether to return a ``shap.Explanation``, for the plots of the package shap.

    Returns
    -------
    Contributions or shap.Explanation
        Dense, also for sparse rows.

    See Also
    --------
    explain : Explains single rows, with regions and changes.

    Notes
    -----
    What a contribution is depends on the model; ``base``, values and ``together`` sum
    to the decision function in any case, up to rounding.

    - **Linear SVMs, also in soft regions, and tables of columns** (:class:`ClusteredSVC
      <localsvm.ClusteredSVC>`, ``LocallyLinearSVC``, ``AdditiveSVC``, linear kernels of
      two classes, the first stage of a switched ``StagedSVC``): the model's own terms,
      weight times value or table entry. ``is_exact`` is True. The base is the
      intercept; in regions that of the row's regions.
    - **A StagedSVC that adds terms**: of the additive term the model's own table
      entries. In the other terms columns act together, and a column has the change of
      their decisions from a row with the column's typical value (its median or most
      frequent level) instead. The base is the decision of a row of typical values;
      what single changes leave over is ``together``. ``split`` is "swap".
    - **Other kernels and mixtures**: gradient at the row times value. The base is the
      intercept of the tangent, so that a contribution says what a small change of the
      column does, relative to its value. ``split`` is "gradient".

    A missing number adds nothing where it has a weight; tables have an entry for it.

    Costs one prediction and one pass over the weights for exact models, two predictions
    for gradients, and for swaps one prediction for each value of a row that is not
    typical.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import contributions
    >>> X, y = make_xor(400, random_state=0)
    >>> model = ClusteredSVC(n_regions=4, random_state=0).fit(X, y)
    >>> found = contributions(model, X)
    >>> found.values.shape, bool(found.is_exact.all())
    ((400, 2), True)
    >>> bool(np.allclose(found.decisions, model.decision_function(X)))
    True
    """
    opened = OpenedModel.of(model, feature_names)
    check_explainable(opened)
    rows, _ = as_rows(X)
    view = LocalView.of(opened.estimator)
    with single_threaded_libraries():
        # By the estimator itself, which checks the names of columns.
        features = opened.estimator._check_rows(opened.features(rows), reset=False)
        parts = view.column_parts(features)
    values, names, data = parts.values, opened.feature_names, features
    if opened.steps is not None and opened.column_of_feature is not None:
        names, data = opened.column_names, rows
        values = _by_column(values, opened.column_of_feature, len(names))
    together = np.zeros_like(parts.base) if parts.together is None else parts.together
    one = slice(None) if len(view.classes) > 2 else 0
    found = Contributions(
        values[..., one],
        parts.base[:, one],
        together[:, one],
        names,
        data,
        view.classes,
        parts.is_exact,
        view.estimator._splits_by(),
    )
    return found.to_shap() if as_shap else found


def _import_shap() -> Any:
    """Import shap, of which no extra of this package knows: numba comes with it."""
    try:
        import shap
    except ModuleNotFoundError as error:
        if error.name != "shap":
            raise
        raise MissingExtraError(
            "Contributions as a shap.Explanation need shap, which is not installed. "
            "Install it with\n    pip install shap",
            name="shap",
        ) from error
    return shap


def _by_column(
    values: Floats, column_of_feature: NDArray[np.intp], n_columns: int
) -> Floats:
    """Sum the parts of the features that come from one column."""
    n_features = len(column_of_feature)
    if np.array_equal(column_of_feature, np.arange(n_columns)):
        return values
    member = np.zeros((n_features, n_columns))
    member[np.arange(n_features), column_of_feature] = 1.0
    return np.asarray(np.moveaxis(np.tensordot(values, member, axes=(1, 0)), 2, 1))


def _table_values(data: Any, names: tuple[str, ...]) -> NDArray[Any]:
    """Values of a table by column: numbers, or objects where not all are numbers."""
    frame = as_frame(data)
    if frame is None:
        return data.toarray() if sparse.issparse(data) else np.asarray(data)
    given = frame.set_axis([str(name) for name in frame.columns], axis=1)
    # A column that gives no features may be absent; without names they go by position.
    known = set(names) & set(given.columns)
    found = given.reindex(columns=list(names)) if known else given
    is_number = all(each.kind in "biuf" for each in found.dtypes)
    return np.asarray(found.to_numpy(dtype=np.float64 if is_number else object))

"""A transformer from tables of mixed columns to matrices of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from localsvm._checks import (
    check_parameters,
    integer,
    mapping,
    one_of,
    unchanged_on_failure,
)
from localsvm._extras import require
from localsvm.data._columns._blocks import join_dense, join_sparse
from localsvm.data._columns._column import Column, LearningOptions
from localsvm.data._columns._kinds import KINDS
from localsvm.data._columns._learning import check_kinds, learn_columns
from localsvm.data._columns._mapping import columns_of_mapping
from localsvm.data._frames import (
    absent_columns,
    as_frame,
    check_distinct,
    distinct_names,
)
from localsvm.exceptions import DataError

_DENSEST = 0.25
_LEAST_SPARSE_FEATURES = 200


class TableEncoder(TransformerMixin, BaseEstimator):
    """Numbers, categories, dates, text and truth values to a matrix of scaled numbers.

    What each column is gets decided once, at ``fit``, from its type and its values, and
    is kept in ``columns_``; ``transform`` uses that alone. Use it as the first step of
    a pipeline whenever a table is not all numbers, or has missing values.

    ========  ==============================================  =========================
    kind      columns                                         features
    ========  ==============================================  =========================
    number    numbers, durations                              standardised; the median
                                                              for a missing value
    boolean   truth values                                    1 or 0; 0.5 for a missing
                                                              value
    category  categorical types; strings with at most 20      one per value, in which
              distinct values, or at most ``max_categories``  it is 1; rare ones share
              that occur five times each on average           one
    date      dates and times; strings like 2024-12-31 or     the day, standardised;
              31.12.2024                                      sine and cosine of year,
                                                              week and day
    text      other strings                                   hashed n-grams, projected
    drop      constant and empty columns; those that number   none
              or name the rows
    ========  ==============================================  =========================

    Where values are missing at ``fit``, one more feature says so.

    With ``encoding="codes"`` nothing is scaled and what is missing is NaN, for
    estimators that learn bins and ranks themselves:

    ========  ==============================================  =========================
    kind      columns                                         features
    ========  ==============================================  =========================
    number    as above                                        the number
    boolean   as above                                        1 or 0
    category  categorical types; all strings but the          a code from 0 on, the most
              following                                       frequent value first; the
                                                              last is for rare and new
                                                              values
    ordered   strings and categories that repeat, begin with  that number
              numbers that differ, and are at least three,
              such as "1 - 10%"
    date      as above                                        the day since 1970, day of
                                                              year, weekday; the hour if
                                                              there are times
    text      strings that do not repeat and mostly have      as above
              several words
    drop      as above; categories without a frequent value   none
    ========  ==============================================  =========================

    Strings repeat if at most 20 of them differ, or if they occur five times each on
    average. A number may follow at most three other characters; strings of digits alone
    are categories.

    Parameters
    ----------
    kinds : dict of str to str, default=None
        Kind of columns by name, for instance ``{"zip": "category", "id": "drop"}``,
        instead of the one that is found. Columns without names are "x0", "x1" and so
        on. A "date" column may have dates such as 31/12/2024 if the order of day and
        month is plain from its values; ``"date:%d/%m/%Y"`` names any format. "ordered"
        needs ``encoding="codes"``.
    min_frequency : int, default=3
        A category that occurs less often at ``fit`` is pooled with the other rare ones.
    max_categories : int, default=100
        Most categories with a feature of their own; the less frequent ones are pooled.
        Codes have no such limit.
    text_components : int, default=20
        Most features of a column of text.
    sparse_output : bool or "auto", default="auto"
        Whether ``transform`` gives a CSR array. "auto" does so from 200 features on, if
        at least three quarters of the entries are 0. Codes are dense.
    dtype : {"float64", "float32"}, default="float64"
        Type of the output.
    encoding : {"features", "codes"}, default="features"
        "features" suits any estimator. "codes" suits those that take NaN, and are told
        by ``categorical_features_`` which numbers have no order.

    Attributes
    ----------
    columns_ : tuple of Column
        What was learnt of each column, in order: a frozen dataclass of plain data,
        :class:`NumberColumn`, :class:`BooleanColumn`, :class:`CategoryColumn`,
        :class:`DateColumn`, :class:`TextColumn` or :class:`DroppedColumn`; of codes
        :class:`RawNumberColumn`, :class:`RawBooleanColumn`, :class:`CodeColumn`,
        :class:`OrderedColumn`, :class:`CalendarColumn` or the latter two.
    column_of_feature_ : ndarray of shape (n_features_out,)
        Number of the column that each feature comes from.
    categorical_features_ : ndarray of bool of shape (n_features_out,)
        Which features are codes; pass it to the estimator. ``level_names`` of the
        column are their names.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.

    See Also
    --------
    read_table : Reads a file into such a table.
    sklearn.compose.ColumnTransformer : Other steps for other columns.

    Notes
    -----
    At ``transform`` columns are found by name, in any order; others than those seen at
    ``fit`` are ignored. A missing one that gives features, or one whose values are of
    another kind, is an error that names it. A category not seen at ``fit`` counts as a
    rare one, or has zeros alone if none was rare. A missing value in a column that had
    none is filled with the median (number, date), 0.5 (boolean), zeros (text), or is a
    new category. As a code, a new category counts as a rare one, and whatever is
    missing is NaN, whether values were missing at ``fit`` or not.

    Time zones become UTC. Infinite numbers, and those 1e15 standard deviations from the
    mean, are refused.

    Three things raise a warning unless ``kinds`` names the column. Identifier-like
    columns are left out, because a model can only memorise them: integers that all
    differ in a range where chance would repeat some, and strings without blanks that
    all differ; of codes also categories without a frequent value. Strings that look
    like numbers, or like dates in an order that is not known, stay category or text.

    Codes go by frequency, equally frequent ones by name. So they depend neither on the
    order of the rows nor, but for equally frequent ones, on the names.

    The cost is O(n) per column, and for text O(characters of the distinct values); one
    million rows of six numbers and eight categories take a few seconds.

    Examples
    --------
    >>> import pandas as pd
    >>> from localsvm.data import TableEncoder
    >>> X = pd.DataFrame({"age": [30, 50, None], "sex": ["m", "f", "f"]})
    >>> encoder = TableEncoder(min_frequency=1).fit(X)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age=(missing)', 'sex=f', 'sex=m']
    >>> encoder.transform(pd.DataFrame({"sex": ["m"], "age": [40]}))
    array([[0., 0., 0., 1.]])
    >>> encoder = TableEncoder(min_frequency=1, encoding="codes").fit(X)
    >>> encoder.transform(X)
    array([[30.,  1.],
           [50.,  0.],
           [nan,  0.]])
    >>> encoder.categorical_features_
    array([False,  True])
    >>> encoder.columns_[1].level_names
    ('f', 'm', '(other)')
    """

    def __init__(
        self,
        *,
        kinds: dict[str, str] | None = None,
        min_frequency: int = 3,
        max_categories: int = 100,
        text_components: int = 20,
        sparse_output: bool | str = "auto",
        dtype: str = "float64",
        encoding: str = "features",
    ) -> None:
        self.kinds = kinds
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.text_components = text_components
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.encoding = encoding

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the kind of each column, and its scale or categories.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_features)
            A frame of pandas or polars, an arrow table, or an array.
        y : Ignored
            Ignored.

        Returns
        -------
        self : TableEncoder
            If fitting fails, it is left as it was.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            values = self._check_columns(X, reset=True)
            self._learn(values)
        return self

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : table, mapping or array-like of shape (n_samples, n_features)
            With the columns seen at ``fit``. A mapping of names to arrays is quick for
            a few rows: numbers and strings of categories are encoded without pandas.

        Returns
        -------
        X_new : {ndarray, CSR array} of shape (n_samples, n_features_out)
            Finite numbers; as codes, NaN where a value is missing.
        """
        check_is_fitted(self)
        pairs = zip(self.columns_, self._check_columns(X, reset=False), strict=True)
        blocks = [column.encode(each) for column, each in pairs]
        sizes = [column.n_features for column in self.columns_]
        join = join_sparse if self._gives_sparse() else join_dense
        with np.errstate(over="ignore"):
            features = join(blocks, sizes, self.dtype)
        self._check_precision(features)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns if they had none at ``fit``; else the same.

        Returns
        -------
        names : ndarray of str objects of shape (n_features_out,)
        """
        check_is_fitted(self)
        names = self._input_names(input_features)
        pairs = zip(names, self.columns_, strict=True)
        return distinct_names(
            [name + suffix for name, column in pairs for suffix in column.suffixes]
        )

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            kinds=one_of(None) | mapping(),
            min_frequency=integer(1),
            max_categories=integer(1),
            text_components=integer(1),
            sparse_output=one_of(True, False, "auto"),
            dtype=one_of("float64", "float32"),
            encoding=one_of(*KINDS),
        )
        if self.encoding == "codes" and self.sparse_output is True:
            raise ValueError(
                "sparse_output=True needs encoding='features': codes are dense. Got "
                "encoding='codes'."
            )

    def _check_columns(self, X: Any, *, reset: bool) -> list[Any]:
        """Values of each column, in the order of ``fit``."""
        if isinstance(X, Mapping) and not reset:
            return columns_of_mapping(self.columns_, X)
        try:
            frame = as_frame(X)
        except DataError as error:
            raise error.about("The table") from error
        if frame is None:
            return self._check_array(X, reset=reset)
        if not len(frame):
            raise DataError(
                f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum "
                "of 1 is required by TableEncoder."
            )
        if reset or not hasattr(self, "feature_names_in_"):
            if not frame.shape[1]:
                raise DataError(
                    f"Found array with 0 feature(s) (shape={frame.shape}) while a "
                    "minimum of 1 is required by TableEncoder."
                )
            check_distinct(list(frame.columns))
            validate_data(self, frame, reset=reset, skip_check_array=True)
            return [frame.iloc[:, j] for j in range(frame.shape[1])]
        return self._columns_by_name(frame)

    def _check_array(self, X: Any, *, reset: bool) -> list[Any]:
        X = validate_data(
            self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan"
        )
        if X.dtype.kind in "biuf":
            return list(np.asfortranarray(X).T)
        series = require("pandas", "tables", "Encoding a table").Series
        return [series(values).infer_objects() for values in X.T]

    def _columns_by_name(self, frame: Any) -> list[Any]:
        names = [str(name) for name in frame.columns]
        needed = [column.name for column in self.columns_ if column.n_features]
        absent = absent_columns(needed, names)
        if absent:
            raise DataError(f"The table {absent}")
        check_distinct([name for name in names if name in set(needed)])
        labels = dict(zip(names, frame.columns, strict=True))
        # A column that gives no feature may be absent; it only has to have a length.
        return [
            frame[labels[column.name]] if column.n_features else frame.index
            for column in self.columns_
        ]

    def _learn(self, values: list[Any]) -> None:
        options = LearningOptions(
            self.min_frequency,
            self.max_categories,
            self.text_components,
            encoding=self.encoding,
        )
        names = [str(name) for name in self._input_names(None)]
        kinds = check_kinds(self.kinds, names, self.encoding)
        columns = learn_columns(names, values, kinds, options)
        if not any(column.n_features for column in columns):
            raise DataError(
                f"No column tells rows apart: found n_samples={len(values[0])} and "
                f"{len(columns)} columns that are constant, empty, dropped or "
                "identifiers."
            )
        self._set_columns(columns)

    def _set_columns(self, columns: tuple[Column, ...]) -> None:
        """Keep columns, and what follows from them."""
        self.columns_ = columns
        sizes = [column.n_features for column in columns]
        self.column_of_feature_ = np.repeat(np.arange(len(columns)), sizes)
        is_code = np.array([bool(column.level_names) for column in columns])
        self.categorical_features_ = np.repeat(is_code, sizes)

    def _check_precision(self, features: Any) -> None:
        """Refuse numbers that are as they were, and too large for float32."""
        if self.encoding == "features" or not np.isinf(features).any():
            return
        row, feature = np.argwhere(np.isinf(features))[0]
        name = self.columns_[self.column_of_feature_[feature]].name
        raise DataError(
            f"Column {name!r} has a number in row {row} (the first is 0) that is too "
            "large for dtype='float32'; expected less than 3.4e38. Use dtype='float64'."
        )

    def _input_names(self, input_features: Any) -> NDArray[Any]:
        names = getattr(self, "feature_names_in_", None)
        if input_features is None:
            if names is not None:
                return np.asarray(names, dtype=object)
            return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
        given = np.asarray(input_features, dtype=object)
        if names is not None and not np.array_equal(names, given):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(given)}"
            )
        return given

    def _gives_sparse(self) -> bool:
        if self.encoding == "codes":
            return False
        if self.sparse_output != "auto":
            return bool(self.sparse_output)
        n_features = len(self.column_of_feature_)
        most = sum(column.n_entries for column in self.columns_)
        return n_features >= _LEAST_SPARSE_FEATURES and most <= _DENSEST * n_features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

"""A fitted model that predicts NumPy rows without scikit-learn's validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.metaestimators import available_if

from localsvm._checks import check_finite
from localsvm.estimators import MixtureSVC
from localsvm.exceptions import DataError
from localsvm.export._compiled._families import model_rows, score_type

_TYPES = (np.dtype(np.float64), np.dtype(np.float32))


def compile(model: Any) -> CompiledModel:
    """Prepare a fitted model for single rows, in microseconds each.

    For services that ask for one row at a time. The result holds copies of the numbers
    of the model in the compiled core, so that later changes of the model do not reach
    it; it predicts arrays of NumPy only.

    Parameters
    ----------
    model : fitted estimator
        AdditiveSVC, ClusteredSVC, ClusteredSVCCV, LocallyLinearSVC, LocalSVC,
        LocalSVCCV, MixtureSVC, ReducedSVC or StagedSVC, fitted to dense rows.

    Returns
    -------
    CompiledModel

    Raises
    ------
    TypeError
        If the model, its metric, its clusterer or its search has no counterpart there.

    See Also
    --------
    localsvm.export.write_c : C source of a model.
    localsvm.export.to_onnx : A graph that runs without Python.

    Notes
    -----
    Decisions of additive models, and of kernel SVMs in cells, are those of the
    estimator for single rows, bit for bit. Those of regions, of prepared rows and of
    large batches are sums in another order, equal to rounding, so labels may differ on
    rows that lie on a border to the last digits.

    It costs the memory of the model twice over, since rows of float32 and float64 are
    both provided for.

    Examples
    --------
    >>> import localsvm
    >>> from localsvm.data import make_xor
    >>> X, y = make_xor(400, random_state=0)
    >>> model = localsvm.ClusteredSVC(4, random_state=0).fit(X, y)
    >>> fast = localsvm.compile(model)
    >>> bool((fast.predict(X[:1]) == model.predict(X[:1])).all())
    True
    """
    return CompiledModel(model)


def _has_probabilities(model: CompiledModel) -> bool:
    return model._is_mixture


class CompiledModel:
    """A fitted model in the compiled core, as :func:`localsvm.compile` makes it.

    It is never changed after it was made, so threads can share it; the interpreter is
    free for others while it works.

    Parameters
    ----------
    model : fitted estimator
        As for :func:`localsvm.compile`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    """

    def __init__(self, model: Any) -> None:
        self._wide, self._narrow = (model_rows(model, dtype) for dtype in _TYPES)
        self.classes_: NDArray[Any] = model.classes_.copy()
        self.n_features_in_ = int(model.n_features_in_)
        self._name = type(model).__name__
        self._is_mixture = isinstance(model, MixtureSVC)
        self._takes_missing = bool(model._allows_nan)
        self._score_types = tuple(score_type(model, dtype) for dtype in _TYPES)

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Class of each row.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), float32 or float64
            Rows, in any layout.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X, core = self._rows(X)
        winner = np.empty(len(X), dtype=np.int64)
        if core.classify(X, winner, self._takes_missing) >= 0:
            check_finite(X, None, self._takes_missing)
        return self.classes_[winner]

    def decision_function(self, X: NDArray[Any]) -> NDArray[Any]:
        """Signed confidence of each row, as the estimator gives it.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), float32 or float64
            Rows, in any layout.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``.
        """
        scores = self._decide(X)
        if self._is_mixture and scores.shape[1] == 2:
            scores = scores[:, 1:] - scores[:, :1]
        dtype = self._score_types[X.dtype == np.float32]
        scores = scores.astype(dtype, copy=False)
        return scores.ravel() if len(self.classes_) == 2 else scores

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Probability of each class, of a mixture.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), float32 or float64
            Rows, in any layout.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(softmax(self._decide(X), axis=1))

    def _decide(self, X: NDArray[Any]) -> NDArray[np.float64]:
        X, core = self._rows(X)
        scores = np.empty((len(X), core.n_outputs))
        if core.decide(X, scores, self._takes_missing) >= 0:
            check_finite(X, None, self._takes_missing)
        return scores

    def _rows(self, X: NDArray[Any]) -> tuple[NDArray[Any], Any]:
        """Rows in C order, and the model of their type."""
        if not isinstance(X, np.ndarray):
            raise TypeError(
                f"X={type(X).__name__} is no array; expected a numpy.ndarray. Use "
                f"numpy.asarray, or predict with the {self._name}."
            )
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has shape {X.shape}; expected (n_samples, {self.n_features_in_}). "
                "Reshape a single row by X.reshape(1, -1)."
            )
        if X.dtype not in _TYPES:
            raise TypeError(
                f"X has dtype {X.dtype}; expected float64 or float32. Use "
                "X.astype(float)."
            )
        core = self._wide if X.dtype == np.float64 else self._narrow
        return np.ascontiguousarray(X), core

    def __reduce__(self) -> Any:
        raise TypeError(
            "A CompiledModel cannot be pickled; expected the estimator. Save that, and "
            "compile it where it is loaded."
        )

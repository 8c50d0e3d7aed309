"""Probabilities, prediction sets and familiarity of a classifier."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import check_sample_weight, level_of_caller, real
from localsvm.engine import is_in_blocks, is_lazy, predict_lazily
from localsvm.estimators._held_out.calibration import Calibration
from localsvm.estimators._held_out.familiarity import Familiarity
from localsvm.estimators._held_out.maps import ClassMap, SignMap, learn_map
from localsvm.estimators._held_out.record import HeldOut, sample_rows
from localsvm.exceptions import DataError
from localsvm.rows import Rows

# Held-out rows of a class, by weight, without which nothing can be told of it.
_FEWEST_OF_CLASS = 5.0

_REMEDY = (
    "Rows that are not in memory, clusters, and files of versions before this one "
    "leave none. Call calibrate(X, y) with rows that the fit has not seen."
)


def _has_probabilities(model: Any) -> bool:
    """Raise for a fitted model that kept no decisions on held-out rows."""
    if hasattr(model, "classes_") and not hasattr(model, "_calibration"):
        raise AttributeError(
            f"This {type(model).__name__} has no decisions on rows that were held out, "
            f"so it gives no probabilities. {_REMEDY}"
        )
    return True


def _has_sets(model: Any) -> bool:
    """Raise for a fitted model that does not know how probable held-out rows were."""
    known = getattr(model, "_calibration", None)
    if hasattr(model, "classes_") and (known is None or known.conformity is None):
        raise AttributeError(
            f"This {type(model).__name__} has no decisions on rows that were held out, "
            f"so it gives no prediction sets. {_REMEDY}"
        )
    return True


def _has_familiarity(model: Any) -> bool:
    """Raise for a fitted model that keeps no training rows to compare with."""
    if hasattr(model, "classes_") and not hasattr(model, "_familiarity"):
        raise AttributeError(
            f"This {type(model).__name__} keeps no training rows to compare new ones "
            f"with. {_REMEDY}"
        )
    return True


class HeldOutMixin:
    """What a classifier knows from rows that were held out of its fit."""

    classes_: NDArray[Any]
    _calibration: Calibration
    _familiarity: Familiarity

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, calibrated on rows that were held out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or blocks
            As in ``predict``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The largest one, the first of equals, belongs to the class that ``predict``
            gives.

        Notes
        -----
        With ``class_weight`` they are those of rows that are weighted so.
        """
        if is_lazy(X):
            check_is_fitted(self)
            names = self.classes_.tolist()
            return predict_lazily(self, "predict_proba", X, names, np.float64)  # type: ignore[no-any-return]
        if is_in_blocks(X):
            return self._answer_blocks("predict_proba", X)  # type: ignore[attr-defined,no-any-return]
        rows = self._check_query_rows(X)  # type: ignore[attr-defined]
        return self._probabilities(rows)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or blocks

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        probabilities: NDArray[np.float64] = self.predict_proba(X)
        return np.log(probabilities)

    @available_if(_has_sets)  # type: ignore[untyped-decorator]
    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Classes of which one is the true one, as often as asked for.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        coverage : float, default=0.9
            Share of rows whose set holds their class, between 0 and 1.

        Returns
        -------
        sets : ndarray of shape (n_samples, n_classes), bool
            Whether a class of ``classes_`` is in the row's set. The predicted class
            always is.

        Notes
        -----
        Split conformal prediction: a class is in the set if it is at least as probable
        as the true classes of all but ``1 - coverage`` of the held-out rows were. The
        share holds for rows drawn as the training rows were, on average over what was
        held out, and in each region that has ``5 / (1 - coverage)`` held-out rows of
        its own; the other regions share theirs.
        """
        if not real(0, 1, closed="neither").holds(coverage):
            raise ValueError(
                f"coverage={coverage!r} should be a number above 0 and below 1."
            )
        rows = self._check_query_rows(X)  # type: ignore[attr-defined]
        region = self._held_out_regions(rows)
        return self._calibration.sets(self._probabilities(rows), region, coverage)

    @available_if(_has_familiarity)  # type: ignore[untyped-decorator]
    def familiarity(self, X: Any) -> NDArray[np.float64]:
        """How usual each row is among the training rows of its region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            Share of the training rows of the row's region that lie as far from the
            others, or farther. Of new rows like the training rows, a share of at most
            about ``p`` gets ``p`` or less; a row that is like none of them gets one
            over the number of rows.

        Notes
        -----
        Conformal p-values of the distance to the nearest of up to 512 training rows, in
        the columns that the model sees, each in units of its spread. A region of less
        than 200 of the up to 2000 sampled rows shares those of all such regions.
        """
        rows = self._check_query_rows(X)  # type: ignore[attr-defined]
        return self._familiarity.p_values(rows, self._held_out_regions(rows))

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn probabilities, sets and familiarity from rows the fit has not seen.

        A fit to rows in memory does so by itself, with rows of its own. Use it after a
        fit to rows in blocks or to clusters, or where new rows are drawn differently.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes of the rows, all known to the fit.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of two equals the row twice.

        Returns
        -------
        self : object
            Labels and decisions are as before.
        """
        check_is_fitted(self)
        mapped = self._check_query_rows(X)  # type: ignore[attr-defined]
        labels = np.asarray(y)
        if labels.shape != (mapped.shape[0],):
            raise DataError(
                f"y has shape {labels.shape}; expected ({mapped.shape[0]},), one label "
                "per row."
            )
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise DataError(
                f"y contains the class {unknown.tolist()[0]!r}; expected one of "
                f"{self.classes_.tolist()}, which the model was fitted to."
            )
        weight = check_sample_weight(sample_weight, mapped)
        place = np.searchsorted(self.classes_, labels).astype(np.int32)
        penalty: Any = self._penalty_weight(labels, place, weight)  # type: ignore[attr-defined]
        rows = Rows(mapped, place, weight, penalty, len(self.classes_))
        _, drawn = sample_rows(rows, limit=rows.n_rows)
        self._become_familiar(drawn)
        self._keep_held_out(HeldOut(drawn, self._decide(drawn.X)))  # type: ignore[attr-defined]
        return self

    def _forget_held_out(self) -> None:
        """Drop what is known of an earlier fit."""
        for name in ("_calibration", "_familiarity"):
            vars(self).pop(name, None)

    def _keep_held_out(self, held_out: HeldOut) -> None:
        """Learn the probability map, and keep how probable the true classes are."""
        rows = held_out.rows
        if not rows.n_rows:
            return
        decisions = np.asarray(held_out.decisions, dtype=np.float64)
        own = self._given_map() or learn_map(
            decisions, rows.class_index, rows.penalty_weight
        )
        self._calibration = Calibration(own)
        self._warn_of_silent_classes(decisions, rows)
        region = held_out.region
        self._calibration = Calibration.of(
            own,
            self._probabilities_of(rows.X, decisions),
            rows.class_index,
            self._held_out_regions(rows.X) if region is None else region,
            rows.sample_weight,
        )

    def _warn_of_silent_classes(
        self, decisions: NDArray[np.float64], rows: Rows
    ) -> None:
        """Warn of classes with held-out rows none of which is predicted as any."""
        n_classes = len(self.classes_)
        if decisions.shape[1] == 1:
            predicted = (decisions[:, 0] > 0).astype(np.intp)
        else:
            predicted = decisions.argmax(axis=1)
        mass = np.bincount(rows.class_index, rows.sample_weight, n_classes)
        silent = mass >= _FEWEST_OF_CLASS
        silent[np.unique(predicted)] = False
        if silent.any():
            labels = self.classes_[silent].tolist()
            warnings.warn(
                f"None of {rows.n_rows} held-out rows is predicted as {labels[0]!r}"
                f"{f', nor as {labels[1:]}' if labels[1:] else ''}. If its errors "
                "matter, set class_weight='balanced', or decide by costs with "
                "CostClassifier.",
                UserWarning,
                stacklevel=level_of_caller(),
            )

    def _become_familiar(self, rows: Rows) -> None:
        """Measure distinct rows, in random order, against each other."""
        region = self._held_out_regions(rows.X)
        self._familiarity = Familiarity.learn(rows, region)

    def _given_map(self) -> SignMap | ClassMap | None:
        """Map of decisions whose meaning is known; None if it is to be learned."""
        return None

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of checked rows."""
        return self._probabilities_of(X, self._decide(X))  # type: ignore[attr-defined]

    def _probabilities_of(self, X: Any, decisions: NDArray[Any]) -> NDArray[np.float64]:
        """Probabilities by decisions, which may be those of a model without the row."""
        del X
        return self._calibration.map.probabilities(decisions)

    def _held_out_regions(self, X: Any) -> NDArray[np.int64]:
        """Region of each checked row; zero where the model has none."""
        if not hasattr(self, "region"):
            return np.zeros(X.shape[0], dtype=np.int64)
        return np.asarray(self._find_regions(X), dtype=np.int64)

    def _find_regions(self, X: Any) -> NDArray[Any]:
        """Region of each checked row, of a model that has regions."""
        return np.asarray(self.region(X))  # type: ignore[attr-defined]

"""Rows in and out of a fitted model: what the classifiers that can do so share."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import boolean, check_parameters, check_sample_weight
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._endings import check_solution
from localsvm.estimators._metric import map_rows
from localsvm.exceptions import DataError
from localsvm.rows import GivenRows, KeptRows, RowChange, Rows, identify_rows, stored_as

# A fit that can be updated is solved to this share of ``tol``: what is left is used up
# by changes that then cost nothing.
RESERVE = 0.25

_FORMS = "(X, y) or (X, y, sample_weight)"


@dataclass(frozen=True)
class UpdateReport:
    """What an update did.

    Attributes
    ----------
    n_added, n_removed : int
        Rows that were given.
    n_rows : int
        Distinct rows that the model has now.
    n_regions : int
        Regions of the changed rows, or models that were fitted again.
    n_duals : int
        Rows whose dual changed in any task.
    duality_gap : float
        Largest relative duality gap, over all rows that are present.
    n_iter : int
        Most passes or steps that a problem took; 0 if the certificate alone changed.
    seconds : float
    """

    n_added: int
    n_removed: int
    n_rows: int
    n_regions: int
    n_duals: int
    duality_gap: float
    n_iter: int
    seconds: float


@dataclass(frozen=True)
class Updated:
    """What an update of a family hands back.

    Attributes
    ----------
    kept : object
        What replaces the state that was updated.
    attributes : dict
        Fitted attributes that changed.
    ending : Solution or None
        How the problems ended; None if nothing was solved.
    n_regions, n_duals, n_iter : int
        As in :class:`UpdateReport`.
    duality_gap : float
    """

    kept: Any
    attributes: dict[str, Any]
    ending: Any
    n_regions: int
    n_duals: int
    n_iter: int
    duality_gap: float


class UpdatableClassifier(BaseLocalClassifier):
    """A classifier whose fit can keep its rows, to add and remove some of them.

    A method implements ``_kept_rows`` and ``_update``, and sets ``_kept`` in its fit if
    ``updatable``.
    """

    updatable: bool
    _kept: Any

    def update(self, *, add: Any = None, remove: Any = None) -> UpdateReport:
        """Add and remove rows of the fitted model; nothing is changed if that fails.

        What the fit learned of the rows as a whole stays: regions, metric, widths and
        the values of "scale" and "balanced". Given these, the model is the one that a
        fit of the rows now present would give, to ``tol``; the certificate proves it
        over all of them. See the guide, "Updates", for what follows from that and what
        does not.

        Parameters
        ----------
        add : tuple (X, y) or (X, y, sample_weight), default=None
            Rows to add, of classes that the model knows.
        remove : tuple (X, y) or (X, y, sample_weight), default=None
            Rows to remove, found by their values and label. A weight takes that much of
            the weight of a row, one without weights. To change the label of a row,
            remove it with the old one and add it with the new one in the same call.

        Returns
        -------
        UpdateReport
            Kept as ``update_report_``, too.

        Raises
        ------
        ValueError
            If the model keeps no rows, a row to remove is not in it, a class is new, or
            a class would lose its last row.
        """
        start = time.perf_counter()
        kept = self._require_kept()
        rows: KeptRows = self._kept_rows()
        added, removed = self._given("add", add), self._given("remove", remove)
        change = rows.plan(added, removed)
        changed = rows.changed(change)
        self._check_classes(changed)
        found = self._update(kept, change)
        if found.ending is not None:
            check_solution(found.ending, self)
        report = UpdateReport(
            change.n_added,
            change.n_removed,
            changed.n_rows,
            found.n_regions,
            found.n_duals,
            found.duality_gap,
            found.n_iter,
            time.perf_counter() - start,
        )
        # One step, which no interrupt can cut in two.
        self.__dict__.update(found.attributes, _kept=found.kept, update_report_=report)
        return report

    @abstractmethod
    def _kept_rows(self) -> KeptRows:
        """Rows that are kept."""

    @abstractmethod
    def _update(self, kept: Any, change: RowChange) -> Updated:
        """Work out the changed state and attributes; change nothing."""

    def _require_kept(self) -> Any:
        check_is_fitted(self)
        kept = getattr(self, "_kept", None)
        if kept is None:
            name = type(self).__name__
            raise DataError(
                f"This {name} keeps no rows, so it cannot be updated. Fit it to rows "
                f"in memory with {name}(updatable=True); a model file keeps them with "
                "localsvm.save(model, path, state=True)."
            )
        return kept

    def _check_updatable(self) -> None:
        check_parameters(self, updatable=boolean())

    def _require_no_updates(self) -> None:
        """Refuse to keep rows that are not in memory."""
        if self.updatable:
            raise ValueError(
                "updatable must be False for rows in blocks; found True. An updatable "
                "model keeps its rows in memory."
            )

    def _tol_of_fit(self) -> float:
        """Gap that the solver of the fit stops at."""
        return float(self.tol * RESERVE if self.updatable else self.tol)

    def _learn_metric(self, rows: Rows, clock: Any) -> Rows:
        if not self.updatable:
            return super()._learn_metric(rows, clock)
        return super()._learn_metric(rows, clock).identified(rows)

    def _given(self, name: str, given: Any) -> GivenRows:
        """Check rows to add or remove, and map them."""
        if given is None:
            return GivenRows.none(self._kept_rows().X.values)
        X, class_index, weight = self._read_given(name, given)
        hashes = identify_rows(X, class_index)
        mapped = self._for_solver(X, self._kept_rows())
        return GivenRows(mapped, class_index, weight, hashes)

    def _read_given(
        self, name: str, given: Any
    ) -> tuple[Any, NDArray[np.int32], NDArray[np.float64]]:
        """Check rows to add or remove: values in the type of the fit, class, weight."""
        if not isinstance(given, tuple | list) or len(given) not in (2, 3):
            raise TypeError(
                f"{name} must be a tuple {_FORMS}; found {type(given).__name__}"
                + (f" of {len(given)}." if isinstance(given, tuple | list) else ".")
            )
        X = self._check_rows(given[0], reset=False)
        X = X.astype(self._kept_rows().identity.dtype, copy=False)
        class_index = self._class_index(name, given[1], X.shape[0])
        return (
            X,
            class_index,
            check_sample_weight(given[2] if len(given) == 3 else None, X),
        )

    def _for_solver(self, X: Any, rows: KeptRows) -> Any:
        """Rows as those that are kept: mapped, in their type and storage."""
        return stored_as(map_rows(getattr(self, "metric_", None), X), rows.X.values)

    def _class_index(self, name: str, y: Any, n_rows: int) -> NDArray[np.int32]:
        labels = np.asarray(y)
        if labels.shape != (n_rows,):
            raise DataError(
                f"{name} has {n_rows} rows and labels of shape {labels.shape}; "
                "expected one label per row."
            )
        known = np.isin(labels, self.classes_)
        if not known.all():
            raise DataError(
                f"{name} has the class {labels[~known][0]!r}, which the model does not "
                f"know; expected one of {self.classes_.tolist()!r:.200}. Fit again to "
                "add a class."
            )
        return np.searchsorted(self.classes_, labels).astype(np.int32)

    def _check_classes(self, rows: KeptRows) -> None:
        """Refuse a change that leaves a class without rows."""
        gone = np.flatnonzero(rows.counts == 0)
        if len(gone):
            raise DataError(
                f"remove takes the last rows of class {self.classes_[gone[0]]!r}; "
                "expected every class to keep one. Fit again without the class."
            )

"""Fits and predictions of several classifiers on the same rows, in bounded CPU time.

CPU time, because a busy machine must not decide how many rows a classifier gets; and on
one thread, because waiting threads may spin and be counted.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from localsvm._threads import single_threaded_libraries
from localsvm.data import TableEncoder
from localsvm.exceptions import DataWarning
from localsvm.inspect._labels import LabelCoding
from localsvm.rows import stratified_order

FIRST_ROWS = 1000
_GROWTH = 8
_LEAST_POWER = 0.3
_CHUNK = 4096


@dataclass(frozen=True)
class Contestant:
    """A classifier that is yet to be fitted.

    Attributes
    ----------
    name : str
    make : callable
        Gives a new one.
    most_rows : int
        Rows to fit it on, at most; zero leaves it out.
    power : float
        Power of the rows that its time grows with, at most.
    notes : tuple of str
    needs_dense : bool
        Whether it takes no sparse rows.
    """

    name: str
    make: Callable[[], Any]
    most_rows: int
    power: float = 1.0
    notes: tuple[str, ...] = ()
    needs_dense: bool = False


@dataclass(frozen=True)
class Fitted:
    """A fitted classifier, rows and CPU seconds of its fit, and what is to be said."""

    classifier: Any
    n_rows: int
    seconds: float
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Course:
    """Rows and labels as all classifiers get them.

    Attributes
    ----------
    train, test : ndarray or CSR
    train_labels, test_labels : LabelCoding
    train_order : ndarray of int
        Order of the training rows; each beginning of it is a sample of every class.
    test_order : ndarray of int
        Random order of the test rows.
    max_time : float
        Seconds of CPU.
    """

    train: Any
    test: Any
    train_labels: LabelCoding
    test_labels: LabelCoding
    train_order: NDArray[np.intp]
    test_order: NDArray[np.intp]
    max_time: float

    @classmethod
    def of(
        cls,
        model: Any,
        train: tuple[Any, Any],
        test: tuple[Any, Any],
        max_time: float,
        seed: int,
    ) -> Course:
        """Prepare rows as the model does, and orders of them."""
        train_labels = LabelCoding.of(model, train[1], "y_train")
        test_labels = LabelCoding.of(model, test[1], "y_test")
        for X in (train[0], test[0]):
            # Names of columns are lost below: the model refuses wrong ones here.
            model.predict(X[:1])
        rng = np.random.default_rng(seed)
        return cls(
            _numbers(rows_of_last_step(model, train[0])),
            _numbers(rows_of_last_step(model, test[0])),
            train_labels,
            test_labels,
            stratified_order(train_labels.true, rng),
            rng.permutation(len(test_labels.true)),
            max_time,
        )

    def for_peers(self, model: Any, X_train: Any, X_test: Any) -> Course:
        """Give peers features of a table where the model takes codes of it."""
        encoder = model[0] if isinstance(model, Pipeline) else None
        if not isinstance(encoder, TableEncoder) or encoder.encoding == "features":
            return self
        kinds = dict(encoder.kinds or {})
        # What is ordered for codes has no such order for features.
        kinds |= {name: "category" for name in kinds if kinds[name] == "ordered"}
        again = clone(encoder).set_params(encoding="features", kinds=kinds or None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            train = again.fit_transform(X_train)
            test = again.transform(X_test)
        return replace(self, train=_numbers(train), test=_numbers(test))

    def fit(self, peer: Contestant) -> Fitted:
        """Fit on ever more rows, until all are used or the next fit would take long."""
        n_all = len(self.train_order)
        n_most = min(n_all, peer.most_rows)
        fitted = self._fit_once(
            peer, n_most if n_most <= 2 * FIRST_ROWS else FIRST_ROWS
        )
        left, power = self.max_time - fitted.seconds, peer.power
        while fitted.n_rows < n_most and left > 0:
            affordable = fitted.n_rows * (left / max(fitted.seconds, 1e-9)) ** (
                1 / power
            )
            size = int(min(n_most, _GROWTH * fitted.n_rows, affordable))
            if size < min(n_most, 2 * fitted.n_rows):
                break
            grown = self._fit_once(peer, size)
            power = _power(fitted, grown, peer.power)
            left, fitted = left - grown.seconds, grown
        notes = fitted.notes
        if fitted.n_rows < n_most:
            notes += (
                f"fitted on {fitted.n_rows:,} of {n_all:,} rows, so not compared: more "
                f"would take over max_time={self.max_time:g} s of CPU",
            )
        elif n_most < n_all:
            notes += (
                f"fitted on a sample of {n_most:,} of {n_all:,} rows, so not compared",
            )
        return Fitted(fitted.classifier, fitted.n_rows, fitted.seconds, notes)

    def predict(
        self, classifier: Any, *, needs_dense: bool = False
    ) -> tuple[NDArray[Any], float]:
        """Predict test rows in order until the time is over; and the CPU seconds."""
        parts, seconds = [], 0.0
        for start in range(0, len(self.test_order), _CHUNK):
            chunk = self.test_order[start : start + _CHUNK]
            rows = _take(self.test, chunk, needs_dense)
            with warnings.catch_warnings(), single_threaded_libraries():
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                begin = cpu_seconds()
                parts.append(classifier.predict(rows))
                seconds += cpu_seconds() - begin
            if seconds > self.max_time:
                break
        return np.concatenate(parts), seconds

    def true(self, n_rows: int) -> NDArray[np.intp]:
        """Positions of the labels of the first test rows."""
        return self.test_labels.true[self.test_order[:n_rows]]

    def are_right(self, trained: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether predictions are right that are positions in the training labels."""
        known = {label: k for k, label in enumerate(self.test_labels.labels)}
        place = np.array([known.get(each, -1) for each in self.train_labels.labels])
        return np.asarray(place[trained] == self.true(len(trained)))

    def _fit_once(self, peer: Contestant, n_rows: int) -> Fitted:
        index = self.train_order[:n_rows]
        rows = _take(self.train, index, peer.needs_dense)
        classifier = peer.make()
        with (
            warnings.catch_warnings(record=True) as caught,
            single_threaded_libraries(),
        ):
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ConvergenceWarning)
            begin = cpu_seconds()
            classifier.fit(rows, self.train_labels.true[index])
            seconds = cpu_seconds() - begin
        notes = ("its solver did not converge",) if caught else ()
        return Fitted(classifier, n_rows, seconds, notes)


def cpu_seconds() -> float:
    """CPU time of this process and of the children that it has waited for."""
    of_children = os.times()
    return time.process_time() + of_children.children_user + of_children.children_system


def _power(small: Fitted, large: Fitted, most: float) -> float:
    """Power of the rows that the time grew with."""
    times = max(large.seconds, 1e-9) / max(small.seconds, 1e-9)
    found = np.log(times) / np.log(large.n_rows / small.n_rows)
    return float(np.clip(found, _LEAST_POWER, most))


def last_step(model: Any) -> Any:
    """Give the classifier of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def rows_of_last_step(model: Any, X: Any) -> Any:
    """Rows as the classifier of a pipeline gets them."""
    has_steps = isinstance(model, Pipeline) and len(model) > 1
    return model[:-1].transform(X) if has_steps else X


def _take(rows: Any, index: NDArray[np.intp], needs_dense: bool) -> Any:
    taken = rows[index]
    return taken.toarray() if needs_dense and sparse.issparse(taken) else taken


def _numbers(rows: Any) -> Any:
    return check_array(
        rows,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
    )

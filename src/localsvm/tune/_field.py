"""The rows of a race: prepared once a split, fitted and scored once a candidate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import scales_already_told
from localsvm.tune._candidates import (
    Candidate,
    make_estimator,
    make_model,
    make_scaler,
)
from localsvm.tune._costs import Costs
from localsvm.tune._methods import RowFacts
from localsvm.tune._rungs import Index, Split

_PREPARE, _PREDICT = "prepare", "predict"
_LEAST_TIME = 0.1  # of a fit that has to end with a model, whatever is left


@dataclass(frozen=True, eq=False)
class Outcome:
    """A candidate on a split.

    Parameters
    ----------
    correct : ndarray of shape (n_validation,), bool
    seconds : float
        For the fit and the validation rows.
    cut : bool
        Whether the fit ended at its time limit.
    settled : Candidate
        The candidate, with the parameters that it has chosen itself.
    """

    correct: NDArray[np.bool_]
    seconds: float
    cut: bool
    settled: Candidate


@dataclass(frozen=True, eq=False)
class Rows:
    """Data of the race, as checked and as given.

    Parameters
    ----------
    X : array, CSR matrix or table
        What can be indexed by rows.
    y : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
    weighted : bool
        Whether weights were given.
    """

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64]
    weighted: bool

    def take(self, index: Index) -> Any:
        """Take some of the rows."""
        return self.X.iloc[index] if hasattr(self.X, "iloc") else self.X[index]

    def fit(self, model: Any, X: Any, index: Index) -> Any:
        """Fit a model, or the last step of a pipeline with the weights."""
        name = "model__sample_weight" if hasattr(model, "steps") else "sample_weight"
        given = {name: self.weight[index]} if self.weighted else {}
        return model.fit(X, self.y[index], **given)


class Field:
    """Fits candidates to parts of the rows, and keeps what was prepared and measured.

    Parameters
    ----------
    rows : Rows
    encoder : transformer or None
    seed : int
    n_jobs : int or None
    clock : callable
    """

    def __init__(
        self,
        rows: Rows,
        encoder: Any,
        seed: int,
        n_jobs: int | None,
        clock: Callable[[], float],
    ) -> None:
        self.rows = rows
        self.encoder = encoder
        self.seed = seed
        self.n_jobs = n_jobs
        self.clock = clock
        self.costs = Costs()
        self._prepared: dict[tuple[Split, str], tuple[Any, Any]] = {}

    def forget_prepared(self) -> None:
        """Free the prepared rows of a rung."""
        self._prepared.clear()

    def facts(self, split: Split, scaling: str) -> RowFacts:
        """Facts of the rows of a fit."""
        X, _ = self._prepare(split, scaling)
        n_classes = len(np.unique(self.rows.y))
        return RowFacts.of(_numbers(X), n_classes)

    def run(self, candidate: Candidate, split: Split, max_time: float) -> Outcome:
        """Fit to the training rows of a split, predict the others."""
        X, X_validation = self._prepare(split, candidate.scaling)
        start = self.clock()
        estimator = make_estimator(candidate, self.seed, self.n_jobs, max_time)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.rows.fit(estimator, X, split.train)
            fitted = self.clock()
            predicted = estimator.predict(X_validation)
        end = self.clock()
        settled, share = _settle(candidate, estimator)
        self._measure(candidate, split, fitted - start, end - fitted)
        if settled != candidate:
            self._measure(settled, split, share * (fitted - start), end - fitted)
        return Outcome(
            np.asarray(predicted == self.rows.y[split.validation]),
            end - start,
            any(_is_time_limit(warning) for warning in caught),
            settled,
        )

    def expected_seconds(self, candidate: Candidate, split: Split) -> float | None:
        """Seconds for a split that has not been run, None if there is no idea."""
        seconds = self._expected_fit(candidate, len(split.train))
        if seconds is None:
            return None
        seconds += self._expected_prediction(candidate, len(split.validation))
        if (split, candidate.scaling) not in self._prepared:
            seconds += self._preparing(candidate, len(split.train))
        return seconds

    def expected_final(
        self, candidate: Candidate, n_rows: int, n_predicted: int
    ) -> float:
        """Seconds of the whole model on so many rows, once it was run on some."""
        fit = self._expected_fit(candidate, n_rows) or 0.0
        predict = self._expected_prediction(candidate, n_predicted)
        return fit + self._preparing(candidate, n_rows) + predict

    def largest_fit(self, candidate: Candidate) -> int:
        """Most rows that the method was fitted to."""
        return self.costs.of(candidate.name).largest

    def fit_model(
        self, candidate: Candidate, given: Rows, index: Index, seconds: float
    ) -> Any:
        """Fit the whole model, encoder and scaler included, to rows as given.

        The time limit is only of this fit: the model's parameters do not have it.
        """
        X = given.take(index)
        encoder = None if self.encoder is None else clone(self.encoder)
        estimator = make_estimator(
            candidate, self.seed, self.n_jobs, max(seconds, _LEAST_TIME)
        )
        scaler = make_scaler(candidate.scaling, X)
        with scales_already_told():
            model = given.fit(make_model(encoder, scaler, estimator), X, index)
        estimator.set_params(max_time=None)
        return model

    def _prepare(self, split: Split, scaling: str) -> tuple[Any, Any]:
        key = (split, scaling)
        if key not in self._prepared:
            start = self.clock()
            if scaling == "none":
                self._prepared[key] = self._encode(split)
            else:
                X, X_validation = self._prepare(split, "none")
                scaler = make_scaler(scaling, X)
                self._prepared[key] = (
                    scaler.fit_transform(X),
                    scaler.transform(X_validation),
                )
            curve = self.costs.of((_PREPARE, scaling))
            curve.add(len(split.train), self.clock() - start)
        return self._prepared[key]

    def _encode(self, split: Split) -> tuple[Any, Any]:
        X, X_validation = (
            self.rows.take(index) for index in (split.train, split.validation)
        )
        if self.encoder is None:
            return X, X_validation
        encoder = clone(self.encoder)
        X = encoder.fit_transform(X, self.rows.y[split.train])
        return X, encoder.transform(X_validation)

    def _measure(
        self, candidate: Candidate, split: Split, fit: float, predict: float
    ) -> None:
        per_row = predict / max(1, len(split.validation))
        for who in (candidate, candidate.name):
            curve = self.costs.of(who, candidate.method.exponent)
            curve.add(len(split.train), fit)
            self.costs.of((_PREDICT, who)).add(0, per_row)

    def _expected_fit(self, candidate: Candidate, n_rows: int) -> float | None:
        exponent = candidate.method.exponent
        own, of_method = (
            self.costs.of(who, exponent) for who in (candidate, candidate.name)
        )
        # A method's growth is known before that of each candidate.
        known = own.predict(n_rows, of_method.growth())
        return of_method.predict(n_rows) if known is None else known

    def _expected_prediction(self, candidate: Candidate, n_rows: int) -> float:
        for who in (candidate, candidate.name):
            per_row = self.costs.of((_PREDICT, who)).predict(0)
            if per_row is not None:
                return per_row * n_rows
        return 0.0

    def _preparing(self, candidate: Candidate, n_rows: int) -> float:
        scalings = {"none", candidate.scaling}
        curves = (self.costs.of((_PREPARE, scaling)) for scaling in scalings)
        return sum(curve.predict(n_rows) or 0.0 for curve in curves)


def _settle(candidate: Candidate, estimator: Any) -> tuple[Candidate, float]:
    """Add what the fit has chosen; its part of the seconds without the choice."""
    chosen = getattr(estimator, "best_params_", None)
    if chosen is None:
        return candidate, 1.0
    seconds = estimator.fit_report_
    whole = sum(seconds.values())
    share = 1 - seconds["choose"] / whole if whole > 0 else 1.0
    return replace(candidate, items=tuple(sorted(chosen.items()))), share


def _numbers(X: Any) -> Any:
    """Rows as an array or a sparse matrix."""
    return X.to_numpy() if hasattr(X, "to_numpy") else X


def _is_time_limit(warning: warnings.WarningMessage) -> bool:
    limit = "max_time" in str(warning.message)
    return limit and issubclass(warning.category, ConvergenceWarning)

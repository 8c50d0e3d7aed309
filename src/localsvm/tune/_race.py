"""A race of all methods within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from localsvm._checks import check_rows, check_sample_weight
from localsvm._seeds import draw_seed
from localsvm.estimators import StagedSVC
from localsvm.tune._candidates import Candidate
from localsvm.tune._costs import Budget
from localsvm.tune._course import PATIENCE, Course
from localsvm.tune._field import Field, Rows
from localsvm.tune._methods import METHODS
from localsvm.tune._result import RaceResult, Trial
from localsvm.tune._rungs import (
    GROWTH,
    Index,
    n_test_rows,
    plan_rungs,
    stratified_order,
)
from localsvm.tune._scores import held_out_score

_FEWER = 0.9


def race(  # noqa: PLR0913 - options by keyword
    X: Any,
    y: Any,
    *,
    encoder: Any = None,
    time_budget: float = 60.0,
    methods: Sequence[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = 1,
    test_size: float | int = 0.2,
    sample_weight: Any = None,
    on_progress: Callable[[Trial], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> RaceResult:
    """Race all methods and their parameters within a time budget.

    Use it when a minute is at hand and it is not known which method suits the data;
    :class:`~localsvm.StagedSVC` alone is the choice without a race. Test rows are set
    apart first. On the others the candidates climb rungs of three times as many rows
    each; about a third of them goes on from rung to rung. The winner is fitted to all
    rows but the test rows, and scored on those, which nothing else has looked at; then
    it is fitted once more to all rows.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Numbers, or whatever ``encoder`` takes.
    y : array-like of shape (n_samples,)
        Class labels, numbers or strings.
    encoder : transformer or None, default=None
        Makes numbers of the rows, e.g. a :class:`~localsvm.data.TableEncoder`; a copy
        is fitted to the training rows of every fit. Its output is not scaled again.
    time_budget : float, default=60.0
        Seconds. The race ends at about that time, and always with a model: at worst,
        that of the cheapest candidate on a few hundred rows.
    methods : sequence of str or None, default=None
        Some of "reduced", "clustered", "locally-linear", "local", "support-cluster",
        "mixture" and "staged"; None is all.
    random_state : int, RandomState instance or None, default=0
        Chooses the test rows and the order of the others, and seeds the estimators.
    n_jobs : int or None, default=1
        Threads of every fit.
    test_size : float or int, default=0.2
        Part of the rows that is set apart, at most a half, and at most 20,000 rows; or
        their number.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights in the fits and in all scores. Rows of weight zero are left out. With
        ``sklearn.utils.class_weight.compute_sample_weight("balanced", y)`` the scores
        are balanced accuracies.
    on_progress : callable or None, default=None
        Called with every :class:`Trial` when it has ended.
    clock : callable, default=time.perf_counter
        Gives the time in seconds. What it gives decides what is started: the same
        readings, the same result.

    Returns
    -------
    RaceResult
        ``best_estimator_`` is fitted to all rows if the time allowed, else to what
        ``n_rows`` says. ``score`` is that of the model without the test rows.

    See Also
    --------
    StagedSVC : Chooses its own parameters, without a race.

    Notes
    -----
    Candidates: the defaults of every method with columns standardised, scaled to
    [0, 1], and as they are (sparse rows are not centred); then other parameters with
    each method's best scaling. StagedSVC scales itself.

    Scores for the choice: up to 1000 rows by 5-fold cross-validation, repeated at the
    top; up to 4000 by validation rows on lower rungs and 5 folds at the top; more by
    validation rows. Among candidates whose deficit is within one standard error of the
    difference the fastest wins, where its final fit takes more than a hundredth of the
    budget; of about equally fast ones the best, and of equally good ones the simplest.

    Time: a candidate's cost at the next rung is predicted from the growth measured so
    far, and what cannot finish is not started; a trial's ``status`` says so. Up to half
    of the budget is kept for the final fits. Fits have time limits, which a clustering
    or a search for neighbours may overrun a little.

    Rows: every part has the classes in about their proportions. One row of each class
    is in every training part, so a class of one row is never in a score.

    Examples
    --------
    >>> from localsvm.data import make_xor
    >>> from localsvm.tune import race
    >>> X, y = make_xor(400, random_state=0)
    >>> result = race(X, y, time_budget=2.0, methods=["clustered", "reduced"])
    >>> result.score.value > 0.9
    True
    >>> result.best_estimator_.predict(X[:1]) == y[:1]
    array([ True])
    """
    budget = Budget(_positive(time_budget), clock)
    names = _check_methods(methods)
    given, checked, classes = _check_data(X, y, sample_weight, encoder)
    seed = draw_seed(random_state)
    rng = np.random.default_rng(seed)
    order = stratified_order(classes, rng)
    n_test = n_test_rows(_check_test_size(test_size), len(order), classes.max() + 1)
    pool, test = order[:-n_test], order[-n_test:]
    rungs = plan_rungs(pool, classes, rng)
    field = Field(checked, encoder, seed, n_jobs, clock)
    course = Course(field, rungs, budget, len(pool), n_test, on_progress)
    winner = course.run(names)
    field.forget_prepared()
    return _finish(course, winner, given, pool, test)


def _finish(
    course: Course, candidate: Candidate, given: Rows, pool: Index, test: Index
) -> RaceResult:
    """Fit the winner without the test rows, score it, and fit it to all rows."""
    field, budget = course.field, course.budget
    n_rows = n_score_rows = _affordable_rows(course, candidate)
    expected = field.expected_final(candidate, n_rows, len(test))
    # A model cut short may be a bad one: rather a little over the budget.
    limit = max(budget.left(), PATIENCE * expected)
    model = field.fit_model(candidate, given, pool[:n_rows], limit)
    correct = np.asarray(model.predict(given.take(test)) == given.y[test])
    score = held_out_score(correct, given.weight[test])
    everything = np.arange(len(given.y))
    expected = field.expected_final(candidate, len(everything), 0)
    if n_rows == len(pool) and expected <= budget.left():
        limit = max(budget.left(), PATIENCE * expected)
        model = field.fit_model(candidate, given, everything, limit)
        n_rows = len(everything)
    return RaceResult(
        best_estimator_=model,
        best_method=candidate.name,
        best_scaling=candidate.scaling,
        best_params=candidate.params,
        score=score,
        n_rows=n_rows,
        n_score_rows=n_score_rows,
        trials=tuple(course.trials),
        seconds=budget.spent(),
        time_budget=budget.seconds,
    )


def _affordable_rows(course: Course, candidate: Candidate) -> int:
    """All rows but the test rows, or as many as the time that is left allows.

    Not more than a rung above what was tried: growth cannot be foreseen beyond that.
    """
    least = min(course.n_fitted, course.rungs[0].n_rows)
    n_rows = min(course.n_fitted, GROWTH * course.field.largest_fit(candidate))
    while n_rows > least:
        expected = course.field.expected_final(candidate, n_rows, course.n_test)
        if expected <= course.budget.left():
            break
        n_rows = max(least, int(_FEWER * n_rows))
    return n_rows


def _check_data(
    X: Any, y: Any, sample_weight: Any, encoder: Any
) -> tuple[Rows, Rows, NDArray[np.intp]]:
    """Rows as given and as numbers, without those of weight zero, and their classes."""
    if encoder is None:
        numbers, y = check_rows(StagedSVC(), X, y)
        X = sparse.csr_array(X) if sparse.issparse(X) else X
    else:
        check_consistent_length(X, y)
        numbers = X
    if not hasattr(X, "shape"):
        X = numbers
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    weight = check_sample_weight(sample_weight, X)
    given = Rows(X, y, weight, sample_weight is not None)
    checked = replace(given, X=numbers)
    present = np.flatnonzero(weight > 0)
    if len(present) < len(y):
        given, checked = (
            Rows(rows.take(present), y[present], weight[present], True)
            for rows in (given, checked)
        )
    labels, class_index = np.unique(given.y, return_inverse=True)
    if len(labels) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got "
            f"{len(labels)} class ({labels.tolist()[0]!r})."
        )
    return given, checked, class_index


def _check_methods(methods: Sequence[str] | None) -> list[str]:
    if methods is None:
        return list(METHODS)
    named = [methods] if isinstance(methods, str) else list(methods)
    unknown = [name for name in named if name not in METHODS]
    if unknown or not named:
        found = repr(unknown[0]) if unknown else "none"
        raise ValueError(
            f"methods must be some of {', '.join(METHODS)}; found {found}."
        )
    return [name for name in METHODS if name in named]


def _check_test_size(test_size: float | int) -> float | int:
    whole = isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool)
    if whole and test_size >= 1:
        return int(test_size)
    if isinstance(test_size, float) and 0 < test_size <= 0.5:
        return float(test_size)
    raise ValueError(
        "test_size must be a float in the range (0, 0.5] or an int in the range "
        f"[1, inf). Got {test_size!r} instead."
    )


def _positive(time_budget: float) -> float:
    if not time_budget > 0:
        raise ValueError(
            f"time_budget must be a number of seconds above 0. Got {time_budget!r} "
            "instead."
        )
    return float(time_budget)

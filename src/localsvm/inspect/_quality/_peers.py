"""Other classifiers on the same rows, each in bounded CPU time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import check_consistent_length

from localsvm._checks import is_unscaled
from localsvm._progress import stage
from localsvm.inspect._quality._intervals import (
    Estimate,
    compare_paired,
    quantile_of,
    share_estimate,
)
from localsvm.inspect._quality._peer_race import (
    FIRST_ROWS,
    Contestant,
    Course,
    last_step,
)
from localsvm.inspect._quality._scores import check_scorable

_MOST_DENSE_BYTES = 2**30
_Z = quantile_of(0.95)


@dataclass(frozen=True)
class PeerScore:
    """How one classifier did.

    Parameters
    ----------
    name : str
    is_given : bool
        Whether it is the model that the others are compared with.
    n_train, n_test : int
        Rows that it was fitted on, and scored on; zero if it was left out.
    accuracy : Estimate or None
        With its 95 % interval.
    difference : Estimate or None
        Accuracy of the given model minus that of this one, on the same rows; its 95 %
        interval is for pairs. None if this one was not fitted on all rows: then the
        difference would be one of rows.
    p_value : float or None
        Of McNemar's exact test that both are right equally often.
    fit_seconds : float or None
        CPU seconds of the fit; None if they are not known.
    predict_us : float or None
        Microseconds of CPU per row.
    notes : tuple of str
        What a reader must know, such as a sample, or a solver that did not converge.
    """

    name: str
    is_given: bool
    n_train: int
    n_test: int = 0
    accuracy: Estimate | None = None
    difference: Estimate | None = None
    p_value: float | None = None
    fit_seconds: float | None = None
    predict_us: float | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, as JSON holds them.

        Returns
        -------
        dict
        """
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("accuracy", "difference"):
            found[name] = None if found[name] is None else found[name]._asdict()
        return found | {"notes": list(self.notes)}


def compare_peers(  # noqa: PLR0913 - all but five have defaults and are keywords
    model: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    sample: int = 20_000,
    max_time: float = 30.0,
    fit_seconds: float | None = None,
    random_state: int = 0,
) -> list[PeerScore]:
    """Fit well-known classifiers to the same rows and compare them with a model.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        It is not fitted again. The peers of a pipeline get the rows that its last step
        gets, gradient boosting, too; but where these are codes of a table, features of
        it, since SVMs cannot take codes.
    X_train : {array-like, sparse matrix, data frame} of shape (n_train, n_features)
        Rows that the model was fitted on.
    y_train : array-like of shape (n_train,)
        Their classes.
    X_test : {array-like, sparse matrix, data frame} of shape (n_test, n_features)
        Rows that it was not fitted on.
    y_test : array-like of shape (n_test,)
        Their classes.
    sample : int, default=20000
        Most rows that ``SVC`` is fitted on, drawn class by class: its time grows with
        the square of them.
    max_time : float, default=30.0
        CPU seconds for the fits of a classifier, and as many for its predictions; each
        runs on one thread. A fit that would take longer is done on fewer rows: the
        notes say so, and there is no ``difference``. Predictions stop there.
    fit_seconds : float, default=None
        CPU seconds of the fit of the model, to be shown beside those of the others;
        its ``fit_report_`` has wall-clock time, which cannot be compared with them.
    random_state : int, default=0
        Seed of the other classifiers, and of the rows that SVC is fitted to.

    Returns
    -------
    list of PeerScore
        The given model, ``LinearSVC``, ``SVC`` and ``HistGradientBoostingClassifier``.

    See Also
    --------
    score_model : More scores of one model.

    Notes
    -----
    The peers have scikit-learn's default parameters and the ``class_weight`` of the
    model: the comparison says what a user gets who sets nothing, not what tuning could
    do. SVMs get standardised columns if the ranges of the columns differ by more than
    1000, the ratio from which on this library warns.

    With the same ``random_state`` the result is the same, but for the times, unless
    ``max_time`` is reached. It is CPU time, so that what else the machine does has no
    say in it.

    Examples
    --------
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import compare_peers
    >>> X, y = make_xor(600, random_state=0)
    >>> model = ClusteredSVC(n_regions=4, random_state=0).fit(X[:400], y[:400])
    >>> peers = compare_peers(model, X[:400], y[:400], X[400:], y[400:])
    >>> [peer.name for peer in peers]  # doctest: +NORMALIZE_WHITESPACE
    ['ClusteredSVC', 'LinearSVC', 'SVC', 'HistGradientBoostingClassifier']
    >>> bool(peers[1].difference.low > 0)  # a plane cannot solve it
    True
    """
    _check_limits(sample, max_time)
    check_scorable(model)
    check_consistent_length(X_train, y_train)
    check_consistent_length(X_test, y_test)
    course = Course.of(
        model, (X_train, y_train), (X_test, y_test), max_time, random_state
    )
    last = last_step(model)
    with stage(f"score {type(last).__name__}"):
        given, right = _score_given(last, course, fit_seconds)
    scores = [given]
    course = course.for_peers(model, X_train, X_test)
    for peer in _contestants(last, course.train, sample, random_state):
        with stage(f"fit {peer.name}"):
            scores.append(_score_peer(peer, course, right))
    return scores


def _score_given(
    model: Any, course: Course, fit_seconds: float | None
) -> tuple[PeerScore, NDArray[np.bool_]]:
    predicted, seconds = course.predict(model)
    right = course.test_labels.encode(predicted) == course.true(len(predicted))
    score = PeerScore(
        type(model).__name__,
        is_given=True,
        n_train=len(course.train_order),
        fit_seconds=fit_seconds,
    )
    return _with_accuracy(score, right, seconds, course), right


def _score_peer(
    peer: Contestant, course: Course, given_right: NDArray[np.bool_]
) -> PeerScore:
    score = PeerScore(peer.name, is_given=False, n_train=0, notes=peer.notes)
    if not peer.most_rows:
        return score
    fitted = course.fit(peer)
    predicted, seconds = course.predict(fitted.classifier, needs_dense=peer.needs_dense)
    right = course.are_right(predicted)
    score = replace(
        score,
        n_train=fitted.n_rows,
        fit_seconds=fitted.seconds,
        notes=(*score.notes, *fitted.notes),
    )
    if fitted.n_rows == len(course.train_order):
        n_both = min(len(right), len(given_right))
        pair = compare_paired(given_right[:n_both], right[:n_both], _Z)
        score = replace(score, difference=pair.difference, p_value=pair.p_value)
    return _with_accuracy(score, right, seconds, course)


def _with_accuracy(
    score: PeerScore, right: NDArray[np.bool_], seconds: float, course: Course
) -> PeerScore:
    n_test, n_all = len(right), len(course.test_order)
    notes = score.notes
    if n_test < n_all:
        notes += (
            f"scored on {n_test:,} of {n_all:,} rows, drawn at random: "
            f"max_time={course.max_time:g} s of CPU was over",
        )
    return replace(
        score,
        n_test=n_test,
        accuracy=share_estimate(float(right.mean()), n_test, _Z),
        predict_us=1e6 * seconds / n_test,
        notes=notes,
    )


def _contestants(model: Any, rows: Any, sample: int, seed: int) -> list[Contestant]:
    shared = {
        "class_weight": getattr(model, "class_weight", None),
        "random_state": seed,
    }
    scaled: tuple[str, ...] = ("on standardised columns",) if is_unscaled(rows) else ()

    def after_scaling(classifier: Any) -> Any:
        scaler = StandardScaler(with_mean=not sparse.issparse(rows))
        return make_pipeline(scaler, classifier) if scaled else classifier

    n_dense, why_not = _dense_rows(rows)
    return [
        Contestant(
            "LinearSVC",
            lambda: after_scaling(LinearSVC(dual="auto", **shared)),
            most_rows=rows.shape[0],
            notes=scaled,
        ),
        Contestant(
            "SVC",
            lambda: after_scaling(SVC(cache_size=500, **shared)),
            most_rows=sample,
            power=2.0,
            notes=scaled,
        ),
        Contestant(
            "HistGradientBoostingClassifier",
            lambda: HistGradientBoostingClassifier(**shared),
            most_rows=n_dense,
            notes=why_not,
            needs_dense=True,
        ),
    ]


def _dense_rows(rows: Any) -> tuple[int, tuple[str, ...]]:
    """How many rows may be made dense; none with the reason if that is too few."""
    n_rows, n_columns = rows.shape
    if not sparse.issparse(rows):
        return n_rows, ()
    most = min(n_rows, _MOST_DENSE_BYTES // (8 * n_columns))
    if most >= min(n_rows, FIRST_ROWS):
        return most, ()
    return 0, (
        f"left out: it takes no sparse rows, and {FIRST_ROWS:,} dense ones of "
        f"{n_columns:,} columns take over 1 GB",
    )


def reported_seconds(model: Any) -> float | None:
    """Seconds of a fit that the model reports, or None."""
    report = getattr(model, "fit_report_", None) or {}
    seconds = [each for each in report.values() if isinstance(each, float)]
    return sum(seconds) if seconds else None


def _check_limits(sample: int, max_time: float) -> None:
    if sample < 2:
        raise ValueError(f"sample={sample!r} should be at least 2 rows.")
    if not max_time > 0:
        raise ValueError(f"max_time={max_time!r} should be above 0 seconds.")

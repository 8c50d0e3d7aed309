"""Scores of a classifier on labelled rows, each with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import check_sample_weight
from localsvm.inspect._labels import (
    LabelCoding,
    name_some,
    plain_count,
    plain_label,
    shorten,
)
from localsvm.inspect._quality._confusion import ClassScore, Confusion
from localsvm.inspect._quality._intervals import (
    Estimate,
    auc_estimate,
    mean_estimate,
    quantile_of,
)

SCORE_NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "auc": "AUC",
    "log_loss": "log loss",
    "brier": "Brier score",
}
REMEDY = "class_weight='balanced'"
_SHOWN_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of a classifier; ``str`` of it is a table.

    Attributes
    ----------
    n_rows : int
        Rows with a weight above zero.
    confidence_level : float
        Of all intervals.
    accuracy, balanced_accuracy, macro_f1 : Estimate
    classes : tuple of ClassScore
        In the order of the model's classes, then labels it does not know; classes that
        neither the labels nor the predictions have are left out.
    confusion : ndarray of shape (n_classes, n_classes)
        Rows by true class and predicted class, in the order of ``classes``; sums of
        weights if rows have weights.
    unknown_labels : tuple
        Labels in y that the model was not fitted on: it is wrong on all their rows.
    log_loss, brier : Estimate or None
        Of the predicted probabilities; None without them. The Brier score of two
        classes is the mean squared error of one probability, that of more is summed
        over the classes, as in scikit-learn.
    auc : Estimate or None
        Area under the ROC curve of two classes, else None.
    has_class_weight : bool
        Whether the model was fitted with a ``class_weight``.

    See Also
    --------
    score_model : Makes them.
    """

    n_rows: int
    confidence_level: float
    accuracy: Estimate
    balanced_accuracy: Estimate
    macro_f1: Estimate
    classes: tuple[ClassScore, ...]
    confusion: NDArray[np.float64]
    unknown_labels: tuple[Any, ...] = ()
    log_loss: Estimate | None = None
    brier: Estimate | None = None
    auc: Estimate | None = None
    has_class_weight: bool = False

    @property
    def missed_classes(self) -> tuple[Any, ...]:
        """Labels with rows of which the model finds none: their recall is 0.

        Labels that it was not fitted on are not among them.
        """
        return tuple(
            score.label
            for score in self.classes
            if score.n_rows and score.recall is not None and score.recall.value == 0
            if score.label not in self.unknown_labels
        )

    def summary(self) -> dict[str, Estimate]:
        """Scores of the whole, by name, without those that are not defined.

        Returns
        -------
        dict of str to Estimate
        """
        found = {name: getattr(self, name) for name in SCORE_NAMES}
        return {name: score for name, score in found.items() if score is not None}

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, as JSON holds them.

        Returns
        -------
        dict
        """
        return {
            "n_rows": self.n_rows,
            "confidence_level": self.confidence_level,
            **{name: _plain(score) for name, score in self.summary().items()},
            "classes": [
                {
                    "label": plain_label(score.label),
                    "n_rows": plain_count(score.n_rows),
                    "precision": _plain(score.precision),
                    "recall": _plain(score.recall),
                    "f1": score.f1,
                }
                for score in self.classes
            ],
            "confusion": [
                [plain_count(count) for count in row] for row in self.confusion.tolist()
            ],
            "unknown_labels": [plain_label(label) for label in self.unknown_labels],
            "missed_classes": [plain_label(label) for label in self.missed_classes],
        }

    def __str__(self) -> str:
        rows = "row" if self.n_rows == 1 else "rows"
        level = f"{100 * self.confidence_level:g} % interval"
        header = f"{self.n_rows:,} {rows}"
        width = max(17, len(header))
        lines = [f"{header:<{width}}{'score':>9}   {level}"]
        for name, score in self.summary().items():
            shown = [f"{part:.4f}" for part in score]
            lines.append(
                f"{SCORE_NAMES[name]:<{width}}{shown[0]:>9}   {shown[1]} to {shown[2]}"
            )
        lines += ["", *self._class_lines()]
        if self.unknown_labels:
            lines += ["", describe_unknown(self)]
        if self.missed_classes:
            lines += ["", describe_missed(self)]
        return "\n".join(lines)

    def _class_lines(self) -> list[str]:
        shown = self.classes[:_SHOWN_CLASSES]
        names = [shorten(score.label) for score in shown]
        width = max(17, *(len(name) for name in names))
        lines = [
            f"{'class':<{width}}{'rows':>9}{'precision':>12}{'recall':>9}{'F1':>9}"
        ]
        for name, score in zip(names, shown, strict=True):
            precision, recall = (
                "-" if part is None else f"{part.value:.4f}"
                for part in (score.precision, score.recall)
            )
            lines.append(
                f"{name:<{width}}{score.n_rows:>9,.10g}{precision:>12}{recall:>9}"
                f"{score.f1:>9.4f}"
            )
        if len(shown) < len(self.classes):
            lines.append(f"and {len(self.classes) - len(shown)} more classes")
        return lines


def score_model(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    confidence_level: float = 0.95,
    random_state: int = 0,
) -> Scores:
    """Score a classifier on labelled rows, with confidence intervals.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        Anything with ``predict`` and ``classes_``.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows that the model was not fitted on: on its own training rows a model looks
        better than it is.
    y : array-like of shape (n_samples,)
        Their labels. The model is wrong on the rows of a label that it does not know.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; only their ratios count.
    confidence_level : float, default=0.95
        Of all intervals.
    random_state : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    Scores
        Print it for a table.

    Raises
    ------
    ValueError
        If a label is missing, or the model knows none of the labels.

    See Also
    --------
    compare_peers : Scores other classifiers on the same rows, too.

    Notes
    -----
    Each of ``predict``, ``predict_proba`` and ``decision_function`` that is there sees
    the rows once; the rest is O(n log n), a second or two for a million rows.

    Accuracy, precision and recall are shares of rows and have Wilson's interval; the
    interval of balanced accuracy, the mean of the recalls, follows from theirs. Macro
    F1 is bootstrapped: the confusion counts of each class are drawn again 1000 times.
    Log loss and Brier score have the normal interval of a mean, the AUC has DeLong's
    variance. With weights, the number of rows is Kish's effective one.

    The probability of a label that the model does not know is zero; as in scikit-learn
    its log loss is that of the smallest step of a float.

    Examples
    --------
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import score_model
    >>> X, y = make_xor(600, random_state=0)
    >>> model = ClusteredSVC(n_regions=4, random_state=0).fit(X[:400], y[:400])
    >>> scores = score_model(model, X[400:], y[400:])
    >>> low, high = scores.accuracy.low, scores.accuracy.high
    >>> bool(low < scores.accuracy.value < high)
    True
    """
    check_scorable(model)
    check_consistent_length(X, y)
    z = quantile_of(confidence_level)
    coding = LabelCoding.of(model, y)
    weight = check_sample_weight(sample_weight, coding.true)
    predicted = coding.encode(model.predict(X))
    table = Confusion.of(coding, predicted, weight)
    accuracy = table.accuracy(z)
    recalls = table.balanced_accuracy(z)
    return Scores(
        n_rows=int((weight > 0).sum()),
        confidence_level=confidence_level,
        accuracy=accuracy,
        balanced_accuracy=recalls,
        macro_f1=table.macro_f1(recalls, confidence_level, random_state),
        classes=tuple(table.class_scores(z)),
        confusion=table.weight,
        unknown_labels=coding.unknown,
        **_probability_scores(model, X, coding, weight, z),
        auc=_auc(model, X, coding, weight, z),
        has_class_weight=_has_class_weight(model),
    )


def check_scorable(model: Any) -> None:
    """Raise unless the model is a fitted classifier."""
    if not is_classifier(model):
        raise TypeError(
            f"Expected a fitted classifier, or a Pipeline that ends in one; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)


def _probability_scores(
    model: Any, X: Any, coding: LabelCoding, weight: NDArray[np.float64], z: float
) -> dict[str, Estimate]:
    """Log loss and Brier score, if the model gives probabilities."""
    if not hasattr(model, "predict_proba"):
        return {}
    proba = np.asarray(model.predict_proba(X), dtype=np.float64)
    known = coding.true < coding.n_known
    of_true = np.zeros(len(proba))
    of_true[known] = proba[known, coding.true[known]]
    log_losses = -np.log(np.clip(of_true, np.finfo(np.float64).eps, 1.0))
    squares = (proba**2).sum(axis=1) - 2 * of_true + 1
    if len(coding.labels) == 2:
        squares /= 2
    return {
        "log_loss": mean_estimate(log_losses, weight, z),
        "brier": mean_estimate(squares, weight, z),
    }


def _auc(
    model: Any, X: Any, coding: LabelCoding, weight: NDArray[np.float64], z: float
) -> Estimate | None:
    if coding.n_known != 2 or not gives_confidence(model):
        return None
    use = (coding.true < 2) & (weight > 0)
    is_positive = coding.true[use] == 1
    if is_positive.all() or not is_positive.any():
        return None
    score = confidence_in_second(model, X)
    return auc_estimate(score[use], is_positive, weight[use], z)


def gives_confidence(model: Any) -> bool:
    """Whether a model reports how sure it is."""
    return hasattr(model, "decision_function") or hasattr(model, "predict_proba")


def confidence_in_second(model: Any, X: Any) -> NDArray[np.float64]:
    """Decision values of a two-class model, or its probabilities."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]


def describe_unknown(scores: Scores) -> str:
    """Say in a sentence which labels the model does not know."""
    n_rows = sum(s.n_rows for s in scores.classes if s.label in scores.unknown_labels)
    return (
        f"Labels that the model does not know, and is wrong on: "
        f"{name_some(scores.unknown_labels)} ({n_rows:,.10g} rows)."
    )


def describe_missed(scores: Scores) -> str:
    """Say in a sentence which classes the model never finds, and what may help."""
    missed = scores.missed_classes
    n_rows = sum(s.n_rows for s in scores.classes if s.label in missed)
    predicted = [
        scores.confusion[:, place].any()
        for place, s in enumerate(scores.classes)
        if s.label in missed
    ]
    verb = "rightly predicted" if any(predicted) else "predicted"
    start = (
        f"Never {verb}: {'class' if len(missed) == 1 else 'classes'} "
        f"{name_some(missed)} ({n_rows:,.10g} {'row' if n_rows == 1 else 'rows'}, "
        "recall 0)."
    )
    if scores.has_class_weight:
        return start
    return f"{start} Fit with {REMEDY} to find more of rare classes."


def _has_class_weight(model: Any) -> bool:
    last = model[-1] if isinstance(model, Pipeline) else model
    return getattr(last, "class_weight", None) is not None


def _plain(score: Estimate | None) -> dict[str, float] | None:
    return None if score is None else score._asdict()

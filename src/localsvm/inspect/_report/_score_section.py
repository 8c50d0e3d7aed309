"""The scores, the confusion of classes and the other classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localsvm.inspect._quality._intervals import Estimate
from localsvm.inspect._quality._peers import PeerScore
from localsvm.inspect._quality._scores import SCORE_NAMES, Scores
from localsvm.inspect._report._svg import Picture, new_axes, picture_of
from localsvm.inspect._report._text import (
    NONE,
    clean,
    interval,
    number,
    p_value,
    percent,
    point_interval,
    points,
    seconds,
    sentence_list,
)

_SHOWN_CLASSES = 30
_MATRIX_CLASSES = 12
_SHOWN_CONFUSIONS = 15
_DEEPEST = 0.5
_SHARES = {"accuracy", "balanced_accuracy", "macro_f1"}
_COLORS = {True: "#0072B2", False: "#5c6670"}
_SHORT_NAMES = {"HistGradientBoostingClassifier": "HistGradientBoosting"}


@dataclass(frozen=True)
class ScoreLine:
    """One score in words."""

    name: str
    value: str
    interval: str


@dataclass(frozen=True)
class ClassLine:
    """Scores of one class in words."""

    label: str
    n_rows: str
    precision: tuple[str, str]
    recall: tuple[str, str]
    f1: str


@dataclass(frozen=True)
class Cell:
    """One cell of the confusion matrix, with the depth of its colour."""

    count: str
    depth: float
    is_right: bool


@dataclass(frozen=True)
class PeerLine:
    """One classifier in words."""

    name: str
    is_given: bool
    accuracy: str
    interval: str
    difference: str
    verdict: str
    n_train: str
    fit: str
    predict: str
    notes: list[str]


@dataclass(frozen=True)
class ScoreSection:
    """Scores in words.

    Attributes
    ----------
    scores : list of ScoreLine
    classes : list of ClassLine
    n_classes, n_hidden_classes : int
    matrix : list of tuple of str and list of Cell
        Lines of the confusion matrix; empty if there are too many classes.
    confusions : list of tuple of str, str and str
        True class, predicted class and rows of the most frequent confusions.
    """

    scores: list[ScoreLine]
    classes: list[ClassLine]
    n_classes: int
    n_hidden_classes: int
    matrix: list[tuple[str, list[Cell]]]
    confusions: list[tuple[str, str, str]]


def describe_scores(scores: Scores) -> ScoreSection:
    """Put scores into words."""
    classes = [
        ClassLine(
            clean(line.label),
            number(line.n_rows),
            _share(line.precision),
            _share(line.recall),
            percent(line.f1),
        )
        for line in scores.classes[:_SHOWN_CLASSES]
    ]
    return ScoreSection(
        [_score_line(name, scores) for name in scores.summary()],
        classes,
        len(scores.classes),
        len(scores.classes) - len(classes),
        _matrix(scores),
        _confusions(scores),
    )


def describe_peers(peers: Sequence[PeerScore]) -> list[PeerLine]:
    """Put the comparison into words."""
    n_all = max((peer.n_train for peer in peers if peer.is_given), default=0)
    return [_peer_line(peer, n_all) for peer in peers]


def compare_in_words(peers: Sequence[PeerScore]) -> list[str]:
    """Say in a sentence each how the given model compares with the others.

    Those that were not fitted on all rows are only named.
    """
    sentences, unequal = [], []
    for peer in peers:
        if peer.difference is None or peer.p_value is None:
            if peer.n_train and not peer.is_given:
                unequal.append(f"{short_name(peer)} ({peer.n_train:,})")
            continue
        name = short_name(peer)
        gain = peer.difference
        if gain.low > 0:
            verb = f"More accurate than {name} by {points(gain.value)[1:]} points"
        elif gain.high < 0:
            verb = f"Less accurate than {name} by {points(gain.value)[1:]} points"
        else:
            verb = f"No clear difference from {name}: {points(gain.value)} points"
        sentences.append(f"{verb} (95 % interval {point_interval(gain)}).")
    if unequal:
        sentences.append(
            f"Not compared, because fitted on fewer rows: {sentence_list(unequal)}."
        )
    return sentences


def draw_peers(peers: Sequence[PeerScore]) -> Picture:
    """Draw the accuracies with their intervals."""
    shown = [peer for peer in peers if peer.accuracy is not None][::-1]
    ax = new_axes(5.4, 0.7 + 0.42 * len(shown))
    for place, peer in enumerate(shown):
        value, low, high = (100 * part for part in peer.accuracy or ())
        color = _COLORS[peer.is_given]
        ax.plot([low, high], [place, place], color=color, linewidth=2.2)
        ax.plot([value], [place], "o", color=color, markersize=7)
        ax.annotate(
            f"{value:.1f}",
            (value, place),
            (0, 7),
            textcoords="offset points",
            ha="center",
            color=color,
            fontsize=8.5,
        )
    ax.set_yticks(range(len(shown)), [_name_with_rows(peer) for peer in shown])
    ax.set(ylim=(-0.6, len(shown) - 0.2), xlabel="accuracy on the scored rows, %")
    ax.grid(axis="x", alpha=0.3, linewidth=0.6)
    ax.margins(x=0.08)
    words = ", ".join(
        f"{_name_with_rows(peer)} {percent(peer.accuracy.value)}"
        for peer in reversed(shown)
        if peer.accuracy is not None
    )
    return picture_of(ax.figure, "peers", f"Accuracies with 95 % intervals: {words}")


def short_name(peer: PeerScore) -> str:
    """Name of a classifier."""
    return _SHORT_NAMES.get(peer.name, peer.name)


def _name_with_rows(peer: PeerScore) -> str:
    """Name of a classifier, with its rows if they are a sample."""
    if peer.is_given or peer.difference is not None:
        return short_name(peer)
    return f"{short_name(peer)} ({peer.n_train:,} rows)"


def _share(estimate: Estimate | None) -> tuple[str, str]:
    if estimate is None:
        return NONE, ""
    return percent(estimate.value), interval(estimate)


def _score_line(name: str, scores: Scores) -> ScoreLine:
    estimate = scores.summary()[name]
    title = SCORE_NAMES[name]
    title = title[0].upper() + title[1:]
    if name in _SHARES:
        return ScoreLine(title, percent(estimate.value), f"{interval(estimate)} %")
    low, high = f"{estimate.low:.4f}", f"{estimate.high:.4f}"
    return ScoreLine(title, f"{estimate.value:.4f}", f"{low} to {high}")


def _matrix(scores: Scores) -> list[tuple[str, list[Cell]]]:
    if len(scores.classes) > _MATRIX_CLASSES:
        return []
    total = scores.confusion.sum(axis=1, keepdims=True)
    shares = scores.confusion / np.where(total > 0, total, 1.0)
    return [
        (
            clean(line.label, 30),
            [
                Cell(
                    number(scores.confusion[i, j]),
                    round(_DEEPEST * float(shares[i, j]), 3),
                    i == j,
                )
                for j in range(len(scores.classes))
            ],
        )
        for i, line in enumerate(scores.classes)
    ]


def _confusions(scores: Scores) -> list[tuple[str, str, str]]:
    wrong = scores.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_SHOWN_CONFUSIONS]
    places: list[Any] = [np.unravel_index(k, wrong.shape) for k in order]
    names = [clean(line.label) for line in scores.classes]
    return [(names[i], names[j], number(wrong[i, j])) for i, j in places if wrong[i, j]]


def _peer_line(peer: PeerScore, n_all: int) -> PeerLine:
    accuracy, accuracy_interval = _share(peer.accuracy)
    difference, verdict = "", ""
    n_train = number(peer.n_train) if peer.n_train else NONE
    if peer.n_train and peer.difference is None and not peer.is_given:
        n_train = f"{n_train} of {number(n_all)}"
        verdict = "not compared: fewer rows"
    if peer.difference is not None and peer.p_value is not None:
        difference = points(peer.difference.value)
        verdict = f"{point_interval(peer.difference)}, p {p_value(peer.p_value)}"
    return PeerLine(
        name=short_name(peer),
        is_given=peer.is_given,
        accuracy=accuracy,
        interval=accuracy_interval,
        difference=difference,
        verdict=verdict,
        n_train=n_train,
        fit=NONE if peer.fit_seconds is None else seconds(peer.fit_seconds),
        predict=NONE if peer.predict_us is None else seconds(1e-6 * peer.predict_us),
        notes=[clean(note, 200) for note in peer.notes],
    )

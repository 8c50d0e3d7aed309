"""Puts the parts of a report together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from localsvm._progress import stage
from localsvm.data import Overlap, RowSketch, TableEncoder, row_hashes
from localsvm.inspect._labels import LabelCoding, plain_label
from localsvm.inspect._quality._peer_race import last_step
from localsvm.inspect._quality._peers import PeerScore, compare_peers, reported_seconds
from localsvm.inspect._quality._scores import (
    Scores,
    describe_missed,
    describe_unknown,
    score_model,
)
from localsvm.inspect._regions._region_table import RegionTable, region_table
from localsvm.inspect._report._certificate import Certificate, certify
from localsvm.inspect._report._data_section import DataSection, describe_data
from localsvm.inspect._report._drawn import (
    Drawn,
    draw_calibration,
    draw_effects,
    draw_fit,
    draw_map,
    draw_weights,
)
from localsvm.inspect._report._examples import (
    Example,
    can_explain,
    explain_examples,
)
from localsvm.inspect._report._method_section import describe_method
from localsvm.inspect._report._page import Page, Tile
from localsvm.inspect._report._region_section import describe_regions, draw_errors
from localsvm.inspect._report._score_section import (
    compare_in_words,
    describe_peers,
    describe_scores,
    draw_peers,
)
from localsvm.inspect._report._text import (
    NBSP,
    clean,
    interval,
    number,
    paragraphs,
    percent,
    plural,
    seconds,
)
from localsvm.inspect._report._usage import show_usage

_MOST_CONFUSION_CLASSES = 100
_SHOWN_REGIONS = 100
_UNKNOWN_ROWS = (
    "Whether some of these rows were in the fit is not known: the report got neither "
    "the training rows nor a record of them."
)


@dataclass(frozen=True)
class Given:
    """What the user gave, see :func:`write_report`; rows come with their labels."""

    model: Any
    test: tuple[Any, Any]
    train: tuple[Any, Any] | None
    fitted_rows: RowSketch | None
    title: str | None
    peers: bool | Sequence[PeerScore]
    notes: Any
    model_path: Any


def compose_page(given: Given, written_at: str) -> Page:
    """Compute and draw everything that the page shows."""
    from localsvm import __version__

    model, last = given.model, last_step(given.model)
    with stage("score"):
        scores = score_model(model, *given.test)
    overlap = _find_fitted_rows(given)
    peers, why_no_peers = _compare(given, overlap)
    with stage("regions"):
        table = region_table(model, *given.test) if has_regions(last) else None
        regions = None if table is None else describe_regions(table)
    test = given.test[0], LabelCoding.of(model, given.test[1])
    train = given.train and (given.train[0], LabelCoding.of(model, given.train[1]))
    data = describe_data(model, test, train)
    certificate = certify(last)
    texts, entries = paragraphs(given.notes)
    name = type(last).__name__
    return Page(
        title=clean(given.title or f"{name} on {plural(data.n_test, 'row')}", 200),
        subtitle=_subtitle(name, data),
        rows=_UNKNOWN_ROWS if overlap is None else str(overlap),
        are_new=overlap is None or overlap.is_chance,
        version=__version__,
        written_at=written_at,
        tiles=_tiles(last, scores, data, peers),
        findings=_findings(scores, data, peers, certificate),
        note_paragraphs=texts,
        note_entries=entries,
        data=data,
        method=describe_method(model),
        level=f"{100 * scores.confidence_level:g}{NBSP}%",
        scores=describe_scores(scores),
        peers=describe_peers(peers),
        peer_picture=draw_peers(peers) if peers else None,
        why_no_peers=why_no_peers,
        regions=regions,
        why_no_regions=f"{name} has no regions: one function decides all rows, so that "
        "there is no map, no table of regions, and no weights or errors by region.",
        error_picture=None if regions is None else draw_errors(regions),
        certificate=certificate,
        examples=_explain(given, test, table),
        why_no_examples=f"{name} is not of this library, which explains predictions "
        "by the linear functions of its own classifiers.",
        snippets=show_usage(given.model_path),
        drawn=_draw(given, test[1], regions is not None),
        document={"rows": _UNKNOWN_ROWS if overlap is None else str(overlap)}
        | _document(name, scores, peers, table, certificate),
    )


def has_regions(estimator: Any) -> bool:
    """Whether an estimator has regions to describe."""
    return hasattr(estimator, "region_class_counts_")


def _find_fitted_rows(given: Given) -> Overlap | None:
    """Look for rows of the fit among the scored ones; None if they are not known."""
    first = given.model[0] if isinstance(given.model, Pipeline) else None
    encoder = first if isinstance(first, TableEncoder) else None
    sketch = given.fitted_rows
    if sketch is None and given.train is not None:
        sketch = RowSketch.of(row_hashes(*given.train, encoder))
    return None if sketch is None else sketch.compare(row_hashes(*given.test, encoder))


def _compare(given: Given, overlap: Overlap | None) -> tuple[Sequence[PeerScore], str]:
    if not isinstance(given.peers, bool):
        return given.peers, "No other classifier was compared."
    if not given.peers:
        return [], "No other classifier was compared."
    if given.train is None:
        return [], (
            "Other classifiers need the training rows, which the report did not get."
        )
    if overlap is not None and not overlap.is_chance:
        return [], (
            "No other classifier was compared: training rows do not tell which of two "
            "is better."
        )
    return compare_peers(given.model, *given.train, *given.test), ""


def _draw(given: Given, coding: LabelCoding, with_regions: bool) -> dict[str, Drawn]:
    model, (X, y) = given.model, given.test
    with stage("draw"):
        drawn = {"calibration": draw_calibration(model, X, y), "fit": draw_fit(model)}
        if with_regions:
            drawn["map"] = draw_map(model, X, y, coding)
            drawn["weights"] = draw_weights(model, X)
        if hasattr(last_step(model), "column_effects_"):
            drawn["effects"] = draw_effects(model)
    return drawn


def _explain(
    given: Given, test: tuple[Any, LabelCoding], table: RegionTable | None
) -> list[Example]:
    if not can_explain(last_step(given.model)):
        return []
    with stage("explain"):
        return explain_examples(given.model, *test, table)


def _subtitle(name: str, data: DataSection) -> str:
    words = f"{name}, {plural(data.n_columns, 'column')}, "
    if data.n_train is not None:
        words += f"{plural(data.n_train, 'training row')}, "
    return words + plural(data.n_test, "scored row")


def _tiles(
    model: Any, scores: Scores, data: DataSection, peers: Sequence[PeerScore]
) -> list[Tile]:
    level = f"{100 * scores.confidence_level:g}{NBSP}% interval"
    tiles = [
        Tile(name, percent(score.value), f"{interval(score)} ({level})")
        for name, score in (
            ("Accuracy", scores.accuracy),
            ("Balanced accuracy", scores.balanced_accuracy),
            ("Macro F1", scores.macro_f1),
        )
    ]
    if hasattr(model, "n_regions_"):
        detail = f"for {plural(data.n_features, 'feature')}"
        tiles.append(Tile("Regions", number(model.n_regions_), detail))
    rows = "" if data.n_train is None else f"on {plural(data.n_train, 'row')}"
    known = [peer.fit_seconds for peer in peers if peer.is_given and peer.fit_seconds]
    spent = reported_seconds(model)
    if known:
        # The last of several fits is all that the model itself reports.
        tiles.append(Tile("CPU time of the fit", seconds(known[0]), rows))
    elif spent is not None:
        tiles.append(Tile("Time of the fit", seconds(spent), rows))
    return tiles


def _findings(
    scores: Scores,
    data: DataSection,
    peers: Sequence[PeerScore],
    certificate: Certificate,
) -> list[str]:
    largest = max(data.classes, key=lambda line: line.n_test)
    share = largest.n_test / data.n_test
    findings = [
        f"Right on {percent(scores.accuracy.value)} of the scored rows; always "
        f"answering \u201c{largest.label}\u201d would be right on {percent(share)}.",
        *compare_in_words(peers),
        certificate.verdict,
    ]
    if scores.unknown_labels:
        findings.append(clean(describe_unknown(scores), 400))
    if scores.missed_classes:
        findings.insert(1, clean(describe_missed(scores), 400))
    return findings


def _document(
    name: str,
    scores: Scores,
    peers: Sequence[PeerScore],
    table: RegionTable | None,
    certificate: Certificate,
) -> dict[str, Any]:
    """Collect the numbers for programs; no more of them than the page shows."""
    found = scores.to_dict()
    if len(scores.classes) > _MOST_CONFUSION_CLASSES:
        del found["confusion"]
    rows = [] if table is None else sorted(table.rows, key=lambda row: -row.size)
    return {
        "model": name,
        "classes": [plain_label(line.label) for line in scores.classes],
        "scores": found,
        "peers": [peer.to_dict() for peer in peers],
        "regions": [
            {
                "region": row.region,
                "kind": row.kind,
                "size": row.size,
                "share": row.share,
                "n_rows": row.n_rows,
                "accuracy": row.accuracy,
                "mean_margin": row.mean_margin,
            }
            for row in rows[:_SHOWN_REGIONS]
        ],
        "fit": {"verdict": certificate.verdict, **certificate.facts},
    }

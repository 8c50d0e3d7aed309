"""A model beside well-known classifiers, as commands compare and show it."""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from typing import Any

from localsvm._text import aligned
from localsvm._threads import call_interruptibly
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching
from localsvm.data import Table
from localsvm.inspect import PeerScore, compare_peers


def compare_models(
    model: Any, train: Table, test: Table, screen: Screen, **limits: Any
) -> list[PeerScore]:
    """Compare with other classifiers; Ctrl-C ends it, though they ignore it.

    ``limits`` are those of :func:`~localsvm.inspect.compare_peers`.
    """
    with watching(screen, "Comparing"):
        context = contextvars.copy_context()  # has the listener to their progress
        return call_interruptibly(
            lambda: context.run(
                compare_peers, model, train.X, train.y, test.X, test.y, **limits
            )
        )


def peer_lines(peers: Sequence[PeerScore]) -> list[str]:
    """Lines of a table of classifiers, and what must be known of them."""
    heading = ["", "rows", "accuracy", "95 % interval", "fit s", "us/row", "ahead by"]
    lines = aligned([heading, *map(_cells, peers)], "lr")
    notes = [f"{peer.name}: {note}." for peer in peers for note in peer.notes]
    ahead = (
        f"Ahead by: accuracy of {peers[0].name} minus that of the other, with its 95 % "
        f"interval,\non the same {peers[0].n_test:,} rows, to which none was fitted. "
        "Times are CPU time."
    )
    return [*lines, "", ahead, *notes]


def _cells(peer: PeerScore) -> list[str]:
    if peer.accuracy is None:
        return [peer.name, "-", "-", "-", "-", "-", "-"]
    value, low, high = peer.accuracy
    ahead = "-"
    if peer.difference is not None:
        of, least, most = peer.difference
        ahead = f"{of:+.4f} ({least:+.4f} to {most:+.4f})"
    return [
        peer.name,
        f"{peer.n_train:,}",
        f"{value:.4f}",
        f"{low:.4f} to {high:.4f}",
        "-" if peer.fit_seconds is None else f"{peer.fit_seconds:.2f}",
        "-" if peer.predict_us is None else f"{peer.predict_us:.1f}",
        ahead,
    ]

"""Tables of the guide that list the methods, from the library's registry."""

from __future__ import annotations

from localsvm.estimators import METHODS


def methods_which() -> str:
    """Write which method suits which need."""
    rows = [f"| {m.need} | `{m.class_name}` | {m.reason} |" for m in METHODS]
    metric = "| columns of unequal worth | `GradientMetric` | stretches the directions "
    head = ["| you have, or need | take | because |", "|---|---|---|"]
    return "\n".join([*head, *rows, metric + "that matter |"])


def methods_blocks() -> str:
    """Write how methods fit blocks of rows that are not in memory."""
    rows = [f"| `{m.class_name}` | {m.on_blocks} |" for m in METHODS if m.on_blocks]
    return "\n".join(["| estimator | how it fits blocks |", "|---|---|", *rows])


def methods_api() -> str:
    """Write the directive that documents the classes."""
    options = ["   :toctree: generated", "   :nosignatures:"]
    names = [f"   {method.api_name}" for method in METHODS]
    head = ["```{eval-rst}", ".. autosummary::", *options, ""]
    return "\n".join([*head, *names, "```"])

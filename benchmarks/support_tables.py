"""Tables of the support cluster machine."""

from __future__ import annotations

from typing import Any

from markdown import goals, groups, load, number, spread, table


def support_accuracy() -> str:
    """Test error on the data of the Support Cluster Machine's paper."""
    rows = [
        [
            group[0]["task"],
            f"`{group[0]['model']}`",
            f"{group[0]['gamma']:g}",
            ", ".join(sorted({f"{row['C']:g}" for row in group})),
            round(sum(row["clusters_per_pair"] for row in group) / len(group)),
            spread(group, "error"),
            number(group[0], "printed", ".2f"),
            number(group[0], "ceiling", "g"),
        ]
        for group in groups(load("support_accuracy")["rows"], "task", "model", "gamma")
    ]
    header = [
        "task",
        "model",
        "gamma",
        "C",
        "clusters of two classes",
        "test error, %",
        "printed in the paper",
        "goal, at most",
    ]
    return table(header, rows)


def support_speed() -> str:
    """List times of the pairs, the stream and the goals."""
    result = load("support_speed")
    rows = [
        [
            row["model"],
            f"{row['error']:.2f}",
            f"{row['fit_seconds']:.2f}",
            f"{row['predict_seconds']:.2f}",
        ]
        for row in result["rows"]
    ]
    stream = result["stream"]
    words = (
        f"A stream of {stream['rows']:,} rows of ten columns through `partial_fit`: "
        f"{stream['rows_per_second']:,} rows per second, "
        f"{stream['memory_growth_mb']:g} MB of memory more than after the first batch "
        f"of {stream['batch_mb']:g} MB, "
        f"{stream['clusters']} clusters."
    )
    header = ["model", "mean test error, %", "fit, s", "predict, s"]
    return "\n\n".join([table(header, rows), words, goals(result)])


def support_privacy() -> str:
    """Error against epsilon and number of rows."""
    result = load("support_privacy")
    epsilons = dict.fromkeys(row["epsilon"] for row in result["rows"])
    rows = []
    for group in groups(result["rows"], "cells", "covariance", "rows"):
        found = {row["epsilon"]: row for row in group}
        errors = [_noisy_error(found.get(epsilon)) for epsilon in epsilons]
        first = group[0]
        rows.append(
            [first["cells"], first["covariance"], f"{first['rows']:,}", *errors]
        )
    names = ["no noise" if e is None else f"epsilon {e:g}" for e in epsilons]
    compared = result["baselines"]
    words = (
        f"delta = {result['delta']:g}. To say the larger class for all: "
        f"{compared['larger_class']:.2f}; `SVC` on the public rows alone: "
        f"{compared['svc_on_public_rows']:.2f}."
    )
    header = ["cells", "covariance", "rows", *names]
    return "\n\n".join([table(header, rows), words])


def support_parties() -> str:
    """Error of three parties at each level without noise."""
    rows = [
        [
            f"`{group[0]['privacy']}`",
            round(sum(row["clusters"] for row in group) / len(group)),
            spread(group, "error"),
        ]
        for group in groups(load("support_parties")["rows"], "privacy")
    ]
    return table(["level", "clusters", "test error, %"], rows)


def _noisy_error(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    if row["error"] is None:
        return "nothing left"
    failed = f" ({row['failed_draws']} failed)" if row["failed_draws"] else ""
    return f"{row['error']:.2f}{failed}"

"""Tables of fits on partitions: measured, as the cost model says, extrapolated."""

from __future__ import annotations

from typing import Any

from markdown import load, table
from scale_model import BANDWIDTH, MODELS, SECONDS_PER_TASK, Cost, Size, size_of

BILLION = 1e9
WORKERS = 100
# Partitions of the extrapolation, as the scheduler pays for each.
LARGE_PARTITION = 1e6


def scale_out() -> str:
    """Show the fits under a memory limit."""
    rows = _fits()
    return table(
        [
            "method",
            "rows",
            "classes",
            "where",
            "rounds",
            "seconds",
            "rows per second",
            "peak memory, GB",
            "files, GB",
            "test accuracy",
        ],
        [
            [
                row["method"],
                f"{row['n_rows']:,}",
                row["n_classes"],
                _place(row),
                row["rounds"],
                f"{row['seconds']:.0f}",
                f"{row['rows_per_second']:,.0f}",
                f"{row['peak_gb']:.2f}",
                f"{row['disk_gb']:.1f}" if row["disk_gb"] >= 0.05 else "-",
                f"{row['accuracy']:.1f} %",
            ]
            for row in rows
        ],
    )


def scale_workers() -> str:
    """Compare one worker with two."""
    rows = _fits()
    lines = []
    for one in rows:
        two = _find(rows, one, workers=2)
        if one["workers"] == 1 and two is not None:
            lines.append(
                [
                    one["method"],
                    f"{one['n_rows']:,}",
                    one["n_classes"],
                    "threads" if one["driver"] == "threads" else "Dask workers",
                    f"{one['seconds']:.0f}",
                    f"{two['seconds']:.0f}",
                    f"{one['seconds'] / two['seconds']:.2f}",
                ]
            )
    header = ["method", "rows", "classes", "of what", "one, s", "two, s", "faster by"]
    return table(header, lines)


def scale_check() -> str:
    """Put the cost model beside the fits that it was not taken from."""
    rows = _fits()
    lines = []
    for row in rows:
        base = _base(rows, row["method"])
        if base is None or base is row:
            continue
        cost = MODELS[row["method"]](base, size_of(row))
        taken = row["peak_gb"] - row["rest_gb"]
        threads = row["workers"] if row["driver"] == "threads" else 1
        lines.append(
            [
                row["method"],
                f"{row['n_rows']:,}",
                _place(row),
                f"{cost.seconds:.0f} / {row['seconds']:.0f}",
                f"{row['checked_gb'] * threads:.2f} / {taken:.2f}",
                _pair(cost.disk_bytes / 1e9, row["disk_gb"]),
                _pair(1e3 * cost.message_bytes / 1e9, row["network_gb"], 1e3),
            ]
        )
    return table(
        [
            "method",
            "rows",
            "where",
            "seconds",
            "memory, GB",
            "files, GB",
            "messages, MB",
        ],
        lines,
    )


def scale_paper() -> str:
    """Extrapolate to a billion rows on a hundred workers."""
    rows = _fits()
    lines = []
    for method, model in MODELS.items():
        base = _base(rows, method)
        if base is None:
            continue
        last = [row for row in rows if row["method"] == method][-1]
        size = Size(
            BILLION, WORKERS, last["rounds"], base["n_classes"], LARGE_PARTITION
        )
        cost = model(base, size)
        lines.append(
            [
                method,
                base["n_classes"],
                _hours(cost.seconds),
                _hours(cost.read_bytes / BANDWIDTH / WORKERS),
                _hours(cost.n_tasks * SECONDS_PER_TASK),
                f"{cost.read_bytes / 1e12:,.1f}",
                f"{cost.message_bytes / 1e9:,.1f}",
                f"{cost.disk_bytes / 1e12:,.2f}",
                _limit(method, cost),
            ]
        )
    return table(
        [
            "method",
            "classes",
            "work",
            "reading",
            "scheduling",
            "read, TB",
            "messages, GB",
            "files, TB",
            "what it waits for",
        ],
        lines,
    )


def _fits() -> list[dict[str, Any]]:
    """Give the fits method by method, the small ones first."""
    order = ["SGDClassifier", *MODELS]
    rows: list[dict[str, Any]] = load("scale_out")["rows"]
    return sorted(
        rows,
        key=lambda row: (
            order.index(row["method"]),
            row["n_rows"],
            row["driver"] == "dask",
            row["workers"],
        ),
    )


def _limit(method: str, cost: Cost) -> str:
    alone = {
        "ClusteredSVC": "the passes of the slowest class, on one worker each",
        "MixtureSVC": "the SVMs of the components, on one worker each",
        "ReducedSVC": "the solve of the groups, on one worker",
        "LocalSVC": "the search for neighbours; the model, in one process",
    }
    reading = cost.read_bytes / BANDWIDTH / WORKERS
    default = "reading" if reading > cost.seconds else "work on the rows"
    return alone.get(method, default)


def _place(row: dict[str, Any]) -> str:
    kind = "thread" if row["driver"] == "threads" else "Dask worker"
    return f"{row['workers']} {kind}{'s' if row['workers'] > 1 else ''}"


def _base(rows: list[dict[str, Any]], method: str) -> dict[str, Any] | None:
    own = [
        row
        for row in rows
        if row["method"] == method
        and method in MODELS
        and row["workers"] == 1
        and row["driver"] == "threads"
    ]
    return min(own, key=lambda row: int(row["n_rows"]), default=None)


def _find(
    rows: list[dict[str, Any]], like: dict[str, Any], **other: Any
) -> dict[str, Any] | None:
    names = ("method", "n_rows", "n_classes", "driver", "settings")
    for row in rows:
        is_like = all(row[name] == like[name] for name in names)
        if is_like and all(row[name] == value for name, value in other.items()):
            return row
    return None


def _pair(expected: float, found: float | None, factor: float = 1.0) -> str:
    if found is None:
        return "-"
    return f"{expected:.1f} / {factor * found:.1f}"


def _hours(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 100 else f"{hours / 24:,.0f} days"

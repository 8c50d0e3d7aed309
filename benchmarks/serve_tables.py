"""Table of the server under load."""

from __future__ import annotations

from typing import Any

from markdown import load, table


def serve_load() -> str:
    """List requests per second and latencies, clean and among garbage."""
    header = [
        "model",
        "requests",
        "rows each",
        "connections",
        "requests per second",
        "median, ms",
        "p99, ms",
        "wrong answers",
        "broken connections",
        "codes",
        "memory, MB",
    ]
    return table(header, [_line(row) for row in load("serve_load")["rows"]])


def _line(row: dict[str, Any]) -> list[Any]:
    codes = ", ".join(f"{code}: {count:,}" for code, count in row["codes"].items())
    return [
        row["model"],
        "30 % garbage" if row["garbage"] else "good",
        row["rows"],
        row["connections"],
        f"{row['requests_per_second']:,.0f}",
        f"{row['p50_ms']:.1f}",
        f"{row['p99_ms']:.1f}",
        row["wrong_answers"],
        row["broken_connections"],
        codes,
        f"{row['memory_mb_before']:.0f} to {row['memory_mb_after']:.0f}",
    ]

"""What the tests reach, per package, and the largest pieces that they do not.

``make coverage`` measures it and writes ``tests/coverage.md``.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from localsvm._plain_file import replace_file

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "build" / "coverage" / "report.json"
PAGE = ROOT / "tests" / "coverage.md"
_START = """# What the tests reach

Lines and branches of `src/localsvm`, child processes included, measured by
{command}.
`make coverage` writes this page. The compiled core is checked by its own tests under
sanitizers and by `tests/oracles`.

| package | lines | reached | branches | reached |
| --- | --- | --- | --- | --- |
"""
_MISSED = """
The {n} longest pieces that no test reaches:

| file | lines |
| --- | --- |
"""
_SHOWN = 25


def page(report: dict[str, Any], command: str) -> str:
    """Markdown of a JSON report of coverage."""
    sums: dict[str, Counter[str]] = {}
    for path, found in report["files"].items():
        for name in (_package(path), "**all**"):
            sums.setdefault(name, Counter()).update(found["summary"])
    rows = [
        _row(name, sums[name]) for name in sorted(sums, key=lambda n: (n[0] == "*", n))
    ]
    pieces = sorted(_pieces(report), key=lambda piece: (-piece[2], piece))[:_SHOWN]
    missed = [f"| `{path}` | {first} to {first + n - 1} |" for path, first, n in pieces]
    start = _START.format(command=command)
    return (
        start
        + "\n".join(rows)
        + "\n"
        + _MISSED.format(n=len(missed))
        + "\n".join(missed)
        + "\n"
    )


def _row(name: str, total: Counter[str]) -> str:
    lines, branches = total["num_statements"], total["num_branches"]
    return (
        f"| {name} | {lines:,} | {_share(total['covered_lines'], lines)} | "
        f"{branches:,} | {_share(total['covered_branches'], branches)} |"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _inside(path: str) -> str:
    return path.split("localsvm/")[-1]


def _package(path: str) -> str:
    return _inside(path).split("/")[0] if "/" in _inside(path) else "(top level)"


def _pieces(report: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """File, first line and number of statements that are missed one after the other."""
    for path, found in report["files"].items():
        missing = found["missing_lines"]
        reached = sorted(found["executed_lines"])
        start, count = None, 0
        for line, following in pairwise([*missing, None]):
            start, count = (line if start is None else start), count + 1
            if following is None or any(line < each < following for each in reached):
                yield _inside(path), start, count
                start, count = None, 0


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="`make coverage`")
    parser.add_argument("--packages", nargs="*", help="those of a part of the tests")
    options = parser.parse_args()
    report = json.loads(REPORT.read_text("utf-8"))
    if options.packages:
        files = report["files"].items()
        chosen = {path: f for path, f in files if _package(path) in options.packages}
        report["files"] = chosen
    replace_file(PAGE, [page(report, options.command).encode()])


if __name__ == "__main__":
    main()

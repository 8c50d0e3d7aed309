"""Write the README's figures from the result files, between their markers.

``python benchmarks/tables.py`` rewrites README.md; with ``--check`` it only tells
whether the README is what the files say.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[1] / "README.md"


def load(name: str) -> Any:
    """Read one result file."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(header: list[str], rows: list[list[Any]]) -> str:
    """Format a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell) for cell in line) + " |" for line in lines
    )


def accuracy() -> str:
    """Test accuracy on the CSVM paper's data."""
    rows = [
        [
            row["task"].replace("_", " "),
            row["assignment"],
            row["n_clusters"],
            "-" if row["components"] == "-" else f"PCA-{row['components']}",
            f"{row['mean']:.2f} ± {row['sd']:.2f}",
            f"{row['fit_seconds']:.2f}",
        ]
        for row in load("accuracy")["rows"]
    ]
    header = [
        "task",
        "assignment",
        "regions",
        "projection",
        "test accuracy, %",
        "fit, s",
    ]
    return table(header, rows)


def speed() -> str:
    """List times on MNIST odd/even, and the ratios."""
    result = load("speed")
    models = [
        [
            f"`{row['model']}`",
            f"{row['accuracy']:.2f}",
            f"{row['fit_seconds']:.2f}",
            f"{1e2 * row['predict_seconds']:.1f}",
        ]
        for row in result["rows"]
    ]
    goals = [
        [
            goal["goal"],
            f"{goal['measured']:.2f}",
            goal["wanted"],
            "yes" if goal["reached"] else "no",
        ]
        for goal in result["goals"]
    ]
    return "\n\n".join(
        [
            table(["model", "accuracy, %", "fit, s", "predict, µs per row"], models),
            table(["ratio", "measured", "goal", "reached"], goals),
        ]
    )


def search() -> str:
    """ClusteredSVCCV against GridSearchCV."""
    rows = [
        [
            row["task"].replace("_", " "),
            f"`{row['search']}`",
            f"{row['seconds']:.1f}",
            f"{row['cv_accuracy']:.2f}",
            f"{row['test_accuracy']:.2f}",
        ]
        for row in load("search")["rows"]
    ]
    return table(
        ["task", "search", "seconds", "CV accuracy, %", "test accuracy, %"], rows
    )


def demo() -> str:
    """Show what the demo printed."""
    return "```\n" + (RESULTS / "demo.txt").read_text().strip("\n") + "\n```"


def filled(text: str) -> str:
    """Replace what stands between the markers."""
    for section in (accuracy, speed, search, demo):
        name = section.__name__
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end {name} -->)"
        content = section()
        text, count = re.subn(
            pattern, lambda match, c=content: match[1] + c + match[2], text, flags=re.S
        )
        if count != 1:
            raise ValueError(f"README.md has {count} sections {name!r}, expected 1")
    return text


def main(check: bool) -> int:
    """Rewrite or check the README."""
    current = README.read_text()
    if check:
        return 0 if filled(current) == current else 1
    temporary = README.with_suffix(".tmp")
    temporary.write_text(filled(current))
    temporary.replace(README)
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

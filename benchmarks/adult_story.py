"""The first commands of docs/start.md, run in an empty folder, and what they say.

``python benchmarks/adult_story.py`` writes results/adult_story.txt.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile

from markdown import RESULTS

COMMANDS = (
    "localsvm sample adult",
    "localsvm fit adult.csv.gz --target income --where split=train -o income.lsvm",
    "localsvm explain income.lsvm adult.csv.gz --where split=test --row 6",
    "localsvm report income.lsvm adult.csv.gz -o report.html",
    "localsvm export income.lsvm -o income.onnx",
)


def tell(folder: str) -> str:
    """Run the commands in an empty folder; what a reader would see."""
    lines = []
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        lines += [f"$ {command}", done.stdout.strip(), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        story = tell(folder)
    temporary = RESULTS / "adult_story.tmp"
    temporary.write_text(story)
    temporary.replace(RESULTS / "adult_story.txt")
    print(story)

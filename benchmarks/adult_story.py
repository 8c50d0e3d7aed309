"""The three commands of the README on the raw Adult table, and what they say.

``python benchmarks/adult_story.py`` finds ``adult_raw.csv.gz`` in the folder that
``LOCALSVM_DATA`` names, or in ``../shared/data``, and writes results/adult_story.txt.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown import RESULTS

COMMANDS = (
    "localsvm fit adult.csv.gz --target income --where split=train -o income.lsvm",
    "localsvm explain income.lsvm adult.csv.gz --where split=test --row 11",
    "localsvm export income.lsvm --onnx income.onnx",
)


def find_table() -> Path:
    """Find the raw table."""
    folders = [
        os.environ.get("LOCALSVM_DATA"),
        Path(__file__).parents[2] / "shared/data",
    ]
    for folder in folders:
        if folder and (Path(folder) / "adult_raw.csv.gz").is_file():
            return Path(folder) / "adult_raw.csv.gz"
    sys.exit("adult_raw.csv.gz was not found; set LOCALSVM_DATA to its folder.")


def tell(table: Path) -> str:
    """Run the commands beside a copy of the table; what a reader would see."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(table, Path(folder) / "adult.csv.gz")
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
    story = tell(find_table())
    temporary = RESULTS / "adult_story.tmp"
    temporary.write_text(story)
    temporary.replace(RESULTS / "adult_story.txt")
    print(story)

"""Every example runs as it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(path, *arguments, folder=None):
    done = subprocess.run(
        [sys.executable, path, *arguments],
        env=os.environ | {"MPLBACKEND": "Agg"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# The documentation runs them all; these take longest.
LONG = ("plot_boundaries", "plot_growth", "plot_stages")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, marks=[pytest.mark.slow] if path.stem in LONG else [], id=path.stem
        )
        for path in sorted(EXAMPLES.glob("plot_*.py"))
    ],
)
def test_example_runs(path, tmp_path):
    run(path, folder=tmp_path)
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"


def test_plot_xor_saves_the_picture(tmp_path):
    path = tmp_path / "xor.png"
    assert str(path) in run(EXAMPLES / "plot_xor.py", path)
    height, width, _ = imread(path).shape
    assert width > 2 * height > 600
    assert path.stat().st_size < 150_000

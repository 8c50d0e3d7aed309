"""Rows and kernels of Section 3.2: one artificial problem, digits, spoken letters."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from localsvm.data import Benchmark, load_benchmark, make_three_gaussians
from papers._definition import Data
from papers._rows import synthetic

_WIDTH = 0.75
_BACKGROUND = -1.0
_SIDE = 16

# Of the classes of the artificial problem.
CENTERS = np.array([[0.0, np.sqrt(3.0)], [-1.0, 0.0], [1.0, 0.0]])
ARTIFICIAL_KERNEL = {"kernel": "linear", "C": 10_000.0}
USPS_KERNEL = {"kernel": "poly", "degree": 3, "gamma": 1 / 256, "coef0": 0.0, "C": 10.0}
ISOLET_KERNEL = {"kernel": "linear", "C": 0.02}


def artificial(n_rows: int, seed: int) -> Data:
    """Define as many rows for training as for the test."""
    options = {"make": make_three_gaussians, "n_train": n_rows, "n_test": n_rows}
    return Data(synthetic, {**options, "seed": seed})


def smoothed_usps() -> Benchmark:
    """Load digits smoothed by a Gaussian of width 0.75, with background around them."""
    digits = load_benchmark("usps")
    return replace(
        digits, X_train=_smooth(digits.X_train), X_test=_smooth(digits.X_test)
    )


def _smooth(rows: NDArray[Any] | None) -> NDArray[np.float64]:
    assert rows is not None
    images = rows.reshape(-1, _SIDE, _SIDE).astype(np.float64)
    # No smoothing from one image to the next.
    width = (0.0, _WIDTH, _WIDTH)
    smooth = gaussian_filter(images, width, mode="constant", cval=_BACKGROUND)
    return np.asarray(smooth.reshape(len(rows), -1))


USPS = Data(smoothed_usps)
ISOLET = Data(load_benchmark, {"name": "isolet"})

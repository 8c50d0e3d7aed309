"""Classes that are mixtures of Gaussians in the plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from localsvm.data import Benchmark

# Share of the rows, place, longer and shorter deviation, turn in degrees.
Component = tuple[float, tuple[float, float], float, float, float]

ARCS: tuple[Sequence[Component], Sequence[Component]] = (
    (
        (0.25, (-3.2, 0.0), 1.1, 0.45, 75),
        (0.25, (-1.2, 2.4), 1.0, 0.45, 20),
        (0.25, (1.6, 2.3), 1.1, 0.50, -35),
        (0.25, (2.6, 0.1), 0.7, 0.40, -75),
    ),
    (
        (0.25, (-1.1, -0.6), 0.9, 0.40, 80),
        (0.25, (0.5, -2.6), 1.0, 0.50, -30),
        (0.25, (3.2, -2.7), 1.1, 0.45, 25),
        (0.25, (5.0, -0.4), 1.1, 0.45, 80),
    ),
)
# One class is spread towards the other.
SPREADS: tuple[Sequence[Component], Sequence[Component]] = (
    tuple((1 / 3, (-1.8, y), 1.2, 0.4, 0) for y in (-2.2, 0.0, 2.2)),
    tuple((1 / 3, (1.8, y), 0.35, 0.35, 0) for y in (-2.2, 0.0, 2.2)),
)
# Few rows of each class lie far among those of the other.
OVERLAP: tuple[Sequence[Component], Sequence[Component]] = (
    ((1.0, (-1.0, 0.0), 1.0, 1.0, 0),),
    ((1.0, (1.0, 0.0), 1.0, 1.0, 0),),
)
_TOYS = {"arcs": ARCS, "spreads": SPREADS, "overlap": OVERLAP}


def load_toy(name: str, n_per_class: int = 2500) -> Benchmark:
    """Draw training rows and as many test rows, always the same.

    Parameters
    ----------
    name : {"arcs", "spreads", "overlap"}
        Figure 1, Figure 3(a), Figure 3(b).
    n_per_class : int, default=2500

    Returns
    -------
    Benchmark
    """
    rng = np.random.default_rng(0)
    train, test = (
        np.concatenate([_draw(parts, n_per_class, rng) for parts in _TOYS[name]])
        for _ in range(2)
    )
    y = np.repeat([0, 1], n_per_class)
    return Benchmark(name, train, y, test, y, None, "drawn")


def _draw(
    parts: Sequence[Component], n_rows: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    shares = np.array([share for share, *_ in parts])
    ends = np.rint(np.cumsum(shares) * n_rows).astype(int)
    drawn = []
    for (_, place, length, width, degrees), number in zip(
        parts, np.diff(ends, prepend=0), strict=True
    ):
        angle = np.deg2rad(degrees)
        along = np.array([np.cos(angle), np.sin(angle)])
        across = np.array([-along[1], along[0]])
        a, b = rng.standard_normal((2, number, 1))
        drawn.append(place + length * a * along + width * b * across)
    return np.concatenate(drawn)

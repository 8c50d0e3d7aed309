"""Confidence intervals of scores, in closed form wherever there is one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats


class Estimate(NamedTuple):
    """A score and its confidence interval.

    Parameters
    ----------
    value : float
    low, high : float
        Ends of the interval.
    """

    value: float
    low: float
    high: float


class Comparison(NamedTuple):
    """Difference of two classifiers on the same rows.

    Parameters
    ----------
    difference : Estimate
        Accuracy of the first minus that of the second.
    p_value : float
        McNemar's exact test that both are right equally often.
    """

    difference: Estimate
    p_value: float


def quantile_of(confidence_level: float) -> float:
    """Give the normal quantile of a two-sided interval."""
    if not 0 < confidence_level < 1:
        raise ValueError(
            f"confidence_level={confidence_level!r} should be between 0 and 1, e.g. "
            "0.95."
        )
    return float(special.ndtri(0.5 + confidence_level / 2))


def effective_size(weight: Any, squares: Any) -> Any:
    """Rows that equal weights would need, from sums of weights and of their squares.

    This is Kish's size: the number of rows if all weights are equal.
    """
    weight, squares = np.asarray(weight, dtype=float), np.asarray(squares, dtype=float)
    return np.divide(weight**2, squares, out=np.zeros_like(weight), where=squares > 0)


def wilson(share: Any, n_rows: Any, z: float) -> tuple[Any, Any]:
    """Wilson's interval of a share of ``n_rows``; everything for no rows."""
    share, n_rows = np.asarray(share, dtype=float), np.asarray(n_rows, dtype=float)
    # Multiplied by n_rows, so that none is no special case.
    scale = n_rows + z**2
    center = share * n_rows + z**2 / 2
    spread = z * np.sqrt(share * (1 - share) * n_rows + z**2 / 4)
    low, high = (center - spread) / scale, (center + spread) / scale
    return np.clip(low, 0.0, share), np.clip(high, share, 1.0)


def share_estimate(share: float, n_rows: float, z: float) -> Estimate:
    """Share of rows with Wilson's interval."""
    low, high = wilson(share, n_rows, z)
    return Estimate(float(share), float(low), float(high))


def mean_of_shares(
    shares: NDArray[np.float64], n_rows: NDArray[np.float64], z: float
) -> Estimate:
    """Mean of independent shares.

    The distances to the ends of Wilson's intervals are added as variances are (Zou and
    Donner's MOVER): unlike a bootstrap this has a width where every share is one.
    """
    low, high = wilson(shares, n_rows, z)
    value = float(shares.mean())
    below = float(np.sqrt(((shares - low) ** 2).sum())) / len(shares)
    above = float(np.sqrt(((high - shares) ** 2).sum())) / len(shares)
    return Estimate(value, max(0.0, value - below), min(1.0, value + above))


def mean_estimate(
    losses: NDArray[np.float64], weight: NDArray[np.float64], z: float
) -> Estimate:
    """Weighted mean of losses that are not negative, with the normal interval."""
    value = float(np.average(losses, weights=weight))
    n_rows = float(effective_size(weight.sum(), weight @ weight))
    variance = float(np.average((losses - value) ** 2, weights=weight))
    spread = z * np.sqrt(variance / max(n_rows - 1, 1.0))
    return Estimate(value, max(0.0, value - spread), value + spread)


def auc_estimate(
    score: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    weight: NDArray[np.float64],
    z: float,
) -> Estimate:
    """Area under the ROC curve, O(n log n).

    DeLong's variance, brought into Wilson's form: the interval is that of a share of as
    many rows as have this variance, so that it stays within 0 and 1.
    """
    sides = [is_positive, ~is_positive]
    places = [_share_below(score[~side], weight[~side], score[side]) for side in sides]
    weights = [weight[side] for side in sides]
    value = float(np.average(places[0], weights=weights[0]))
    sizes = [float(effective_size(w.sum(), w @ w)) for w in weights]
    variance = sum(
        float(np.average((place - np.average(place, weights=w)) ** 2, weights=w))
        / max(size - 1, 1.0)
        for place, w, size in zip(places, weights, sizes, strict=True)
    )
    n_rows = value * (1 - value) / variance if variance > 0 else min(sizes)
    return share_estimate(value, n_rows, z)


def _share_below(
    others: NDArray[np.float64],
    weight: NDArray[np.float64],
    score: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Share of the other rows below each score, equal ones counted half."""
    order = np.argsort(others, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    ends = [np.searchsorted(others[order], score, side) for side in ("left", "right")]
    return np.asarray((total[ends[0]] + total[ends[1]]) / (2 * total[-1]))


def compare_paired(
    first: NDArray[np.bool_], second: NDArray[np.bool_], z: float
) -> Comparison:
    """Compare two classifiers by whether each row was right.

    Parameters
    ----------
    first, second : ndarray of bool of shape (n_rows,)
    z : float
        Normal quantile.

    Returns
    -------
    Comparison
        The interval is Agresti and Min's: Wald's after adding half a row to each of the
        four cells.
    """
    n_rows = len(first)
    gained = int((first & ~second).sum())
    lost = int((~first & second).sum())
    value = (gained - lost) / n_rows
    n_more = n_rows + 2
    center = (gained - lost) / n_more
    variance = (gained + lost + 1) - (gained - lost) ** 2 / n_more
    spread = z * np.sqrt(variance) / n_more
    difference = Estimate(
        value,
        max(-1.0, min(value, float(center - spread))),
        min(1.0, max(value, float(center + spread))),
    )
    n_changed = gained + lost
    p_value = stats.binomtest(gained, n_changed).pvalue if n_changed else 1.0
    return Comparison(difference, float(p_value))

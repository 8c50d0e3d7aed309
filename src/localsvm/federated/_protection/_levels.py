"""Levels of privacy: what is done to clusters before they leave, and what it gives."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localsvm._checks import check_parameters, integer, one_of, real

_LARGEST_EPSILON = 1000.0


class PrivacyLevel(ABC):
    """What protects the rows behind a summary.

    Attributes
    ----------
    name : str
    is_guarantee : bool
        Whether the promise is a theorem, rather than a rule of thumb.
    """

    name: ClassVar[str]
    is_guarantee: ClassVar[bool] = False

    @property
    @abstractmethod
    def promise(self) -> str:
        """What this level gives, and what not, in words."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Arguments of the function that made this level, as plain data."""


@dataclass(frozen=True)
class NoProtection(PrivacyLevel):
    """Clusters leave as they are."""

    name: ClassVar[str] = "none"

    @property
    def promise(self) -> str:
        """What this level gives, and what not, in words."""
        return (
            "No protection, for trusted partners only: a cluster of one row is that "
            "row."
        )

    def parameters(self) -> dict[str, Any]:
        """Arguments of the function that made this level, as plain data."""
        return {}


@dataclass(frozen=True)
class MinimumSize(PrivacyLevel):
    """No small clusters, no values of few rows, no exact numbers."""

    k: int
    round_to: int

    name: ClassVar[str] = "min_size"

    def __post_init__(self) -> None:
        check_parameters(self, k=integer(2), round_to=integer(1))

    @property
    def promise(self) -> str:
        """What this level gives, and what not, in words."""
        return (
            "Statistical disclosure control, not a formal guarantee: each cluster "
            f"holds at least {2 * self.k} rows, values that fewer than {self.k} of "
            f"them carry are replaced by frequent ones (unless {2 * self.k} rows carry "
            f"such values), counts are rounded to multiples of {self.round_to}, "
            "deviations to powers of two and means to a fraction of these. A column "
            "that is constant in a cluster is known of nearly all its rows, and how "
            "far a row is from all others shows to a factor of two. No defence against "
            "differencing several releases."
        )

    def parameters(self) -> dict[str, Any]:
        """Arguments of the function that made this level, as plain data."""
        return {"k": int(self.k), "round_to": int(self.round_to)}


@dataclass(frozen=True)
class DifferentialPrivacy(PrivacyLevel):
    """Noise on counts, sums and sums of squares."""

    epsilon: float
    delta: float
    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    radius: float | None

    name: ClassVar[str] = "dp"
    is_guarantee: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(
            self,
            epsilon=real(0, _LARGEST_EPSILON, closed="right"),
            delta=real(0, 1),
            radius=one_of(None) | real(0),
        )

    @property
    def promise(self) -> str:
        """What this level gives, and what not, in words."""
        return (
            f"Differential privacy with epsilon = {self.epsilon:g} and delta = "
            f"{self.delta:g} for each row, in this release: to add or remove one row "
            "changes the probability of anything that can be made of it by at most a "
            "factor of exp(epsilon), up to delta. Rows of the same person are not "
            "counted as one."
        )

    def parameters(self) -> dict[str, Any]:
        """Arguments of the function that made this level, as plain data."""
        return {
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "bounds": [_plain(self.low), _plain(self.high)],
            "radius": None if self.radius is None else float(self.radius),
        }

    def box(self, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest value of each column."""
        return spread_bounds(self.low, self.high, n_features)


def none() -> NoProtection:
    """No protection: clusters leave as they are.

    For trusted partners only. Clusters of a single row are that row.

    Returns
    -------
    level : object with ``name``, ``promise``, ``is_guarantee`` and ``parameters()``

    Examples
    --------
    >>> from localsvm.federated import none
    >>> none().is_guarantee
    False
    """
    return NoProtection()


def min_size(k: int = 10, round_to: int = 5) -> MinimumSize:
    """Join small clusters, hide values that few rows carry, and round the rest.

    Statistical disclosure control as offices of statistics use it, not a formal
    guarantee. For partners who keep to an agreement, and never twice for the same rows.

    Parameters
    ----------
    k : int, default=10
        Fewest rows of a cluster that must share a value: values that fewer carry are
        replaced by the nearest that k rows carry, unless at least 2k rows carry such
        values, and a category that fewer have becomes the most frequent one. Each
        cluster holds at least 2k rows, and with full covariances at least twice as many
        as there are columns, as those of fewer rows span the rows. Classes of fewer
        rows are dropped.
    round_to : int, default=5
        Counts become multiples of it. With 1, exact counts make it easier to compute
        back from means of whole numbers.

    Returns
    -------
    level : object with ``name``, ``promise``, ``is_guarantee`` and ``parameters()``

    Notes
    -----
    Standard deviations leave as powers of two, means as multiples of 8 standard
    deviations over the count, correlations as multiples of 1/8. Whatever leaves of a
    column of a cluster is also what leaves of some column in which each value is
    carried by k rows or more, so no value of fewer people can be computed from it; the
    modules ``_rare_values`` and ``_small_clusters`` have the proof.

    What it does not hide: values that nearly all rows of a cluster share; how far a row
    is from the rest of its cluster, within a factor of two, if its column has many
    different values; with full covariances, how many rows have two categories together,
    roughly. Columns that are functions of each other, such as a sum and its terms, are
    treated one by one, and a value that is hidden in one may show in another.

    Examples
    --------
    >>> from localsvm.federated import min_size
    >>> min_size(20).parameters()
    {'k': 20, 'round_to': 5}
    """
    return MinimumSize(k, round_to)


def dp(
    epsilon: float,
    delta: float,
    bounds: tuple[ArrayLike, ArrayLike],
    radius: float | None = None,
) -> DifferentialPrivacy:
    """Differential privacy of each row: noise on counts, sums and sums of squares.

    The guarantee holds against partners who know everything else. It needs centres and
    classes that are public (see :class:`Party`) and ``pip install
    "localsvm[privacy]"``. Use it where rows are many: a cell is useful when it holds
    many times ``sqrt(6 log(1/delta)) / epsilon`` rows, times the square root of the
    number of columns for its mean.

    Parameters
    ----------
    epsilon : float
        Privacy loss, above 0 and at most 1000; around 1 is usual, above 10 means
        little.
    delta : float
        Chance that the loss is larger; well below one over the number of rows.
    bounds : tuple of two floats or arrays of shape (n_features,)
        Lowest and highest value of each column. Known beforehand, *not read from the
        data*: that would not be private. Values outside are moved to the bounds.
    radius : float or None, default=None
        Rows farther from the middle of the box than this are moved towards it. The
        noise is proportional to it, in all columns alike, so give the columns similar
        bounds. None is half the diagonal of the box, which moves no row.

    Returns
    -------
    level : object with ``name``, ``promise``, ``is_guarantee`` and ``parameters()``

    Notes
    -----
    The noise is drawn by OpenDP, from the operating system's randomness; no seed
    repeats it. Its discrete Gaussian is among those parts of OpenDP that are offered as
    "contrib", that is, before OpenDP's own review of proofs is finished.

    Examples
    --------
    >>> from localsvm.federated import dp
    >>> level = dp(1.0, 1e-6, bounds=(0.0, [1.0, 2.0]))
    >>> level.is_guarantee, level.parameters()["bounds"]
    (True, [0.0, [1.0, 2.0]])
    """
    low, high = _check_bounds(bounds)
    return DifferentialPrivacy(epsilon, delta, low, high, radius)


_LEVELS: dict[str, Callable[..., PrivacyLevel]] = {
    "none": none,
    "min_size": min_size,
    "dp": dp,
}


def level_from_plain(name: Any, parameters: Any) -> PrivacyLevel:
    """Level of the given name and parameters, as read from a file."""
    make = _LEVELS.get(name) if isinstance(name, str) else None
    if make is None:
        raise ValueError(
            f"privacy level {name!r:.40}; expected one of {', '.join(_LEVELS)}."
        )
    try:
        return make(**parameters)
    except TypeError as error:
        raise ValueError(
            f"parameters {parameters!r:.80} do not fit the level {name}: {error}"
        ) from error


def spread_bounds(
    low: ArrayLike, high: ArrayLike, n_features: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of each column."""
    sides = []
    for side in (low, high):
        values = np.asarray(side, dtype=np.float64)
        if values.ndim and len(values) != n_features:
            raise ValueError(
                f"bounds are given for {len(values)} columns; expected {n_features}."
            )
        sides.append(np.broadcast_to(values, n_features).copy())
    return sides[0], sides[1]


def _check_bounds(
    bounds: Any,
) -> tuple[float | tuple[float, ...], float | tuple[float, ...]]:
    wanted = "bounds must be two numbers or two arrays with a number for each column"
    try:
        low, high = (np.asarray(side, dtype=np.float64) for side in bounds)
        apart = high > low
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted}. Got {bounds!r:.80} instead.") from error
    lengths = {side.shape for side in (low, high) if side.ndim}
    if apart.ndim > 1 or len(lengths) > 1 or not apart.size:
        raise ValueError(f"{wanted}. Got {bounds!r:.80} instead.")
    if not (np.isfinite(low).all() and np.isfinite(high).all() and apart.all()):
        raise ValueError(
            f"bounds must be finite and the lower below the higher. Got {bounds!r:.80} "
            "instead."
        )
    with np.errstate(over="ignore"):
        diagonal = float(np.square(high - low).sum())
    if not math.isfinite(diagonal):
        raise ValueError("bounds are too far apart for their squares.")
    return _frozen(low), _frozen(high)


def _frozen(side: NDArray[np.float64]) -> float | tuple[float, ...]:
    return tuple(side.tolist()) if side.ndim else float(side)


def _plain(side: float | tuple[float, ...]) -> float | list[float]:
    return list(side) if isinstance(side, tuple) else side

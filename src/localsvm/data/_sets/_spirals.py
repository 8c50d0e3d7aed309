"""The two spiral problems of the papers, and the best possible rule for one."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_array, check_random_state, gen_batches

from localsvm.data._sets._synthetic import (
    Sample,
    Seed,
    check_at_least_zero,
    check_n_samples,
    shares,
)

Noise = Literal["variance", "std"]

# The steps of the outermost turn are then a small part of the noise there.
_N_INTEGRATION_STEPS = 4000


def make_two_spirals(
    n_samples: int = 1000, *, width: float = 0.6, random_state: Seed = None
) -> Sample:
    """Make two intertwined Archimedean spirals of two and a half turns.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, half of them on each spiral.
    width : float, default=0.6
        Largest distance of a row from its spiral, measured along the radius.
    random_state : int, RandomState instance or None, default=None
        Seed of the points and of the order of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The rows, in random order.
    y : ndarray of int64 of shape (n_samples,)
        1 on the spiral r = 1.3 theta, 0 on r = -1.3 theta.

    Notes
    -----
    Section 3 and Figure 4 of Fu, Robles-Kelly and Zhou (2010): theta from 0.5 pi to
    5.5 pi, which is 2.5 turns although the paper says five. Here theta is uniform and
    so is the deviation from the radius, in ``[-width, width]``; the paper gives no
    width.

    Examples
    --------
    >>> from localsvm.data import make_two_spirals
    >>> X, y = make_two_spirals(1000, random_state=0)
    >>> X.shape, y.mean()
    ((1000, 2), np.float64(0.5))
    """
    check_n_samples(n_samples, 2)
    check_at_least_zero("width", width)
    rng = check_random_state(random_state)
    y = rng.permutation(np.repeat(np.arange(2, dtype=np.int64), shares(n_samples, 2)))
    theta = rng.uniform(0.5 * np.pi, 5.5 * np.pi, n_samples)
    radius = (2 * y - 1) * (1.3 * theta + rng.uniform(-width, width, n_samples))
    return np.column_stack([radius * np.cos(theta), radius * np.sin(theta)]), y


def make_2spiral(
    n_samples: int = 100_000,
    *,
    noise_scale: float = 0.065,
    noise: Noise = "variance",
    random_state: Seed = None,
) -> Sample:
    """Make 2SPIRAL: two spirals of five turns whose noise grows outwards.

    Parameters
    ----------
    n_samples : int, default=100_000
        Number of rows, half of them on each spiral.
    noise_scale : float, default=0.065
        Factor s between the noise and the distance to the next twist inside.
    noise : {"variance", "std"}, default="variance"
        Whether s times the distance is the variance of the noise or its standard
        deviation. 0.40 is a good `noise_scale` for "std".
    random_state : int, RandomState instance or None, default=None
        Seed of the noise and of the order of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The rows, in random order.
    y : ndarray of int64 of shape (n_samples,)
        1 for the paper's class +1 (c = 1/500), 0 for its class -1 (c = -1/500).

    See Also
    --------
    bayes_2spiral : The best possible prediction.

    Notes
    -----
    Section 3.2 of Segata and Blanzieri (2008): ``c tau^2.5 (sin tau, cos tau)`` at even
    steps of tau up to 10 pi, plus Gaussian noise on both columns. With the default
    `n_samples` the step is the paper's pi/5000; tau = 0 is left out, where the classes
    would coincide without noise. The paper says that the variance is proportional to
    the distance to the nearest internal twist, and not by which factor. The distance
    is ``d(tau) = (tau^2.5 - max(tau - pi, 0)^2.5) / 500``; ``s = 0.065`` puts the best
    possible accuracy near 89 %, a little above the paper's 88.5 % for its methods.

    Examples
    --------
    >>> from localsvm.data import make_2spiral
    >>> X, y = make_2spiral(2000, random_state=0)
    >>> X.shape, y.mean()
    ((2000, 2), np.float64(0.5))
    """
    check_n_samples(n_samples, 2)
    rng = check_random_state(random_state)
    n_class_0, n_class_1 = shares(n_samples, 2)
    tau = np.concatenate([_tau_grid(n_class_0), _tau_grid(n_class_1)])
    y = np.repeat(np.arange(2, dtype=np.int64), [n_class_0, n_class_1])
    order = rng.permutation(n_samples)
    tau, y = tau[order], y[order]
    sd = np.sqrt(_noise_variance(tau, noise_scale, noise))
    X = (2 * y - 1)[:, None] * _curve(tau)
    return X + sd[:, None] * rng.standard_normal((n_samples, 2)), y


def bayes_2spiral(
    X: ArrayLike,
    *,
    noise_scale: float = 0.065,
    noise: Noise = "variance",
) -> NDArray[np.int64]:
    """Predict the more probable class of 2SPIRAL points, given how they were made.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Points.
    noise_scale : float, default=0.065
        As in :func:`make_2spiral`; it must be > 0.
    noise : {"variance", "std"}, default="variance"
        As in :func:`make_2spiral`.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        The class of larger density.

    Notes
    -----
    The density of class 1 is the mean over tau of the noise's Gaussians around the
    curve, computed on 4000 even steps of tau. Class 0 is class 1 turned by half a
    turn, hence its density at x is that of class 1 at -x.

    Examples
    --------
    >>> from localsvm.data import bayes_2spiral, make_2spiral
    >>> X, y = make_2spiral(2000, random_state=0)
    >>> bool(0.86 < (bayes_2spiral(X) == y).mean() < 0.92)
    True
    """
    points = check_array(X, dtype=np.float64)
    if points.shape[1] != 2:
        raise ValueError(f"X has {points.shape[1]} features, expected 2.")
    if not noise_scale > 0:
        raise ValueError(f"noise_scale={noise_scale!r} should be > 0.")
    tau = _tau_grid(_N_INTEGRATION_STEPS)
    centres, variance = _curve(tau), _noise_variance(tau, noise_scale, noise)

    def log_density(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        squared = euclidean_distances(rows, centres, squared=True)
        return np.asarray(
            logsumexp(-0.5 * squared / variance - np.log(variance), axis=1)
        )

    return np.concatenate(
        [
            (log_density(points[batch]) > log_density(-points[batch])).astype(np.int64)
            for batch in gen_batches(len(points), 512)
        ]
    )


def _tau_grid(n_steps: int) -> NDArray[np.float64]:
    return 10 * np.pi * np.arange(1, n_steps + 1) / n_steps


def _curve(tau: NDArray[np.float64]) -> NDArray[np.float64]:
    radius = tau**2.5 / 500
    return np.column_stack([radius * np.sin(tau), radius * np.cos(tau)])


def _noise_variance(
    tau: NDArray[np.float64], noise_scale: float, noise: Noise
) -> NDArray[np.float64]:
    check_at_least_zero("noise_scale", noise_scale)
    if noise not in ("variance", "std"):
        raise ValueError(f"noise={noise!r} should be 'variance' or 'std'.")
    inner_radius = np.maximum(tau - np.pi, 0.0) ** 2.5 / 500
    scaled = noise_scale * (tau**2.5 / 500 - inner_radius)
    return scaled if noise == "variance" else scaled**2

"""Synthetic problems of the papers made of Gaussians and of a circle."""

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

Seed = int | np.random.RandomState | None
Sample = tuple[NDArray[np.float64], NDArray[np.int64]]


def check_n_samples(n_samples: int, minimum: int) -> None:
    """Raise if `n_samples` is not an integer of at least `minimum`.

    Parameters
    ----------
    n_samples : int
        The value to check.
    minimum : int
        Smallest number that gives every part of the problem a row.
    """
    if not isinstance(n_samples, Integral) or n_samples < minimum:
        raise ValueError(f"n_samples={n_samples!r} should be an integer >= {minimum}.")


def check_at_least_zero(name: str, value: float) -> None:
    """Raise if a parameter is negative or not a number.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : float
        The value to check.
    """
    if not value >= 0:
        raise ValueError(f"{name}={value!r} should be >= 0.")


def shares(n_samples: int, n_parts: int) -> list[int]:
    """Divide rows among parts as evenly as possible, earlier parts first.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_parts : int
        Number of parts.

    Returns
    -------
    list of int
        Rows per part; they differ by at most one.
    """
    return [(n_samples + n_parts - 1 - part) // n_parts for part in range(n_parts)]


def make_xor(
    n_samples: int = 400, *, sd: float = 0.6, random_state: Seed = None
) -> Sample:
    """Make the XOR problem: four Gaussians, opposite ones of the same class.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows, divided evenly among the Gaussians.
    sd : float, default=0.6
        Standard deviation of each Gaussian in both directions.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise and of the order of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The rows, in random order.
    y : ndarray of int64 of shape (n_samples,)
        0 for the Gaussians at (0, 2) and (0, -2), 1 for those at (2, 0) and (-2, 0).

    Notes
    -----
    Figure 1 of Gu and Han (2013). The paper shows four Gaussians without numbers; the
    centres and the default `sd` are chosen here.

    Examples
    --------
    >>> from localsvm.data import make_xor
    >>> X, y = make_xor(400, random_state=0)
    >>> X.shape, y.mean()
    ((400, 2), np.float64(0.5))
    """
    centres = np.array([[0.0, 2.0], [2.0, 0.0], [0.0, -2.0], [-2.0, 0.0]])
    classes = np.array([0, 1, 0, 1], dtype=np.int64)
    return _gaussians(n_samples, centres, classes, sd, random_state)


def make_three_gaussians(
    n_samples: int = 300, *, sd: float = 1.0, random_state: Seed = None
) -> Sample:
    """Make a three-class problem of overlapping round Gaussians.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows, divided evenly among the classes.
    sd : float, default=1.0
        Standard deviation of each Gaussian in both directions.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise and of the order of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The rows, in random order.
    y : ndarray of int64 of shape (n_samples,)
        0, 1, 2 for the Gaussians at (0, sqrt(3)), (-1, 0) and (1, 0).

    Notes
    -----
    The artificial data set of Boley and Cao (2004), Section 3.2, where the covariance
    is the identity and `n_samples` goes from 300 to 6000.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.data import make_three_gaussians
    >>> X, y = make_three_gaussians(300, random_state=0)
    >>> X.shape, np.bincount(y)
    ((300, 2), array([100, 100, 100]))
    """
    centres = np.array([[0.0, np.sqrt(3.0)], [-1.0, 0.0], [1.0, 0.0]])
    classes = np.arange(3, dtype=np.int64)
    return _gaussians(n_samples, centres, classes, sd, random_state)


def _gaussians(
    n_samples: int,
    centres: NDArray[np.float64],
    classes: NDArray[np.int64],
    sd: float,
    random_state: Seed,
) -> Sample:
    check_n_samples(n_samples, len(centres))
    check_at_least_zero("sd", sd)
    rng = check_random_state(random_state)
    part = np.repeat(np.arange(len(centres)), shares(n_samples, len(centres)))
    part = rng.permutation(part)
    X = centres[part] + sd * rng.standard_normal((n_samples, centres.shape[1]))
    return X, classes[part]


def make_circle_in_square(
    n_samples: int = 400,
    *,
    side: float = 2.0,
    radius: float | None = None,
    random_state: Seed = None,
) -> Sample:
    """Make a disc of one class inside a square of the other.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows, half of them in the disc.
    side : float, default=2.0
        Side of the square, whose middle is the origin.
    radius : float, default=None
        Radius of the disc, at most half of `side`. None gives the disc half of the
        square's area, so that both classes have the same density.
    random_state : int, RandomState instance or None, default=None
        Seed of the points and of the order of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The rows, in random order.
    y : ndarray of int64 of shape (n_samples,)
        1 in the disc, 0 outside.

    Notes
    -----
    Figure 3 of Fu, Robles-Kelly and Zhou (2010), 200 rows of each class. The paper
    subsamples a uniform sample of the square, class by class, as is done here; it
    gives neither `side` nor `radius`.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.data import make_circle_in_square
    >>> X, y = make_circle_in_square(400, random_state=0)
    >>> bool(np.linalg.norm(X[y == 1], axis=1).max() < 0.8)
    True
    """
    check_n_samples(n_samples, 2)
    if not side > 0:
        raise ValueError(f"side={side!r} should be > 0.")
    if radius is None:
        radius = side / np.sqrt(2 * np.pi)
    if not 0 < radius <= side / 2:
        raise ValueError(f"radius={radius!r} should be > 0 and <= side/2={side / 2}.")
    rng = check_random_state(random_state)
    y = rng.permutation(np.repeat(np.arange(2, dtype=np.int64), shares(n_samples, 2)))
    X = np.empty((n_samples, 2))
    misplaced = np.arange(n_samples)
    while len(misplaced):
        X[misplaced] = rng.uniform(-side / 2, side / 2, (len(misplaced), 2))
        inside = np.linalg.norm(X[misplaced], axis=1) <= radius
        misplaced = misplaced[inside != (y[misplaced] == 1)]
    return X, y

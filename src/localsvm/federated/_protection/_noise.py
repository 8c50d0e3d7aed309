"""Noise and its accounting, all of it by OpenDP: the only module that imports it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.exceptions import DataError

_SCALES = (1e-2, 1e8)  # of noise over sensitivity, between which the search looks
_SLACK = 1 + 1e-9  # so that rounding cannot push the accounts above epsilon


@dataclass(frozen=True)
class NoisePlan:
    """Noise that a release will have.

    Attributes
    ----------
    scale : float
        Standard deviation of the discrete Gaussian.
    rho : float
        Privacy loss in zero-concentrated differential privacy; losses add up.
    """

    scale: float
    rho: float


def plan_noise(epsilon: float, delta: float, sensitivity: float) -> NoisePlan:
    """Least noise that OpenDP accepts for (epsilon, delta). Draws nothing."""
    opendp = _load_opendp()

    def measurement(scale: float) -> Any:
        approximate = opendp.c.make_zCDP_to_approxDP(_gaussian(opendp, scale))
        return opendp.c.make_fix_delta(approximate, delta)

    try:
        least = opendp.binary_search_param(
            measurement,
            d_in=sensitivity,
            d_out=(float(epsilon), float(delta)),
            bounds=(sensitivity * _SCALES[0], sensitivity * _SCALES[1]),
        )
    except (ValueError, opendp.OpenDPException) as error:
        raise DataError(
            f"No amount of noise was found for epsilon = {epsilon:g} and delta = "
            f"{delta:g}; expected values that are less extreme."
        ) from error
    scale = least * _SLACK
    return NoisePlan(scale, float(_gaussian(opendp, scale).map(sensitivity)))


def add_noise(totals: NDArray[np.int64], plan: NoisePlan) -> NDArray[np.int64]:
    """Each number plus discrete Gaussian noise; about 20 µs per number."""
    release = _gaussian(_load_opendp(), plan.scale)
    return np.asarray(release(totals.ravel()), dtype=np.int64).reshape(totals.shape)


def epsilon_of(rho: float, delta: float) -> float:
    """Epsilon that releases of the total loss ``rho`` have at ``delta``."""
    if rho == 0:
        return 0.0
    opendp = _load_opendp()
    # A Gaussian of scale one has the loss rho at this distance.
    distance = math.nextafter(math.sqrt(2 * rho), math.inf)
    profile = opendp.c.make_zCDP_to_approxDP(_gaussian(opendp, 1.0)).map(distance)
    return float(profile.epsilon(delta))


def _gaussian(opendp: Any, scale: float) -> Any:
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    return opendp.m.make_gaussian(domain, opendp.l2_distance(T="f64"), scale)


def _load_opendp() -> Any:
    try:
        import opendp.prelude as opendp
    except ImportError as error:
        raise ImportError(
            "Differential privacy needs OpenDP, which is not installed: "
            'pip install "localsvm[privacy]"'
        ) from error
    opendp.enable_features("contrib")
    return opendp

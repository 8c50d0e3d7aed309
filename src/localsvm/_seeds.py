"""Seeds for the parts of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state


def draw_seed(random_state: Any) -> int:
    """Seed drawn from an int, a RandomState or None."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def seeded_clone(estimator: Any, draw: Callable[[], int]) -> Any:
    """Copy an estimator; a ``random_state`` of None is replaced by a drawn seed."""
    copy = clone(estimator)
    if copy.get_params().get("random_state", 0) is None:
        copy.set_params(random_state=draw())
    return copy

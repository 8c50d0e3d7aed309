"""How the solvers of a fit ended: numbers that overflowed, limits that came first."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import NOT_FINITE, level_of_caller
from localsvm.exceptions import DataError
from localsvm.solvers import Status


class Solution(Protocol):
    """What a solver tells of how its problems ended."""

    @property
    def n_problems(self) -> int: ...
    @property
    def shortfall(self) -> str: ...
    def count(self, status: Status) -> int: ...


def check_finite(solution: Solution) -> None:
    """Raise if the numbers overflowed."""
    if solution.count(Status.not_finite):
        raise DataError(NOT_FINITE)


def check_solution(solution: Solution, estimator: Any) -> None:
    """Raise if the numbers overflowed; warn once if something came before ``tol``."""
    check_finite(solution)
    counts = [
        (solution.count(status), where)
        for status, where in (
            (Status.max_iter, f"at {_steps(getattr(estimator, 'max_iter', None))}"),
            (Status.max_time, f"at max_time={getattr(estimator, 'max_time', None)}"),
            (Status.stalled, "where rounding allows no progress"),
        )
    ]
    stops = [(count, where) for count, where in counts if count]
    if not stops:
        return
    (count, where), *others = stops
    where += "".join(f", {more} {place}" for more, place in others)
    remedy = "raise tol" if solution.count(Status.stalled) else "allow more"
    warnings.warn(
        f"{count} of {solution.n_problems} problems stopped {where} "
        f"({solution.shortfall}, tol={estimator.tol}). Scale the features, lower C, or "
        f"{remedy}.",
        ConvergenceWarning,
        stacklevel=level_of_caller(),
    )


def _steps(max_iter: Any) -> str:
    """Name the limit of the steps."""
    if max_iter is None:
        return "the iteration limit"
    generous = " (ten million steps, or 100 per row)" if max_iter == -1 else ""
    return f"max_iter={max_iter}{generous}"

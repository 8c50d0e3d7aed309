"""What is known of how the fit ended."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy
import sklearn

from localsvm.inspect._report._text import describe, number, seconds

_ROUNDING = 1.05


@dataclass(frozen=True)
class Certificate:
    """How the fit ended.

    Attributes
    ----------
    verdict : str
        One sentence.
    state : {"good", "open", "unknown"}
    facts : dict of str to str
    stages : dict of str to str
        Time per stage of the fit.
    versions : dict of str to str
    """

    verdict: str
    state: str
    facts: dict[str, str]
    stages: dict[str, str]
    versions: dict[str, str]


def certify(model: Any) -> Certificate:
    """Describe the certificate of a fitted classifier."""
    verdict, state = _judge(model)
    report = getattr(model, "fit_report_", None) or {}
    return Certificate(
        verdict,
        state,
        _facts(model) | {k: str(v) for k, v in report.items() if isinstance(v, str)},
        {k: seconds(v) for k, v in report.items() if isinstance(v, float)},
        _versions(),
    )


def _versions() -> dict[str, str]:
    from localsvm import __version__

    return {
        "Python": platform.python_version(),
        "localsvm": __version__,
        "scikit-learn": sklearn.__version__,
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    }


def _judge(model: Any) -> tuple[str, str]:
    """Whether the solver reached its tolerance, in a sentence, and as a state."""
    measure = _measure(model)
    if measure is None:
        return "The method does not tell how its fit ended.", "unknown"
    words, value = measure
    reached = f"{words} is {number(value, 2)}, tolerance {model.tol:g}"
    if hasattr(model, "converged_"):
        if model.converged_:
            return f"Converged in {model.em_step_} steps.", "good"
        return (
            f"Stopped by a limit, or when steps gained no more; step {model.em_step_} "
            "was kept.",
            "open",
        )
    if hasattr(model, "exact_") and not model.exact_:
        return f"An approximation to the solution of all rows: {reached}.", "open"
    if value <= _ROUNDING * model.tol:
        return f"Converged: {reached}.", "good"
    return (
        f"Stopped before the tolerance was reached: {reached}. Scale the features, "
        "lower C, or allow more iterations.",
        "open",
    )


def _measure(model: Any) -> tuple[str, float] | None:
    for name, words in (
        ("violation_", "the largest violation of the optimality conditions"),
        ("duality_gap_", "the largest relative duality gap"),
    ):
        if hasattr(model, name) and hasattr(model, "tol"):
            return words, float(getattr(model, name))
    return None


def _facts(model: Any) -> dict[str, str]:
    names = {
        "duality_gap_": "relative duality gap",
        "violation_": "violation of optimality",
        "tol": "tolerance",
        "n_em_steps_": "EM steps",
        "n_iter_": "iterations",
        "max_iter": "most iterations",
        "max_time": "most seconds",
        "n_regions_": "regions",
        "n_support_": "support vectors",
        "random_state": "random_state (seed)",
        "n_jobs": "n_jobs",
    }
    found = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return {
        names[name]: _show(np.max(value) if name == "n_iter_" else value)
        for name, value in found.items()
        if value is not None or name == "random_state"
    }


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return number(float(value.sum()))
    return number(float(value)) if isinstance(value, Real) else describe(value)

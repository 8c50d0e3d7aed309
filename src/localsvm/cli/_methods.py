"""Methods by name, and their parameters from the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from localsvm.cli._group import misuse
from localsvm.estimators import (
    DEFAULT_METHOD,
    METHODS,
    PaperGate,
    Reduction,
    SoftmaxGate,
    method_named,
)

if TYPE_CHECKING:

    class Method(StrEnum):
        """What a model is fitted by."""

else:
    _NAMES = ["auto", *(method.name for method in METHODS if method.is_command)]
    Method = StrEnum("Method", [(name, name) for name in _NAMES], module=__name__)

AUTO = Method("auto")
_OWN_OPTIONS = {"random_state": "--seed", "n_jobs": "--jobs", "max_time": "--max-time"}
# Objects that a name stands for, whose parameters are set as ``gate__levels``.
_NAMED: dict[str, dict[str, Any]] = {
    "gate": {"softmax": SoftmaxGate, "paper": PaperGate},
    "reduction": {"auto": Reduction},
}
_WORDS = {"true": True, "false": False, "none": None, "inf": math.inf}


def make_estimator(
    method: Method,
    settings: Sequence[str],
    *,
    seed: int,
    jobs: int,
    max_time: float | None = None,
) -> Any:
    """Make the estimator of a method, and check its parameters before rows are read."""
    chosen = DEFAULT_METHOD if method is AUTO else method_named(method.value)
    estimator = chosen.estimator(random_state=seed, n_jobs=jobs, max_time=max_time)
    settings = _open_named(estimator, settings)
    estimator.set_params(**_parameters(estimator, settings))
    try:
        estimator._check_settings()
    except ValueError as error:
        misuse(str(error))
    return estimator


def split_pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Name and value of an option like ``--param C=10``."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        misuse(f"{option} {text}: expected {form}.")
    return name, value


def _open_named(estimator: Any, settings: Sequence[str]) -> list[str]:
    """Replace a name by its object where ``--param`` sets a parameter of that object.

    Returns the settings that are left.
    """
    left = list(settings)
    for outer in _NAMED.keys() & estimator.get_params(deep=False):
        if any(text.startswith(f"{outer}__") for text in left):
            named = [text for text in left if text.startswith(f"{outer}=")]
            names = [text.partition("=")[2] for text in named]
            name = names[-1] if names else getattr(estimator, outer)
            if name in _NAMED[outer]:
                estimator.set_params(**{outer: _NAMED[outer][name]()})
                left = [text for text in left if text not in named]
    return left


def _parameters(estimator: Any, settings: Sequence[str]) -> dict[str, Any]:
    known = list(estimator.get_params())
    parameters = {}
    for text in settings:
        name, value = split_pair(text, "--param", "PARAMETER=VALUE, for instance C=10")
        if name in _OWN_OPTIONS:
            misuse(f"--param {text}: use {_OWN_OPTIONS[name]} instead.")
        if name not in known:
            names = ", ".join(sorted(set(known) - set(_OWN_OPTIONS)))
            misuse(
                f"--param {text}: {type(estimator).__name__} has no parameter "
                f"{name!r}; expected one of {names}."
            )
        parameters[name] = _value(value)
    return parameters


def _value(text: str) -> Any:
    """Take a number, list and the like as JSON writes it, anything else as text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text

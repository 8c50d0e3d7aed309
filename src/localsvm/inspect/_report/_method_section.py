"""Which method it is, with which parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from localsvm.inspect._report._text import clean, describe


@dataclass(frozen=True)
class Step:
    """One step of a pipeline, or the whole model.

    Attributes
    ----------
    name : str
        Of the class.
    does : str
        First line of its documentation.
    changed, default : dict of str to str
        Parameters that are not at their default, whoever set them, and the others.
    """

    name: str
    does: str
    changed: dict[str, str]
    default: dict[str, str]


@dataclass(frozen=True)
class MethodSection:
    """The method.

    Attributes
    ----------
    steps : list of Step
        Those before the classifier first.
    chosen : dict of str to str
        Parameters that the fit chose, ``best_params_``, without those that it was
        given.
    """

    steps: list[Step]
    chosen: dict[str, str]


def describe_method(model: Any) -> MethodSection:
    """Describe the classes and parameters of a model."""
    named = model.steps if isinstance(model, Pipeline) else [("", model)]
    steps = [step for _, step in named]
    described = [_describe_step(step) for step in steps if hasattr(step, "get_params")]
    best: Mapping[str, Any] = getattr(steps[-1], "best_params_", None) or {}
    given = described[-1].changed if described else {}
    chosen = {clean(name): describe(value) for name, value in best.items()}
    return MethodSection(
        described,
        {name: value for name, value in chosen.items() if given.get(name) != value},
    )


def _describe_step(step: Any) -> Step:
    documentation = inspect.getdoc(type(step)) or ""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(type(step)).parameters.items()
    }
    changed: dict[str, str] = {}
    default: dict[str, str] = {}
    for name, value in step.get_params(deep=False).items():
        kept = default if _same(value, defaults.get(name)) else changed
        kept[clean(name)] = describe(value)
    does = clean(documentation.partition("\n")[0], 200)
    return Step(type(step).__name__, does, changed, default)


def _same(value: Any, default: Any) -> bool:
    # The == of arrays and estimators may give anything.
    return value is default or (
        type(value) is type(default) and repr(value) == repr(default)
    )

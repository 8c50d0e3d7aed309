"""One name, one meaning, one default for one concept, in tables that can be read."""

import inspect
import re

import pytest

from localsvm import estimators
from localsvm.estimators import METHODS

MOST_IN_THE_FIRST_TABLE = 12
CLASSES = [
    getattr(estimators, name)
    for name in estimators.__all__
    if hasattr(getattr(estimators, name), "get_params")
]
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda each: each.__name__)
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda each: each.name)


def signature(cls):
    return {
        name: parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
    }


def tables(cls):
    """Names in the sections of parameters of a docstring."""
    found = {}
    sections = re.split(r"\n(.+)\n-{3,}\n", inspect.cleandoc(cls.__doc__))
    for title, text in zip(sections[1::2], sections[2::2], strict=True):
        heads = re.findall(r"^(\w[\w, ]*)(?: : .*)?$", text, re.MULTILINE)
        found[title] = [name for head in heads for name in head.split(", ")]
    return found


@each_class
def test_tables_hold_the_parameters_in_their_order(cls):
    found = tables(cls)
    every = found["Parameters"] + found.get("Other Parameters", [])
    assert every == list(signature(cls))


@each_class
def test_first_table_is_short(cls):
    assert len(tables(cls)["Parameters"]) <= MOST_IN_THE_FIRST_TABLE


@each_method
def test_limits_of_the_solver_are_rare_and_default_to_the_class(method):
    given, rare = signature(method.estimator), tables(method.estimator)
    assert {"tol", "max_iter"} <= set(rare["Other Parameters"])
    assert given["max_iter"] is None
    assert given["max_time"] is None
    assert given["random_state"] is None
    assert given["n_jobs"] is None
    assert given["class_weight"] is None


@each_method
def test_penalty_is_scaled_unless_it_is_searched_for(method):
    searches = ("Cs", "kernel_C")
    given = signature(method.estimator)
    if not any(name in given for name in searches):
        assert given["C"] in ("scale", "auto")

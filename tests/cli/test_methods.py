"""Estimators from the command line."""

import math

import pytest
import typer

from localsvm import ClusteredSVC, StagedSVC
from localsvm.cli._methods import AUTO, Method, make_estimator, split_pair


def make(method, *settings, **options):
    return make_estimator(method, settings, **({"seed": 3, "jobs": 2} | options))


@pytest.mark.parametrize("method", Method)
def test_every_method_has_an_estimator_with_the_common_options(method):
    model = make(method, max_time=5.0)
    assert method is AUTO or method.value.replace("-", "") in str(model).lower()
    assert (model.random_state, model.n_jobs, model.max_time) == (3, 2, 5.0)


def test_auto_is_the_staged_svm():
    assert type(make(AUTO)) is StagedSVC


def test_settings_have_the_type_that_they_look_like():
    model = make(
        Method("clustered"),
        "C=1e2",
        "n_regions=50",
        "n_nearest=1",
        "fit_intercept=False",
        "global_reg=inf",
        "class_weight=balanced",
    )
    assert isinstance(model, ClusteredSVC)
    assert (model.C, model.n_regions, model.n_nearest) == (100.0, 50, 1)
    assert (model.fit_intercept, model.global_reg) == (False, math.inf)
    assert model.class_weight == "balanced"
    assert make(Method("local"), 'class_weight={"a": 2}').class_weight == {"a": 2}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("C", "--param C: expected PARAMETER=VALUE, for instance C=10."),
        ("=3", "--param =3: expected"),
        ("D=3", "ClusteredSVC has no parameter 'D'; expected one of C, class_weight"),
        ("n_jobs=3", "use --jobs instead"),
        ("C=-1", "The 'C' parameter of ClusteredSVC must be"),
        ("metric=cosine", "The 'metric' parameter of ClusteredSVC must be"),
    ],
)
def test_wrong_settings_are_misuse(setting, words):
    with pytest.raises(typer.TyperException) as raised:
        make(Method("clustered"), setting)
    assert raised.value.exit_code == 2
    assert words in raised.value.message


def test_pairs_may_have_equal_signs_in_the_value():
    assert split_pair("a=b=c", "--where", "COLUMN=VALUE") == ("a", "b=c")

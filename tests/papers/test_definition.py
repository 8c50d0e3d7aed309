from dataclasses import dataclass, replace
from math import inf

import pytest
from papers._definition import describe

from papers import Data, Method, Part, Run, Selection, Split
from papers_data import blobs, toy_runs

METHOD = Method("CSVM", Part("localsvm.ClusteredSVC", {"C": 1.0}), {"C": (1.0, 2.0)})
RUN = Run("a group", Data(blobs), METHOD, selection=Selection())

CHANGES = [
    {"data": Data(blobs, {"n_rows": 20})},
    {"data": Data(blobs, prepare=(Part("sklearn.decomposition.PCA"),))},
    {"method": replace(METHOD, grid={"C": (1.0, 3.0)})},
    {"method": replace(METHOD, estimator=Part("localsvm.ClusteredSVC", {"C": 2.0}))},
    {"split": Split(n_train=10)},
    {"selection": Selection(n_folds=3)},
    {"selection": None},
    {"seed": 1},
    {"measures": (blobs,)},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_key_changes_with_the_definition(change):
    assert replace(RUN, **change).key != RUN.key


def test_key_does_not_change_with_labels():
    renamed = replace(RUN, group="other", method=replace(METHOD, name="other"))
    assert renamed.key == RUN.key


def test_key_is_the_same_tomorrow():
    run = Run("group", Data(dict, {"x": 1}), Method("m", Part("a.B")), seed=3)
    assert run.key == "ed6849f11b486c05"


def test_a_new_field_with_a_default_changes_no_key():
    @dataclass(frozen=True)
    class Old:
        a: int

    @dataclass(frozen=True)
    class New:
        a: int
        b: int = 0

    assert describe(Old(1)) == describe(New(1)) == {"a": 1}
    assert describe(New(1, 2)) == {"a": 1, "b": 2}


def test_infinity_is_described_by_its_name():
    assert describe({"global_reg": inf}) == {"global_reg": "inf"}


@pytest.mark.parametrize("value", [lambda: 0, object(), {1, 2}])
def test_what_has_no_name_is_refused(value):
    with pytest.raises(TypeError, match="expected numbers, strings"):
        describe({"load": value})


def test_choice_is_shared_by_seeds_of_a_fixed_split():
    other = replace(RUN, seed=5, measures=(blobs,))
    assert other.selection_key == RUN.selection_key


@pytest.mark.parametrize("split", [Split(n_train=10), Split("folds"), Split("random")])
def test_choice_is_not_shared_by_different_rows(split):
    drawn = replace(RUN, split=split)
    assert replace(drawn, seed=5).selection_key != drawn.selection_key


def test_no_choice_without_grid_or_selection():
    assert replace(RUN, selection=None).selection_key is None
    assert replace(RUN, method=replace(METHOD, grid={})).selection_key is None


def test_part_makes_inner_parts_and_sets_the_seed():
    inner = Part("sklearn.svm.LinearSVC", {"loss": "hinge"})
    part = Part("sklearn.ensemble.AdaBoostClassifier", {"estimator": inner})
    made = part.make(7, estimator__C=3.0)
    assert made.random_state == 7
    assert made.estimator.C == 3.0
    assert made.estimator.loss == "hinge"


def test_part_keeps_a_seed_of_its_own():
    part = Part("localsvm.ClusteredSVC", {"random_state": 1})
    assert part.make(7).random_state == 1


@pytest.mark.parametrize("path", ["localsvm.Missing", "no_such_package.Model"])
def test_missing_class_is_known_before_it_is_used(path):
    part = Part("sklearn.ensemble.AdaBoostClassifier", {"estimator": Part(path)})
    assert not Part(path).is_available()
    assert not part.is_available()
    with pytest.raises(ModuleNotFoundError, match=path):
        part.make()
    assert not replace(RUN, method=Method("m", part)).is_available()
    assert toy_runs(1)[0].is_available()

"""Every method is wherever a user or another part of the library looks for it."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier

import inspect_models
import localsvm
import model_file_data
import test_checks
import test_estimator_checks
from localsvm import estimators, export
from localsvm.cli._methods import AUTO, Method, make_estimator
from localsvm.estimators import (
    DEFAULT_METHOD,
    METHODS,
    method_named,
    method_of,
    specs_of_family,
)
from localsvm.estimators._regional import state as regional_state
from localsvm.export._onnx._answer import known_estimators
from localsvm.inspect import explain, region_table
from onnx_data import run
from same_objects import assert_same

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = DOCS / "guide"
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda each: each.name)


def _fitted(method):
    return model_file_data.fitted(method.golden)


def _rows(method):
    return model_file_data.rows_of(method.golden)


def test_every_public_classifier_is_a_method():
    public = [getattr(estimators, name) for name in estimators.__all__]
    classifiers = {each for each in public if hasattr(each, "predict")}
    others = {estimators.CostClassifier}  # around a method
    assert {method.estimator for method in METHODS} == classifiers - others
    assert len({method.name for method in METHODS}) == len(METHODS)
    assert all(is_classifier(method.estimator()) for method in METHODS)


@each_method
def test_method_is_found_by_name_by_object_and_by_subclass(method):
    derived = type("Derived", (method.estimator,), {})
    assert method_named(method.name) is method
    assert method_of(method.estimator()) is method
    assert method_of(derived.__new__(derived)) is method
    assert method_of(object()) is None


@each_method
def test_folder_is_that_of_the_family(method):
    assert method.estimator.__module__.startswith(
        f"localsvm.estimators._{method.family}."
    )


def _is_declared(method):
    return method.estimator in {spec.cls for spec in specs_of_family(method.family)}


@each_method
def test_state_is_declared_in_the_folder_of_the_family(method):
    assert _is_declared(method)


def test_missing_state_is_noticed(monkeypatch):
    method = method_named("clustered")
    others = [spec for spec in regional_state.SPECS if spec.cls is not method.estimator]
    monkeypatch.setattr(regional_state, "SPECS", tuple(others))
    assert not _is_declared(method)
    with pytest.raises(ModuleNotFoundError, match="_nobody"):
        specs_of_family("nobody")


@each_method
def test_public_name(method):
    assert (method.class_name in localsvm.__all__) == method.is_top_level
    found = localsvm
    for name in method.api_name.split("."):
        found = getattr(found, name)
    assert found is method.estimator


@each_method
def test_model_file_gives_the_model_back(method, tmp_path):
    model = _fitted(method)
    assert type(model) is method.estimator
    localsvm.save(model, tmp_path / "model.lsvm")
    back = localsvm.load(tmp_path / "model.lsvm")
    assert_same(back, model)
    X = _rows(method)
    np.testing.assert_array_equal(back.predict(X), model.predict(X))


@each_method
def test_golden_file_is_of_the_method(method):
    golden = ROOT / "tests" / "export" / "golden"
    paths = list(golden.glob(f"{method.golden}-[0-9]*.lsvm"))
    assert paths
    for path in paths:
        assert method.class_name in str(export.describe_file(path))


@each_method
def test_onnx_graph_gives_the_labels_or_is_refused_with_the_reason(method):
    model, X = _fitted(method), _rows(method)
    if method.onnx_refusal:
        message = f"{method.class_name} cannot be exported to ONNX: "
        with pytest.raises(TypeError, match=re.escape(message + method.onnx_refusal)):
            export.to_onnx(model)
        return
    found = run(export.to_onnx(model, dtype="float64"), X)
    np.testing.assert_array_equal(found["label"], model.predict(X))


def test_every_exported_class_is_a_method():
    assert set(known_estimators()) == {
        method.estimator for method in METHODS if not method.onnx_refusal
    }


@each_method
def test_table_of_regions(method):
    model = _fitted(method)
    if method.has_regions:
        assert len(region_table(model, _rows(method))) == model.n_regions_
    else:
        with pytest.raises(TypeError, match=f"regions.*got {method.class_name}"):
            region_table(model)


@each_method
def test_predictions_are_explained(method):
    model, X = _fitted(method), _rows(method)
    (found,) = explain(model, X[:1])
    assert found.predicted_class == model.predict(X[:1])[0]
    assert len(found.coef) == X.shape[1]


@each_method
def test_blocks_are_fitted_or_refused(method):
    X, y = model_file_data.DATA["two"]
    batches = localsvm.engine.Batches.of(X, y, rows=45)
    model = method.estimator(random_state=0)
    if method.on_blocks:
        assert model.fit(batches).predict(X).shape == y.shape
    else:
        with pytest.raises(TypeError, match=f"{method.class_name} takes rows in memo"):
            model.fit(batches)


@each_method
def test_choice_of_the_command_line(method):
    assert (method.name in list(Method)) == method.is_command
    if method.is_command:
        made = make_estimator(Method(method.name), [], seed=0, jobs=1)
        assert type(made) is method.estimator


def test_command_line_has_a_default_and_no_other_choices():
    names = [method.name for method in METHODS if method.is_command]
    assert [each.value for each in Method] == ["auto", *names]
    assert type(make_estimator(AUTO, [], seed=0, jobs=1)) is DEFAULT_METHOD.estimator


@each_method
def test_guide_describes_the_method(method):
    page = (GUIDES / f"{method.guide}.md").read_text()
    assert method.class_name in page
    assert f"\n{method.guide}\n" in (GUIDES / "index.md").read_text()


@each_method
def test_api_page_lists_the_method(method):
    page = (DOCS / "api" / "index.md").read_text()
    assert f"\n   {method.api_name}\n" in page


@each_method
def test_tables_of_the_guide_have_the_method(method):
    row = f"| {method.need} | `{method.class_name}` | {method.reason} |\n"
    assert row in (GUIDES / "which.md").read_text(), "run `python benchmarks/tables.py`"
    row = f"| `{method.class_name}` | {method.on_blocks} |\n"
    assert (row in (GUIDES / "scale.md").read_text()) == bool(method.on_blocks)


@each_method
def test_lists_of_the_tests_have_the_method(method):
    for models in (
        inspect_models.MODELS.values(),
        test_checks.ESTIMATORS,
        [model for model, _ in test_estimator_checks.VARIANTS],
    ):
        assert any(type(model) is method.estimator for model in models)

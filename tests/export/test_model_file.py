import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import localsvm
from localsvm import ClusteredSVC
from localsvm.estimators import ClusteredSVCCV
from localsvm.export import describe_file
from model_file_data import DATA, fitted


@pytest.fixture
def model(two_moons):
    X, y = two_moons
    return ClusteredSVC(4, random_state=0).fit(X, y)


def test_what_is_saved_is_loaded(tmp_path, model, two_moons):
    localsvm.save(model, tmp_path / "m.lsvm")
    loaded = localsvm.load(tmp_path / "m.lsvm")
    np.testing.assert_array_equal(
        loaded.decision_function(two_moons[0]), model.decision_function(two_moons[0])
    )


def test_a_step_that_a_file_cannot_hold_is_named(tmp_path, two_moons):
    X, y = two_moons
    model = make_pipeline(FunctionTransformer(), ClusteredSVC(4)).fit(X, y)
    with pytest.raises(TypeError, match="step 'functiontransformer' of the pipeline"):
        localsvm.save(model, tmp_path / "m.lsvm")


def test_a_model_that_a_file_cannot_hold_is_named(tmp_path, two_moons):
    with pytest.raises(TypeError, match="model is a SVC, which a model file cannot"):
        localsvm.save(SVC().fit(*two_moons), tmp_path / "m.lsvm")


@pytest.mark.parametrize(
    ("search", "remedy"),
    [
        (GridSearchCV(ClusteredSVC(4), {"C": [1.0]}, cv=2), "save its best_estimator_"),
        (
            TunedThresholdClassifierCV(ClusteredSVC(4), cv=2),
            "save its estimator_ and note its best_threshold_",
        ),
    ],
)
def test_of_a_search_the_best_model_can_be_saved(tmp_path, two_moons, search, remedy):
    name = type(search).__name__
    search.fit(*two_moons)
    with pytest.raises(TypeError, match=f"model is a {name}, .*; {remedy}"):
        localsvm.save(search, tmp_path / "m.lsvm")


@pytest.mark.parametrize(
    ("transformer", "words"),
    [
        (OneHotEncoder(min_frequency=2), "min_frequency"),
        (SimpleImputer(add_indicator=True), "add_indicator"),
        (ColumnTransformer([("f", FunctionTransformer(np.sin), [0])]), "transformers"),
    ],
)
def test_a_transformer_that_a_file_cannot_hold_is_not_saved(
    tmp_path, transformer, words
):
    transformer.fit(np.array([[0.0], [1.0], [1.0], [np.nan]]))
    with pytest.raises((TypeError, ValueError), match=words):
        localsvm.save(transformer, tmp_path / "m.lsvm")
    assert not list(tmp_path.iterdir())


def test_a_loaded_transformer_of_columns_can_be_fitted_again(tmp_path):
    X, y = DATA["table"]
    localsvm.save(fitted("columns"), tmp_path / "m.lsvm")
    loaded = localsvm.load(tmp_path / "m.lsvm")
    np.testing.assert_array_equal(
        loaded.fit(X, y).decision_function(X), fitted("columns").decision_function(X)
    )


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        (make_column_selector(dtype_include=np.float64), ["größe"]),
        (slice(0, 1), ["größe"]),
        (slice("größe", "größe"), ["größe"]),
        (pd.Index(["größe"]), ["größe"]),
        (lambda X: [0], ["größe"]),
    ],
)
def test_what_chose_columns_becomes_the_columns_it_chose(tmp_path, columns, chosen):
    X, _ = DATA["table"]
    model = ColumnTransformer([("a", StandardScaler(), columns)]).fit(X)
    localsvm.save(model, tmp_path / "m.lsvm")
    loaded = localsvm.load(tmp_path / "m.lsvm")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    assert loaded.transformers[0][2] == chosen
    assert loaded.get_feature_names_out().tolist() == ["a__größe"]


def test_columns_may_come_in_another_order(tmp_path):
    X, _ = DATA["table"]
    localsvm.save(fitted("columns"), tmp_path / "m.lsvm")
    other = X[X.columns[::-1]].assign(more=1)
    np.testing.assert_array_equal(
        localsvm.load(tmp_path / "m.lsvm").decision_function(other),
        fitted("columns").decision_function(X),
    )


def test_notes_are_described(tmp_path, two_moons):
    model = make_pipeline(StandardScaler(), ClusteredSVC(4)).fit(*two_moons)
    notes = {"columns": ["ä", "b"], "scores": [0.5, None, True]}
    localsvm.save(model, tmp_path / "m.lsvm", notes=notes)
    described = describe_file(tmp_path / "m.lsvm")
    assert described.notes == notes
    assert described.class_name == "Pipeline"
    assert described.steps["clusteredsvc"] == "ClusteredSVC"
    assert described.params["clusteredsvc__n_regions"] == 4
    assert described.version == 1
    assert described.n_bytes == (tmp_path / "m.lsvm").stat().st_size


def test_a_model_that_is_not_fitted_says_so(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        localsvm.save(ClusteredSVC(), tmp_path / "m.lsvm")


@pytest.mark.parametrize(
    ("notes", "error"),
    [
        ({"x": float("nan")}, ValueError),
        ({"x": object()}, TypeError),
        ("a" * 5_000_000, ValueError),
    ],
)
def test_notes_that_json_cannot_hold_are_refused(tmp_path, model, notes, error):
    with pytest.raises(error):
        localsvm.save(model, tmp_path / "m.lsvm", notes=notes)
    assert not list(tmp_path.iterdir())


def test_a_parameter_that_a_file_cannot_hold_is_named(tmp_path, model):
    model.set_params(metric=FunctionTransformer())
    with pytest.raises(TypeError, match=r"model\.metric is a FunctionTransformer"):
        localsvm.save(model, tmp_path / "m.lsvm")


def test_an_attribute_that_is_unknown_is_named(tmp_path, model):
    model.own_ = 1
    with pytest.raises(TypeError, match="model has the attribute 'own_'"):
        localsvm.save(model, tmp_path / "m.lsvm")


def test_a_subclass_is_not_taken_for_its_class(tmp_path, two_moons):
    class Own(ClusteredSVC):
        pass

    with pytest.raises(TypeError, match="model is a Own"):
        localsvm.save(Own(4).fit(*two_moons), tmp_path / "m.lsvm")


def test_objects_and_arrays_are_described_in_words(tmp_path, two_moons):
    model = ClusteredSVCCV(
        Cs=np.array([1.0]), n_regions=(2,), clusterer=KMeans(3), global_regs=[np.inf]
    )
    localsvm.save(model.fit(*two_moons), tmp_path / "m.lsvm")
    params = describe_file(tmp_path / "m.lsvm").params
    assert params["clusterer"] == "KMeans(n_clusters=3)"
    assert params["Cs"] == "array model.Cs"
    assert params["n_regions"] == (2,)
    assert params["global_regs"] == [np.inf]


def test_an_arrays_order_in_memory_is_kept(tmp_path, two_moons):
    model = make_pipeline(StandardScaler(), ClusteredSVC(4)).fit(*two_moons)
    model[-1].regions_.centers = np.asfortranarray(model[-1].regions_.centers)
    localsvm.save(model, tmp_path / "m.lsvm")
    loaded = localsvm.load(tmp_path / "m.lsvm")
    assert loaded[-1].regions_.centers.flags.f_contiguous

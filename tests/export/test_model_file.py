import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import localsvm
from localsvm import ClusteredSVC, ClusteredSVCCV
from localsvm.export import describe_file


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


def test_notes_are_described(tmp_path, two_moons):
    model = make_pipeline(StandardScaler(), ClusteredSVC(4)).fit(*two_moons)
    notes = {"columns": ["ä", "b"], "scores": [0.5, None, True]}
    localsvm.save(model, tmp_path / "m.lsvm", notes=notes)
    described = describe_file(tmp_path / "m.lsvm")
    assert described.notes == notes
    assert described.class_name == "Pipeline"
    assert described.steps["clusteredsvc"] == "ClusteredSVC"
    assert described.params["clusteredsvc__n_clusters"] == 4
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
        Cs=np.array([1.0]), n_clusters=(2,), clusterer=KMeans(3), global_regs=[np.inf]
    )
    localsvm.save(model.fit(*two_moons), tmp_path / "m.lsvm")
    params = describe_file(tmp_path / "m.lsvm").params
    assert params["clusterer"] == "KMeans(n_clusters=3)"
    assert params["Cs"] == "array model.Cs"
    assert params["n_clusters"] == (2,)
    assert params["global_regs"] == [np.inf]


def test_an_arrays_order_in_memory_is_kept(tmp_path, two_moons):
    model = make_pipeline(StandardScaler(), ClusteredSVC(4)).fit(*two_moons)
    model[-1].regions_.centers = np.asfortranarray(model[-1].regions_.centers)
    localsvm.save(model, tmp_path / "m.lsvm")
    loaded = localsvm.load(tmp_path / "m.lsvm")
    assert loaded[-1].regions_.centers.flags.f_contiguous

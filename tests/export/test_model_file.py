import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import localsvm
from localsvm import ClusteredSVC
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

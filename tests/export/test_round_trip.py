"""What is loaded is what was saved: parameters, attributes and answers, bit for bit."""

import os
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import BisectingKMeans
from sklearn.pipeline import make_pipeline

import localsvm
from localsvm import ClusteredSVC, SupportClusterSVC
from localsvm.data import DroppedColumn, TableEncoder
from localsvm.estimators import GeneralizationBound
from localsvm.inspect import explain
from model_file_data import CASES, DATA, answers, fitted, rows_of
from same_objects import assert_same


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.lsvm"


def back(model, path):
    localsvm.save(model, path)
    return localsvm.load(path)


@pytest.mark.parametrize("case", CASES)
def test_every_model_comes_back(case, path):
    model, X = fitted(case), rows_of(case)
    loaded = back(model, path)
    written = path.read_bytes()
    localsvm.save(loaded, path)
    assert path.read_bytes() == written
    assert getattr(loaded, "fit_report_", {}) == getattr(model, "fit_report_", {})
    assert_same(answers(loaded, X), answers(model, X))
    assert_same(loaded, model)


@pytest.mark.filterwarnings("ignore:Column 'key'")
def test_an_encoder_that_left_an_identifier_out_comes_back(path):
    frame = pd.DataFrame({"key": range(40), "x": np.arange(40.0) % 7})
    frame["day"] = [f"{day}/01/2024" for day in np.arange(40) % 31 + 1]
    encoder = TableEncoder(kinds={"day": "date"})
    model = make_pipeline(encoder, ClusteredSVC(2, random_state=0))
    model.fit(frame, frame["x"] > 2)
    loaded = back(model, path)
    assert loaded[0].columns_[0] == DroppedColumn("key", "identifier")
    assert loaded[0].columns_[2].format == "%d/%m/%Y"
    assert_same(loaded[0], model[0])


def test_a_clusterer_that_a_file_cannot_hold_is_left_out(path):
    X, y = DATA["two"]
    model = ClusteredSVC(4, clusterer=BisectingKMeans(random_state=0)).fit(X, y)
    loaded = back(model, path)
    assert loaded.clusterer_ is None
    assert_same(loaded.clusterer, model.clusterer)
    assert_same(answers(loaded, X), answers(model, X))


def test_a_clusterer_that_a_file_cannot_hold_is_refused_where_it_predicts(path):
    X, y = DATA["two"]
    model = ClusteredSVC(4, n_nearest=1, clusterer=BisectingKMeans()).fit(X, y)
    with pytest.raises(TypeError, match=r"regions_\.clusterer is a BisectingKMeans"):
        localsvm.save(model, path)


@pytest.mark.parametrize("case", ["soft-named", "local-poly", "staged-quantile"])
def test_a_loaded_model_is_cloned_and_fitted(case, path):
    X, y = DATA[CASES[case][0]]
    model = fitted(case)
    again = clone(back(model, path)).fit(X, y)
    assert_same(again.predict(X), model.predict(X))


@pytest.mark.parametrize("case", ["soft-named", "hard-kmeans", "staged"])
def test_a_loaded_model_is_explained(case, path):
    X = rows_of(case)[:1]
    found, expected = (explain(m, X) for m in (back(fitted(case), path), fitted(case)))
    assert str(found) == str(expected)


@pytest.mark.parametrize("case", ["stream", "stream-learned"])
def test_a_stream_goes_on(case, path):
    X, y = DATA[CASES[case][0]]
    models = [back(fitted(case), path), back(fitted(case), path.with_name("b"))]
    localsvm.save(models[0].partial_fit(X, y), path)
    assert_same(localsvm.load(path), models[1].partial_fit(X, y))
    assert_same(answers(models[0], X), answers(localsvm.load(path), X))


def test_a_stream_of_one_class_goes_on(path):
    X, y = DATA["three"]
    first, later = y == "a", y != "a"
    model = SupportClusterSVC(4).partial_fit(X[first], y[first])
    loaded = back(model, path).partial_fit(X[later], y[later])
    assert_same(loaded, model.partial_fit(X[later], y[later]))


def test_a_bound_of_a_loaded_model(path):
    X, y = DATA["two"]
    model = ClusteredSVC(3, n_nearest=1, random_state=0).fit(X, y)
    bound = back(model, path).generalization_bound(X, y)
    assert isinstance(bound, GeneralizationBound)
    assert bound == model.generalization_bound(X, y)


def test_long_integers_of_sparse_rows_stay_long(path):
    X, y = DATA["csr"]
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    model = localsvm.LocalSVC(20, random_state=0).fit(X, y)
    assert_same(back(model, path), model)


def test_a_file_is_about_as_long_as_its_arrays(path):
    X = np.random.default_rng(0).standard_normal((4000, 20))
    y = X[:, 0] * X[:, 1] > 0
    model = localsvm.LocalSVC(100, random_state=0).fit(X, y)
    localsvm.save(model, path)
    models = sum(array.nbytes for array in vars(model._model.models).values())
    held_out = len(pickle.dumps((model._familiarity, model._calibration)))
    assert os.path.getsize(path) < 1.1 * (X.nbytes + models + held_out)

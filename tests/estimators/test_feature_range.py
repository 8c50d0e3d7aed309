"""Range of the training rows, which every classifier keeps."""

import numpy as np
import pytest
from sklearn.base import clone

from conftest import store
from localsvm import (
    AdditiveSVC,
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.engine import Batches
from localsvm.estimators import (
    METHODS,
    ClusteredSVCCV,
    LocallyLinearSVC,
    LocalSVCCV,
    NeighborSVC,
)

MODELS = {
    type(each).__name__: each
    for each in (
        AdditiveSVC(C=1.0),
        ClusteredSVC(3, random_state=0),
        ClusteredSVCCV(Cs=[1.0], n_regions=[2], cv=2, random_state=0),
        LocallyLinearSVC(3, random_state=0),
        LocalSVC(20, random_state=0),
        LocalSVCCV(Cs=[1.0], n_neighbors=20, cv=2, random_state=0),
        MixtureSVC(2, em_max_iter=2, random_state=0),
        NeighborSVC(10),
        ReducedSVC(),
        StagedSVC(n_regions=3, random_state=0),
        SupportClusterSVC(4, random_state=0),
    )
}


def make_rows(n_rows=80):
    """A column of numbers, one of integers, one of zeros and ones."""
    rng = np.random.default_rng(0)
    X = np.c_[
        rng.normal(size=n_rows),
        rng.integers(-4, 5, n_rows),
        rng.integers(0, 2, n_rows),
    ].astype(np.float64)
    return X, X[:, 0] + X[:, 2] > 0.5


@pytest.mark.parametrize("name", [method.class_name for method in METHODS])
def test_every_classifier_keeps_the_range(name):
    X, y = make_rows()
    model = clone(MODELS[name]).fit(X, y)
    expected = np.stack([X.min(axis=0), X.max(axis=0)])
    np.testing.assert_array_equal(model.feature_range_, expected)
    assert model.integer_features_.tolist() == [False, True, True]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_does_not_matter(storage, dtype):
    X, y = make_rows()
    X[X[:, 2] == 0] *= -1
    X = X.astype(dtype)
    model = ReducedSVC().fit(store(X, storage), y)
    assert model.feature_range_.dtype == np.float64
    np.testing.assert_array_equal(model.feature_range_, [X.min(axis=0), X.max(axis=0)])
    assert model.integer_features_.tolist() == [False, True, True]


def test_rows_without_weight_do_not_count():
    X, y = make_rows()
    weight = np.ones(len(X))
    weight[:3] = 0
    X[:3] = [[100.0, 0.5, 7.5]]
    model = ReducedSVC().fit(X, y, weight)
    expected = ReducedSVC().fit(X[3:], y[3:])
    np.testing.assert_array_equal(model.feature_range_, expected.feature_range_)
    np.testing.assert_array_equal(model.integer_features_, expected.integer_features_)


def test_a_late_fraction_is_seen(monkeypatch):
    monkeypatch.setattr("localsvm._ranges._BLOCK_ROWS", 7)
    X, y = make_rows()
    X[-1, 1] = 0.5
    assert ReducedSVC().fit(X, y).integer_features_.tolist() == [False, False, True]


def test_batches_widen_the_range():
    X, y = make_rows()
    model = SupportClusterSVC(4, random_state=0)
    for part in (slice(0, 30), slice(30, 50), slice(50, None)):
        model.partial_fit(X[part], y[part], classes=[False, True])
    np.testing.assert_array_equal(model.feature_range_, [X.min(axis=0), X.max(axis=0)])
    assert model.integer_features_.tolist() == [False, True, True]
    model.partial_fit(X[:5] + 100.5, y[:5])
    assert model.feature_range_[1, 0] == X[:5, 0].max() + 100.5
    assert not model.integer_features_.any()


def test_the_range_of_blocks_and_summaries_is_not_known():
    X, y = make_rows()
    model = SupportClusterSVC(4, random_state=0).fit(X, y)
    summary = model.summary_
    model.fit_summaries(summary)
    assert not hasattr(model, "feature_range_")
    model.partial_fit(X, y)
    assert not hasattr(model, "feature_range_")
    model.fit(X, y)
    assert hasattr(model, "integer_features_")
    parts = [(X[:40], y[:40]), (X[40:], y[40:])]
    model.fit(Batches(parts.__getitem__, 2))
    assert not hasattr(model, "feature_range_")
    assert not hasattr(model, "integer_features_")

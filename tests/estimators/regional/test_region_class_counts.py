"""Training rows of each region by class, in every estimator with regions."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification

from localsvm import ClusteredSVC, LocalSVC, MixtureSVC, StagedSVC, SupportClusterSVC
from localsvm.estimators import ClusteredSVCCV, LocallyLinearSVC, LocalSVCCV

GIVEN = {"C": 1.0, "cell_size": 30, "gamma_factor": 2.0, "kernel_C": 10.0}
SAMPLED = {"em_max_iter": 2, "early_stopping": False, "random_state": 0}
MODELS = {
    "soft": ClusteredSVC(5, random_state=0),
    "hard": ClusteredSVC(5, n_nearest=1, random_state=0),
    "searched": ClusteredSVCCV(Cs=[1.0], n_regions=[5], cv=2, random_state=0),
    "anchors": LocallyLinearSVC(5, random_state=0),
    "local": LocalSVC(30, random_state=0),
    "local searched": LocalSVCCV(Cs=[1.0], n_neighbors=30, cv=2, random_state=0),
    "mixture": MixtureSVC(4, **SAMPLED),
    "staged": StagedSVC(
        scaling="none", metric=None, threshold=1.0, random_state=0, **GIVEN
    ),
    "clusters": SupportClusterSVC(8, random_state=0),
}


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(
        200, 4, n_informative=4, n_redundant=0, n_classes=3, random_state=0
    )
    return X, np.array(["ant", "bee", "cat"])[y]


def first_regions(model):
    """Regions that hold every row once; a staged SVM counts its hard rows again."""
    return model.first_stage_.n_regions_ if hasattr(model, "first_stage_") else None


@pytest.mark.parametrize("name", MODELS)
def test_counts_sum_to_the_rows_of_each_class(rows, name):
    X, y = rows
    model = MODELS[name].fit(X, y)
    counts = model.region_class_counts_
    assert counts.shape == (model.n_regions_, 3)
    assert counts.dtype == np.float64
    np.testing.assert_allclose(
        counts[: first_regions(model)].sum(axis=0), np.unique(y, return_counts=True)[1]
    )
    np.testing.assert_allclose(counts.sum(axis=1), model.region_sizes_)


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_counted_and_rows_without_weight_are_not(rows, name):
    X, y = rows
    weight = np.random.default_rng(0).choice([0.0, 0.5, 3.0], len(y))
    model = MODELS[name].fit(X, y, sample_weight=weight)
    found = model.region_class_counts_[: first_regions(model)].sum(axis=0)
    expected = [weight[y == label].sum() for label in model.classes_]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("name", ["soft", "hard", "searched", "anchors", "local"])
def test_counts_are_those_of_the_regions_of_training_rows(rows, name):
    X, y = rows
    model = MODELS[name].fit(X, y)
    regions = model.region(X)
    expected = [
        [np.sum((regions == region) & (y == label)) for label in model.classes_]
        for region in range(model.n_regions_)
    ]
    np.testing.assert_array_equal(model.region_class_counts_, expected)


def test_hard_rows_of_a_staged_model_are_counted_in_its_cells(rows):
    model = MODELS["staged"].fit(*rows)
    counts = model.region_class_counts_
    np.testing.assert_array_equal(
        counts[first_regions(model) :], model.second_stage_.region_class_counts_
    )
    assert model.second_stage_.region_class_counts_.sum() == model.n_hard_ > 0


def test_equal_rows_are_counted_by_their_number(rows):
    X, y = rows
    once = LocalSVC(30, random_state=0).fit(X, y)
    twice = LocalSVC(30, random_state=0).fit(np.vstack([X, X]), np.append(y, y))
    np.testing.assert_array_equal(
        twice.region_class_counts_, 2 * once.region_class_counts_
    )


def test_cluster_belongs_to_one_class(rows):
    X, y = rows
    model = SupportClusterSVC(clusterer=KMeans(4, n_init=1, random_state=0)).fit(X, y)
    counts = model.region_class_counts_
    assert (np.count_nonzero(counts, axis=1) == 1).all()
    np.testing.assert_array_equal(
        model.classes_[counts.argmax(axis=1)], model.summary_.label
    )


def test_clusters_of_a_stream_are_counted_as_they_come(rows):
    X, y = rows
    model = SupportClusterSVC(8).partial_fit(X[:50], y[:50], classes=np.unique(y))
    assert model.region_class_counts_.sum() == pytest.approx(50)
    model.partial_fit(X[50:], y[50:])
    assert model.region_class_counts_.sum() == pytest.approx(200)

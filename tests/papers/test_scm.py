"""Models, search and rows of the SCM paper's experiments."""

from itertools import pairwise

import numpy as np
import pytest
from papers._definition import Method, Part
from papers._selection import grid_search
from papers.scm.models import (
    CentroidSVC,
    CoarseThreePartySVC,
    ThreePartySVC,
    party_bounds,
)
from papers.scm.search import summary_search
from papers.scm.toys import load_toy
from sklearn.svm import SVC

from data_sets import loaded
from localsvm import SupportClusterSVC
from localsvm.data import load_benchmark
from localsvm.federated import Party, merge, none
from oracles.local_svm import make_classes


@pytest.fixture(scope="module")
def adult():
    return loaded(load_benchmark, "adult")


def test_parties_in_the_order_of_the_file_are_those_of_table_2(adult):
    bounds = party_bounds(len(adult.y_train))
    positive = [int(adult.y_train[a:b].sum()) for a, b in pairwise(bounds)]
    assert positive == [2463, 2493, 2552]
    assert np.diff(bounds).tolist() == [10_050, 10_050, 10_062]


def test_printed_share_of_positive_rows_is_that_of_all_rows(adult):
    every = np.concatenate([adult.y_train, adult.y_test])
    assert round(100 * every.mean(), 2) == 24.78
    assert round(100 * adult.y_train.mean(), 2) == 24.89


def test_centroids_alone_are_an_svm_on_the_centroids():
    X, y = make_classes(300, 2)
    model = CentroidSVC(
        20, covariance="none", C=1.0, gamma=0.5, tol=1e-6, random_state=0
    ).fit(X, y)
    summary = model.summary_
    peer = SVC(C=1.0, gamma=0.5, tol=1e-6).fit(summary.mean, summary.label)
    np.testing.assert_allclose(
        model.decision_function(X), peer.decision_function(X), atol=1e-4
    )


def test_parties_learn_from_merged_clusters():
    X, y = make_classes(400, 2)
    model = ThreePartySVC(10, gamma=0.5, random_state=0).fit(X, y)
    shared = [
        Party(f"party {n}", n_clusters=10).summarize(X[a:b], y[a:b], none())
        for n, (a, b) in enumerate(pairwise(party_bounds(400)))
    ]
    peer = SupportClusterSVC(gamma=0.5).fit_summaries(merge(shared).summary)
    np.testing.assert_array_equal(model.decision_function(X), peer.decision_function(X))
    coarse = CoarseThreePartySVC(10, random_state=0).fit(X, y)
    assert coarse.summary_.weight.min() >= 10 > model.summary_.weight.min()


def test_search_on_one_clustering_chooses_like_a_plain_search():
    X, y = make_classes(300, 2)
    half = np.arange(300) < 150
    folds = [(np.flatnonzero(half), np.flatnonzero(~half))]
    part = Part("localsvm.SupportClusterSVC", {"n_clusters": 15})
    method = Method("SCM", part, {"C": (0.03, 0.3, 30.0), "gamma": (0.01, 0.5, 9.0)})
    quick = summary_search(method, X, y, folds, 0)
    assert quick == grid_search(method, X, y, folds, 0)
    assert quick.params["C"] == 30.0


@pytest.mark.parametrize("name", ["arcs", "spreads", "overlap"])
def test_toys_have_their_rows_and_are_always_the_same(name):
    toy, again = load_toy(name, 100), load_toy(name, 100)
    assert toy.X_train.shape == toy.X_test.shape == (200, 2)
    assert np.bincount(toy.y_train).tolist() == [100, 100]
    np.testing.assert_array_equal(toy.X_train, again.X_train)
    assert not np.array_equal(toy.X_train, toy.X_test)

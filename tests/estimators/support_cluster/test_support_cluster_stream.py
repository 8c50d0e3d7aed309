"""SupportClusterSVC on streams and on given summaries."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from conftest import store
from localsvm import SupportClusterSVC
from localsvm.cluster import GaussianSummary, ThresholdClustering, summarize_rows
from localsvm.estimators._support_cluster import (
    fit as fit_module,
    stream as stream_module,
)

KINDS = ["diag", "full", "none"]
TIGHT = {"tol": 1e-9, "max_iter": 10_000_000}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def stream(model, X, y, size, **options):
    for start in range(0, X.shape[0], size):
        model.partial_fit(X[start : start + size], y[start : start + size], **options)
    return model


def whole(summary):
    """All clusters of a class as one."""
    return summary.ordered().merged(
        np.unique(summary.ordered().label, return_inverse=True)[1]
    )


@pytest.mark.parametrize("size", [1, 7, 100])
def test_stream_counts_every_row_once(size, kind, storage, three_classes):
    n_rows = 60 if size == 1 else None  # a call of partial_fit for each
    X, y = (each[:n_rows] for each in three_classes)
    X = X * (np.abs(X) > 0.3)
    model = SupportClusterSVC(6, covariance=kind)
    summary = stream(model, store(X, storage), y, size).summary_
    assert np.unique(summary.label, return_counts=True)[1].max() <= 6
    found = whole(summary)
    for index, label in enumerate(np.unique(y)):
        rows = X[y == label]
        exact = summarize_rows(rows, np.zeros(len(rows), int), covariance=kind)
        assert found.weight[index] == len(rows)
        np.testing.assert_allclose(found.mean[index], exact.mean[0], atol=1e-12)
        if kind != "none":
            np.testing.assert_allclose(
                found.covariance[index], exact.covariance[0], atol=1e-12
            )


def test_batches_do_not_change_the_clusters(kind, three_classes):
    X, y = three_classes
    one, many = (
        stream(SupportClusterSVC(8, covariance=kind, **TIGHT), X, y, size)
        for size in (len(X), 13)
    )
    np.testing.assert_allclose(one.summary_.weight, many.summary_.weight)
    np.testing.assert_allclose(one.summary_.mean, many.summary_.mean, atol=1e-12)
    np.testing.assert_allclose(
        one.decision_function(X), many.decision_function(X), atol=1e-6
    )


def test_stream_of_all_clusters_is_the_fit(three_classes):
    X, y = three_classes
    model = SupportClusterSVC(len(X), C=1.5, **TIGHT)
    streamed, fitted = stream(clone(model), X, y, 50), clone(model).fit(X, y)
    np.testing.assert_allclose(
        streamed.decision_function(X), fitted.decision_function(X), atol=1e-6
    )


def test_clusters_are_those_of_the_clusterer(three_classes):
    X, y = three_classes
    clusterer = ThresholdClustering(None, threshold=2.0)
    model = stream(SupportClusterSVC(clusterer=clusterer), X, y, 40)
    for label in np.unique(y):
        alone = clone(clusterer).fit(X[y == label])
        expected = summarize_rows(X[y == label], alone.labels_)
        own = model.summary_.take(model.summary_.label == label)
        np.testing.assert_allclose(own.weight, expected.weight)
        np.testing.assert_allclose(own.mean, expected.mean)
        np.testing.assert_allclose(own.covariance, expected.covariance, atol=1e-12)


def test_only_partial_fit_learns(monkeypatch, two_moons):
    X, y = two_moons
    learned = []
    original = fit_module.learn_clusters
    monkeypatch.setattr(
        fit_module,
        "learn_clusters",
        lambda *arguments: learned.append(1) or original(*arguments),
    )
    model = SupportClusterSVC(10).partial_fit(X, y)
    assert len(learned) == 1
    before = dict(vars(model))
    assert hasattr(model, "duality_gap_")
    assert model.n_iter_ >= 1
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(model.predict, [X] * 4))
    model.decision_function(X)
    assert len(learned) == 1
    assert vars(model) == before
    model.partial_fit(X, y).predict(X)
    assert len(learned) == 2
    assert set(model.fit_report_) == {"cluster", "learn"}


def test_one_class_so_far_has_no_svm(two_moons):
    X, y = two_moons
    model = SupportClusterSVC(10).partial_fit(X[y == 1], y[y == 1])
    assert not hasattr(model, "duality_gap_")
    with pytest.raises(NotFittedError, match=r"rows of one class \(1\)"):
        model.predict(X)
    model.partial_fit(X[y == 0], y[y == 0])
    assert model.score(X, y) > 0.8


def test_predictions_follow_the_stream():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 2)), np.repeat([0, 1], 100)
    X[y == 1] += 4
    model = SupportClusterSVC(10).partial_fit(X, y)
    elsewhere = rng.normal([0.0, 12.0], 1.0, (100, 2))
    before = model.predict(elsewhere)
    model.partial_fit(elsewhere, 1 - before)
    assert (model.predict(elsewhere) == 1 - before).mean() > 0.95


def test_weight_equals_repetition_in_the_stream(kind, three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    model = SupportClusterSVC(8, covariance=kind, **TIGHT)
    weighted = clone(model).partial_fit(X, y, sample_weight=weight)
    repeated = clone(model).partial_fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.summary_.weight, repeated.summary_.weight)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-6
    )


def test_classes_may_turn_up_later(three_classes):
    X, y = three_classes
    order = np.argsort(y, kind="stable")
    model = SupportClusterSVC(10)
    model.partial_fit(X[order[:20]], y[order[:20]])
    assert model.classes_.tolist() == ["ash"]
    with pytest.raises(NotFittedError, match=r"rows of one class \('ash'\)"):
        model.predict(X)
    model.partial_fit(X[order[20:]], y[order[20:]])
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    assert model.score(X, y) > 0.6


def test_named_classes_are_all_there_are(three_classes):
    X, y = three_classes
    model = SupportClusterSVC(10).partial_fit(X, y, classes=["cedar", "ash", "birch"])
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    message = r"y contains the class 'fir'; expected one of \['ash', 'birch', 'cedar'\]"
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, np.full(len(X), "fir"))
    with pytest.raises(ValueError, match=r"classes=\['ash'\] is not the same as in an"):
        model.partial_fit(X, y, classes=["ash"])
    model.partial_fit(X, y, classes=["ash", "birch", "cedar"])


def test_fit_forgets_the_named_classes(three_classes):
    X, y = three_classes
    model = SupportClusterSVC(10).partial_fit(X, y, classes=np.unique(y))
    model.fit(X, y).partial_fit(X[:1], ["fir"])
    assert "fir" in model.classes_
    model.fit_summaries(model.summary_).partial_fit(X[:1], ["yew"])
    assert "yew" in model.classes_


def test_class_that_was_named_and_never_came_has_no_clusters(two_moons):
    X, y = two_moons
    model = SupportClusterSVC(10).partial_fit(X, y, classes=[0, 1, 2])
    assert model.decision_function(X).shape == (len(X), 3)
    assert set(model.predict(X)) == {0, 1}


@pytest.mark.parametrize("start", ["fit", "fit_summaries"])
def test_stream_goes_on_from_an_earlier_fit(start, kind, three_classes):
    X, y = three_classes
    model = SupportClusterSVC(15, covariance=kind, random_state=0).fit(X[:120], y[:120])
    if start == "fit_summaries":
        model = clone(model).fit_summaries(model.summary_)
    before = model.summary_.weight.sum()
    stream(model, X[120:], y[120:], 40)
    assert before == 120
    assert model.summary_.weight.sum() == 240
    found, exact = whole(model.summary_), stream(clone(model), X, y, 240).summary_
    np.testing.assert_allclose(found.mean, whole(exact).mean, atol=1e-12)
    if kind != "none":
        np.testing.assert_allclose(
            found.covariance, whole(exact).covariance, atol=1e-12
        )


def test_stream_goes_on_from_clusters_with_one_mean():
    summary = GaussianSummary(
        [3, 5, 2],
        [[0.0, 1.0], [0.0, 1.0], [4.0, 4.0]],
        [[1, 1], [2, 2], [1, 1]],
        [0, 0, 1],
    )
    model = SupportClusterSVC().fit_summaries(summary)
    model.partial_fit([[0.0, 1.0], [9.0, 9.0]], [0, 0])
    own = model.summary_.take(model.summary_.label == 0)
    assert sorted(own.weight.tolist()) == [1, 9]
    assert model.summary_.weight.sum() == 12


def test_failed_batch_changes_nothing(three_classes):
    X, y = three_classes
    model = stream(SupportClusterSVC(10), X, y, 60)
    expected = model.decision_function(X)
    before = {name: id(value) for name, value in vars(model).items()}
    bad = X.copy()
    bad[5, 1] = np.nan
    for rows, labels in ((bad, y), (X[:, :3], y), (X, y[:10])):
        with pytest.raises(ValueError, match=r"NaN|features|inconsistent"):
            model.partial_fit(rows, labels)
    assert {name: id(value) for name, value in vars(model).items()} == before
    np.testing.assert_array_equal(model.decision_function(X), expected)


def test_interrupted_batch_changes_nothing(monkeypatch, three_classes):
    X, y = three_classes
    model = stream(SupportClusterSVC(10), X, y, 60)
    saved = pickle.dumps(model)
    calls = []

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:  # the first class is done
            raise KeyboardInterrupt
        return summarize_rows(*arguments, **options)

    monkeypatch.setattr(stream_module, "summarize_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    assert pickle.dumps(model) == saved


def test_memory_does_not_grow_with_the_stream():
    rng = np.random.default_rng(0)
    model, sizes = SupportClusterSVC(30), []
    for _ in range(30):
        X = rng.standard_normal((1000, 5))
        model.partial_fit(X, X[:, 0] * X[:, 1] > 0)
        sizes.append(model.summary_.n_clusters)
    assert max(sizes) <= 60
    assert model.summary_.weight.sum() == 30_000
    assert len(pickle.dumps(model)) < 50_000


def test_other_clusterers_do_not_stream(two_moons):
    model = SupportClusterSVC(clusterer=KMeans(5))
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(*two_moons)
    assert "or a ThresholdClustering. Got clusterer=KMeans" in str(
        caught.value.__cause__
    )


def test_summaries_of_a_fit_give_its_model(kind, three_classes):
    X, y = three_classes
    model = SupportClusterSVC(15, covariance=kind, random_state=0, **TIGHT).fit(X, y)
    again = clone(model).fit_summaries(model.summary_)
    np.testing.assert_allclose(
        again.decision_function(X), model.decision_function(X), atol=1e-6
    )
    assert again.n_features_in_ == 5


def test_order_of_summaries_does_not_change_a_bit(three_classes):
    X, y = three_classes
    parts = [
        SupportClusterSVC(8, random_state=0).fit(X[rows], y[rows]).summary_
        for rows in np.array_split(np.arange(len(X)), 3)
    ]
    model = SupportClusterSVC()
    scores = [
        clone(model).fit_summaries([parts[i] for i in order]).decision_function(X)
        for order in ([0, 1, 2], [2, 0, 1])
    ]
    np.testing.assert_array_equal(*scores)


def test_richer_summaries_are_reduced_and_poorer_refused(three_classes):
    X, y = three_classes
    full, diag = (
        SupportClusterSVC(10, covariance=covariance, random_state=0).fit(X, y)
        for covariance in ("full", "diag")
    )
    reduced, same = (
        SupportClusterSVC(**TIGHT).fit_summaries(model.summary_)
        for model in (full, diag)
    )
    np.testing.assert_allclose(
        reduced.decision_function(X), same.decision_function(X), atol=1e-7
    )
    with pytest.raises(ValueError, match="covariance='full' asks for more than the"):
        SupportClusterSVC(covariance="full").fit_summaries(diag.summary_)


def test_names_of_columns_come_with_the_summaries(three_classes):
    X, y = three_classes
    frame = pd.DataFrame(X, columns=list("abcde"))
    summary = SupportClusterSVC(10).fit(frame, y).summary_
    model = SupportClusterSVC().fit_summaries([summary])
    assert model.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"a": "z"}))
    model.fit_summaries(replace(summary, feature_names=None))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        (GaussianSummary([1, 1], [[0], [1]], [[1], [1]]), "summaries have no labels"),
        (
            GaussianSummary([1, 1], [[0], [1]], [[1], [1]], ["a", "a"]),
            r"greater than one; got 1 class \('a'\)",
        ),
        (
            GaussianSummary(
                [1, 1], [[0, 0], [1, 1]], [np.eye(2), [[1, 2], [2, 1]]], ["a", "b"]
            ),
            "cluster 1 has the eigenvalue -1",
        ),
    ],
)
def test_summaries_that_cannot_be_learned_are_refused(summary, message, two_moons):
    model = SupportClusterSVC(10).fit(*two_moons)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit_summaries(summary)
    assert vars(model) == before

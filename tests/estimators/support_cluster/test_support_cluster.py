"""SupportClusterSVC against the paper's formulas and its limit, the RBF SVM."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.svm import SVC

from conftest import store
from localsvm import SupportClusterSVC
from localsvm.cluster import ThresholdClustering
from oracles.local_svm import make_classes
from oracles.support_cluster import pair_decisions, scores

KINDS = ["diag", "full", "none"]
TIGHT = {"tol": 1e-9, "max_iter": 10_000_000}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", ["expected_rbf", "paper"])
def test_model_is_the_machine_of_the_formulas(n_classes, form, kind):
    X, y = make_classes(200, n_classes)
    queries, _ = make_classes(40, n_classes, seed=1)
    model = SupportClusterSVC(
        12, covariance=kind, kernel_form=form, C=12.0, gamma=0.4, **TIGHT
    ).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(queries), scores(model, queries), atol=1e-5
    )


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_of_one_row_are_the_rbf_svm(kind):
    X, y = make_classes(150, 2)
    queries, _ = make_classes(200, 2, seed=1)
    peer = SVC(C=4.0, gamma=0.6, tol=1e-6).fit(X, y)
    model = SupportClusterSVC(150, C=4.0, gamma=0.6, covariance=kind, tol=1e-6).fit(
        X, y
    )
    difference = model.decision_function(queries) - peer.decision_function(queries)
    assert np.abs(difference).max() < 1e-5


def test_clusters_of_one_row_are_the_rbf_svm_of_several_classes():
    X, y = make_classes(160, 4)
    peer = SVC(C=2.0, gamma=0.6, tol=1e-6).fit(X, y)
    model = SupportClusterSVC(200, C=2.0, gamma=0.6, tol=1e-6).fit(X, y)
    queries, _ = make_classes(100, 4, seed=1)
    np.testing.assert_allclose(
        model.decision_function(queries), peer.decision_function(queries), atol=1e-5
    )
    peer.set_params(break_ties=True)
    np.testing.assert_array_equal(model.predict(queries), peer.predict(queries))


def test_paper_form_contradicts_its_own_theorem():
    X, y = make_classes(150, 2)
    peer = SVC(C=4.0, gamma=0.6).fit(X, y)
    model = SupportClusterSVC(150, C=4.0, gamma=0.6, kernel_form="paper").fit(X, y)
    difference = model.decision_function(X) - peer.decision_function(X)
    assert np.abs(difference).max() > 0.5


def test_paper_form_fails_in_many_dimensions_without_overflow():
    rng = np.random.default_rng(0)
    centers = rng.random((8, 784)) * (rng.random((8, 784)) > 0.6)
    kind = rng.integers(0, 8, 1200)
    X = centers[kind] + 0.15 * rng.standard_normal((1200, 784)) * (centers[kind] > 0)
    y = kind % 2
    errors = {}
    for form, gamma in (("expected_rbf", 0.02), ("paper", 250.0)):
        model = SupportClusterSVC(60, gamma=gamma, kernel_form=form, random_state=0)
        model.fit(X[:800], y[:800])
        for queries in (X[800:].astype(np.float32), X[800:]):
            with np.errstate(over="raise", invalid="raise"):
                decisions = model.decision_function(queries)
            assert np.isfinite(decisions).all()
        errors[form] = np.mean((decisions > 0) != y[800:])
    assert model.log_scale_ > 710  # beyond what exp can give
    assert errors["expected_rbf"] < 0.01
    assert errors["paper"] > 0.1


def test_spread_of_the_clusters_matters():
    """A wide and a narrow cluster: the boundary lies nearer to the narrow one."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(-2, 1.5, (500, 1)), rng.normal(2, 0.2, (500, 1))]
    y = np.repeat([0, 1], 500)
    line = np.linspace(-2, 2, 401)[:, None]
    borders = {}
    for covariance in ("diag", "none"):
        model = SupportClusterSVC(1, covariance=covariance, gamma=0.5).fit(X, y)
        borders[covariance] = line[np.argmax(model.predict(line))].item()
    assert borders["none"] == pytest.approx(0, abs=0.2)
    assert borders["diag"] > 0.5


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes_share_the_clusters(multi_class, three_classes):
    X, y = three_classes
    model = SupportClusterSVC(20, multi_class=multi_class, random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (len(X), 3)
    assert model.score(X, y) > 0.65
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.n_support_.sum() == len(model.support_)


def test_one_vs_rest_is_one_svm_per_class(three_classes):
    X, y = three_classes
    model = SupportClusterSVC(15, multi_class="ovr", random_state=0, **TIGHT).fit(X, y)
    scores = model.decision_function(X)
    for column, label in enumerate(model.classes_):
        labels = np.where(model.summary_.label == label, 1, 0)
        alone = SupportClusterSVC(gamma=model.gamma_, **TIGHT).fit_summaries(
            type(model.summary_)(
                model.summary_.weight,
                model.summary_.mean,
                model.summary_.covariance,
                labels,
            )
        )
        np.testing.assert_allclose(
            scores[:, column], alone.decision_function(X), atol=1e-6
        )


def test_pairs_are_in_the_order_of_svc(three_classes):
    X, y = three_classes
    model = SupportClusterSVC(15, C=7.0, random_state=0, **TIGHT).fit(X, y)
    expected = pair_decisions(model, X[:30])
    machine = model._fitted_machine()
    assert (
        machine.pairs.tolist() == [[0, 1], [0, 2], [1, 2]] == list(map(list, expected))
    )
    found = machine.decide(X[:30], None)
    np.testing.assert_allclose(found.T, list(expected.values()), atol=1e-5)
    assert model.score(X, y) > 0.65


def test_solution_lies_in_its_boxes(two_moons):
    X, y = two_moons
    model = SupportClusterSVC(30, C=8.0, random_state=0, **TIGHT).fit(X, y)
    duals = np.zeros(model.summary_.n_clusters)
    duals[model.support_] = model.dual_coef_[0]
    sign = np.where(model.summary_.label == 1, 1, -1)
    box = 8.0 * model.summary_.weight / model.summary_.weight.mean()
    assert (sign * duals >= 0).all()
    assert (sign * duals <= box * (1 + 1e-12)).all()
    assert abs(duals.sum()) < 1e-8
    assert (model.dual_coef_ != 0).any(axis=0).all()
    assert model.duality_gap_ < 1e-6
    assert model.violation_ < 1e-8


def test_class_weight_is_a_factor_of_the_penalty(three_classes):
    X, y = three_classes
    weights = {"ash": 3.0, "birch": 0.5, "cedar": 1.0}
    model = SupportClusterSVC(15, C=1.0, random_state=0, **TIGHT)
    plain = clone(model).fit(X, y)
    weighted = clone(model).set_params(class_weight=weights).fit(X, y)
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y)
    assert (
        np.abs(weighted.decision_function(X) - plain.decision_function(X)).max() > 0.1
    )
    counts = pd.Series(y).value_counts()
    equal = {name: len(y) / (3 * counts[name]) for name in counts.index}
    by_hand = clone(model).set_params(class_weight=equal).fit(X, y)
    np.testing.assert_allclose(
        balanced.decision_function(X), by_hand.decision_function(X), atol=1e-6
    )
    ash = (plain.predict(X) == "ash").sum(), (weighted.predict(X) == "ash").sum()
    assert ash[1] > ash[0]


def test_weight_equals_repetition(kind, three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    model = SupportClusterSVC(10, covariance=kind, random_state=0, **TIGHT)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(
        weighted.decision_function(X), repeated.decision_function(X)
    )
    plain = clone(model).fit(X, y)
    assert (
        np.abs(weighted.decision_function(X) - plain.decision_function(X)).max() > 0.1
    )


def test_classes_without_weight_keep_their_place(three_classes):
    X, y = three_classes
    weight = (y != "birch").astype(float)
    for multi_class in ("ovo", "ovr"):
        model = SupportClusterSVC(10, multi_class=multi_class, random_state=0)
        model.fit(X, y, sample_weight=weight)
        assert model.classes_.tolist() == ["ash", "birch", "cedar"]
        assert model.decision_function(X).shape == (len(X), 3)
        assert set(model.predict(X)) == {"ash", "cedar"}
        assert model.n_support_[1] == 0


@pytest.mark.parametrize("only", ["ash", "birch"])
def test_one_class_with_weight_is_always_the_answer(only, three_classes):
    X, y = three_classes
    for labels in (y, np.where(y == only, only, "other")):
        model = SupportClusterSVC(10).fit(X, labels, sample_weight=y == only)
        assert set(model.predict(X)) == {only}
        assert len(model.support_) == 0


def test_class_weight_of_zero_leaves_the_other_class(two_moons):
    X, y = two_moons
    model = SupportClusterSVC(10, class_weight={0: 0.0}).fit(X, y)
    assert (model.predict(X) == 1).all()


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_n_jobs_does_not_change_a_bit(n_jobs, kind, three_classes):
    X, y = three_classes
    model = SupportClusterSVC(15, covariance=kind, random_state=0)
    one = clone(model).fit(X, y)
    many = clone(model).set_params(n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))


def test_order_of_the_rows_does_not_change_a_bit(three_classes):
    X, y = three_classes
    order = np.random.default_rng(0).permutation(len(X))
    model = SupportClusterSVC(15, random_state=0)
    straight, shuffled = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    np.testing.assert_array_equal(
        straight.decision_function(X), shuffled.decision_function(X)
    )
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert (other.decision_function(X) != straight.decision_function(X)).any()


def test_storage_does_not_change_the_scores(storage, kind, three_classes):
    X, y = three_classes
    X = X * (np.abs(X) > 0.5)
    model = SupportClusterSVC(15, covariance=kind, random_state=0, **TIGHT)
    dense, other = clone(model).fit(X, y), clone(model).fit(store(X, storage), y)
    expected = dense.decision_function(X)
    stored = store(X, storage)
    for fitted, rows in ((other, stored), (other, X), (dense, stored)):
        np.testing.assert_allclose(fitted.decision_function(rows), expected, atol=1e-6)


def test_float32_stays_float32(kind, three_classes):
    X, y = three_classes
    X = X.astype(np.float32)
    model = SupportClusterSVC(15, covariance=kind, C=3.0, random_state=0, **TIGHT)
    narrow, wide = (clone(model).fit(rows, y) for rows in (X, X.astype(np.float64)))
    scores = narrow.decision_function(X)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, wide.decision_function(X), atol=1e-3)


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(10, n_init=1),
        GaussianMixture(8, covariance_type="diag"),
        ThresholdClustering(None, threshold=1.0),
        ThresholdClustering(12, center="mean"),
    ],
    ids=str,
)
def test_any_clusterer_will_do(clusterer, kind, three_classes):
    X, y = three_classes
    model = SupportClusterSVC(clusterer=clusterer, covariance=kind, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.65
    assert model.summary_.weight.sum() == pytest.approx(len(X))
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(
        model.decision_function(X), again.decision_function(X)
    )


@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_is_that_of_svc(gamma, kind, three_classes):
    X, y = three_classes
    X = X * 3 + 7
    model = SupportClusterSVC(240, gamma=gamma, covariance=kind).fit(X, y)
    assert model.gamma_ == pytest.approx(SVC(gamma=gamma).fit(X, y)._gamma)
    if kind != "none":
        model = SupportClusterSVC(5, gamma=gamma, covariance=kind).fit(X, y)
        assert model.gamma_ == pytest.approx(SVC(gamma=gamma).fit(X, y)._gamma)


def test_constant_rows_give_a_model():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    model = SupportClusterSVC(5).fit(X, y)
    assert model.gamma_ == 1
    assert np.isfinite(model.decision_function(X)).all()


def test_fitted_attributes_tell_the_story(three_classes):
    X, y = three_classes
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = SupportClusterSVC(20, random_state=0).fit(frame, y)
    assert list(model.classes_) == ["ash", "birch", "cedar"]
    assert model.summary_.feature_names == tuple("abcde")
    assert model.summary_.weight.sum() == len(X)
    assert set(model.summary_.label) == set(y)
    assert np.unique(model.summary_.label, return_counts=True)[1].max() <= 20
    assert set(model.fit_report_) == {"cluster", "learn", "calibrate"}
    assert model.n_iter_ >= 1
    assert model.intercept_.shape == (3,)


def test_saved_model_decides_alike(three_classes):
    X, y = three_classes
    model = SupportClusterSVC(20, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    expected = model.decision_function(X)
    np.testing.assert_array_equal(again.decision_function(X), expected)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: model.decision_function(X), range(8)):
            np.testing.assert_array_equal(scores, expected)

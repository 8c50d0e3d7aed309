"""Local SVMs that are drawn to a global model."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from conftest import store
from localsvm import ClusteredSVC, GradientMetric, LocalSVC
from localsvm.estimators import LocalSVCCV
from localsvm.estimators._local.prior import fit_global
from localsvm.kernels import Kernel
from localsvm.rows import Rows
from localsvm.rows._distinct import distinct_rows
from localsvm.solvers import (
    LinearProblem,
    SolverOptions,
    solve_blocks,
    solve_codes,
)
from oracles import kernel_svm, leave_one_out, linear_svm
from oracles.local_svm import make_classes

TIGHT = {"tol": 1e-10, "max_iter": 100_000}


def make_noisy(n_samples, n_features, seed):
    """Two half-spaces, three in ten labels wrong; the right ones, too."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    clean = X[:, 0] + 0.5 * X[:, 1] > 0
    return X, clean ^ (rng.random(n_samples) < 0.3), clean


@pytest.mark.parametrize("n_nearest", [8, 1])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_share_of_a_row_that_others_cannot_take_is_taken_away(
    n_classes, loss, n_nearest
):
    X, y = make_classes(80, n_classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, 80)
    model = ClusteredSVC(5, n_nearest=n_nearest, C=0.7, global_reg=2.0, loss=loss)
    model.set_params(intercept_scaling=1.5, random_state=0, **TIGHT)
    unseen = model.fit_leave_one_out(X, y, weight).reshape(80, -1)
    regions, weights = model.region(X, return_weights=True)
    nodes = np.hstack([regions, np.full((80, 1), 5, dtype=np.int32)])
    codes = np.hstack([weights, np.full((80, 1), 1 / np.sqrt(2.0))])
    problem = LinearProblem(X, y.astype(np.int32), n_classes, 0.7 * weight, 1.5)
    # The function is unique, its duals are not: the solver has to start alike.
    seed = np.random.RandomState(0).randint(2**31 - 1)
    options = SolverOptions(**TIGHT, loss=loss, seed=seed)
    if n_nearest == 1:
        solution = solve_blocks(
            problem, regions[:, 0], 5, coupling=0.5, options=options
        )
    else:
        solution = solve_codes(problem, nodes, codes, 6, options=options)
    by_node = np.zeros((80, 6))
    np.put_along_axis(by_node, nodes, codes, axis=1)
    expanded = linear_svm.expand(linear_svm.with_bias(X, 1.5), by_node)
    K, squared = expanded @ expanded.T, loss == "squared_hinge"
    for task, alpha in enumerate(solution.duals):
        sign = np.where(y == (1 if n_classes == 2 else task), 1, -1)
        expected = leave_one_out.span_decisions(
            K, sign * alpha, 0.7 * weight, squared=squared
        )
        np.testing.assert_allclose(unseen[:, task], expected, atol=5e-4)


def test_decisions_without_a_row_are_nearly_those_of_a_fit_without_it():
    X, y = make_classes(60, 2)
    model = ClusteredSVC(1, C=0.5, intercept_scaling=1.0, **TIGHT)
    unseen = model.fit_leave_one_out(X, y)
    assert type(model.fit(X, y)) is ClusteredSVC
    real = np.array(
        [
            clone(model)
            .fit(np.delete(X, i, 0), np.delete(y, i))
            .decision_function(X[[i]])[0]
            for i in range(60)
        ]
    )
    assert np.abs(unseen - real).mean() < 0.2
    assert np.median(np.abs(unseen - real)) < 0.05
    sign = 2 * y - 1
    assert (sign * unseen <= sign * model.decision_function(X) + 1e-7).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("shrink", [0.4, 1.5])
def test_one_neighbourhood_is_an_svm_with_an_offset(shrink, n_classes):
    X, y = make_classes(70, n_classes)
    weight = np.random.default_rng(1).uniform(0.5, 2, 70)
    model = LocalSVC(70, gamma=0.3, C=2.0, shrink=shrink, tol=1e-9, max_iter=10_000_000)
    model.set_params(random_state=0)
    model.fit(X, y, weight)
    # Rows in the order in which the model sees them: duals are not unique.
    seed = model._draw_seed()
    order = distinct_rows(X, weight, seed, y.astype(np.int32))[0]
    X, y, weight = X[order], y[order], weight[order]
    rows = Rows.weighted(X, y.astype(np.int32), weight, n_classes)
    unseen = fit_global(None, rows, np.arange(n_classes), seed, None).unseen
    assert model.n_neighbors_ == 70
    queries, _ = make_classes(40, n_classes, seed=5)
    decisions = model.global_model_.decision_function(queries).reshape(40, -1)
    expected = kernel_svm.scores(
        Kernel("rbf", gamma=0.3),
        X,
        y,
        2.0 * weight,
        n_classes,
        queries,
        shrink * unseen,
        shrink * decisions,
    )
    np.testing.assert_allclose(
        model.decision_function(queries).reshape(40, -1), expected, atol=1e-3
    )


def test_without_shrink_there_is_no_global_model():
    X, y = make_classes(200, 2)
    plain = LocalSVC(20, random_state=0).fit(X, y)
    assert plain.global_model_ is None
    assert plain.shrink_ == 0
    assert "global" not in plain.fit_report_
    drawn = LocalSVC(20, shrink=1e-12, random_state=0, tol=1e-6).fit(X, y)
    assert isinstance(drawn.global_model_, ClusteredSVC)
    np.testing.assert_allclose(
        drawn.decision_function(X), plain.decision_function(X), atol=1e-2
    )


@pytest.mark.parametrize(
    ("n_features", "parameters"),
    [
        (10, {"shrink": 2.0, "C": 0.1, "global_model": LogisticRegression()}),
        (10, {"shrink": 2.0, "C": 0.1, "global_model": ClusteredSVC(1, C=0.02)}),
    ],
)
def test_shrinking_helps_where_labels_are_noisy(n_features, parameters):
    X, y, _ = make_noisy(2000, n_features, seed=0)
    X_test, _, clean = make_noisy(4000, n_features, seed=1)
    drawn = LocalSVC(40, random_state=0, **parameters).fit(X, y)
    plain = clone(drawn).set_params(shrink=0).fit(X, y)
    low, score, high = (
        model.score(X_test, clean) for model in (plain, drawn, drawn.global_model_)
    )
    assert score > low + 0.08
    assert high - score < (high - low) / 2


@pytest.mark.parametrize("global_model", [None, LogisticRegression()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weight_two_is_the_row_twice(n_classes, global_model):
    X, y = make_classes(150, n_classes)
    weight = np.random.default_rng(2).integers(0, 3, 150)
    model = LocalSVC(20, shrink=1.0, global_model=global_model, random_state=0)
    weighted = clone(model).fit(X, y, weight)
    repeated = np.repeat(np.arange(150), weight)
    again = clone(model).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(
        weighted.decision_function(X), again.decision_function(X)
    )


@pytest.mark.parametrize("route", ["row", "center"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_storage_threads_and_copies(n_classes, route, storage):
    X, y = make_classes(150, n_classes)
    model = LocalSVC(20, shrink=0.8, route=route, random_state=0, tol=1e-6)
    dense = clone(model).fit(X, y)
    other = clone(model).set_params(n_jobs=3).fit(store(X, storage), y)
    expected = dense.decision_function(X)
    np.testing.assert_allclose(
        other.decision_function(store(X, storage)), expected, atol=1e-3
    )
    if storage == "dense":
        np.testing.assert_array_equal(other.decision_function(X), expected)
    copy = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(copy.decision_function(X), other.decision_function(X))


def test_float32_stays_float32():
    X, y = make_classes(150, 3)
    model = LocalSVC(20, shrink=1.0, global_model=LogisticRegression())
    model.set_params(random_state=0)
    narrow, wide = (clone(model).fit(rows, y) for rows in (X.astype(np.float32), X))
    scores = narrow.decision_function(X.astype(np.float32))
    assert scores.dtype == np.float32
    same = scores.argmax(axis=1) == wide.decision_function(X).argmax(axis=1)
    assert same.mean() > 0.9


@pytest.mark.parametrize(
    "classifier", [LogisticRegression(), LinearSVC(), RidgeClassifier(), SVC()]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_classifiers_decide_in_folds(n_classes, classifier):
    X, y = make_classes(90, n_classes)
    y = np.array(["ash", "birch", "cedar"])[y]
    classes = np.unique(y)
    rows = Rows.weighted(
        X, np.searchsorted(classes, y).astype(np.int32), np.ones(90), n_classes
    )
    prior = fit_global(classifier, rows, classes, 0, None)
    model, unseen = prior.model, prior.unseen
    whole = clone(classifier).set_params(**seeded(classifier)).fit(X, y)
    np.testing.assert_allclose(
        model.decide(X), whole.decision_function(X).reshape(90, -1), atol=1e-6
    )
    rank = np.array([np.sum(y[:i] == y[i]) for i in range(90)])
    for fold in range(3):
        test = rank % 3 == fold
        part = clone(whole).fit(X[~test], y[~test])
        expected = part.decision_function(X[test]).reshape(test.sum(), -1)
        np.testing.assert_allclose(unseen[test], expected, atol=1e-6)


def seeded(classifier):
    has_seed = "random_state" in classifier.get_params()
    return {"random_state": 0} if has_seed else {}


def test_class_of_one_row_is_never_held_out():
    X, y = make_classes(60, 2)
    y[0] = 2
    model = LocalSVC(20, shrink=1.0, global_model=LogisticRegression()).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("global_model", [None, LogisticRegression()])
def test_classes_without_weight(global_model):
    X, y = make_classes(120, 3)
    model = LocalSVC(20, shrink=1.0, global_model=global_model, random_state=0)
    for absent, left in ((y == 1, [0, 2]), (y > 0, [0])):
        model.fit(X, y, np.where(absent, 0.0, 1.0))
        assert set(model.predict(X)) == set(left)
    assert model.global_model_ is None
    model.fit(X, y, np.where(y == 1, 0.0, 1.0))
    decision = model.global_model_.decision_function(X)
    np.testing.assert_array_equal(
        model._model.prior.decide(X), np.c_[-decision, np.zeros(120), decision]
    )


def test_metric_comes_before_the_global_model(three_classes):
    X, y = three_classes
    model = LocalSVC(30, shrink=1.0, metric=GradientMetric(random_state=0))
    model.set_params(random_state=0).fit(X, y)
    mapped = model.metric_.transform(X)
    peer = LocalSVC(30, shrink=1.0, random_state=0).fit(mapped, y)
    np.testing.assert_array_equal(
        model.decision_function(X), peer.decision_function(mapped)
    )


def test_scales_are_spoken_of_once(three_classes):
    X, y = three_classes
    with pytest.warns(UserWarning, match="very different scales") as caught:
        LocalSVC(30, shrink=1.0, random_state=0).fit(X * [1, 1, 1, 1, 1e5], y)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shrink": -0.1}, r"'shrink' parameter of LocalSVC .* Got -0.1"),
        ({"shrink": np.inf}, r"'shrink' parameter .* Got inf"),
        ({"global_model": GaussianNB()}, r"'fit' and 'decision_function'\. Got Gau"),
        ({"global_model": "linear"}, r"'global_model' parameter .* Got 'linear'"),
        (
            {"shrink": 1.0, "global_model": SVC(decision_function_shape="ovo")},
            r"global_model=SVC\(.* gave decisions of shape \(\d+, 6\); expected 4",
        ),
    ],
)
def test_parameter_errors_name_found_and_expected(parameters, message):
    with pytest.raises(ValueError, match=message):
        LocalSVC(20, **parameters).fit(*make_classes(80, 4))


def test_search_parameter_errors():
    for shrinks in ([], [-1.0], 0.5):
        with pytest.raises(ValueError, match="'shrinks' parameter of LocalSVCCV"):
            LocalSVCCV(shrinks=shrinks).fit(*make_classes(80, 2))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_search_over_shrinks(n_classes):
    X, y = make_classes(200, n_classes)
    X, y = np.r_[X, X[:20]], np.r_[y, y[:20]]
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    grid = {"n_neighbors": [20, 40], "Cs": [0.1, 1.0], "random_state": 0}
    plain = LocalSVCCV(**grid).fit(X, y, weight)
    drawn = LocalSVCCV(shrinks=[1.0, 0.0, 0.5], **grid).fit(X, y, weight)
    shrink = drawn.cv_results_["param_shrink"]
    assert shrink.tolist() == np.repeat([0.0, 0.5, 1.0], 12).tolist()
    for name in ("param_C", "mean_test_score", "split2_test_score"):
        np.testing.assert_array_equal(
            drawn.cv_results_[name][shrink == 0], plain.cv_results_[name]
        )
    assert drawn.cv_results_["mean_test_score"][shrink > 0].std() > 0
    assert plain.best_params_["shrink"] == plain.shrink_ == 0
    final = LocalSVC(**drawn.best_params_, random_state=0).fit(X, y, weight)
    assert drawn.shrink_ == final.shrink_
    np.testing.assert_array_equal(
        drawn.decision_function(X), final.decision_function(X)
    )


def test_search_finds_that_noise_needs_shrinking():
    X, y, _ = make_noisy(1500, 10, seed=0)
    glob = LogisticRegression()
    grid = {"n_neighbors": [40], "Cs": [0.1, 1.0], "random_state": 0}
    search = LocalSVCCV(shrinks=[0.0, 2.0], global_model=glob, **grid).fit(X, y)
    assert search.shrink_ == 2
    X_test, _, clean = make_noisy(3000, 10, seed=1)
    plain = LocalSVCCV(**grid).fit(X, y)
    assert search.score(X_test, clean) > plain.score(X_test, clean) + 0.08

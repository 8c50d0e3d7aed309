"""LocalSVCCV against training again for every fold and setting."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC

from conftest import store
from localsvm import LocalSVC
from localsvm.estimators import LocalSVCCV
from localsvm.rows._distinct import hash_rows
from oracles import cover, kernel_svm
from oracles.local_svm import feature_distances, make_classes, svm_scores

GRID = {"Cs": [0.1, 10.0], "gammas": [0.1, 1.0], "n_neighbors": [15, 30]}
ONE = {"Cs": [1.0], "gammas": [0.5], "n_neighbors": [20]}
EXACT = {"search_tol": 1e-6, "max_iter": 10_000_000}
TREE = {"neighbors": "kd_tree", "random_state": 0}


def cover_of(search, model, X):
    """Neighbourhoods that the search looks at, and which of them each row has."""
    seed = np.random.RandomState(search.random_state).randint(2**31 - 1)
    distances = feature_distances(model, X, X)
    _, neighborhoods, labels = cover.cover(
        X,
        np.argsort(hash_rows(X, seed), kind="stable"),
        model.n_neighbors,
        model.n_assigned or max(1, model.n_neighbors // 4),
        lambda _, row: distances[row],
    )
    return neighborhoods, np.where(labels < (search.max_regions or np.inf), labels, -1)


def held_out_scores(model, regions, data, train, test):
    """Scores of test rows by SVCs trained on the training rows in their regions."""
    (X, y, weight), (neighborhoods, labels) = data, regions
    n_classes = len(set(y))
    scores = np.zeros((len(test), 1 if n_classes == 2 else n_classes))
    for m in np.unique(labels[test]):
        near = neighborhoods[m]
        gamma = model.gamma
        if isinstance(gamma, tuple):
            gamma = gamma[1] * kernel_svm.local_gamma(X[near], model.kernel)
        svc = {"kernel": model.kernel, "C": model.C, "gamma": gamma}
        svc |= {"degree": model.degree, "coef0": model.coef0}
        near, routed = near[np.isin(near, train)], labels[test] == m
        if len(near):
            scores[routed] = svm_scores(
                svc, X[near], y[near], X[test[routed]], n_classes, weight[near]
            )
    return scores


def winners(scores):
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0) * 1


def accuracy(y, scores, weight):
    return accuracy_score(y, winners(scores), sample_weight=weight)


def f1_macro(y, scores, weight):
    return f1_score(y, winners(scores), average="macro")


def roc_auc(y, scores, weight):
    return roc_auc_score(y, scores[:, 0])


def settings_of(search):
    """A LocalSVC for each line of the table of a fitted search."""
    local = isinstance(search.gammas, str)
    names = ("param_n_neighbors", "param_gamma", "param_C")
    return [
        LocalSVC(
            int(size),
            n_assigned=search.n_assigned,
            C=C,
            gamma=("local", width) if local else width,
            kernel=search.kernel,
            degree=search.degree,
            coef0=search.coef0,
        )
        for size, width, C in zip(
            *(search.cv_results_[name] for name in names), strict=True
        )
    ]


def assert_scores_are_naive(search, data, folds, score=accuracy):
    """Fit the search, and compare every entry of its table with training again."""
    search.fit(*data[:2], sample_weight=data[2])
    models = settings_of(search)
    covers = [cover_of(search, model, data[0]) for model in models]
    answered = np.all([labels >= 0 for _, labels in covers], axis=0)
    for setting, (model, regions) in enumerate(zip(models, covers, strict=True)):
        for i, (train, test) in enumerate(folds):
            test = test[answered[test]]
            scores = held_out_scores(model, regions, data, train, test)
            expected = score(data[1][test], scores, data[2][test])
            found = search.cv_results_[f"split{i}_test_score"][setting]
            assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("gammas", ["local", [1.0, 0.1]])
def test_search_equals_training_again(n_classes, gammas):
    data = (*make_classes(60, n_classes), np.ones(60))
    cv = KFold(2, shuffle=True, random_state=0)
    search = LocalSVCCV(
        Cs=[10.0, 0.1],
        gammas=gammas,
        n_neighbors=[24, 12],
        n_assigned=6,
        cv=cv,
        random_state=1,
        **EXACT,
    )
    assert_scores_are_naive(search, data, list(cv.split(data[0])))
    assert len(set(search.cv_results_["mean_test_score"])) > 3


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "linear"},
        {"kernel": "poly", "gammas": [0.1, 0.5], "degree": 2, "coef0": 1.0},
        {"kernel": "poly", "gammas": [0.1, 0.5]},
    ],
)
def test_search_with_other_kernels_equals_training_again(kernel):
    data = (*make_classes(60, 2), np.ones(60))
    folds = list(StratifiedKFold(2).split(*data[:2]))
    search = LocalSVCCV(
        Cs=[0.01, 1.0], n_neighbors=[16], cv=2, random_state=0, **kernel, **EXACT
    )
    assert_scores_are_naive(search, data, folds)
    n_widths = 1 if kernel["kernel"] == "linear" else 2
    assert len(search.cv_results_["param_C"]) == 2 * n_widths


def test_folds_are_those_given():
    data = (*make_classes(90, 3), np.ones(90))
    folds = [  # one leaves rows out, one tests rows twice, one all the members of some
        (np.arange(30), np.arange(60, 90)),
        (np.arange(10, 90), np.r_[:10, :10]),
        (np.arange(80, 90), np.arange(80)),
    ]
    search = LocalSVCCV(**ONE, n_assigned=2, cv=folds, **TREE, **EXACT)
    assert_scores_are_naive(search, data, folds)
    assert search.n_splits_ == 3


@pytest.mark.parametrize(
    ("scoring", "naive", "n_classes"),
    [
        ("roc_auc", roc_auc, 2),
        (make_scorer(f1_score, average="macro"), f1_macro, 2),
        ("f1_macro", f1_macro, 3),
    ],
)
def test_any_scorer_serves(scoring, naive, n_classes):
    data = (*make_classes(90, n_classes), np.ones(90))
    folds = list(StratifiedKFold(3).split(*data[:2]))
    search = LocalSVCCV(**ONE, cv=3, scoring=scoring, **TREE, **EXACT)
    assert_scores_are_naive(search, data, folds, naive)


def test_weights_count_in_training_and_score():
    X, y = make_classes(90, 2)
    weight = np.random.default_rng(0).choice([0.2, 1.0, 5.0], 90)
    folds = list(StratifiedKFold(3).split(X, y))
    search = LocalSVCCV(**ONE, cv=3, **TREE, **EXACT)
    assert_scores_are_naive(search, (X, y, weight), folds)
    noise = np.random.default_rng(0).random(90) < 0.3
    y = np.where(noise, 1 - (X[:, 0] > 0), X[:, 0] > 0)
    plain = clone(search).fit(X, y)
    weighted = clone(search).fit(X, y, sample_weight=np.where(noise, 1e-6, 1.0))
    assert plain.best_score_ < 0.75
    assert weighted.best_score_ > 0.85


@pytest.mark.parametrize("max_regions", [None, 9, 10, 11, 1000])
def test_search_looks_at_some_neighbourhoods(max_regions):
    data = (*make_classes(120, 2), np.ones(120))
    folds = list(KFold(2).split(data[0]))
    search = LocalSVCCV(
        Cs=[1.0],
        gammas=[0.5],
        n_neighbors=[12, 20],
        max_regions=max_regions,
        cv=KFold(2),
        **TREE,
        **EXACT,
    )
    assert_scores_are_naive(search, data, folds)
    full = LocalSVC(12, n_assigned=3, random_state=0).fit(*data[:2])
    assert 11 < full.n_regions_ < 1000


def test_class_weight_reaches_the_search():
    X, y = make_classes(90, 2)
    weight = np.where(y == 1, 8.0, 1.0)
    search = LocalSVCCV(**GRID, cv=3, scoring="accuracy", **TREE, **EXACT)
    weighted = clone(search).fit(X, y, sample_weight=weight)
    by_class = clone(search).set_params(class_weight={1: 8.0}).fit(X, y)
    plain = clone(search).fit(X, y)
    for name in ("split0_test_score", "split2_test_score"):
        found = by_class.cv_results_[name]
        np.testing.assert_array_equal(found, weighted.cv_results_[name])
        assert (found != plain.cv_results_[name]).any()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"gammas": "local", "route": "center"},
        {"kernel": "poly", "coef0": 1.0, "class_weight": "balanced"},
        {"kernel": "linear", "n_assigned": 5, "tol": 1e-5},
    ],
)
def test_final_model_is_the_chosen_setting_on_all_rows(parameters, three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    search = LocalSVCCV(**{**GRID, **parameters}, cv=3, random_state=4)
    search.fit(X, y, sample_weight=weight)
    parameters = {name: parameters[name] for name in parameters if name != "gammas"}
    model = LocalSVC(**search.best_params_, **parameters, random_state=4)
    model.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(
        search.decision_function(X), model.decision_function(X)
    )
    np.testing.assert_array_equal(search.region(X), model.region(X))
    for name in ("center_indices_", "region_sizes_", "n_support_"):
        np.testing.assert_array_equal(getattr(search, name), getattr(model, name))
    for name in ("gamma_", "C_", "region_gamma_", "region_C_"):
        np.testing.assert_array_equal(getattr(search, name), getattr(model, name))
    assert set(search.fit_report_) == {
        *("search", "merge", "cover", "solve", "route"),
        *("calibrate", "familiarity"),
    }


def test_best_setting_is_one_of_the_grid(two_moons):
    X, y = two_moons
    search = LocalSVCCV(**GRID, cv=3, random_state=0).fit(X, y)
    results, best = search.cv_results_, search.best_params_
    settings = list(product([15, 30], [0.1, 1.0], [0.1, 10.0]))
    names = [f"param_{name}" for name in ("n_neighbors", "gamma", "C")]
    assert list(zip(*(results[name] for name in names), strict=True)) == settings
    chosen = best["n_neighbors"], best["gamma"], best["C"]
    by_fold = np.array([results[f"split{i}_test_score"] for i in range(3)])
    np.testing.assert_allclose(results["mean_test_score"], by_fold.mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], by_fold.std(axis=0))
    assert settings.index(chosen) == results["mean_test_score"].argmax()
    assert search.best_score_ == results["mean_test_score"].max()
    assert results["rank_test_score"][settings.index(chosen)] == 1
    assert set(results) == {
        *names,
        "param_shrink",
        "mean_test_score",
        "std_test_score",
        "rank_test_score",
        *(f"split{i}_test_score" for i in range(3)),
    }
    assert {len(column) for column in results.values()} == {8}


def test_local_widths_are_factors(two_moons):
    X, y = two_moons
    search = LocalSVCCV(Cs=[1.0], n_neighbors=30, random_state=0).fit(X, y)
    kind, factor = search.best_params_["gamma"]
    assert kind == "local"
    assert factor in {0.25, 1.0, 4.0}
    assert search.gamma_ == factor
    assert list(search.cv_results_["param_gamma"]) == [0.25, 1.0, 4.0]
    assert search.n_splits_ == 5
    assert search.n_neighbors_ == 30


def test_ties_go_to_the_simplest_model():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 2)) * 0.1 + y[:, None]
    search = LocalSVCCV(
        Cs=[10, 1.0, 1.0], gammas=[2.0, 0.5], n_neighbors=[60, 50, 50], random_state=0
    ).fit(X, y)
    assert len(search.cv_results_["mean_test_score"]) == 8
    assert (search.cv_results_["mean_test_score"] == 1.0).all()
    assert (search.cv_results_["rank_test_score"] == 1).all()
    assert search.best_params_ == {
        "n_neighbors": 50,
        "gamma": 0.5,
        "C": 1.0,
        "shrink": 0.0,
    }


@pytest.mark.parametrize(
    ("n_samples", "sizes"), [(60, {40}), (400, {50}), (700, {50, 100})]
)
def test_default_sizes_fit_the_number_of_rows(n_samples, sizes):
    X = np.random.default_rng(0).standard_normal((n_samples, 2))
    search = LocalSVCCV(Cs=[1.0], gammas=[1.0], cv=3, random_state=0)
    search.fit(X, X[:, 0] > X[:, 1] ** 2)
    assert set(search.cv_results_["param_n_neighbors"]) == sizes


def test_search_finds_what_the_data_need():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    y = ((np.floor(4 * X[:, 0]) + np.floor(4 * X[:, 1])) % 2).astype(int)
    search = LocalSVCCV(
        Cs=[0.01, 10.0], gammas=[0.01, 30.0], n_neighbors=[40, 300], random_state=0
    ).fit(X[:400], y[:400])
    assert (search.best_params_["gamma"], search.best_params_["C"]) == (30.0, 10.0)
    assert abs(search.best_score_ - search.score(X[400:], y[400:])) < 0.08
    assert search.best_score_ > SVC(C=0.01).fit(X[:400], y[:400]).score(X, y) + 0.2


@pytest.mark.parametrize("kernel", ["rbf", "laplace", "linear", "poly"])
def test_n_jobs_does_not_change_a_bit(kernel):
    X, y = make_classes(100, 3)
    one, *others = (
        LocalSVCCV(
            **GRID, kernel=kernel, cv=2, scoring="f1_macro", random_state=0, n_jobs=n
        ).fit(X, y)
        for n in (1, 2, 4)
    )
    for other in others:
        for name, column in one.cv_results_.items():
            np.testing.assert_array_equal(other.cv_results_[name], column)
        np.testing.assert_array_equal(
            one.decision_function(X), other.decision_function(X)
        )


def test_storage_does_not_change_the_search(storage, three_classes):
    X, y = (part[:100] for part in three_classes)
    X = X * (np.abs(X) > 0.5)
    stored = store(X, storage)
    search = LocalSVCCV(**GRID, cv=2, random_state=0, tol=1e-9, **EXACT)
    dense, other = clone(search).fit(X, y), clone(search).fit(stored, y)
    for name, column in dense.cv_results_.items():
        np.testing.assert_allclose(other.cv_results_[name], column)
    scores = other.decision_function(stored)
    np.testing.assert_allclose(scores, dense.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("given", [False, True])
def test_weight_zero_is_absence(given):
    X, y = make_classes(120, 2)
    weight = (np.arange(120) % 4 > 0).astype(float)
    kept = np.flatnonzero(weight)
    folds = list(KFold(3).split(kept)) if given else []
    search = LocalSVCCV(**GRID, **TREE)
    absent = clone(search).set_params(cv=folds or 3).fit(X[kept], y[kept])
    folds = [(kept[train], kept[test]) for train, test in folds]
    zero = search.set_params(cv=folds or 3).fit(X, y, sample_weight=weight)
    for name, column in absent.cv_results_.items():
        np.testing.assert_array_equal(zero.cv_results_[name], column)
    np.testing.assert_array_equal(
        zero.decision_function(X), absent.decision_function(X)
    )


def test_class_weight_zero_is_absence():
    X, y = make_classes(90, 3)
    search = LocalSVCCV(**GRID, cv=3, **TREE)
    absent = clone(search).fit(X, y, sample_weight=(y != 1).astype(float))
    zero = search.set_params(class_weight={1: 0.0}).fit(X, y)
    for name, column in absent.cv_results_.items():
        np.testing.assert_array_equal(zero.cv_results_[name], column)
    np.testing.assert_array_equal(
        zero.decision_function(X), absent.decision_function(X)
    )


def test_settings_without_time_are_not_scored(two_moons):
    X, y = two_moons
    search = LocalSVCCV(n_neighbors=[20, 40], max_time=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="9 of 18 settings were scored within"):
        search.fit(X, y)
    assert search.best_params_["n_neighbors"] == 20
    assert np.isnan(search.cv_results_["mean_test_score"][9:]).all()
    assert (search.cv_results_["rank_test_score"][9:] > 1).all()
    enough = LocalSVCCV(n_neighbors=[20, 40], max_time=1e3, random_state=0).fit(X, y)
    every = LocalSVCCV(n_neighbors=[20, 40], random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        enough.decision_function(X), every.decision_function(X)
    )


@pytest.mark.parametrize("kernel", ["rbf", "laplace", "linear"])
def test_scaled_penalties_are_around_that_of_the_model(kernel, two_moons):
    X, y = two_moons
    search = LocalSVCCV(kernel=kernel, n_neighbors=30, random_state=0).fit(X, y)
    scaled = LocalSVC(30, kernel=kernel).fit(X, y).C_
    tried = np.unique(search.cv_results_["param_C"])
    np.testing.assert_allclose(tried, scaled * np.array([0.1, 1, 10]))
    assert search.best_params_["C"] == search.C_

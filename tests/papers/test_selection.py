import numpy as np
import pytest
from papers._execute import execute
from papers._selection import choose
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from localsvm.data import Benchmark
from papers import (
    Data,
    Method,
    Part,
    Run,
    Selection,
    Split,
    _methods as methods,
)
from papers_data import blobs, threshold_method

GRID = {"C": (0.1, 10.0), "gamma": (0.01, 1.0)}
SVM = Method("RBF", Part("sklearn.svm.SVC"), GRID)


@pytest.fixture
def rows():
    return make_classification(200, flip_y=0.1, random_state=0)


def test_choice_is_that_of_a_grid_search(rows):
    choice = choose(SVM, Selection(n_folds=4, seed=3), *rows)
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    search = GridSearchCV(SVC(), {k: list(v) for k, v in GRID.items()}, cv=folds)
    search.fit(*rows)
    assert choice.params == search.best_params_
    assert choice.score == pytest.approx(100 * search.best_score_)


def test_one_part_is_held_out(rows):
    choice = choose(SVM, Selection(n_folds=1, held_out=0.25), *rows)
    assert (choice.score / 100 * 50) == pytest.approx(round(choice.score / 2))


def test_equal_settings_go_to_the_first():
    data = blobs()
    method = Method("t", threshold_method().estimator, {"threshold": (0.0, 0.001)})
    choice = choose(method, Selection(n_folds=2), data.X_train, data.y_train)
    assert choice.params == {"threshold": 0.0}


def test_at_most_so_many_rows_are_seen(rows):
    seen = []

    def search(method, X, y, folds, seed):
        seen.append((len(X), sum(len(test) for _, test in folds)))

    method = Method("m", Part("sklearn.svm.SVC"), GRID, search)
    choose(method, Selection(max_rows=60), *rows)
    choose(method, Selection(max_rows=500), *rows)
    assert seen == [(60, 60), (200, 200)]


def test_clustered_search_agrees_with_trying_each_setting(rows):
    X, y = rows
    method = methods.csvm((0.01, 0.1), (1.0, 50.0), n_clusters=3)
    plain = Method(method.name, method.estimator, method.grid)
    fast = choose(method, Selection(), X, y)
    slow = choose(plain, Selection(), X, y)
    assert set(fast.params) == {"C", "global_reg"}
    assert fast.score == pytest.approx(slow.score, abs=3)


def test_independent_clusters_are_searched_too(rows):
    choice = choose(methods.kmeans_svm((0.1, 1.0), n_clusters=3), Selection(), *rows)
    assert set(choice.params) == {"C"}


def poisoned(poison):
    """Rows whose test part is the training part, with wrong labels if asked."""
    X, y = make_classification(120, n_features=4, flip_y=0.2, random_state=1)
    return Benchmark("poisoned", X, y, X * (1 + poison), (y + poison) % 2, None, "")


@pytest.mark.parametrize("method", [SVM, methods.csvm((0.1, 10.0), (1.0, 9.0), 3)])
@pytest.mark.parametrize("n_folds", [1, 3])
def test_selection_never_sees_test_rows(method, n_folds):
    records = [
        execute(
            Run(
                "g",
                Data(poisoned, {"poison": poison}),
                method,
                selection=Selection(n_folds=n_folds),
            )
        )
        for poison in (0, 1)
    ]
    assert records[0]["chosen"] == records[1]["chosen"]
    assert records[0]["validation_accuracy"] == records[1]["validation_accuracy"]
    assert records[0]["scores"]["accuracy"] != records[1]["scores"]["accuracy"]


def test_drawn_splits_give_search_only_their_training_rows(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "papers._execute.choose",
        lambda method, selection, X, y: (
            seen.append(X) or choose(method, selection, X, y)
        ),
    )
    X, _ = fixed()
    run = Run("g", Data(fixed), SVM, Split("random", n_test=40), Selection(n_folds=2))
    execute(run)
    order = np.random.default_rng(0).permutation(100)
    np.testing.assert_array_equal(seen[0], X[order[40:]])


def fixed():
    return make_classification(100, random_state=2)

"""Searches and rows of the FastLSVM paper's experiments."""

from dataclasses import replace

import numpy as np
import pytest
from papers._selection import grid_search
from papers.fastlsvm import PAPER, methods
from papers.fastlsvm.methods import KERNELS, Grid
from papers.fastlsvm.rows import load_leukemia
from papers.fastlsvm.search import ALL, exact_search
from papers.fastlsvm.spirals import NOISE
from papers.fastlsvm.table1 import TABLE1
from papers.fastlsvm.table2 import TABLE2
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from data_sets import loaded
from localsvm import ReducedSVC
from localsvm.data import bayes_2spiral, make_2spiral

GRID = Grid(C=(0.001, 1.0), sigma=(100.0, 1.0), n_neighbors=(ALL, 20), degree=(1, 3))


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(
        150,
        5,
        n_informative=5,
        n_redundant=0,
        n_clusters_per_class=3,
        random_state=0,
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    return X, y, list(folds)


def chosen(method, rows):
    X, y, folds = rows
    return method.search(method, X, y, folds, 0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_search_for_one_svm_chooses_as_well_as_the_grid_search(kernel, rows):
    X, y, folds = rows
    method = methods.svm(kernel, GRID)
    found = chosen(method, rows)
    expected = grid_search(method, X, y, folds, 0)
    # It solves less exactly, which can turn a few of the 150 rows.
    assert found.score == pytest.approx(expected.score, abs=2)
    only = {name: (value,) for name, value in found.params.items()}
    alone = grid_search(replace(method, grid=only), X, y, folds, 0)
    assert alone.score == pytest.approx(expected.score, abs=2)


@pytest.mark.parametrize("define", [methods.knn_svm, methods.fast_lsvm])
@pytest.mark.parametrize("kernel", KERNELS)
def test_local_search_chooses_a_setting_that_can_be_fitted(define, kernel, rows):
    X, y, _ = rows
    method = define(kernel, GRID)
    params = chosen(method, rows).params
    assert set(params) == set(method.grid)
    assert params["n_neighbors"] in (20, 150)
    assert method.estimator.make(0, **params).fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("define", [methods.knn_svm, methods.fast_lsvm])
def test_all_neighbours_are_chosen_as_the_one_svm_is(define, rows):
    grid = replace(GRID, n_neighbors=(ALL,))
    local, one = (
        chosen(define("RBF", grid), rows),
        chosen(methods.svm("RBF", grid), rows),
    )
    assert local.params == {**one.params, "n_neighbors": 150}
    assert local.score == pytest.approx(one.score, abs=0.7)


def test_exact_search_tries_what_the_folds_allow(rows):
    X, y, folds = rows
    method = methods.fast_lsvm("LIN", replace(GRID, n_neighbors=(ALL, 120, 20)))
    found = exact_search(method, X, y, folds, 0)
    assert found.params["n_neighbors"] in (20, 150)
    only_all = methods.fast_lsvm("LIN", replace(GRID, n_neighbors=(ALL,)))
    assert exact_search(only_all, X, y, folds, 0).params["n_neighbors"] == 150


def test_printed_arrows_are_as_many_as_the_text_says():
    arrows = {
        place
        for place, cell in TABLE1.table.cells.items()
        if cell.printed.text.endswith("↑")
    }
    fast = {(name, column) for name, column in arrows if "FastLSVM" in column}
    kept = {(name, column.replace("FastLSVM", "kNNSVM")) for name, column in fast}
    assert len(fast) == 12
    assert kept <= arrows
    assert len(arrows - fast - kept) == 7


def test_the_headline_names_the_noise_and_the_scaling_of_table_2():
    assert NOISE["noise"] == "std"
    for text in (PAPER.summary, TABLE2.shows):
        assert "standard deviation" in text
        assert "unit variance" in text
        assert "[-1, 1]" not in text


def test_leukemia_has_the_rows_whose_majority_the_paper_prints():
    X, y = loaded(load_leukemia)
    assert X.shape == (38, 7129)
    assert np.mean(y == 1) == pytest.approx(0.71, abs=0.005)
    np.testing.assert_allclose(X.mean(axis=1), 0, atol=1e-10)
    np.testing.assert_allclose(X.std(axis=1), 1)


def test_one_width_does_not_fit_spirals_whose_noise_has_a_proportional_deviation():
    """The printed gap of ten points is that of this reading, not of the variance."""
    gap = {}
    for noise, scale in (("std", 0.4), ("variance", 0.065)):
        options = {"noise": noise, "noise_scale": scale}
        X, y = make_2spiral(5000, random_state=0, **options)
        X_test, y_test = make_2spiral(4000, random_state=1, **options)
        center, spread = X.mean(axis=0), X.std(axis=0)
        model = ReducedSVC(C=64.0, gamma=1024.0).fit((X - center) / spread, y)
        best = np.mean(bayes_2spiral(X_test, **options) == y_test)
        gap[noise] = best - model.score((X_test - center) / spread, y_test)
    assert gap["std"] > 0.08 > gap["variance"]

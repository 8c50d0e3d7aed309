"""What the experiments of the ClusterSVM paper are made of."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from papers._measures import Fitted
from papers._rows import rows_of
from papers.clustersvm import problems
from papers.clustersvm.measures import (
    bayes_error,
    clustering_time,
    relative_difference,
    rows_used,
)
from papers.clustersvm.methods import INTERIOR_POINT, cluster_svm
from scipy.ndimage import gaussian_filter
from scipy.stats import spearmanr

from localsvm import ReducedSVC
from localsvm.data import Benchmark, make_three_gaussians
from papers import Size, Store, fill_table, find_experiments

COMMITTED = Store(Path(__file__).parents[2] / "docs" / "papers" / "records")


@pytest.fixture
def fitted():
    data = problems.artificial(300, seed=0)
    (run,) = (
        run
        for run in find_experiments(["clustersvm/table1"])[0].runs(Size.SMOKE)
        if run.group == "NP = 1" and run.seed == 0
    )
    rows = rows_of(data, run.split, 0)
    model = run.method.estimator.make(0).fit(rows.X_train, rows.y_train)
    return Fitted(model, rows, model.predict(rows.X_test))


def test_artificial_rows_are_as_many_for_training_as_for_the_test():
    data = problems.artificial(300, seed=3)
    rows = data.load(**data.options)
    assert rows.X_train.shape == rows.X_test.shape == (300, 2)
    np.testing.assert_array_equal(np.bincount(rows.y_test), [100, 100, 100])
    assert not np.isin(rows.X_test, rows.X_train).any()


def test_digits_are_smoothed_one_by_one_on_background(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3, 256)).astype(np.float32)
    X[1] = -1.0
    digits = Benchmark("usps", X, np.arange(3), X[:2], np.arange(2), None, "npz")
    monkeypatch.setattr(problems, "load_benchmark", lambda name: digits)
    smooth = problems.smoothed_usps()
    np.testing.assert_allclose(smooth.X_train[1], -1.0)
    wide = np.pad(X[0].reshape(16, 16).astype(float), 8, constant_values=-1.0)
    expected = gaussian_filter(wide, 0.75)[8:-8, 8:-8].ravel()
    np.testing.assert_allclose(smooth.X_train[0], expected, atol=1e-9)
    np.testing.assert_array_equal(smooth.X_test, smooth.X_train[:2])


def test_methods_are_the_papers():
    kernel = problems.USPS_KERNEL
    model = cluster_svm("ClusterSVM", kernel, {"tol": 1e-3}, n_clusters=7).estimator
    made = model.make(seed=0)
    assert isinstance(made, ReducedSVC)
    assert made.clusterer.n_clusters == 7
    reduction = made.reduction
    assert (reduction.max_passes, reduction.use_bounds) == (1, False)
    assert (reduction.band, reduction.representative) == (0.0, "pseudo_center")


def test_rows_of_the_last_problem_are_counted_by_class(fitted):
    measured = rows_used(fitted)
    used = [passes[-1] for passes in fitted.model.n_rows_used_]
    assert [measured[f"n_train_{i}"] for i in (1, 2, 3)] == used
    assert measured["n_train"] == pytest.approx(sum(used) / 3)
    assert measured["n_passes"] == 1
    assert measured["exact"] in (0, 100)


def test_clustering_time_is_that_of_all_classes(fitted):
    assert 0 < clustering_time(fitted)["clustering_seconds"] < 5


def test_relative_difference_is_that_of_error_rates(fitted):
    rows = fitted.rows
    exact = ReducedSVC(
        **problems.ARTIFICIAL_KERNEL, **INTERIOR_POINT, reduction=None
    ).fit(rows.X_train, rows.y_train)
    true = np.mean(exact.predict(rows.X_test) != rows.y_test)
    same = replace(fitted, predicted=exact.predict(rows.X_test))
    assert relative_difference(same) == {"relative_difference": 0.0}
    wrong = (rows.y_test + 1) % 3
    found = relative_difference(replace(fitted, predicted=wrong))
    assert found["relative_difference"] == pytest.approx((1 - true) / true)


def test_clusters_are_those_of_each_class(fitted):
    """Not the square root of all rows against a class."""
    assert [used[0] for used in fitted.model.n_rows_used_] == [30, 30, 30]


def test_digits_of_table_3_begin_with_one():
    (table3,) = find_experiments(["clustersvm/table3"])
    records = COMMITTED.read("clustersvm/table3", Size.STANDARD)
    if not records:
        pytest.skip("no records")
    filled = fill_table(table3, Size.STANDARD, COMMITTED)
    ours, printed = np.array(
        [
            (cell.mean, cell.cell.printed.value)
            for (row, column), cell in filled.items()
            if row.startswith("N_train,") and column == "ClusterSVM"
        ]
    ).T
    assert len(ours) == 10
    assert spearmanr(ours, printed).statistic > 0.8
    # In the order 0 to 9.
    assert spearmanr(np.roll(ours, 1), printed).statistic < 0


def test_bayes_rule_has_the_rate_of_the_problem(fitted):
    X, y = make_three_gaussians(300_000, random_state=0)
    rows = replace(fitted.rows, X_test=X, y_test=y)
    measured = bayes_error(replace(fitted, rows=rows))
    assert measured["bayes_error"] == pytest.approx(25.50, abs=0.25)

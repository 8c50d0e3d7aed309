"""The stages of the staged SVM: which rows are hard, and how each stage is fitted."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from localsvm import StagedSVC
from localsvm.estimators._staged import estimator as _estimator
from localsvm.estimators._staged.setting import (
    HardRows,
    SecondGrid,
    StagedSetting,
    StageSizes,
)
from localsvm.estimators._staged.switch.fit import fit_first, fit_second
from localsvm.estimators._staged.terms import cells as _stages
from localsvm.estimators._staged.terms.cells import densified, typical_distance
from localsvm.estimators._staged.terms.regions import default_regions
from localsvm.estimators._staged.terms.scores import score_kernels
from staged_data import GIVEN, make_options, make_rows, training_rows

SETTING = StagedSetting("none", None, None, 1.0, 50, 2.0, 10.0, 1.0)


def margin_with(n_rows, n_hard):
    """Margins in random order, some of them below one."""
    margin = np.linspace(1, 2, n_rows)
    margin[:n_hard] = np.linspace(-3, 0.999, n_hard)
    return np.random.default_rng(0).permutation(margin)


def scaled_rows(n_samples=200, n_classes=2):
    X, y = make_rows(n_samples, n_classes)
    return training_rows(X / np.sqrt((X**2).sum(axis=1).mean()), y)


@pytest.mark.parametrize(
    ("n_hard", "fewest_hard", "n_kept"),
    [
        (30, 10, 30),  # never cut from above
        (30, 30, 30),
        (30, 45, 45),  # filled up
        (30, 500, 100),
        (0, 0, 0),
        (40, 10, 40),
        (41, 10, 100),  # too large a share
        (100, 10, 100),
    ],
)
def test_hard_rows_are_filled_up_and_never_cut(n_hard, fewest_hard, n_kept):
    margin = margin_with(100, n_hard)
    hard = StageSizes(fewest_hard, largest_model=5).hard_rows(margin, 50).index
    assert len(hard) == n_kept
    assert (np.diff(hard) > 0).all()
    easy = np.setdiff1d(np.arange(100), hard)
    assert (margin[easy] >= 1).all()
    if easy.size and hard.size:
        assert margin[hard].max() < margin[easy].min()


def test_margin_of_one_is_not_hard():
    margin = np.array([1.0, 0.999, 1.0, 3.0])
    assert StageSizes(fewest_hard=0).hard_rows(margin, None).index.tolist() == [1]


def test_equal_margins_are_taken_in_the_order_of_rows():
    hard = StageSizes(fewest_hard=3).hard_rows(np.full(8, 1.5), None)
    assert hard.index.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("share", "expected"),
    [(1.0, (8000, 20_000)), (0.5, (4000, 10_000)), (0.01, (2000, 2000))],
)
def test_shrunk_sizes_treat_a_part_as_the_whole(share, expected):
    shrunk = StageSizes().shrunk(share)
    assert (shrunk.fewest_hard, shrunk.largest_model) == expected


@pytest.mark.parametrize(
    ("cell_size", "n_rows", "expected"),
    [
        ("auto", 50, None),
        ("auto", 51, 200),
        (None, 5000, None),
        (300, 301, 300),
        (300, 300, None),
        (1000, 60, None),
    ],
)
def test_hard_rows_are_cut_above_the_largest_model(cell_size, n_rows, expected):
    sizes = StageSizes(fewest_hard=n_rows, largest_model=50)
    hard = sizes.hard_rows(np.linspace(0, 2, n_rows), cell_size)
    assert len(hard.index) == n_rows
    assert hard.cell_size == (None if expected and n_rows <= expected else expected)


def test_one_model_takes_all_rows_only_where_they_are_not_too_many():
    margin = margin_with(100, 60)
    for largest_model, n_kept in ((100, 100), (99, 60)):
        sizes = StageSizes(fewest_hard=0, largest_model=largest_model)
        assert len(sizes.hard_rows(margin, None).index) == n_kept
        assert len(sizes.hard_rows(margin, 20).index) == 100


def cut_from_above(sizes, margin, cell_size):
    """What StageSizes.hard_rows must not do."""
    index = np.sort(np.argsort(margin, kind="stable")[:cell_size])
    return HardRows(index, None)


@pytest.mark.parametrize(
    ("width", "is_all", "loss"), [(np.inf, True, 0.2), (0.6, False, 0.07)]
)
def test_mislabelled_rows_do_not_take_over_the_second_stage(
    width, is_all, loss, monkeypatch
):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (14_000, 2)) * [1, 3]
    height = X[:, 1] - 0.3 * np.sin(3 * X[:, 0])
    truth = (height > 0).astype(int)
    y = truth ^ ((np.abs(height) < width) & (rng.random(14_000) < 0.3))
    train, test = slice(12_000), slice(12_000, None)
    monkeypatch.setattr(_estimator, "StageSizes", partial(StageSizes, fewest_hard=100))
    noisy = {"cell_size": 500, "gamma_factor": 1.0, "kernel_C": 1.0, "n_regions": 20}
    model = StagedSVC(**GIVEN | noisy)

    def accuracy():
        return model.fit(X[train], y[train]).score(X[test], truth[test])

    whole = accuracy()
    assert model.n_hard_ > 2000
    assert (model.n_hard_ == 12_000) == is_all
    first = model.first_stage_.score(
        model._model.preparation.apply(X[test]), truth[test]
    )
    monkeypatch.setattr(StageSizes, "hard_rows", cut_from_above)
    cut = accuracy()
    assert model.n_hard_ == 500
    assert whole > 0.97
    assert whole > first - 0.01
    assert cut < whole - loss


@pytest.mark.parametrize("n_classes", [2, 3])
def test_first_stages_for_several_penalties_are_those_fitted_alone(n_classes):
    rows = scaled_rows(150, n_classes)
    options = make_options(tol=1e-8)
    Cs = (0.1, 1.0, 10.0)
    together = fit_first(rows, Cs, options)
    for C, stage in zip(Cs, together, strict=True):
        (alone,) = fit_first(rows, (C,), options)
        assert stage.fit.settings.C == C
        assert stage.fit.model.n_regions == 5
        np.testing.assert_allclose(
            stage.fit.decide(rows.X), alone.fit.decide(rows.X), atol=0.02
        )
        np.testing.assert_allclose(stage.margin, alone.margin, rtol=0.02, atol=0.02)


def test_margin_is_at_most_that_of_a_fit_without_the_row():
    rows = scaled_rows(80)
    sign = np.where(rows.class_index == 1, 1, -1)
    options = make_options(max_iter=100_000)
    (stage,) = fit_first(rows, (10.0,), options)
    training = sign * stage.fit.decide(rows.X)[:, 0]
    hard = np.argsort(stage.margin)[:6]
    for row in hard:
        weight = np.ones(80)
        weight[row] = 0
        (without,) = fit_first(replace(rows, penalty_weight=weight), (10.0,), options)
        left_out = sign[row] * without.fit.decide(rows.X[[row]])[0, 0]
        assert stage.margin[row] <= left_out + 1e-3 < training[row] + 2e-3
    free = np.isclose(stage.margin, training)
    assert free.any()
    assert (training[free] > 1 - 1e-3).all()


def test_second_stage_in_one_model_has_the_width_of_all_rows():
    rows = scaled_rows()
    fit = fit_second(rows, SETTING, None, make_options()).fit
    assert fit.model.n_regions == 1
    assert fit.n_neighbors == 200
    assert fit.report.gamma[0] == pytest.approx(2.0 / typical_distance(rows.X))
    assert fit.report.C[0] == 10.0


def test_second_stage_in_cells_has_a_width_for_each():
    rows = scaled_rows()
    fit = fit_second(rows, SETTING, 50, make_options()).fit
    assert fit.n_neighbors == 50
    solved = fit.report.gamma[fit.report.C > 0]
    assert len(np.unique(solved)) > 1
    wider = replace(SETTING, gamma_factor=4.0)
    twice = fit_second(rows, wider, 50, make_options()).fit.report
    np.testing.assert_allclose(twice.gamma[twice.C > 0], 2 * solved)


@pytest.mark.parametrize("cell_size", [None, 50])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trial_of_a_second_stage_is_its_fit(n_classes, cell_size):
    rows = scaled_rows(250, n_classes)
    options = make_options(tol=0.001)
    grid = SecondGrid(cell_size, (1.0, 4.0), (1.0, 10.0, 100.0))
    train, held_out = rows.take(np.arange(200)), rows.X[200:]
    scores = score_kernels(rows, 200, grid, options)
    assert scores.shape == (6, 50, 1 if n_classes == 2 else 3)
    for score, (gamma_factor, kernel_C) in zip(
        scores,
        [(g, C) for g in grid.gamma_factors for C in grid.penalties],
        strict=True,
    ):
        setting = replace(SETTING, gamma_factor=gamma_factor, kernel_C=kernel_C)
        fitted = fit_second(train, setting, cell_size, options).fit.model.decide(
            held_out, 1
        )
        if n_classes == 2:
            np.testing.assert_allclose(score, fitted, atol=0.15)
        else:
            assert (score.argmax(axis=1) == fitted.argmax(axis=1)).mean() > 0.9


def test_trial_in_cells_scores_each_setting_as_it_would_alone():
    rows = scaled_rows(250)
    options = make_options()
    both = score_kernels(rows, 200, SecondGrid(50, (1.0, 4.0), (1.0, 10.0)), options)
    assert both.shape == (4, 50, 1)
    for scores, (gamma_factor, kernel_C) in zip(
        both, [(1.0, 1.0), (1.0, 10.0), (4.0, 1.0), (4.0, 10.0)], strict=True
    ):
        grid = SecondGrid(50, (gamma_factor,), (kernel_C,))
        (alone,) = score_kernels(rows, 200, grid, options)
        np.testing.assert_allclose(scores, alone, atol=0.15)
    assert np.abs(np.diff(both, axis=0)).max(axis=(1, 2)).min() > 0.2


@pytest.mark.parametrize("cell_size", [None, 50])
def test_held_out_labels_do_not_change_a_trial(cell_size):
    rows = scaled_rows(250)
    other = rows.class_index.copy()
    other[200:] = 1 - other[200:]
    grid = SecondGrid(cell_size, (2.0,), (10.0,))
    scores = [
        score_kernels(given, 200, grid, make_options())
        for given in (rows, replace(rows, class_index=other))
    ]
    np.testing.assert_array_equal(*scores)
    error = ((scores[0][0, :, 0] > 0) != rows.class_index[200:]).mean()
    assert error < 0.35


@pytest.mark.parametrize(
    ("n_rows", "n_regions"),
    [(1, 1), (39, 1), (100, 5), (400, 20), (2100, 21), (80_000, 800), (10**6, 800)],
)
def test_one_region_per_hundred_rows(n_rows, n_regions):
    assert default_regions(n_rows, 2) == n_regions


def test_many_classes_have_a_region_each():
    assert default_regions(4000, 50) == 40
    assert default_regions(4000, 51) == 51
    assert default_regions(4000, 300) == 200
    assert default_regions(10**6, 300) == 800


def test_typical_distance_is_that_of_a_row_to_the_middle():
    X = np.random.default_rng(0).standard_normal((5000, 40))
    assert typical_distance(X) == pytest.approx(40, rel=0.05)
    assert typical_distance(sparse.csr_array(X)) == pytest.approx(typical_distance(X))


def test_typical_distance_leaves_out_equal_rows():
    X = np.zeros((100, 1))
    X[::10] = 2.0
    assert typical_distance(X) == 2.0
    assert typical_distance(np.ones((5, 2))) == 1.0


def test_rows_become_dense_up_to_a_limit(monkeypatch):
    rows = sparse.csr_array(np.eye(4))
    assert isinstance(densified(rows), np.ndarray)
    monkeypatch.setattr(_stages, "LARGEST_DENSE_BYTES", 4 * 4 * 8 - 1)
    assert densified(rows) is rows


def test_hard_rows_that_stay_sparse_give_the_same_model(monkeypatch):
    X, y = make_rows(150)
    X = sparse.csr_array(X * (np.abs(X) > 0.7))
    expected = StagedSVC(**GIVEN, tol=1e-6).fit(X, y)
    monkeypatch.setattr(_stages, "LARGEST_DENSE_BYTES", 0)
    model = StagedSVC(**GIVEN, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(X), atol=1e-4
    )
    coef = [fitted.local_coef(X)[0] for fitted in (model, expected)]
    np.testing.assert_allclose(*coef, atol=1e-3)

"""StagedSVC: its limits, its stages and cells, and what explains its decisions."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

from localsvm import ClusteredSVC, StagedSVC
from localsvm.estimators._regional.leave_one_out import confidences
from localsvm.estimators._staged import estimator as _staged
from localsvm.estimators._staged.preparation import SCALINGS
from localsvm.estimators._staged.setting import StageSizes
from localsvm.estimators._staged.terms.cells import typical_distance
from localsvm.inspect import explain
from localsvm.rows._distinct import distinct_rows
from staged_data import GIVEN, SEED, make_rows

PREPARATIONS = {scaling: {"scaling": scaling} for scaling in SCALINGS} | {
    "full": {"gradient_metric": "full"},
    "diagonal": {"gradient_metric": "diagonal"},
    "components": {"n_components": 2},
}


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


@pytest.fixture(params=PREPARATIONS)
def preparation(request):
    return PREPARATIONS[request.param]


def fit(X, y, sample_weight=None, **changes):
    return StagedSVC(**GIVEN | changes).fit(X, y, sample_weight)


def as_columns(decisions):
    return decisions.reshape(len(decisions), -1)


def prepared(model, X, y):
    """Prepared rows in the order in which they were fitted, and their labels."""
    order, _ = distinct_rows(X, np.ones(len(y)), SEED, y.astype(np.int32))
    return model._model.preparation.apply(X[order]), y[order], order


def slopes(model, X):
    """Derivatives of the prepared columns by the columns of X."""
    step, prepare = 1e-6, model._model.preparation.apply
    return np.stack(
        [
            (prepare(X + shift) - prepare(X - shift)) / (2 * step)
            for shift in step * np.eye(X.shape[1])
        ],
        axis=2,
    )


def test_threshold_zero_is_the_clustered_svm(n_classes, preparation, monkeypatch):
    X, y = make_rows(n_classes=n_classes)
    model = fit(X, y, threshold=0.0, n_regions=7, **preparation)
    monkeypatch.setattr(ClusteredSVC, "_draw_seed", lambda self: SEED)
    Z, labels, order = prepared(model, X, y)
    alone = ClusteredSVC(
        7,
        C=1.0,
        multi_class="crammer_singer",
        intercept_scaling=1.0,
        clusterer=clone(model.first_stage_.clusterer),
        tol=0.05,
        max_iter=1000,
    ).fit(Z, labels)
    np.testing.assert_array_equal(
        model.decision_function(X[order]), alone.decision_function(Z)
    )
    assert model.second_stage_ is None
    assert model.n_hard_ == 0
    assert (model.stage(X) == 1).all()
    assert (model.stage_ == 1).all()
    np.testing.assert_array_equal(model.stage_shares_, [1.0, 0.0])
    np.testing.assert_array_equal(model.region_sizes_, alone.region_sizes_)


def test_threshold_inf_with_one_model_is_the_rbf_svm(preparation):
    X, y = make_rows()
    model = fit(X, y, threshold=np.inf, tol=1e-6, max_iter=10_000, **preparation)
    Z, labels, order = prepared(model, X, y)
    gamma = GIVEN["gamma_factor"] / typical_distance(Z)
    rbf = SVC(C=GIVEN["kernel_C"], gamma=gamma, tol=1e-6).fit(Z, labels)
    np.testing.assert_allclose(
        model.decision_function(X[order]), rbf.decision_function(Z), atol=1e-4
    )
    assert (model.stage(X) == 2).all()
    assert (model.stage_ == 2).all()


def test_threshold_inf_with_several_classes_votes_as_the_rbf_svm():
    X, y = make_rows(n_classes=4)
    model = fit(X, y, threshold=np.inf, tol=1e-6, max_iter=10_000)
    Z, labels, order = prepared(model, X, y)
    gamma = GIVEN["gamma_factor"] / typical_distance(Z)
    rbf = SVC(C=GIVEN["kernel_C"], gamma=gamma, tol=1e-6).fit(Z, labels)
    rows = X[order]
    assert (model.predict(rows) == rbf.predict(Z)).mean() > 0.99
    votes = (model.decision_function(rows) + 1) * 3 / 2
    np.testing.assert_array_equal(
        np.round(votes.max(axis=1)), np.round(rbf.decision_function(Z).max(axis=1))
    )


@pytest.mark.parametrize("threshold", [0.3, 1.0])
def test_threshold_switches_at_the_confidence(threshold, n_classes):
    X, y = make_rows(n_classes=n_classes)
    model = fit(X, y, threshold=threshold)
    Z = model._model.preparation.apply(X)
    first = as_columns(model.first_stage_.decision_function(Z))
    second = as_columns(model.second_stage_.decision_function(Z))
    if n_classes > 2:
        second = 2 * second / (n_classes - 1) - 1
    hard = confidences(first) <= threshold
    assert 0 < hard.sum() < len(X)
    np.testing.assert_array_equal(model.stage(X), 1 + hard)
    np.testing.assert_array_equal(
        as_columns(model.decision_function(X)),
        np.where(hard[:, np.newaxis], second, first),
    )


def test_confidence_that_equals_the_threshold_is_hard():
    X, y = make_rows()
    first = fit(X, y, threshold=0.0).decision_function(X)
    for threshold, stage in ((first[5], 2), (np.nextafter(first[5], 0), 1)):
        model = fit(X, y, threshold=abs(threshold))
        assert model.stage(X)[5] == stage


def test_second_stage_takes_the_hard_rows_alone(monkeypatch):
    X, y = make_rows(800)
    y = (X[:, 0] > 0).astype(int)
    monkeypatch.setattr(_staged, "StageSizes", partial(StageSizes, fewest_hard=10))
    model = fit(X, y, C=10.0)
    margin = model.first_stage_.decision_function(model._model.preparation.apply(X))
    margin = margin * (2 * y - 1)
    assert model.n_hard_ < 400
    assert model.n_hard_ >= (margin < 1).sum()
    assert model.second_stage_.region_sizes_.sum() == model.n_hard_


def test_stage_of_training_rows_is_that_of_new_rows(n_classes):
    X, y = make_rows(n_classes=n_classes)
    model = fit(X, y, threshold=0.5)
    np.testing.assert_array_equal(model.stage_, model.stage(X))
    assert set(model.stage_) == {1, 2}
    np.testing.assert_allclose(
        model.stage_shares_, [(model.stage_ == 1).mean(), (model.stage_ == 2).mean()]
    )


def test_stages_of_rows_without_weight_are_those_of_new_rows():
    X, y = make_rows()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = fit(X, y, weight, threshold=0.7)
    absent = weight == 0
    np.testing.assert_array_equal(model.stage_[absent], model.stage(X[absent]))
    assert set(model.stage_[absent]) == {1, 2}
    np.testing.assert_array_equal(
        model.stage_[~absent],
        fit(X[~absent], y[~absent], weight[~absent], threshold=0.7).stage_,
    )
    second = weight[model.stage_ == 2].sum() / weight.sum()
    np.testing.assert_allclose(model.stage_shares_, [1 - second, second])


def test_more_hard_rows_than_a_cell_holds_are_cut_into_cells(n_classes):
    X, y = make_rows(600, n_classes)
    model = fit(X, y, cell_size=60, threshold=0.7)
    n_first, n_cells = model.first_stage_.n_regions_, model.second_stage_.n_regions_
    assert n_cells > 5
    assert model.second_stage_.n_neighbors_ == 60
    assert model.n_regions_ == n_first + n_cells
    np.testing.assert_array_equal(model.region_stage_, [1] * n_first + [2] * n_cells)
    assert model.region_sizes_[:n_first].sum() == 600
    assert model.region_sizes_[n_first:].sum() == model.n_hard_ == 600
    regions, stages = model.region(X), model.stage(X)
    np.testing.assert_array_equal(model.region_stage_[regions], stages)
    assert set(stages) == {1, 2}
    hard = stages == 2
    Z = model._model.preparation.apply(X)
    np.testing.assert_array_equal(
        regions[hard], n_first + model.second_stage_.region(Z[hard])
    )
    np.testing.assert_array_equal(regions[~hard], model.first_stage_.region(Z[~hard]))
    far = model.decision_function(100 * X)
    assert np.isfinite(far).all()


def test_as_many_hard_rows_as_a_cell_holds_are_one_model():
    X, y = make_rows(60)
    assert fit(X, y, cell_size=60).region_stage_.tolist().count(2) == 1
    assert fit(X, y, cell_size=59).region_stage_.tolist().count(2) > 1


def test_all_regions_of_a_row_have_unit_weight():
    X, y = make_rows()
    model = fit(X, y, threshold=0.7)
    regions, weights = model.region(X, return_weights=True)
    np.testing.assert_allclose(np.linalg.norm(weights, axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(regions[:, 0], model.region(X))
    hard = model.stage(X) == 2
    np.testing.assert_array_equal(weights[hard, 0], 1)
    assert (weights[~hard, 0] < 1).any()


def test_easy_rows_are_explained_by_the_blend_of_their_regions(n_classes, preparation):
    X, y = make_rows(n_classes=n_classes)
    model = fit(X, y, threshold=0.5, **preparation)
    X, _ = make_rows(seed=1)
    easy = np.flatnonzero(model.stage(X) == 1)[5:25]
    blend, _ = model.first_stage_.local_coef(model._model.preparation.apply(X[easy]))
    coef, intercept = model.local_coef(X[easy])
    np.testing.assert_allclose(
        coef, blend @ slopes(model, X[easy]), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(
        np.einsum("ipj,ij->ip", coef, X[easy]) + intercept,
        as_columns(model.decision_function(X[easy])),
    )


def test_easy_rows_have_the_intercept_of_their_regions(n_classes):
    X, y = make_rows(n_classes=n_classes)
    model = fit(X, y, threshold=0.5, gradient_metric="full")
    easy = model.stage(X) == 1
    zero = model._model.preparation.apply(np.zeros((1, 3)))[0]
    blend, bias = model.first_stage_.local_coef(model._model.preparation.apply(X[easy]))
    _, intercept = model.local_coef(X[easy])
    np.testing.assert_allclose(intercept, bias + blend @ zero, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("cell_size", [60, 10_000])
def test_hard_rows_are_explained_by_the_gradient(cell_size, preparation):
    X, y = make_rows()
    model = fit(X, y, cell_size=cell_size, threshold=np.inf, **preparation)
    rows, step = make_rows(20, seed=1)[0], 1e-6
    coef, _ = model.local_coef(rows)
    expected = np.stack(
        [
            (
                model.decision_function(rows + shift)
                - model.decision_function(rows - shift)
            )
            / (2 * step)
            for shift in step * np.eye(3)
        ],
        axis=1,
    )
    np.testing.assert_allclose(coef[:, 0], expected, rtol=1e-4, atol=1e-5)


def test_hard_rows_of_several_classes_have_the_coefficients_of_their_cell():
    X, y = make_rows(n_classes=3)
    model = fit(X, y, cell_size=60)
    hard = np.flatnonzero(model.stage(X) == 2)[:20]
    inner, _ = model.second_stage_.local_coef(model._model.preparation.apply(X[hard]))
    coef, intercept = model.local_coef(X[hard])
    np.testing.assert_allclose(coef, inner @ slopes(model, X[hard]), rtol=1e-4)
    np.testing.assert_allclose(
        np.einsum("ipj,ij->ip", coef, X[hard]) + intercept,
        model.decision_function(X[hard]),
    )


@pytest.mark.parametrize("scaling", ["none", "standard"])
def test_sparse_rows_are_explained(scaling, n_classes):
    X, y = make_rows(n_classes=n_classes)
    X = X * (np.abs(X) > 0.7)
    model = fit(sparse.csr_array(X), y, scaling=scaling, threshold=0.7)
    coef, intercept = model.local_coef(sparse.csr_array(X))
    decisions = as_columns(model.decision_function(sparse.csr_array(X)))
    assert set(model.stage(sparse.csr_array(X))) == {1, 2}
    np.testing.assert_allclose(np.einsum("ipj,ij->ip", coef, X) + intercept, decisions)
    easy = model.stage(sparse.csr_array(X)) == 1
    Z = model._model.preparation.apply(sparse.csr_array(X))
    _, bias = model.first_stage_.local_coef(Z[easy])
    np.testing.assert_allclose(intercept[easy], bias, rtol=1e-5, atol=1e-6)


def test_rows_of_both_stages_are_explained_in_words(n_classes):
    X, y = make_rows(n_classes=n_classes)
    model = fit(X, y, cell_size=60, threshold=0.7)
    stages = model.stage(X)
    assert set(stages[:10]) == {1, 2}
    for x, region in zip(X[:10], model.region(X[:10]), strict=True):
        found = explain(model, x)
        scores = model.decision_function([x])[0]
        expected = scores if n_classes == 2 else scores.max()
        assert found.contributions.sum() + found.intercept == pytest.approx(expected)
        assert found.predicted_class == model.predict([x])[0]
        assert found.regions[0] == region
        assert found.n_region_rows == model.region_sizes_[region]
        assert str(found)


def test_attributes_tell_the_story():
    X, y = make_rows()
    model = fit(X, y, gradient_metric="full", n_regions=9)
    assert (model.n_features_in_, model.n_hard_, model.n_regions_) == (3, 400, 10)
    assert model.gradient_metric_.components_.shape == (3, 3)
    assert 0 <= model.first_stage_.duality_gap_ <= 0.05
    assert 1 <= model.n_iter_ <= 100
    stages = model.first_stage_, model.second_stage_
    assert model.duality_gap_ == max(stage.duality_gap_ for stage in stages)
    assert model.C_ == model.first_stage_.C_ == 1.0
    stages = {"merge", "choose", "prepare", "first", "second"}
    stages |= {"calibrate", "familiarity"}
    assert set(model.fit_report_) == stages
    assert model.stage_shares_.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["C", "kernel_C"])
def test_scale_is_ten(name):
    X, y = make_rows()
    models = [fit(X, y, **{name: value}) for value in ("scale", 10.0)]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))
    assert models[0].best_params_ == models[1].best_params_
    assert models[0].best_params_[name] == 10.0


def test_no_limit_of_passes_is_a_hundred():
    X, y = make_rows()
    models = [
        fit(X, y, tol=0.0, max_iter=limit, threshold=0.0) for limit in (None, 100)
    ]
    assert [model.n_iter_ for model in models] == [100, 100]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))


@pytest.mark.parametrize("cell_size", [60, 10_000])
def test_support_vectors_of_both_stages_are_counted_once(cell_size, n_classes):
    X, y = make_rows(n_classes=n_classes)
    model = fit(X, y, cell_size=cell_size)
    first, second = (
        stage.n_support_ for stage in (model.first_stage_, model.second_stage_)
    )
    assert (model.n_support_ >= np.maximum(first, second)).all()
    assert (model.n_support_ <= np.minimum(first + second, np.bincount(y))).all()
    alone = fit(X, y, threshold=0.0)
    np.testing.assert_array_equal(alone.n_support_, alone.first_stage_.n_support_)


@pytest.mark.parametrize(
    ("n_samples", "n_regions"), [(10, 1), (100, 5), (900, 20), (3000, 30)]
)
def test_number_of_regions_follows_the_rows(n_samples, n_regions):
    X, y = make_rows(n_samples)
    model = fit(X, y, threshold=0.0, max_iter=2, tol=10.0)
    assert model.first_stage_.n_regions_ == n_regions

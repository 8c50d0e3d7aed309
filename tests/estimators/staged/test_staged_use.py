"""StagedSVC in use: weights, storage, threads, odd data, bad input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from localsvm import StagedSVC
from staged_data import GIVEN, make_rows

SETTINGS = {
    "standard": {},
    "cells": {"cell_size": 60},
    "quantile": {"scaling": "quantile", "cell_size": 60},
    "ranks": {"scaling": "ranks"},
    "full": {"gradient_metric": "full", "scaling": "none"},
    "diagonal": {"gradient_metric": "diagonal"},
    "first": {"threshold": 0.0},
    "second": {"threshold": np.inf},
    "chosen": {"C": "auto", "threshold": "auto"},
}


@pytest.fixture(params=SETTINGS)
def setting(request):
    return GIVEN | SETTINGS[request.param]


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


def test_weights_equal_repetition_to_the_bit(setting, n_classes):
    X, y = make_rows(200, n_classes)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = StagedSVC(**setting).fit(X, y, times.astype(float))
    repeated = StagedSVC(**setting).fit(np.repeat(X, times, 0), np.repeat(y, times))
    np.testing.assert_array_equal(
        weighted.decision_function(X), repeated.decision_function(X)
    )
    np.testing.assert_allclose(weighted.stage_shares_, repeated.stage_shares_)
    unweighted = StagedSVC(**setting).fit(X, y).decision_function(X)
    assert np.abs(unweighted - weighted.decision_function(X)).max() > 1e-3


def test_order_of_rows_does_not_change_a_bit(setting, n_classes):
    X, y = make_rows(200, n_classes)
    order = np.random.default_rng(0).permutation(len(y))
    model = StagedSVC(**setting).fit(X, y)
    other = StagedSVC(**setting).fit(X[order], y[order])
    np.testing.assert_array_equal(
        model.decision_function(X), other.decision_function(X)
    )
    np.testing.assert_array_equal(model.stage_[order], other.stage_)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_n_jobs_does_not_change_a_bit(storage, setting):
    X, y = make_rows(300, 3)
    if storage == "sparse":
        maps = setting["scaling"] in ("quantile", "ranks")
        if maps or setting["gradient_metric"] == "full":
            setting = setting | {"scaling": "none", "gradient_metric": None}
        X = sparse.csr_array(X)
    models = [StagedSVC(**setting, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    queries = np.random.default_rng(1).standard_normal((900, 3))
    for model in models[1:]:
        np.testing.assert_array_equal(
            model.decision_function(queries), models[0].decision_function(queries)
        )
        np.testing.assert_array_equal(model.stage_, models[0].stage_)


def test_random_state_is_the_only_chance(setting):
    X, y = make_rows(200)
    model = StagedSVC(**setting)
    scores = [
        model.set_params(random_state=seed).fit(X, y).decision_function(X)
        for seed in (3, 3, 4)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    if setting["threshold"] != np.inf:
        assert np.abs(scores[0] - scores[2]).max() > 1e-3


def test_saved_models_and_clones_decide_alike(setting):
    X, y = make_rows(200)
    model = StagedSVC(**setting).fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_array_equal(
            other.decision_function(X), model.decision_function(X)
        )
        np.testing.assert_array_equal(other.region(X), model.region(X))
    assert not hasattr(clone(model), "classes_")


def test_float32_stays_float32(setting):
    X, y = make_rows(200, 3)
    X = X.astype(np.float32)
    narrow, wide = (StagedSVC(**setting).fit(rows, y) for rows in (X, X.astype(float)))
    assert narrow.decision_function(X).dtype == np.float32
    assert wide.decision_function(X.astype(float)).dtype == np.float64
    assert narrow.score(X, y) == pytest.approx(wide.score(X, y), abs=0.1)


@pytest.mark.parametrize(
    "changes", [{}, {"gradient_metric": "diagonal"}, {"cell_size": 60}]
)
def test_csr_matrix_and_array_give_the_same_model(changes, n_classes):
    X, y = make_rows(200, n_classes)
    X = X * (np.abs(X) > 0.7)
    stored = sparse.csr_array(X), sparse.csr_matrix(X), sparse.csc_array(X)
    # At a threshold of 1, the margin of support vectors, the stage hangs on rounding.
    given = GIVEN | {"threshold": 0.9} | changes
    models = [StagedSVC(**given).fit(rows, y) for rows in stored]
    expected = models[0].decision_function(stored[0])
    for model, rows in zip(models, stored, strict=True):
        np.testing.assert_array_equal(model.decision_function(rows), expected)
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)
    assert models[0].score(stored[0], y) > 0.7


@pytest.mark.parametrize(
    "changes",
    [
        {"scaling": "quantile"},
        {"scaling": "ranks"},
        {"scaling": "standard"},
        {"gradient_metric": "full"},
    ],
)
def test_model_of_dense_rows_answers_sparse_ones_alike(changes, n_classes):
    X, y = make_rows(200, n_classes)
    X = X * (np.abs(X) > 0.7) + 3 * (X > 0)
    model = StagedSVC(**GIVEN | {"threshold": 0.9} | changes).fit(X, y)
    stored = sparse.csr_array(X)
    expected = model.decision_function(X)
    np.testing.assert_allclose(model.decision_function(stored), expected, atol=1e-6)
    np.testing.assert_array_equal(model.region(stored), model.region(X))
    np.testing.assert_allclose(model.local_coef(stored)[0], model.local_coef(X)[0])


def test_labels_may_be_words(n_classes):
    X, y = make_rows(200, n_classes)
    words = np.array(["ant", "bee", "cat"])[y]
    model = StagedSVC(**GIVEN).fit(X, words)
    numbers = StagedSVC(**GIVEN).fit(X, y)
    assert list(model.classes_) == ["ant", "bee", "cat"][:n_classes]
    np.testing.assert_array_equal(model.predict(X), model.classes_[numbers.predict(X)])


def test_class_weight_moves_decisions(n_classes):
    X, y = make_rows(300, n_classes)
    keep = (y != 1) | (np.arange(300) % 4 == 0)
    X, y = X[keep], y[keep]
    shares = [
        (StagedSVC(**GIVEN, class_weight=weight).fit(X, y).predict(X) == 1).mean()
        for weight in ({1: 0.1}, None, "balanced", {1: 100.0})
    ]
    assert shares[0] < shares[1] < shares[2] < shares[3]


def test_class_weight_is_a_weight_of_the_rows():
    X, y = make_rows(200)
    by_class = StagedSVC(**GIVEN | {"scaling": "none"}, class_weight={1: 3.0}).fit(X, y)
    assert by_class.stage_shares_[1] == pytest.approx((by_class.stage_ == 2).mean())
    plain = StagedSVC(**GIVEN | {"scaling": "none"}).fit(X, y)
    assert by_class.decision_function(X).mean() > plain.decision_function(X).mean()


def test_read_only_memory_serves(tmp_path):
    X, y = make_rows(200)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for scaling in ("standard", "quantile", "ranks"):
        model = StagedSVC(**GIVEN | {"scaling": scaling}).fit(mapped, y)
        expected = StagedSVC(**GIVEN | {"scaling": scaling}).fit(X, y)
        np.testing.assert_array_equal(
            model.decision_function(mapped), expected.decision_function(X)
        )
        assert model.local_coef(mapped)[0].shape == (200, 1, 3)


@pytest.mark.parametrize("weight", [None, np.arange(200) % 3], ids=["ones", "zeros"])
def test_frames_keep_their_column_names(weight):
    X, y = make_rows(200)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = StagedSVC(**GIVEN).fit(frame, y, weight)
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        for method in ("predict", "stage", "region"):
            assert getattr(model, method)(frame).shape == (200,)
        assert model.local_coef(frame)[0].shape == (200, 1, 3)


def test_rows_of_one_stage_are_answered():
    X, y = make_rows(200)
    model = StagedSVC(**GIVEN).fit(X, y)
    stages, decisions = model.stage(X), model.decision_function(X)
    for stage in (1, 2):
        of_stage = stages == stage
        rows = X[of_stage]
        np.testing.assert_allclose(
            model.decision_function(rows), decisions[of_stage], atol=1e-6
        )
        assert (model.region_stage_[model.region(rows)] == stage).all()
        assert model.local_coef(rows)[0].shape == (len(rows), 1, 3)


class TestOddData:
    def check(self, X, y, floor, **changes):
        """Fit without any warning, in each of the settings that need no choice."""
        for threshold, cell_size in ((0.0, 20), (1.0, 20), (np.inf, 10_000)):
            given = {"threshold": threshold, "cell_size": cell_size}
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = StagedSVC(**GIVEN | given | changes).fit(X, y)
            assert np.isfinite(model.decision_function(X)).all()
            assert np.isfinite(model.local_coef(X)[0]).all()
            assert model.score(X, y) >= floor

    @pytest.mark.parametrize("scaling", ["none", "standard", "quantile", "ranks"])
    @pytest.mark.parametrize("metric", [None, "full", "diagonal"])
    def test_constant_columns(self, scaling, metric):
        X, y = make_rows(200)
        X = np.hstack([X, np.full((200, 1), 3.0), np.zeros((200, 1))])
        # Regions depend on the instruction set of BLAS, and the score with them.
        self.check(X, y, 0.75, scaling=scaling, gradient_metric=metric)

    def test_class_of_one_row(self):
        X, y = make_rows(150)
        y[7], X[7] = 2, 20.0
        self.check(X, y, 0.8)

    def test_two_classes_one_with_one_row(self):
        X, _ = make_rows(60)
        X[7] = 30.0
        self.check(X, np.arange(60) == 7, 0.98)

    def test_duplicated_rows(self):
        X, y = (np.repeat(part, 10, axis=0) for part in make_rows(30))
        self.check(X, y, 0.8, n_regions=3)

    def test_all_rows_of_a_class_equal(self):
        X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0)
        self.check(X, np.repeat([0, 1], 20), 1.0)

    def test_all_rows_equal(self):
        self.check(np.ones((30, 2)), np.arange(30) % 3 == 0, 2 / 3)

    def test_rows_of_zeros(self):
        X, y = make_rows(100)
        X[::3] = 0
        self.check(X, y, 0.6)

    def test_one_column(self):
        X, _ = make_rows(200, n_features=3)
        self.check(X[:, :1], np.abs(X[:, 0]) > 0.7, 0.85)

    def test_two_rows(self):
        self.check(np.array([[0.0], [1.0]]), np.array(["no", "yes"]), 1.0)

    @pytest.mark.parametrize("scaling", ["none", "standard", "quantile", "ranks"])
    @pytest.mark.parametrize("n_components", ["auto", 5, None])
    def test_wide_rows(self, scaling, n_components):
        rng = np.random.default_rng(0)
        X, y = make_rows(120)
        X = X @ rng.standard_normal((3, 150)) + 0.1 * rng.standard_normal((120, 150))
        self.check(X, y, 0.75, scaling=scaling, n_components=n_components)

    def test_values_beyond_the_training_range(self):
        X, y = make_rows(100)
        model = StagedSVC(**GIVEN | {"scaling": "quantile"}).fit(X, y)
        far = model.decision_function(1e6 * X)
        assert np.isfinite(far).all()
        assert np.isfinite(model.local_coef(1e6 * X)[0]).all()

    @pytest.mark.parametrize("unit", [1e-100, 1e100])
    def test_units_do_not_change_the_model(self, unit):
        X, y = make_rows(100)
        models = [StagedSVC(**GIVEN).fit(rows, y) for rows in (X, unit * X)]
        assert (models[0].predict(X) == models[1].predict(unit * X)).mean() > 0.9


def test_equal_rows_leave_nothing_to_choose():
    model = StagedSVC(random_state=0).fit(np.ones((30, 2)), np.arange(30) % 3 == 0)
    assert not model.predict(np.ones((2, 2))).any()


def test_as_many_regions_as_rows_do_not_stop_the_choice():
    X, y = make_rows(60)
    model = StagedSVC(**GIVEN | {"C": "auto"}, n_regions=60).fit(X, y)
    assert model.first_stage_.n_regions_ == 60


@pytest.mark.parametrize(("n_components", "width"), [(7, 7), (500, 130), (None, 130)])
def test_wide_rows_are_projected(n_components, width):
    X = np.random.default_rng(0).standard_normal((150, 130))
    model = StagedSVC(**GIVEN | {"n_components": n_components})
    model.fit(X, X[:, 0] > 0)
    assert model.first_stage_.n_features_in_ == width
    assert model.local_coef(X[:3])[0].shape == (3, 1, 130)


@pytest.mark.parametrize(("n_columns", "width"), [(110, 110), (111, 60)])
def test_many_columns_of_few_directions_are_projected(n_columns, width):
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((200, 4))
    X = latent @ rng.standard_normal((4, n_columns))
    X += 0.01 * rng.standard_normal(X.shape)
    model = StagedSVC(**GIVEN | {"n_components": "auto"}).fit(X, latent[:, 0] > 0)
    assert model.first_stage_.n_features_in_ == width


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scaling": "robust"}, r"'quantile'.*\. Got 'robust' instead"),
        ({"scaling": None}, r"'scaling' parameter of StagedSVC .* Got None"),
        ({"gradient_metric": "cosine"}, r"'diagonal'\. Got 'cosine'"),
        ({"gradient_metric": 3}, r"'gradient_metric' parameter .* Got 3"),
        ({"C": 0}, r"'C' parameter .* 'auto' or 'scale' or a float .* Got 0"),
        ({"C": np.inf}, r"'C' parameter .* Got inf"),
        ({"C": "scales"}, r"'C' parameter .* Got 'scales'"),
        ({"cell_size": 1}, r"'cell_size' parameter .* Got 1"),
        ({"cell_size": 20.5}, r"'cell_size' parameter .* Got 20.5"),
        ({"gamma_factor": -2.0}, r"'gamma_factor' parameter .* Got -2.0"),
        ({"gamma_factor": np.nan}, r"'gamma_factor' parameter .* Got nan"),
        ({"kernel_C": 0.0}, r"'kernel_C' parameter .* Got 0.0"),
        ({"threshold": -1}, r"'threshold' parameter .*\[0, inf\]\. Got -1"),
        ({"threshold": np.nan}, r"'threshold' parameter .* Got nan"),
        ({"threshold": "never"}, r"'threshold' parameter .* Got 'never'"),
        ({"n_regions": 0}, r"'n_regions' parameter .* Got 0"),
        ({"n_regions": 1.5}, r"'n_regions' parameter .* Got 1.5"),
        ({"n_regions": 61}, r"n_regions=61 should be <= 60"),
        ({"n_components": 0}, r"'n_components' parameter .* Got 0"),
        ({"n_components": "all"}, r"'n_components' parameter .* Got 'all'"),
        ({"class_weight": "even"}, r"'balanced' or a dict, .*\. Got 'even'"),
        ({"class_weight": {0: 0, 1: 0}}, r"class_weight=.* leaves no row"),
        ({"tol": -0.1}, r"'tol' parameter .*\[0, inf\)\. Got -0.1"),
        ({"max_iter": 0}, r"'max_iter' parameter .* Got 0"),
        ({"max_time": 0}, r"'max_time' parameter .* Got 0"),
    ],
    ids=str,
)
def test_parameter_errors_name_found_and_expected(parameters, message):
    X, y = make_rows(60)
    with pytest.raises(ValueError, match=message):
        StagedSVC(**GIVEN | parameters).fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"scaling": "quantile"},
        {"scaling": "ranks"},
        {"gradient_metric": "full"},
        {"n_components": 5},
    ],
)
def test_what_needs_dense_rows_refuses_sparse_ones(parameters):
    X, y = make_rows(60)
    ((name, value),) = parameters.items()
    with pytest.raises(ValueError, match=f"{name}={value!r} needs dense rows"):
        StagedSVC(**GIVEN | parameters).fit(sparse.csr_array(X), y)


def test_one_class_is_refused_and_changes_nothing():
    X, y = make_rows(60)
    model = StagedSVC(**GIVEN).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"greater than one; got 1 class \(0"):
        model.fit(X[:, :2], np.zeros(60))
    assert vars(model) == before


def test_unfitted_model_says_so():
    for method in ("predict", "decision_function", "region", "stage", "local_coef"):
        with pytest.raises(NotFittedError):
            getattr(StagedSVC(), method)(np.eye(3))


def test_iteration_limit_warns_once_from_the_line_of_the_user():
    X, y = make_rows()
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=1 ") as caught:
        StagedSVC(**GIVEN | {"max_iter": 1}, tol=1e-4).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("metric", [None, "full"])
def test_time_limit_of_given_parameters_gives_a_model(metric):
    X, _ = make_rows()
    y = np.random.default_rng(1).integers(0, 2, len(X))
    endless = {"C": 1e5, "tol": 1e-12, "max_iter": 10**6, "threshold": 0.0}
    model = StagedSVC(**GIVEN | endless | {"gradient_metric": metric}, max_time=1e-6)
    with pytest.warns(ConvergenceWarning, match="max_time=1e-06 allowed") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert np.isfinite(model.decision_function(X)).all()


def test_attributes_are_listed_without_a_second_stage(two_moons):
    model = StagedSVC(threshold=0.0, random_state=0).fit(*two_moons)
    assert "best_params_" in dir(model)

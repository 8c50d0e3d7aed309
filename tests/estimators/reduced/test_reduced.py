"""ReducedSVC: the SVM of all rows, however it is found."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from conftest import store
from localsvm import ReducedSVC
from localsvm.estimators import Reduction
from localsvm.estimators._reduced.reduction import (
    TwoClassRows,
    open_rows,
    violations,
)
from localsvm.estimators._reduced.settings import ReductionSettings
from localsvm.kernels import Kernel
from localsvm.solvers import KernelOptions
from oracles import kernel_svm
from oracles.local_svm import make_classes

KERNELS = {
    "linear": {"kernel": "linear", "C": 0.5},
    "rbf": {"kernel": "rbf", "gamma": 0.5, "C": 3.0},
    "laplace": {"kernel": "laplace", "gamma": 0.05, "C": 3.0},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 1.0, "C": 0.5},
}
PAPER = Reduction("pseudo_center", use_bounds=False, band=0.0)
WAYS = {
    "all": {"reduction": None},
    "kernel rows": {"reduction": None, "cache_size": 1e-3},
    "mean": {"reduction": Reduction()},
    "narrow band": {"reduction": Reduction(band=0.01)},
    "mean, kernel rows": {"reduction": Reduction(), "cache_size": 1e-3},
    "condition 1": {"reduction": Reduction(use_bounds=False)},
    "paper": {"reduction": PAPER},
    "paper, kernel rows": {"reduction": PAPER, "cache_size": 1e-3},
}
TIGHT = {"tol": 1e-6}


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


def noisy_rows(n_samples=400, n_features=4, seed=0):
    """Two classes that overlap: many duals at the bound."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    level = (
        np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n_samples)
    )
    return X, (level > 0).astype(int)


def as_kernel(setting):
    return Kernel(
        setting["kernel"],
        setting.get("gamma", 1.0),
        setting.get("degree", 3),
        setting.get("coef0", 0.0),
    )


def exact_objective(X, sign, bounds, kernel):
    """Dual objective by the slow solver."""
    K = kernel_svm.kernel_matrix(kernel, X, X)
    lower, upper = np.minimum(sign * bounds, 0), np.maximum(sign * bounds, 0)
    beta = kernel_svm.solve(K, lower, upper, sign, tol=1e-9)
    return -kernel_svm.minimized(beta, K, sign)


def test_objective_is_that_of_all_rows(kernel, way):
    X, y = noisy_rows(250)
    model = ReducedSVC(**kernel, **way, **TIGHT).fit(X, y)
    expected = exact_objective(
        X, np.where(y == 1, 1.0, -1.0), np.full(250, kernel["C"]), as_kernel(kernel)
    )
    assert model.exact_
    assert model.dual_objective_[0] == pytest.approx(expected, rel=1e-6)


def test_decisions_are_those_of_svc(kernel, way):
    X, y = noisy_rows()
    queries, _ = noisy_rows(100, seed=1)
    peer = SVC(**kernel_svm.as_svc(kernel), tol=1e-6).fit(X, y)
    model = ReducedSVC(**kernel, **way, **TIGHT).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(queries), peer.decision_function(queries), atol=1e-3
    )


def test_certificate_holds_of_every_row(kernel, way):
    X, y = noisy_rows()
    model = ReducedSVC(**kernel, **way).fit(X, y)
    sign = np.where(y == 1, 1, -1)
    margin = sign * model.decision_function(X)
    size = np.zeros(len(X))
    size[model.support_] = np.abs(model.dual_coef_[0])
    assert (sign[model.support_] * model.dual_coef_[0] >= 0).all()
    assert abs(model.dual_coef_.sum()) < 1e-6 * size.sum()
    assert (margin[size < kernel["C"] * (1 - 1e-9)] >= 1 - 2e-3).all()
    assert (margin[size > kernel["C"] * 1e-9] <= 1 + 2e-3).all()
    assert size.max() <= kernel["C"] * (1 + 1e-9)
    assert model.violation_ <= model.tol


def test_several_classes_are_one_against_the_rest(kernel, way):
    X, y = make_classes(240, 3)
    model = ReducedSVC(**kernel, **way, **TIGHT).fit(X, y)
    for position in range(3):
        peer = SVC(**kernel_svm.as_svc(kernel), tol=1e-6).fit(X, y == position)
        np.testing.assert_allclose(
            model.decision_function(X)[:, position],
            peer.decision_function(X),
            atol=1e-3,
        )
    assert model.passes_.shape == model.dual_objective_.shape == (3,)


def test_clusters_spare_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 2))
    y = X[:, 0] + rng.standard_normal(4000) > 0
    sizes = {}
    for name, way in (
        ("mean", Reduction(band=0.05)),
        ("condition 1", Reduction(use_bounds=False)),
        ("paper", PAPER),
    ):
        model = ReducedSVC(kernel="linear", C=10.0, reduction=way).fit(X, y)
        assert model.exact_
        assert model.n_rows_used_[0][0] in (89, 90)  # two square roots of rows
        sizes[name] = model.n_rows_used_[0][-1]
    assert sizes["mean"] < 300
    assert 1500 < sizes["paper"] <= sizes["condition 1"] + 90 < 4000


def test_large_penalties_take_no_longer():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, np.sqrt(3.0)], [-1.0, 0.0], [1.0, 0.0]])
    y = np.repeat(np.arange(3), 500)
    X = centers[y] + rng.standard_normal((1500, 2))
    everything = ReducedSVC(kernel="linear", C=1e4, tol=1e-6).fit(X, y)
    assert everything.n_iter_ < 60
    for way in (Reduction(band=0.05), PAPER):
        model = ReducedSVC(kernel="linear", C=1e4, tol=1e-6, reduction=way).fit(X, y)
        assert model.exact_
        np.testing.assert_allclose(
            model.dual_objective_, everything.dual_objective_, rtol=1e-9
        )
        np.testing.assert_allclose(model.coef_, everything.coef_, atol=1e-7)


@pytest.mark.parametrize("max_passes", [0, 1, 2])
def test_passes_are_limited_and_said(max_passes):
    X, y = noisy_rows(900)
    setting = {"gamma": 0.5, "C": 1.0}
    reduction = clone(PAPER).set_params(max_passes=max_passes)
    model = ReducedSVC(**setting, reduction=reduction).fit(X, y)
    assert model.passes_[0] == max_passes or model.exact_
    assert len(model.n_rows_used_[0]) == model.passes_[0] + 1
    if max_passes == 0:
        assert not model.exact_
        assert model.violation_ > 0.1
        assert len(model.support_) <= model.n_rows_used_[0][0]
    exact = ReducedSVC(**setting, reduction=PAPER).fit(X, y)
    assert model.dual_objective_[0] <= exact.dual_objective_[0] * (1 + 1e-6)


def test_more_passes_raise_the_objective():
    X, y = noisy_rows(900)
    model = ReducedSVC(gamma=0.5, C=1.0, reduction=PAPER)
    objectives = [
        clone(model).set_params(reduction__max_passes=n).fit(X, y).dual_objective_[0]
        for n in (0, 1, 2)
    ]
    assert objectives[0] < objectives[1] <= objectives[2] * (1 + 1e-6)


@pytest.mark.parametrize("representative", ["pseudo_center", "mean"])
def test_representative_with_a_dual_is_opened(representative):
    """All rows lie outside the margin, and no violation counts."""
    sign = np.array([1.0, 1.0, -1.0, -1.0])
    rows = TwoClassRows(np.zeros((4, 1)), sign, np.ones(4), np.array([0, 0, 1, 1]))
    duals = np.array([0.5, 0.0, -0.5, 0.0])
    settings = ReductionSettings(
        representative, False, 0.0, None, 10.0, KernelOptions()
    )
    opened, _ = open_rows(rows, np.zeros(4, dtype=bool), duals, 2 * sign, settings)
    expected = duals != 0 if representative == "pseudo_center" else np.zeros(4)
    np.testing.assert_array_equal(opened, expected)


def test_a_dual_beyond_its_bound_is_no_solution():
    rows = TwoClassRows(
        np.zeros((2, 1)), np.array([1.0, -1.0]), np.ones(2), np.arange(2)
    )
    on_margin = np.array([0.0, 0.0])
    found = [
        violations(rows, size * rows.sign, on_margin).tolist() for size in (1.0, 1.1)
    ]
    assert found == [[0.0, 0.0], [np.inf, np.inf]]


def test_rows_that_are_all_support_vectors():
    """Labels by chance and a narrow kernel: every row has a dual."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 5)), rng.integers(0, 2, 120)
    for way in WAYS.values():
        model = ReducedSVC(gamma=20.0, C=1.0, **way, **TIGHT).fit(X, y)
        assert model.exact_
        assert len(model.support_) == 120


def test_equal_rows_of_both_classes():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    y = np.arange(40) % 2
    for way in WAYS.values():
        for kernel in KERNELS.values():
            model = ReducedSVC(**kernel, **way).fit(X, y)
            assert model.exact_
            assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("n_clusters", [1, 5, 60])
def test_any_clusterer_gives_the_same_svm(n_clusters, kernel):
    X, y = noisy_rows(200)
    way = {"reduction": Reduction(), "clusterer": KMeans(n_clusters, n_init=1)}
    model = ReducedSVC(**kernel, **way, **TIGHT, random_state=0).fit(X, y)
    everything = ReducedSVC(**kernel, **TIGHT).fit(X, y)
    np.testing.assert_allclose(
        model.dual_objective_, everything.dual_objective_, rtol=1e-6
    )
    assert model.n_rows_used_[0][0] == 2 * n_clusters


def test_rare_class_has_as_many_clusters_as_rows():
    X, y = noisy_rows(100)
    y = np.where(np.arange(100) < 3, 2, y)
    way = {"reduction": Reduction(), "clusterer": KMeans(20, n_init=1)}
    model = ReducedSVC(gamma=0.5, C=1.0, **way, **TIGHT).fit(X, y)
    assert model.exact_
    assert model.n_rows_used_[0][0] == 43


def test_clusters_of_one_row_are_all_rows():
    X, y = noisy_rows(80)
    keep = np.r_[np.flatnonzero(y == 0)[:25], np.flatnonzero(y == 1)[:25]]
    for cache_size in (1e-3, 100.0):
        model = ReducedSVC(
            gamma=0.5,
            C=1.0,
            reduction=Reduction(max_passes=0),
            clusterer=KMeans(25, n_init=1),
            cache_size=cache_size,
            **TIGHT,
        ).fit(X[keep], y[keep])
        assert model.exact_
        assert model.n_rows_used_ == [[50]]


def test_algorithm_ends_where_the_problem_cannot_grow():
    """Clusters of one row: support vectors are opened and none is added."""
    X, y = noisy_rows(80)
    keep = np.r_[np.flatnonzero(y == 0)[:25], np.flatnonzero(y == 1)[:25]]
    model = ReducedSVC(
        gamma=0.5, C=1.0, clusterer=KMeans(25, n_init=1), reduction=PAPER, **TIGHT
    )
    model.fit(X[keep], y[keep])
    assert model.exact_
    assert model.n_rows_used_ == [[50]]


def test_weight_equals_repetition(kernel, way):
    X, y = noisy_rows(150)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    model = ReducedSVC(**kernel, **way, tol=1e-9, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-6
    )


def test_groups_share_their_dual_by_the_bounds_of_their_rows():
    X, y = noisy_rows(2000, 3)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    reduction = Reduction(band=0.05)
    model = ReducedSVC(kernel="linear", C=2.0, reduction=reduction).fit(
        X, y, sample_weight=weight
    )
    assert model.n_rows_used_[0][-1] < 500
    bounds = 2.0 * weight[model.support_]
    size = np.abs(model.dual_coef_[0])
    assert (size <= bounds * (1 + 1e-9)).all()
    assert (size >= bounds * (1 - 1e-9)).sum() > 500


def test_class_weight_is_that_of_svc():
    X, y = noisy_rows()
    for class_weight in ("balanced", {0: 3.0}, {0: 0.0}):
        setting = {"gamma": 0.5, "C": 1.0, "class_weight": class_weight}
        model = ReducedSVC(reduction=Reduction(), **setting, **TIGHT).fit(X, y)
        if class_weight == {0: 0.0}:
            assert (model.predict(X) == 1).all()
            continue
        peer = SVC(**setting, tol=1e-6).fit(X, y)
        np.testing.assert_allclose(
            model.decision_function(X), peer.decision_function(X), atol=1e-3
        )


def test_order_of_rows_and_threads_do_not_change_a_bit(kernel, way):
    X, y = make_classes(200, 3)
    order = np.random.default_rng(0).permutation(len(X))
    model = ReducedSVC(**kernel, **way, random_state=0)
    straight = clone(model).fit(X, y)
    shuffled = clone(model).set_params(n_jobs=3).fit(X[order], y[order])
    np.testing.assert_array_equal(
        straight.decision_function(X), shuffled.decision_function(X)
    )


def test_storage_does_not_change_the_scores(storage, kernel, way):
    X, y = noisy_rows(150)
    X = X * (np.abs(X) > 0.5)
    model = ReducedSVC(**kernel, **way, tol=1e-7, random_state=0)
    dense, other = clone(model).fit(X, y), clone(model).fit(store(X, storage), y)
    expected = dense.decision_function(X)
    for fitted, rows in ((other, store(X, storage)), (other, X)):
        np.testing.assert_allclose(fitted.decision_function(rows), expected, atol=1e-4)


def test_float32_stays_float32(kernel, way):
    X, y = noisy_rows(200)
    X = X.astype(np.float32)
    narrow = ReducedSVC(**kernel, **way).fit(X, y)
    wide = ReducedSVC(**kernel, **way).fit(X.astype(np.float64), y)
    assert narrow.decision_function(X).dtype == np.float32
    np.testing.assert_allclose(
        narrow.decision_function(X), wide.decision_function(X), atol=2e-2
    )


def test_fitted_attributes_tell_the_story():
    X, y = make_classes(200, 3)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = ReducedSVC(reduction=Reduction()).fit(frame, y)
    stages = {"scan", "merge", "kernel", "cluster", "solve"}
    stages |= {"calibrate", "familiarity"}
    assert set(model.fit_report_) == stages | {"method"}
    assert model.fit_report_["method"] == model.method_
    assert model.method_ == "clusters opened, on one kernel matrix of all rows, by SMO"
    assert list(model.feature_names_in_) == list(frame.columns)
    assert not hasattr(model, "coef_")
    linear = ReducedSVC(kernel="linear").fit(frame, y)
    assert linear.method_ == "all rows, on features, by an interior point method"
    assert linear.coef_.shape == (3, X.shape[1])
    np.testing.assert_allclose(
        linear.decision_function(frame), X @ linear.coef_.T + linear.intercept_
    )
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.decision_function(frame), model.decision_function(frame)
    )


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        ("kernel", "sigmoid", "'linear' or 'poly' or 'rbf' or 'laplace'"),
        ("C", 0.0, "a float in the range (0, inf) or 'scale'"),
        ("gamma", "local", "a float in the range (0, inf) or 'scale' or 'auto'"),
        ("degree", 0, "an int in the range [1, inf)"),
        ("reduction", "all", "None or 'auto' or a Reduction"),
        ("solver", "newton", "'auto' or 'smo' or 'interior_point'"),
        ("clusterer", "pddp", "None or an object with 'fit'"),
        ("tol", 0.0, "a float in the range (0, inf)"),
        ("max_iter", 0, "None or an int in the range [1, inf)"),
        ("cache_size", 0.0, "a float in the range (0, inf)"),
    ],
)
def test_bad_parameters_are_named(parameter, value, words, two_moons):
    model = ReducedSVC().set_params(**{parameter: value})
    with pytest.raises(ValueError) as caught:
        model.fit(*two_moons)
    assert str(caught.value) == (
        f"The {parameter!r} parameter of ReducedSVC must be {words}. "
        f"Got {value!r} instead."
    )


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        ("representative", "median", "'mean' or 'pseudo_center'"),
        ("use_bounds", 1, "a bool"),
        ("band", -0.1, "a float in the range [0, inf)"),
        ("max_passes", -1, "None or an int in the range [0, inf)"),
    ],
)
def test_bad_parameters_of_a_reduction_are_named(parameter, value, words, two_moons):
    model = ReducedSVC(reduction=Reduction(**{parameter: value}))
    with pytest.raises(ValueError) as caught:
        model.fit(*two_moons)
    assert str(caught.value) == (
        f"The {parameter!r} parameter of Reduction must be {words}. "
        f"Got {value!r} instead."
    )


def test_reduction_is_none_in_memory_unless_it_is_given():
    X, y = noisy_rows(200)
    for reduction in (None, "auto"):
        model = ReducedSVC(reduction=reduction).fit(X, y)
        assert model.method_.startswith("all rows")
        assert model.n_rows_used_ == [[200]]


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "rbf"},
        {"kernel": "laplace"},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0},
    ],
)
def test_scaled_penalty_is_ten_over_the_mean_of_the_diagonal(kernel):
    X, y = noisy_rows(200)
    X, weight = 3 * X, np.arange(200) % 3
    model = ReducedSVC(**kernel, random_state=0).fit(X, y, sample_weight=weight)
    squares = (X**2).sum(axis=1)
    ones = np.ones(200)
    diagonal = {"rbf": ones, "laplace": ones, "linear": squares}.get(
        kernel["kernel"], (0.3 * squares + 1.0) ** 2
    )
    assert pytest.approx(10.0 / np.average(diagonal, weights=weight)) == model.C_
    same = ReducedSVC(**kernel, C=model.C_, random_state=0)
    same.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
    assert same.C_ == model.C_


def test_gap_is_that_of_the_primal_and_the_dual_of_all_rows(kernel, way):
    X, y = make_classes(240, 3)
    model = ReducedSVC(**kernel, **way).fit(X, y)
    gaps = []
    for task, label in enumerate(model.classes_):
        sign = np.where(y == label, 1.0, -1.0)
        scores = model.decision_function(X)[:, task]
        duals = np.zeros(len(X))
        duals[model.support_] = model.dual_coef_[task]
        squared = duals @ (scores - model.intercept_[task])
        primal = squared / 2 + model.C_ * np.maximum(0, 1 - sign * scores).sum()
        gaps.append((primal - (duals @ sign - squared / 2)) / primal)
    assert model.duality_gap_ == pytest.approx(max(gaps), abs=1e-6)
    assert model.duality_gap_ < 0.01


def test_gap_of_an_approximation_is_large():
    X, y = noisy_rows(900)
    reduction = clone(PAPER).set_params(max_passes=0)
    model = ReducedSVC(gamma=0.5, C=1.0, reduction=reduction).fit(X, y)
    assert model.duality_gap_ > 0.1


def test_support_vectors_are_counted_by_class(way):
    X, y = make_classes(240, 3)
    model = ReducedSVC(**way).fit(X, y)
    expected = np.bincount(y[model.support_], minlength=3)
    np.testing.assert_array_equal(model.n_support_, expected)


def test_solvers_agree_and_say_what_they_need():
    X, y = noisy_rows()
    for way in (WAYS["all"], WAYS["mean"], WAYS["mean, kernel rows"]):
        setting = {"kernel": "linear", "C": 0.5, **way, **TIGHT}
        smo, interior = (
            ReducedSVC(solver=solver, **setting).fit(X, y)
            for solver in ("smo", "interior_point")
        )
        assert "SMO" in smo.method_
        assert "interior point" in interior.method_
        np.testing.assert_allclose(smo.coef_, interior.coef_, atol=1e-4)
    with pytest.raises(ValueError, match=r"needs kernel='linear'. Got kernel='rbf'"):
        ReducedSVC(solver="interior_point").fit(X, y)
    with pytest.raises(ValueError, match=r"needs dense rows. Got a sparse X"):
        ReducedSVC(kernel="linear", solver="interior_point").fit(
            store(X, "csr_array"), y
        )


def test_bad_rows_are_refused(two_moons):
    X, y = two_moons
    with pytest.raises(ValueError, match="entries too large for their squares"):
        ReducedSVC().fit(X * 1e200, y)
    with pytest.raises(ValueError, match="DBSCAN gave the label -1"):
        ReducedSVC(reduction=Reduction(), clusterer=DBSCAN(eps=1e-6)).fit(X, y)
    with pytest.warns(UserWarning, match="very different scales"):
        ReducedSVC().fit(X * [1.0, 1e5], y)


@pytest.mark.parametrize("limit", [{"max_iter": 3}, {"max_time": 0.2}])
@pytest.mark.parametrize("reduction", [None, Reduction()])
def test_limits_warn_and_give_a_model(limit, reduction):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1500, 10)), rng.integers(0, 2, 1500)
    model = ReducedSVC(gamma=0.01, C=1e8, reduction=reduction, **limit)
    with pytest.warns(ConvergenceWarning, match=f"stopped at {next(iter(limit))}="):
        model.fit(X, y)
    assert not model.exact_
    assert model.predict(X).shape == y.shape

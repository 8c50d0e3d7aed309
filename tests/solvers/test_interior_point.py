import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.svm import SVC

from examples import examples
from localsvm.solvers import BoxProblem, Status, solve_linear_box
from oracles import kernel_svm

TOL = 1e-9


def make_problem(seed, n=80, d=3, C=1.0, noise=1.0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d)) + rng.standard_normal(d)
    sign = np.where(
        Z[:, 0] - Z[:, 0].mean() + noise * rng.standard_normal(n) > 0, 1, -1
    )
    bounds = C * rng.uniform(0.1, 2.0, n) * (rng.random(n) < 0.9)
    return Z, sign.astype(np.float64), bounds


def make_three_normals(positive, seed=0):
    """The artificial problem of Boley and Cao, one class against the others."""
    rng = np.random.default_rng(seed)
    centers = np.repeat([[0, np.sqrt(3)], [-1, 0], [1, 0]], 2000, axis=0)
    sign = np.where(np.arange(6000) // 2000 == positive, 1.0, -1.0)
    return rng.standard_normal((6000, 2)) + centers, sign


def make_separable(seed, n=120, d=4):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d))
    decision = Z @ rng.standard_normal(d)
    far = np.abs(decision) > 0.4
    return Z[far], np.sign(decision[far])


def objective(Z, sign, bounds, coef, intercept):
    slack = np.maximum(0, 1 - sign * (Z @ coef + intercept))
    return coef @ coef / 2 + bounds @ slack


def assert_optimal(solution, Z, sign, bounds, margin=1e-6):
    """Everything that the solution says of itself holds, and the conditions do."""
    Z = np.asarray(Z, np.float64)
    alpha = solution.duals * sign
    assert solution.converged
    assert solution.status == Status.converged
    assert (alpha >= 0).all()
    assert (alpha <= bounds).all()
    assert abs(solution.duals.sum()) <= 1e-11 * alpha.sum()
    w = Z.T @ solution.duals
    assert solution.dual == pytest.approx(alpha.sum() - w @ w / 2, rel=1e-8)
    primal = objective(Z, sign, bounds, solution.coef, solution.intercept)
    assert solution.primal == pytest.approx(primal, rel=1e-8)
    assert solution.dual <= solution.primal * (1 + 1e-12)
    assert solution.primal - solution.dual <= TOL * solution.primal
    assert solution.relative_gap <= TOL
    decisions = Z @ solution.coef + solution.intercept
    np.testing.assert_allclose(solution.decisions, decisions, atol=1e-8)
    margins = sign * solution.decisions
    np.testing.assert_array_equal(alpha[margins > 1 + margin], 0)
    inside = margins < 1 - margin
    np.testing.assert_allclose(alpha[inside], bounds[inside], rtol=1e-14)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(50, 200),
    d=st.integers(1, 6),
    C=st.sampled_from([0.01, 0.1, 1.0, 10.0, 100.0]),
)
@examples(25)
def test_rows_match_the_quadratic_programme(seed, n, d, C):
    Z, sign, bounds = make_problem(seed, n, d, C)
    solution = solve_linear_box(Z, sign, bounds)
    assert_optimal(solution, Z, sign, bounds)
    K, box = Z @ Z.T, BoxProblem.of_classes(sign, bounds)
    beta = kernel_svm.solve(K, box.lower, box.upper, sign, tol=1e-8)
    b = kernel_svm.intercept(beta, K, box.lower, box.upper, sign)
    primal = kernel_svm.primal(beta, b, K, sign, bounds)
    assert solution.primal == pytest.approx(primal, rel=1e-7)
    assert solution.dual == pytest.approx(primal, rel=1e-7)
    scale = max(1, np.abs(Z.T @ beta).max())
    np.testing.assert_allclose(solution.coef, Z.T @ beta, atol=1e-6 * scale)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_peer_finds_the_same_plane(C, seed):
    Z, sign, _ = make_problem(seed, n=150)
    bounds = np.full(150, C)
    solution = solve_linear_box(Z, sign, bounds)
    peer = SVC(C=C, kernel="linear", tol=1e-8).fit(Z, sign)
    # LIBSVM keeps the kernel in single precision, whatever its tolerance.
    np.testing.assert_allclose(solution.coef, peer.coef_[0], atol=1e-3)
    assert solution.intercept == pytest.approx(peer.intercept_[0], abs=1e-3)
    found = objective(Z, sign, bounds, peer.coef_[0], peer.intercept_[0])
    assert found == pytest.approx(solution.primal, rel=1e-5)
    assert found >= solution.primal * (1 - 1e-9)


@pytest.mark.parametrize("C", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("positive", [0, 1, 2])
def test_large_penalties_take_no_more_steps(positive, C):
    Z, sign = make_three_normals(positive)
    bounds = np.full(6000, C)
    solution = solve_linear_box(Z, sign, bounds)
    assert solution.n_iter <= 20
    margins = sign * (Z @ solution.coef + solution.intercept)
    on_margin = np.abs(margins - 1) < 1e-9
    assert on_margin.sum() == 3
    np.testing.assert_array_equal(
        on_margin, (solution.duals != 0) & (np.abs(solution.duals) < C)
    )
    if C < 1e8:
        assert_optimal(solution, Z, sign, bounds)
    assert solution.converged


def test_plane_is_exact_where_it_is_known():
    corners = np.array([[1.0, 2.0], [1.0, -3.0], [-3.0, 0.5], [5.0, 1.0]])
    sign = np.array([1.0, 1.0, -1.0, 1.0])
    solution = solve_linear_box(corners, sign, np.full(4, 100.0))
    np.testing.assert_allclose(solution.coef, [0.5, 0.0], atol=1e-8)
    assert solution.intercept == pytest.approx(0.5, abs=1e-8)
    np.testing.assert_allclose(solution.duals, [0.0875, 0.0375, -0.125, 0], atol=1e-8)


@pytest.mark.parametrize("C", [1e3, 1e6, 1e9])
def test_separable_rows_get_the_widest_margin(C, seed):
    Z, sign = make_separable(seed)
    solution = solve_linear_box(Z, sign, np.full(len(Z), C))
    peer = SVC(C=1e6, kernel="linear", tol=1e-9).fit(Z, sign)
    assert solution.converged
    assert solution.n_iter < 60
    np.testing.assert_allclose(
        solution.coef, peer.coef_[0], rtol=1e-6, atol=1e-6 * np.abs(peer.coef_).max()
    )
    assert (sign * solution.decisions).min() >= 1 - 1e-8


def test_row_twice_is_weight_two(seed):
    Z, sign, bounds = make_problem(seed)
    twice = solve_linear_box(np.r_[Z, Z], np.r_[sign, sign], np.r_[bounds, bounds])
    heavy = solve_linear_box(Z, sign, 2 * bounds)
    assert_optimal(twice, np.r_[Z, Z], np.r_[sign, sign], np.r_[bounds, bounds])
    np.testing.assert_allclose(twice.coef, heavy.coef, rtol=1e-8)
    n = len(Z)
    np.testing.assert_allclose(
        twice.duals[:n] + twice.duals[n:], heavy.duals, atol=1e-7
    )


def test_iterates_do_not_depend_on_how_weight_is_written(seed):
    Z, sign, bounds = make_problem(seed)
    times = np.random.default_rng(seed).integers(1, 9, len(Z))
    repeated = [np.repeat(a, times, axis=0) for a in (Z, sign, bounds)]
    many = solve_linear_box(*repeated, max_iter=4)
    heavy = solve_linear_box(Z, sign, bounds * times, max_iter=4)
    np.testing.assert_allclose(many.coef, heavy.coef, rtol=1e-6, atol=1e-8)


def test_rounding_of_huge_penalties_is_not_taken_for_a_step(seed):
    Z = np.random.default_rng(seed).standard_normal((30, 60))
    sign = np.where(np.arange(30) % 2, 1.0, -1.0)
    solution = solve_linear_box(Z, sign, np.full(30, 1e9))
    assert solution.converged
    assert solution.n_iter < 40
    assert (sign * solution.decisions).min() >= 1 - 1e-8


def test_row_without_weight_is_absent_but_decided(seed):
    Z, sign, bounds = make_problem(seed)
    kept = bounds > 0
    assert not kept.all()
    whole = solve_linear_box(Z, sign, bounds)
    part = solve_linear_box(Z[kept], sign[kept], bounds[kept])
    np.testing.assert_array_equal(whole.coef, part.coef)
    np.testing.assert_array_equal(whole.duals[kept], part.duals)
    np.testing.assert_array_equal(whole.duals[~kept], 0)
    np.testing.assert_allclose(
        whole.decisions, Z @ part.coef + part.intercept, atol=1e-12
    )


@pytest.mark.parametrize(("n_positive", "label"), [(5, 0), (3, -1), (7, 1)])
def test_same_row_with_both_labels(n_positive, label):
    Z = np.ones((10, 2))
    sign = np.where(np.arange(10) < n_positive, 1.0, -1.0)
    solution = solve_linear_box(Z, sign, np.full(10, 3.0))
    assert solution.converged
    np.testing.assert_array_equal(solution.coef, 0)
    assert solution.primal == pytest.approx(6 * min(n_positive, 10 - n_positive))
    if label:
        np.testing.assert_allclose(solution.decisions, label)


@pytest.mark.parametrize(("n", "d"), [(60, 1), (20, 50), (2, 1), (2, 30)])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_shapes_of_every_kind(n, d, C, seed):
    Z = np.random.default_rng(seed).standard_normal((n, d))
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    bounds = np.full(n, C)
    assert_optimal(solve_linear_box(Z, sign, bounds), Z, sign, bounds)


def test_constant_feature_changes_nothing(seed):
    Z, sign, bounds = make_problem(seed)
    plain = solve_linear_box(Z, sign, bounds)
    solution = solve_linear_box(np.c_[Z, np.full(len(Z), 7.0)], sign, bounds)
    np.testing.assert_allclose(solution.coef, np.r_[plain.coef, 0], atol=1e-9)
    assert solution.intercept == pytest.approx(plain.intercept, abs=1e-8)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4, 1e8])
def test_columns_of_very_different_scale(C, seed):
    Z, sign, _ = make_problem(seed, n=200, d=4)
    Z = Z * [1.0, 1e-6, 1e6, 1.0] + [1e3, 0, 0, 0]
    bounds = np.full(200, C)
    solution = solve_linear_box(Z, sign, bounds)
    primal = objective(Z, sign, bounds, solution.coef, solution.intercept)
    assert solution.converged
    assert solution.n_iter < 60
    assert solution.primal == pytest.approx(primal, rel=1e-7)


@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_shift_and_unit_of_the_rows(shift, seed):
    Z, sign, bounds = make_problem(seed)
    plain = solve_linear_box(Z, sign, bounds)
    other = solve_linear_box(Z * 1000 + shift, sign, bounds / 1e6)
    np.testing.assert_allclose(other.coef * 1000, plain.coef, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(other.decisions, plain.decisions, atol=1e-6)


def test_float32_rows_are_taken_as_they_are(seed):
    Z, sign, bounds = make_problem(seed)
    Z = Z.astype(np.float32)
    single = solve_linear_box(Z, sign, bounds)
    double = solve_linear_box(Z.astype(np.float64), sign, bounds)
    np.testing.assert_array_equal(single.coef, double.coef)
    np.testing.assert_array_equal(single.decisions, double.decisions)
    assert single.coef.dtype == np.float64


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_side_gives_its_constant(label):
    Z, sign, bounds = make_problem(0)
    for bounds_of_side in (bounds * (sign == label), np.eye(80)[sign == label][0]):
        solution = solve_linear_box(Z, sign, bounds_of_side)
        assert solution.converged
        assert (solution.intercept, solution.primal, solution.dual) == (label, 0, 0)
        np.testing.assert_array_equal(solution.decisions, label)
        np.testing.assert_array_equal(solution.duals, 0)


def test_no_weight_at_all_decides_nothing():
    Z, sign, _ = make_problem(0)
    solution = solve_linear_box(Z, sign, np.zeros(80))
    assert solution.converged
    np.testing.assert_array_equal(solution.decisions, 0)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_values_that_are_not_finite_are_told(value):
    Z, sign, bounds = make_problem(0)
    Z[3:5, 1] = value, 0
    bounds[3] = 1
    solution = solve_linear_box(Z, sign, bounds)
    assert solution.status == Status.not_finite
    assert not solution.converged
    assert solution.relative_gap == np.inf
    np.testing.assert_array_equal(solution.decisions, 0)


@pytest.mark.parametrize("broken", ["absent row", "bound"])
def test_values_that_would_not_matter_are_told_too(broken):
    Z, sign, bounds = make_problem(0)
    bounds[3] = 0 if broken == "absent row" else np.nan
    Z[3] = np.nan if broken == "absent row" else 0
    assert solve_linear_box(Z, sign, bounds).status == Status.not_finite


def test_too_few_iterations_are_told_and_bound_the_optimum():
    Z, sign, bounds = make_problem(0, C=10)
    optimum = solve_linear_box(Z, sign, bounds).primal
    for max_iter in range(8):
        solution = solve_linear_box(Z, sign, bounds, max_iter=max_iter)
        assert solution.n_iter == max_iter
        assert solution.status == Status.max_iter
        assert solution.dual < optimum < solution.primal
        assert abs(solution.duals.sum()) <= 1e-12 * np.abs(solution.duals).sum()


def test_loose_tolerance_stops_early():
    Z, sign = make_three_normals(0)
    loose = solve_linear_box(Z, sign, np.full(6000, 1e4), tol=1e-2)
    assert loose.converged
    assert 1e-9 < loose.relative_gap <= 1e-2
    assert loose.n_iter < solve_linear_box(Z, sign, np.full(6000, 1e4)).n_iter


def test_same_bits_every_time():
    Z, sign = make_three_normals(1)
    first, second = (solve_linear_box(Z, sign, np.full(6000, 10.0)) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.duals, second.duals)
    assert first.intercept == second.intercept

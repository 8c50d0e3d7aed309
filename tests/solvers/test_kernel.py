import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from conftest import store
from data_sets import loaded
from examples import examples
from localsvm.data import load_benchmark
from localsvm.kernels import Kernel
from localsvm.solvers import (
    BoxProblem,
    KernelOptions,
    Status,
    solve_gram,
    solve_kernel,
)
from oracles import kernel_svm

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=0.5),
    Kernel("poly", gamma=0.5, degree=3),
    Kernel("poly", gamma=0.5, degree=3, coef0=1.0),
    Kernel("laplace", gamma=0.05),
]
TIGHT = KernelOptions(tol=1e-10, max_iter=10_000_000)


def make_problem(seed, n=40, d=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    sign = np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)
    bounds = rng.uniform(0.1, 3.0, n) * (rng.random(n) < 0.9)
    return X, sign, bounds


def make_general_problem(seed, n=40):
    """A kernel matrix, boxes of every kind and targets of any size."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, n))
    lower, upper = -rng.uniform(0, 2, n), rng.uniform(0, 2, n)
    lower[rng.random(n) < 0.3] = 0
    upper[rng.random(n) < 0.3] = 0
    return rows @ rows.T / n, BoxProblem(lower, upper, 3 * rng.standard_normal(n))


def load_data(name):
    """A few hundred rows with labels 0 and 1."""
    if name == "synthetic":
        X, sign, _ = make_problem(0, n=300)
        return X, (sign > 0).astype(int)
    data = loaded(load_benchmark, name)
    chosen = np.random.default_rng(0).permutation(len(data.X_train))[:400]
    X = np.asarray(data.X_train[chosen], dtype=np.float64)
    label = np.unique(data.y_train[chosen], return_inverse=True)[1]
    return minmax_scale(X, (-1, 1)), label


def signed_duals(peer, n):
    beta = np.zeros(n)
    beta[peer.support_] = peer.dual_coef_[0]
    return beta


def fit_svc(kernel, C=1.0, tol=1e-5):
    setting = {
        "kernel": kernel.name,
        "C": C,
        "gamma": kernel.gamma,
        "degree": kernel.degree,
        "coef0": kernel.coef0,
    }
    return SVC(**kernel_svm.as_svc(setting), tol=tol)


def assert_certified(solution, K, problem):
    """Duals are allowed, and decisions and objectives are what they say."""
    beta, certificate = solution.duals, solution.certificate
    assert (problem.lower <= beta).all()
    assert (beta <= problem.upper).all()
    assert abs(beta.sum()) <= 1e-9 * max(1, np.abs(beta).sum())
    b = kernel_svm.intercept(beta, K, problem.lower, problem.upper, problem.target)
    decisions = K @ beta + b
    scale = max(1, np.abs(decisions).max())
    assert solution.intercept == pytest.approx(b, abs=1e-9 * scale)
    np.testing.assert_allclose(solution.decisions, decisions, atol=1e-9 * scale)
    dual = -kernel_svm.minimized(beta, K, problem.target)
    missing = problem.target - decisions
    losses = np.maximum(problem.upper * missing, problem.lower * missing)
    primal = beta @ K @ beta / 2 + losses.sum()
    assert certificate.dual == pytest.approx(dual, rel=1e-7, abs=1e-7)
    assert certificate.primal == pytest.approx(primal, rel=1e-7, abs=1e-7)
    assert certificate.primal >= certificate.dual - 1e-9 * abs(certificate.primal)
    assert certificate.relative_gap >= 0
    rises, falls = beta < problem.upper, beta > problem.lower
    violation = max(
        0,
        (problem.target - decisions)[rises].max(initial=-np.inf)
        - (problem.target - decisions)[falls].min(initial=np.inf),
    )
    assert certificate.violation == pytest.approx(violation, abs=1e-9 * scale)


def test_oracle_agrees_with_a_general_optimiser(seed):
    K, problem = make_general_problem(seed, n=15)
    beta = kernel_svm.solve(K, problem.lower, problem.upper, problem.target)
    peer = minimize(
        kernel_svm.minimized,
        np.zeros(15),
        args=(K, problem.target),
        jac=lambda beta, K, target: K @ beta - target,
        method="SLSQP",
        bounds=list(zip(problem.lower, problem.upper, strict=True)),
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    np.testing.assert_allclose(beta, peer.x, atol=1e-5)
    assert abs(beta.sum()) < 1e-12


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_match_the_quadratic_programme(kernel, storage, seed):
    X, sign, bounds = make_problem(seed)
    problem = BoxProblem.of_classes(sign, bounds)
    solution = solve_kernel(store(X, storage), problem, kernel, TIGHT)
    K = kernel_svm.kernel_matrix(kernel, X, X)
    beta = kernel_svm.solve(K, problem.lower, problem.upper, sign)
    b = kernel_svm.intercept(beta, K, problem.lower, problem.upper, sign)
    assert solution.certificate.status == Status.converged
    assert_certified(solution, K, problem)
    assert kernel_svm.minimized(solution.duals, K, sign) == pytest.approx(
        kernel_svm.minimized(beta, K, sign), rel=1e-9
    )
    np.testing.assert_allclose(solution.decisions, K @ beta + b, atol=1e-6)
    assert solution.certificate.primal == pytest.approx(
        kernel_svm.primal(beta, b, K, sign, bounds), rel=1e-8
    )


def test_matrix_with_boxes_and_targets_of_any_kind(seed):
    K, problem = make_general_problem(seed)
    solution = solve_gram(K, problem, TIGHT)
    beta = kernel_svm.solve(K, problem.lower, problem.upper, problem.target)
    b = kernel_svm.intercept(beta, K, problem.lower, problem.upper, problem.target)
    assert solution.certificate.status == Status.converged
    assert_certified(solution, K, problem)
    np.testing.assert_allclose(solution.duals, beta, atol=1e-7)
    assert solution.intercept == pytest.approx(b, abs=1e-7)


def test_float32_matrix_reaches_the_optimum(seed):
    K, problem = make_general_problem(seed)
    narrow = solve_gram(K.astype(np.float32), problem, KernelOptions(tol=1e-4))
    wide = solve_gram(K, problem, TIGHT)
    assert narrow.certificate.status == Status.converged
    assert narrow.certificate.dual == pytest.approx(wide.certificate.dual, rel=1e-5)
    np.testing.assert_allclose(narrow.decisions, wide.decisions, atol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("data", ["synthetic", "svmguide1"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_and_matrix_match_libsvm(kernel, data, dtype):
    X, label = load_data(data)
    X = X.astype(dtype)
    wide, sign = X.astype(np.float64), np.where(label == 1, 1.0, -1.0)
    problem = BoxProblem.of_classes(sign, np.full(len(X), 2.0))
    options = KernelOptions(tol=1e-5, max_iter=10_000_000)
    peer = fit_svc(kernel, C=2.0).fit(wide, label)
    K = kernel_svm.kernel_matrix(kernel, wide, wide)
    best = kernel_svm.minimized(signed_duals(peer, len(X)), K, sign)
    within, rel = (1e-3, 1e-6) if dtype == np.float64 else (1e-2, 1e-5)
    for solution in (
        solve_kernel(X, problem, kernel, options),
        solve_gram(K.astype(dtype), problem, options),
    ):
        assert solution.certificate.status == Status.converged
        assert solution.certificate.violation <= options.tol
        assert solution.certificate.dual == pytest.approx(-best, rel=rel)
        assert kernel_svm.minimized(solution.duals, K, sign) == pytest.approx(
            best, rel=rel
        )
        np.testing.assert_allclose(
            solution.decisions, peer.decision_function(wide), atol=within
        )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_bound_per_row_is_a_sample_weight(kernel, seed):
    X, sign, bounds = make_problem(seed, n=120)
    problem = BoxProblem.of_classes(sign, bounds)
    solution = solve_kernel(X, problem, kernel, TIGHT)
    used = bounds > 0
    peer = fit_svc(kernel, tol=1e-8).fit(
        X[used], sign[used], sample_weight=bounds[used]
    )
    np.testing.assert_allclose(solution.decisions, peer.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_empty_boxes_hold_rows_out_and_give_their_decisions(kernel, storage):
    X, sign, bounds = make_problem(3, n=80)
    held = np.arange(80) % 3 == 0
    target = np.where(held, 7.0, sign)
    signed = np.where(held, 0.0, sign * bounds)
    problem = BoxProblem(np.minimum(signed, 0), np.maximum(signed, 0), target)
    solution = solve_kernel(store(X, storage), problem, kernel, TIGHT)
    alone = solve_kernel(
        store(X[~held], storage),
        BoxProblem.of_classes(sign[~held], bounds[~held]),
        kernel,
        TIGHT,
    )
    K = kernel_svm.kernel_matrix(kernel, X, X[~held])
    expected = K @ alone.duals + alone.intercept
    assert not solution.duals[held].any()
    np.testing.assert_allclose(solution.decisions, expected, atol=1e-6)


def test_intercept_without_a_free_row_is_the_middle():
    """A small penalty puts every dual at its bound."""
    X, sign, _ = make_problem(0, n=40)
    sign = np.repeat([1.0, -1.0], 20)
    kernel = KERNELS[1]
    problem = BoxProblem.of_classes(sign, np.full(40, 1e-3))
    solution = solve_kernel(X, problem, kernel, TIGHT)
    K = kernel_svm.kernel_matrix(kernel, X, X)
    assert (np.abs(solution.duals) == 1e-3).all()
    wanted = sign - K @ solution.duals
    expected = (wanted[sign < 0].max() + wanted[sign > 0].min()) / 2
    assert solution.intercept == pytest.approx(expected, abs=1e-12)
    peer = fit_svc(kernel, C=1e-3, tol=1e-8).fit(X, sign)
    assert solution.intercept == pytest.approx(peer.intercept_[0], abs=1e-8)


@pytest.mark.parametrize("only", [1.0, -1.0])
def test_one_class_alone_decides_for_itself(only):
    X, _, _ = make_problem(0)
    problem = BoxProblem.of_classes(np.full(len(X), only), np.ones(len(X)))
    solution = solve_kernel(X, problem, KERNELS[1], TIGHT)
    assert solution.certificate.status == Status.converged
    assert not solution.duals.any()
    np.testing.assert_array_equal(solution.decisions, only)


def test_boxes_that_are_all_empty():
    X, sign, _ = make_problem(0)
    problem = BoxProblem.of_classes(sign, np.zeros(len(X)))
    solution = solve_kernel(X, problem, KERNELS[1], TIGHT)
    assert solution.certificate.status == Status.converged
    assert not solution.decisions.any()


@pytest.mark.parametrize("n", [100, 500])
@pytest.mark.parametrize("max_iter", [1, 7, 700, 1700])
def test_certificate_is_true_wherever_the_solver_stops(n, max_iter, seed):
    """With 500 rows some are set aside by then."""
    X, sign, bounds = make_problem(seed, n=n)
    problem = BoxProblem.of_classes(sign, 100 * bounds)
    kernel = KERNELS[3]
    options = KernelOptions(tol=1e-12, max_iter=max_iter)
    solution = solve_kernel(X, problem, kernel, options)
    assert solution.certificate.status == Status.max_iter
    assert solution.certificate.n_iter == max_iter
    assert_certified(solution, kernel_svm.kernel_matrix(kernel, X, X), problem)


@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    start=st.booleans(),
    max_iter=st.sampled_from([3, 100_000]),
)
@examples(60)
def test_certificate_on_random_problems(n, seed, scale, start, max_iter):
    K, problem = make_general_problem(seed, n)
    K *= scale
    duals = np.random.default_rng(seed).standard_normal(n) if start else None
    options = KernelOptions(tol=1e-6, max_iter=max_iter)
    solution = solve_gram(K, problem, options, duals)
    assert_certified(solution, K, problem)
    if max_iter > 3:
        assert solution.certificate.status == Status.converged
        assert solution.certificate.violation <= 1e-6


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_small_cache_gives_the_same_optimum(kernel):
    """Room for two kernel rows."""
    X, sign, bounds = make_problem(5, n=400)
    problem = BoxProblem.of_classes(sign, bounds)
    options = {"tol": 1e-6, "max_iter": 1_000_000}
    roomy = solve_kernel(X, problem, kernel, KernelOptions(**options))
    tight = solve_kernel(X, problem, kernel, KernelOptions(cache_size=1e-6, **options))
    assert tight.certificate.status == Status.converged
    assert tight.certificate.dual == pytest.approx(roomy.certificate.dual, rel=1e-9)
    np.testing.assert_allclose(tight.decisions, roomy.decisions, atol=1e-4)


def test_rows_are_read_alike_far_from_the_origin():
    X, sign, bounds = make_problem(0, n=100)
    problem = BoxProblem.of_classes(sign, bounds)
    near, far = (
        solve_kernel(rows.astype(np.float32), problem, KERNELS[1], KernelOptions())
        for rows in (X, np.round(X * 64) / 64 + 1024)
    )
    np.testing.assert_allclose(far.decisions, near.decisions, atol=0.05)


def test_warm_start_from_the_solution_is_immediate(seed):
    X, sign, bounds = make_problem(seed, n=200)
    problem = BoxProblem.of_classes(sign, bounds)
    options = KernelOptions(tol=1e-3, max_iter=100_000)
    first = solve_kernel(X, problem, KERNELS[1], options)
    again = solve_kernel(X, problem, KERNELS[1], options, first.duals)
    assert first.certificate.n_iter > 50
    assert again.certificate.n_iter <= 2
    np.testing.assert_allclose(again.decisions, first.decisions, atol=2e-3)


def test_warm_start_is_clipped_balanced_and_not_overwritten(seed):
    X, sign, bounds = make_problem(seed)
    problem = BoxProblem.of_classes(sign, bounds)
    K = kernel_svm.kernel_matrix(KERNELS[1], X, X)
    start = np.random.default_rng(seed).standard_normal(len(X)) * 1e3
    kept = start.copy()
    stopped = solve_gram(K, problem, KernelOptions(max_iter=1), start)
    assert_certified(stopped, K, problem)
    np.testing.assert_array_equal(start, kept)
    solved = solve_gram(K, problem, TIGHT, start)
    cold = solve_gram(K, problem, TIGHT)
    np.testing.assert_allclose(solved.decisions, cold.decisions, atol=1e-6)


def endless_problem(n=2000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 60))
    sign = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return X, BoxProblem.of_classes(sign, np.full(n, 1e6))


@pytest.mark.parametrize("warm", [False, True])
def test_time_limit_returns_a_true_certificate(warm):
    X, problem = endless_problem()
    kernel = Kernel("poly", gamma=0.1, degree=2, coef0=1.0)
    start = problem.target * 1e-3 if warm else None
    options = KernelOptions(tol=0, max_iter=10**9, max_time=0.001 if warm else 0.3)
    solution = solve_kernel(X, problem, kernel, options, start)
    assert solution.certificate.status == Status.max_time
    assert_certified(solution, kernel_svm.kernel_matrix(kernel, X, X), problem)


@pytest.mark.parametrize("kernel", [KERNELS[0], None])
def test_cancelling_raises(kernel):
    X, problem = endless_problem()
    data, where = (X @ X.T, ()) if kernel is None else (X, (kernel,))
    solve = solve_gram if kernel is None else solve_kernel
    cancel = threading.Event()
    options = KernelOptions(tol=0, max_iter=10**12, max_time=60, cancel=cancel)
    timer = threading.Timer(0.2, cancel.set)
    timer.start()
    with pytest.raises(InterruptedError, match="cancelled"):
        solve(data, problem, *where, options)
    timer.join()


@pytest.mark.parametrize("kernel", KERNELS[2:4])
def test_overflowing_rows_are_reported(kernel, storage):
    X, sign, bounds = make_problem(0)
    problem = BoxProblem.of_classes(sign, bounds)
    with np.errstate(over="ignore"):
        solution = solve_kernel(store(X * 1e150, storage), problem, kernel, TIGHT)
    assert solution.certificate.status == Status.not_finite


def test_matrix_that_is_not_finite_is_reported():
    K, problem = make_general_problem(0)
    K[3, 4] = K[4, 3] = np.nan
    solution = solve_gram(K, problem, KernelOptions(tol=1e-6, max_iter=100_000))
    assert solution.certificate.status == Status.not_finite


def test_shapes_that_do_not_fit_are_refused():
    X, sign, bounds = make_problem(0)
    problem = BoxProblem.of_classes(sign, bounds)
    with pytest.raises(ValueError, match="one entry per row"):
        solve_kernel(X[1:], problem, KERNELS[0], TIGHT)
    with pytest.raises(ValueError, match="square"):
        solve_gram(np.ones((40, 39)), problem, TIGHT)

import threading

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from conftest import store
from localsvm.solvers import (
    LinearProblem,
    SolverOptions,
    Status,
    solve_codes,
    solve_codes_jointly,
)
from oracles import crammer_singer, linear_svm

TIGHT = {"tol": 1e-8, "max_iter": 1_000_000}


def make_problem(seed, n=25, d=3, n_classes=3, dtype=np.float64, storage="dense"):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.8)
    y = rng.integers(0, n_classes, n).astype(np.int32)
    X[:, 0] += y
    bounds = rng.uniform(0.1, 3.0, n) * (rng.random(n) < 0.9)
    X = X.astype(dtype)
    problem = LinearProblem(store(X, storage), y, n_classes, bounds)
    return problem, X.astype(np.float64)


def make_codes(seed, n, n_nodes=4, m=3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    nodes = np.array([rng.permutation(n_nodes)[:m] for _ in range(n)], dtype=np.int32)
    coefficients = rng.uniform(-1, 1, nodes.shape).astype(dtype)
    coefficients[0, 0] = 0
    return nodes, coefficients, n_nodes


def one_node(problem):
    n = problem.X.shape[0]
    return np.zeros((n, 1), dtype=np.int32), np.ones((n, 1), problem.X.dtype), 1


def expand(X, codes, bias=1.0):
    nodes, coefficients, n_nodes = codes
    table = np.zeros((len(X), n_nodes))
    np.put_along_axis(table, nodes.astype(np.intp), coefficients, axis=1)
    return linear_svm.expand(linear_svm.with_bias(X, bias), table)


def solve(problem, codes=None, duals=None, **options):
    codes = one_node(problem) if codes is None else codes
    return solve_codes_jointly(
        problem, *codes, options=SolverOptions(**options), duals=duals
    )


def weights(solution):
    """Weights of each class, all nodes in one row."""
    nodes = np.concatenate([solution.coef, solution.intercept[..., None]], axis=2)
    return nodes.reshape(len(nodes), -1)


def with_bounds(problem, bounds):
    return LinearProblem(problem.X, problem.class_index, problem.n_classes, bounds)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_one_node_matches_quadratic_programme(n_classes, storage, seed):
    problem, X = make_problem(seed, n_classes=n_classes, storage=storage)
    solution = solve(problem, **TIGHT)
    biased = linear_svm.with_bias(X, 1.0)
    W, best = crammer_singer.solve(
        biased, problem.class_index, n_classes, problem.bounds
    )
    certificate = solution.certificates[0]
    assert certificate.status == Status.converged
    assert certificate.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(biased @ weights(solution).T, biased @ W.T, atol=1e-3)


def test_codes_match_the_explicit_expansion(storage, seed):
    problem, X = make_problem(seed, n=20, storage=storage)
    codes = make_codes(seed, len(X))
    solution = solve(problem, codes, **TIGHT)
    expanded = expand(X, codes)
    W, best = crammer_singer.solve(expanded, problem.class_index, 3, problem.bounds)
    assert solution.certificates[0].primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(weights(solution), W, atol=1e-3)


def test_one_node_matches_liblinear(seed):
    problem, X = make_problem(seed, n=200, d=8, n_classes=4)
    problem = LinearProblem(X, problem.class_index, 4, np.full(200, 0.7), 0.0)
    ours = solve(problem, **TIGHT)
    peer = LinearSVC(
        C=0.7,
        multi_class="crammer_singer",
        fit_intercept=False,
        tol=1e-8,
        max_iter=1_000_000,
    ).fit(X, problem.class_index)
    theirs = crammer_singer.objective(
        peer.coef_, X, problem.class_index, problem.bounds
    )
    assert ours.certificates[0].primal == pytest.approx(theirs, rel=1e-6)
    np.testing.assert_allclose(ours.coef[:, 0], peer.coef_, atol=1e-3)


def test_two_classes_are_the_two_class_machine_of_twice_the_penalty(seed):
    """f_1 = -f_0 and w = 2 W_1, so 1/2 |W|^2 = 1/4 |w|^2."""
    problem, X = make_problem(seed, n=60, n_classes=2)
    codes = make_codes(seed, len(X))
    joint = solve(problem, codes, **TIGHT)
    single = solve_codes(
        with_bounds(problem, 2 * problem.bounds), *codes, options=SolverOptions(**TIGHT)
    )
    assert joint.certificates[0].primal == pytest.approx(
        single.certificates[0].primal / 2, rel=1e-6
    )
    np.testing.assert_allclose(joint.coef[0], -joint.coef[1], atol=1e-10)
    np.testing.assert_allclose(joint.coef[1] - joint.coef[0], single.coef[0], atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_iter", [1, 2, 7, 1000])
def test_certificate_is_true_wherever_the_solver_stops(dtype, max_iter, seed):
    problem, X = make_problem(seed, n=80, d=5, n_classes=4, dtype=dtype)
    codes = make_codes(seed, len(X), dtype=dtype)
    solution = solve(problem, codes, tol=1e-12, max_iter=max_iter)
    certificate, alpha = solution.certificates[0], solution.duals
    y, expanded = problem.class_index, expand(X, codes)
    caps = np.where(np.arange(4)[:, None] == y, problem.bounds, 0.0)
    assert (alpha <= caps).all()
    np.testing.assert_allclose(alpha.sum(axis=0), 0, atol=1e-12)
    W = alpha @ expanded
    np.testing.assert_allclose(weights(solution), W, rtol=1e-9, atol=1e-12)
    primal = crammer_singer.objective(W, expanded, y, problem.bounds)
    dual = crammer_singer.dual_objective(alpha, expanded, y)
    assert certificate.primal == pytest.approx(primal, rel=1e-12)
    assert certificate.dual == pytest.approx(dual, rel=1e-9)
    assert certificate.primal >= certificate.dual
    assert certificate.n_iter <= max_iter


def test_solution_satisfies_the_optimality_conditions(seed):
    """A class that pays for a row is one of those that the row ranks highest."""
    problem, X = make_problem(seed, n=100, d=5, n_classes=5)
    solution = solve(problem, tol=1e-10, max_iter=1_000_000)
    present = problem.bounds > 0
    y, alpha = problem.class_index, solution.duals
    wrong = np.arange(5)[:, None] != y
    score = weights(solution) @ linear_svm.with_bias(X, 1.0).T + wrong
    below = score.max(axis=0) - score
    assert below[wrong & (alpha < -1e-3)].max() < 1e-2
    own = alpha[y, np.arange(len(y))]
    free = present & (own < problem.bounds - 1e-3)
    assert below[y, np.arange(len(y))][free].max() < 1e-2
    assert (own[present & (below[y, np.arange(len(y))] > 1e-2)] > 1e-3).all()


def test_weight_two_is_the_row_twice_and_weight_zero_its_absence(seed):
    problem, X = make_problem(seed, n=40)
    nodes, coefficients, n_nodes = make_codes(seed, len(X))
    count = np.random.default_rng(seed).integers(0, 3, len(X))
    weighted = solve(
        with_bounds(problem, 0.5 * count), (nodes, coefficients, n_nodes), **TIGHT
    )
    rows = np.repeat(np.arange(len(X)), count)
    repeated = solve(
        LinearProblem(X[rows], problem.class_index[rows], 3, np.full(len(rows), 0.5)),
        (nodes[rows], coefficients[rows], n_nodes),
        **TIGHT,
    )
    primal = repeated.certificates[0].primal
    assert weighted.certificates[0].primal == pytest.approx(primal, rel=1e-7)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-3)
    assert not weighted.duals[:, count == 0].any()


def test_all_weights_zero_give_the_zero_machine():
    problem, _ = make_problem(0)
    solution = solve(with_bounds(problem, np.zeros(25)))
    assert solution.count(Status.converged) == 1
    assert not solution.coef.any()


def test_rows_of_zeros_without_intercept_cost_their_bound():
    y = np.array([0, 1, 2, 2], dtype=np.int32)
    problem = LinearProblem(np.zeros((4, 2)), y, 3, np.arange(1.0, 5.0), 0.0)
    solution = solve(problem, **TIGHT)
    assert solution.certificates[0].primal == pytest.approx(10.0)
    assert solution.certificates[0].dual == pytest.approx(10.0)


def test_sparse_rows_give_what_dense_rows_give(seed):
    solutions = []
    for storage in ("dense", "csr_int32"):
        problem, X = make_problem(seed, n=100, d=20, n_classes=4, storage=storage)
        solutions.append(solve(problem, make_codes(seed, len(X)), **TIGHT))
    np.testing.assert_allclose(solutions[0].coef, solutions[1].coef, atol=1e-3)
    dense, csr = (solution.certificates[0].primal for solution in solutions)
    assert dense == pytest.approx(csr, rel=1e-7)


def test_float32_reaches_the_float64_objective(seed):
    narrow, X = make_problem(seed, n=300, d=30, n_classes=4, dtype=np.float32)
    wide = LinearProblem(X, narrow.class_index, 4, narrow.bounds)
    nodes, coefficients, n_nodes = make_codes(seed, len(X), dtype=np.float32)
    ours = solve(narrow, (nodes, coefficients, n_nodes), tol=1e-4, max_iter=100_000)
    exact = solve(wide, (nodes, coefficients.astype(np.float64), n_nodes), **TIGHT)
    assert ours.certificates[0].status == Status.converged
    assert ours.certificates[0].primal == pytest.approx(
        exact.certificates[0].primal, rel=2e-4
    )


def test_warm_start_from_the_solution_is_immediate(seed):
    problem, X = make_problem(seed, n=100)
    codes = make_codes(seed, len(X))
    first = solve(problem, codes, tol=1e-6, max_iter=100_000)
    again = solve(problem, codes, first.duals, tol=2e-6, max_iter=100_000)
    assert first.n_iter > 10
    assert again.n_iter <= 2
    np.testing.assert_allclose(again.coef, first.coef, rtol=1e-2, atol=1e-3)


def test_warm_start_is_made_feasible_and_not_overwritten(seed):
    problem, X = make_problem(seed)
    start = np.random.default_rng(seed).uniform(-1e3, 1e3, (3, len(X)))
    kept = start.copy()
    halted = solve(problem, duals=start, max_iter=0)
    np.testing.assert_array_equal(start, kept)
    caps = np.where(np.arange(3)[:, None] == problem.class_index, problem.bounds, 0.0)
    assert (halted.duals <= caps).all()
    np.testing.assert_allclose(halted.duals.sum(axis=0), 0, atol=1e-12)
    solved = solve(problem, duals=start, **TIGHT).certificates[0].primal
    assert solved == pytest.approx(
        solve(problem, **TIGHT).certificates[0].primal, rel=1e-7
    )


def test_the_seed_decides_the_path():
    problem, X = make_problem(0, n=100)
    codes = make_codes(0, len(X))
    first, again, other = (solve(problem, codes, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.duals, again.duals)
    np.testing.assert_array_equal(first.coef, again.coef)
    assert (first.duals != other.duals).any()


def long_problem():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 20_000).astype(np.int32)
    return LinearProblem(
        rng.standard_normal((20_000, 50)), y, 5, np.full(20_000, 100.0)
    )


def test_time_limit_returns_a_true_certificate():
    problem = long_problem()
    solution = solve(problem, tol=1e-12, max_iter=10**9, max_time=0.2)
    certificate = solution.certificates[0]
    assert certificate.status == Status.max_time
    biased = linear_svm.with_bias(problem.X, 1.0)
    assert certificate.primal == pytest.approx(
        crammer_singer.objective(
            weights(solution), biased, problem.class_index, problem.bounds
        ),
        rel=1e-9,
    )


def test_an_event_cancels():
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(InterruptedError):
        solve(long_problem(), tol=1e-12, max_iter=10**9, cancel=cancel)


def test_overflowing_rows_are_reported():
    problem, X = make_problem(0)
    huge = LinearProblem(X * 1e200, problem.class_index, 3, problem.bounds)
    assert solve(huge, max_iter=20).count(Status.not_finite) == 1


def test_other_losses_are_refused():
    problem, _ = make_problem(0)
    with pytest.raises(ValueError, match=r"loss must be 'hinge'.*'squared_hinge'"):
        solve(problem, loss="squared_hinge")

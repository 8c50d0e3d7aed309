"""Newton's method for the squared hinge against an optimiser of the explicit dual."""

import numpy as np
import pytest

from localsvm.solvers import (
    LinearProblem,
    SolverOptions,
    Status,
    solve_blocks,
    solve_codes,
)
from oracles import linear_svm

N, D, K = 120, 3, 5


def make_problem(seed, dtype=np.float64, n_classes=2):
    """Rows of weights 0 to 2, their regions and codes; sizes that Newton takes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)).astype(dtype)
    y = (X[:, 0] + 0.7 * rng.standard_normal(N) > 0).astype(np.int32)
    if n_classes > 2:
        y = rng.integers(0, n_classes, N).astype(np.int32)
    bounds = 3.0 * rng.integers(0, 3, N)
    problem = LinearProblem(X, y, n_classes, bounds, 1.0)
    nodes = np.array([rng.permutation(K)[:3] for _ in range(N)], dtype=np.int32)
    weights = rng.uniform(0, 1, (N, 3)).astype(dtype)
    weights[:, 2] *= rng.uniform(size=N) > 0.5
    return problem, rng.integers(0, K, N), nodes, weights


def options(**changes):
    return SolverOptions(loss="squared_hinge", **{"tol": 1e-9, **changes})


def optimum(problem, codes, positive=1):
    """Weights of all nodes, of shape (n_nodes, D + 1), and the objective."""
    sign = np.where(problem.class_index == positive, 1.0, -1.0)
    rows = linear_svm.with_bias(problem.X.astype(np.float64), 1.0)
    w, value = linear_svm.solve(
        linear_svm.expand(rows, codes), sign, problem.bounds, "squared_hinge"
    )
    return w.reshape(-1, D + 1), value


def found(solution, task=0):
    return np.column_stack([solution.coef[task], solution.intercept[task]])


@pytest.mark.parametrize("global_reg", [0.1, 1.0, 30.0])
def test_regions_reach_the_optimum_in_few_steps(global_reg, seed):
    problem, region, _, _ = make_problem(seed)
    solution = solve_blocks(
        problem, region, K, coupling=1 / global_reg, options=options()
    )
    codes = linear_svm.coupled_codes(region, K, global_reg)
    w, value = optimum(problem, codes)
    w[-1] /= np.sqrt(global_reg)
    certificate = solution.certificates[0]
    assert certificate.status == Status.converged
    assert certificate.n_iter <= 20
    assert certificate.primal == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(found(solution), w, atol=1e-3)
    assert (solution.duals[0][problem.bounds == 0] == 0).all()


def test_codes_of_several_classes_reach_the_optimum(seed):
    problem, _, nodes, weights = make_problem(seed, n_classes=3)
    solution = solve_codes(problem, nodes, weights, K, options=options())
    codes = np.zeros((N, K))
    np.put_along_axis(codes, nodes.astype(np.intp), weights, axis=1)
    for task, certificate in enumerate(solution.certificates):
        w, value = optimum(problem, codes, positive=task)
        assert certificate.status == Status.converged
        assert certificate.primal == pytest.approx(value, rel=1e-7)
        np.testing.assert_allclose(found(solution, task), w, atol=1e-3)


def test_an_infinite_penalty_leaves_independent_regions(seed):
    problem, region, _, _ = make_problem(seed)
    solution = solve_blocks(problem, region, K, coupling=0, options=options())
    for each in range(K):
        own = np.where(region == each, problem.bounds, 0.0)
        alone = LinearProblem(problem.X, problem.class_index, 2, own, 1.0)
        w, _ = optimum(alone, np.ones((N, 1)))
        np.testing.assert_allclose(found(solution)[each], w[0], atol=1e-3)


def test_duals_are_those_of_the_margins(seed):
    problem, region, _, _ = make_problem(seed)
    solution = solve_blocks(problem, region, K, coupling=1.0, options=options())
    w = found(solution)
    rows = linear_svm.with_bias(problem.X, 1.0)
    sign = np.where(problem.class_index == 1, 1.0, -1.0)
    margin = sign * np.einsum("ij,ij->i", rows, w[region] + w[-1])
    duals = 2 * problem.bounds * np.maximum(0, 1 - margin)
    np.testing.assert_allclose(solution.duals[0], duals, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_a_bit(dtype):
    rng = np.random.default_rng(0)
    n, k = 6000, 30
    X = rng.standard_normal((n, 8)).astype(dtype)
    y = (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(np.int32)
    problem = LinearProblem(X, y, 2, np.full(n, 2.0), 1.0)
    nodes = np.array([rng.permutation(k)[:3] for _ in range(n)], dtype=np.int32)
    weights = rng.uniform(0, 1, (n, 3)).astype(dtype)
    region = nodes[:, 0]

    def solve(n_threads):
        run = options(tol=1e-4, n_threads=n_threads)
        return (
            solve_blocks(problem, region, k, coupling=1.0, options=run),
            solve_codes(problem, nodes, weights, k, options=run),
        )

    for one, two, eight in zip(solve(1), solve(2), solve(8), strict=True):
        for other in (two, eight):
            np.testing.assert_array_equal(one.coef, other.coef)
            np.testing.assert_array_equal(one.duals, other.duals)


def test_a_start_for_another_penalty_saves_steps():
    problem, region, _, _ = make_problem(0)
    cold = solve_blocks(problem, region, K, coupling=1.0, options=options(tol=1e-6))
    more = LinearProblem(problem.X, problem.class_index, 2, 2 * problem.bounds, 1.0)
    run = options(tol=1e-6)
    warm = solve_blocks(
        more, region, K, coupling=1.0, options=run, duals=2 * cold.duals
    )
    fresh = solve_blocks(more, region, K, coupling=1.0, options=run)
    assert warm.n_iter < fresh.n_iter
    assert warm.certificates[0].primal == pytest.approx(
        fresh.certificates[0].primal, rel=1e-6
    )

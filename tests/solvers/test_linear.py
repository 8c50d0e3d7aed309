import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.svm import LinearSVC

from conftest import store
from examples import examples
from localsvm.solvers import (
    LinearProblem,
    RowSubsets,
    SolverOptions,
    Status,
    solve_blocks,
    solve_codes,
    solve_overlapping,
)
from oracles import linear_svm

TIGHT = {"tol": 1e-9, "max_iter": 1_000_000}
LOSSES = ["hinge", "squared_hinge"]


def make_problem(seed, n=50, d=6, dtype=np.float64, n_classes=2, storage="dense"):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    y = rng.integers(0, n_classes, n).astype(np.int32)
    X[:, 0] += y
    bounds = rng.uniform(0.1, 3.0, n) * (rng.random(n) < 0.9)
    X = X.astype(dtype)
    problem = LinearProblem(store(X, storage), y, n_classes, bounds)
    return problem, X.astype(np.float64)


def signs(problem, task=0):
    positive = 1 if problem.n_classes == 2 else task
    return np.where(problem.class_index == positive, 1.0, -1.0)


def single(problem, **options):
    region = np.zeros(problem.X.shape[0], dtype=np.intp)
    return solve_blocks(
        problem, region, 1, coupling=0, options=SolverOptions(**options)
    )


def weights(solution, task=0):
    """Node vectors with the weight of the constant column."""
    return np.hstack([solution.coef[task], solution.intercept[task][:, None]])


@pytest.mark.parametrize("loss", LOSSES)
def test_one_problem_matches_quadratic_programme(loss, storage, seed):
    problem, X = make_problem(seed, storage=storage)
    solution = single(problem, loss=loss, **TIGHT)
    biased = linear_svm.with_bias(X, 1.0)
    w, best = linear_svm.solve(biased, signs(problem), problem.bounds, loss)
    certificate = solution.certificates[0]
    assert certificate.status == Status.converged
    assert certificate.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(weights(solution)[0], w, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_problem_matches_liblinear(loss, n_classes, seed):
    problem, X = make_problem(seed, n=200, n_classes=n_classes)
    ours = single(problem, loss=loss, **TIGHT)
    peer = LinearSVC(
        loss=loss, dual=True, intercept_scaling=1, tol=1e-10, max_iter=1_000_000
    ).fit(X, problem.class_index, sample_weight=problem.bounds)
    biased = linear_svm.with_bias(X, 1.0)
    for task in range(problem.n_tasks):
        w = np.append(peer.coef_[task], peer.intercept_[task])
        theirs = linear_svm.objective(
            w, biased, signs(problem, task), problem.bounds, loss
        )
        assert ours.certificates[task].primal == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_iter", [1, 2, 7, 1000])
def test_certificate_is_true_wherever_the_solver_stops(loss, dtype, max_iter, seed):
    problem, X = make_problem(seed, dtype=dtype)
    solution = single(problem, loss=loss, tol=1e-12, max_iter=max_iter)
    certificate, sign = solution.certificates[0], signs(problem)
    alpha, biased = solution.duals[0], linear_svm.with_bias(X, 1.0)
    pull = biased.T @ (alpha * sign)
    w = weights(solution)[0]
    # The squared hinge is solved by Newton's method, whose weights are not the duals'.
    if loss == "hinge":
        np.testing.assert_allclose(w, pull, rtol=1e-9, atol=1e-12)
    primal = linear_svm.objective(w, biased, sign, problem.bounds, loss)
    used = problem.bounds > 0
    ridge = (
        0 if loss == "hinge" else (alpha[used] ** 2 / problem.bounds[used]).sum() / 4
    )
    assert certificate.primal == pytest.approx(primal, rel=1e-12)
    dual = alpha.sum() - pull @ pull / 2 - ridge
    assert certificate.dual == pytest.approx(dual, rel=1e-9, abs=1e-12 * primal)
    assert certificate.primal >= certificate.dual * (1 - 1e-12)
    assert certificate.n_iter <= max_iter
    assert (alpha >= 0).all()
    if loss == "hinge":
        assert (alpha <= problem.bounds).all()
    assert (alpha[problem.bounds == 0] == 0).all()


@given(
    n=st.integers(1, 40),
    d=st.integers(1, 40),
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    loss=st.sampled_from(LOSSES),
)
@examples(60)
def test_weak_duality_on_random_problems(n, d, seed, scale, loss):
    problem, X = make_problem(seed, n=n, d=d)
    problem = LinearProblem(
        np.ascontiguousarray(X * scale), problem.class_index, 2, problem.bounds
    )
    certificate = single(problem, loss=loss, tol=1e-6, max_iter=200).certificates[0]
    assert certificate.primal >= certificate.dual - 1e-12 * abs(certificate.primal)


@pytest.mark.parametrize("global_reg", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_coupled_regions_match_the_explicit_expansion(global_reg, loss, storage, seed):
    problem, X = make_problem(seed, storage=storage)
    region = np.random.default_rng(seed).integers(0, 4, len(X))
    solution = solve_blocks(
        problem,
        region,
        5,
        coupling=1 / global_reg,
        options=SolverOptions(loss=loss, **TIGHT),
    )
    codes = linear_svm.coupled_codes(region, 5, global_reg)
    expanded = linear_svm.expand(linear_svm.with_bias(X, 1.0), codes)
    w, best = linear_svm.solve(expanded, signs(problem), problem.bounds, loss)
    assert solution.certificates[0].primal == pytest.approx(best, rel=1e-6)
    expected = w.reshape(6, -1)
    expected[-1] /= np.sqrt(global_reg)
    np.testing.assert_allclose(weights(solution), expected, atol=1e-4)


@pytest.mark.parametrize("max_iter", [3, 1000])
def test_global_vector_satisfies_equation_12(max_iter, seed):
    problem, X = make_problem(seed)
    region = np.random.default_rng(seed).integers(0, 4, len(X))
    solution = solve_blocks(
        problem, region, 4, coupling=1 / 3.0, options=SolverOptions(max_iter=max_iter)
    )
    nodes = weights(solution)
    w, w_l = nodes[-1], nodes[:-1] + nodes[-1]
    np.testing.assert_allclose(w, w_l.sum(axis=0) / (3.0 + 4), rtol=0, atol=1e-8)


def test_infinite_global_reg_is_independent_svms(seed):
    problem, X = make_problem(seed)
    region = np.random.default_rng(seed).integers(0, 3, len(X))
    independent = solve_blocks(
        problem, region, 3, coupling=0, options=SolverOptions(**TIGHT)
    )
    assert not independent.coef[0, -1].any()
    assert len(independent.certificates) == 3
    nearly = solve_blocks(
        problem, region, 3, coupling=1e-9, options=SolverOptions(**TIGHT)
    )
    np.testing.assert_allclose(nearly.coef, independent.coef, atol=1e-4)
    for part in range(3):
        member = region == part
        w, best = linear_svm.solve(
            linear_svm.with_bias(X[member], 1.0),
            signs(problem)[member],
            problem.bounds[member],
        )
        assert independent.certificates[part].primal == pytest.approx(best, rel=1e-6)
        np.testing.assert_allclose(weights(independent)[part], w, atol=1e-4)


def test_vanishing_global_reg_with_scaled_penalty_is_the_global_svm():
    problem, X = make_problem(0)
    region = np.random.default_rng(0).integers(0, 3, len(X))
    w, _ = linear_svm.solve(
        linear_svm.with_bias(X, 1.0), signs(problem), problem.bounds
    )
    errors = []
    for global_reg in (1e-1, 1e-2, 1e-3):
        scaled = LinearProblem(
            problem.X, problem.class_index, 2, global_reg * problem.bounds
        )
        solution = solve_blocks(
            scaled, region, 3, coupling=1 / global_reg, options=SolverOptions(**TIGHT)
        )
        w_l = weights(solution)[:-1] + weights(solution)[-1]
        errors.append(np.abs(w_l - w).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.02 * np.abs(w).max()


def test_one_region_is_a_linear_svm_with_scaled_penalty(seed):
    """k = 1: lambda/2 |w|^2 + 1/2 |v|^2 is a penalty of 1/(1 + 1/lambda) on w + v."""
    problem, _ = make_problem(seed)
    region = np.zeros(problem.X.shape[0], dtype=np.intp)
    coupled = solve_blocks(
        problem, region, 1, coupling=0.5, options=SolverOptions(**TIGHT)
    )
    stronger = LinearProblem(problem.X, problem.class_index, 2, 1.5 * problem.bounds)
    plain = single(stronger, **TIGHT)
    np.testing.assert_allclose(
        weights(coupled)[0] + weights(coupled)[1], weights(plain)[0], atol=1e-5
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_codes_match_the_explicit_expansion(loss, storage, seed):
    problem, X = make_problem(seed, storage=storage)
    rng = np.random.default_rng(seed)
    nodes = np.array([rng.permutation(6)[:3] for _ in X], dtype=np.int32)
    coefficients = rng.uniform(-1, 1, nodes.shape)
    coefficients[0, 0] = 0
    solution = solve_codes(
        problem, nodes, coefficients, 6, options=SolverOptions(loss=loss, **TIGHT)
    )
    codes = np.zeros((len(X), 6))
    np.put_along_axis(codes, nodes.astype(np.intp), coefficients, axis=1)
    expanded = linear_svm.expand(linear_svm.with_bias(X, 1.0), codes)
    w, best = linear_svm.solve(expanded, signs(problem), problem.bounds, loss)
    assert solution.certificates[0].primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(weights(solution), w.reshape(6, -1), atol=1e-4)


def test_float32_reaches_the_float64_objective(seed):
    wide, X = make_problem(seed, n=300, d=40)
    X32 = X.astype(np.float32)
    narrow = LinearProblem(X32, wide.class_index, 2, wide.bounds)
    wide = LinearProblem(X32.astype(np.float64), wide.class_index, 2, wide.bounds)
    ours = single(narrow, tol=1e-4, max_iter=100_000).certificates[0]
    exact = single(wide, tol=1e-9, max_iter=1_000_000).certificates[0]
    assert ours.status == Status.converged
    assert ours.primal == pytest.approx(exact.primal, rel=2e-4)


def test_more_passes_in_float32_do_not_widen_the_gap(seed):
    """Without rebuilt weights it grows with the passes; near 1e-6 it is noise."""
    problem, _ = make_problem(seed, n=200, dtype=np.float32)
    gaps = [
        single(problem, tol=0.0, max_iter=passes).worst_gap for passes in (500, 8000)
    ]
    assert gaps[1] <= max(gaps[0], 1e-6)


def test_warm_start_from_the_solution_is_immediate(seed):
    problem, X = make_problem(seed)
    region = np.random.default_rng(seed).integers(0, 3, len(X))
    options = SolverOptions(tol=1e-6, max_iter=100_000)
    first = solve_blocks(problem, region, 3, coupling=1.0, options=options)
    again = solve_blocks(
        problem, region, 3, coupling=1.0, options=options, duals=first.duals
    )
    assert first.n_iter > 2
    assert again.n_iter == 1
    np.testing.assert_allclose(again.coef, first.coef, rtol=1e-2, atol=1e-4)


def test_warm_start_is_clipped_to_the_bounds_and_not_overwritten():
    problem, _ = make_problem(0)
    start = np.full((1, problem.X.shape[0]), 1e6)
    region = np.zeros(problem.X.shape[0], dtype=np.intp)
    solution = solve_blocks(
        problem, region, 1, coupling=0, options=SolverOptions(), duals=start
    )
    assert (solution.duals <= problem.bounds).all()
    assert (start == 1e6).all()


@pytest.mark.parametrize("coupling", [0.0, 1.0])
def test_threads_do_not_change_a_bit(coupling):
    problem, X = make_problem(3, n=400, n_classes=5)
    region = np.random.default_rng(3).integers(0, 7, len(X))
    serial, parallel = (
        solve_blocks(
            problem,
            region,
            7,
            coupling=coupling,
            options=SolverOptions(n_threads=n_threads),
        )
        for n_threads in (1, 4)
    )
    np.testing.assert_array_equal(serial.coef, parallel.coef)
    np.testing.assert_array_equal(serial.duals, parallel.duals)


def test_rows_are_read_in_place(tmp_path):
    """A read-only memory map is enough, and nothing of its size is allocated."""
    import tracemalloc

    path = tmp_path / "rows.npy"
    rng = np.random.default_rng(0)
    np.save(path, rng.standard_normal((20_000, 200)).astype(np.float32))
    X = np.load(path, mmap_mode="r")
    y = (rng.random(20_000) < 0.5).astype(np.int32)
    problem = LinearProblem(X, y, 2, np.full(20_000, 1e-3))
    tracemalloc.start()
    single(problem, max_iter=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * X.nbytes


def test_time_limit_returns_a_true_certificate():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 50))
    y = rng.integers(0, 2, 20_000).astype(np.int32)
    problem = LinearProblem(X, y, 2, np.full(20_000, 100.0))
    solution = single(problem, tol=1e-12, max_iter=10**9, max_time=0.2)
    certificate = solution.certificates[0]
    assert certificate.status == Status.max_time
    w = weights(solution)[0]
    assert certificate.primal == pytest.approx(
        linear_svm.objective(
            w, linear_svm.with_bias(X, 1.0), signs(problem), problem.bounds, "hinge"
        ),
        rel=1e-9,
    )


def test_overflowing_rows_are_reported():
    problem, X = make_problem(0)
    huge = LinearProblem(X * 1e200, problem.class_index, 2, problem.bounds)
    solution = single(huge, max_iter=20)
    assert solution.count(Status.not_finite) == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_overlapping_subsets_match_quadratic_programmes(n_classes, storage, seed):
    problem, X = make_problem(seed, n_classes=n_classes, storage=storage)
    shares = np.random.default_rng(seed).random((len(X), 3))
    seen = shares > 0.4
    subset, rows = np.nonzero(seen.T)
    subsets = RowSubsets(
        np.searchsorted(subset, np.arange(4)).astype(np.int64),
        rows.astype(np.int64),
        2 * shares[rows, subset],
    )
    solution = solve_overlapping(
        problem, subsets, (X**2).sum(axis=1), options=SolverOptions(**TIGHT)
    )
    assert solution.duals.shape == (problem.n_tasks, len(rows))
    biased = linear_svm.with_bias(X, 1.0)
    for task in range(problem.n_tasks):
        for j in range(3):
            bounds = np.where(seen[:, j], 2 * shares[:, j], 0)
            expected, primal = linear_svm.solve(biased, signs(problem, task), bounds)
            found = weights(solution, task)[j]
            np.testing.assert_allclose(found, expected, atol=1e-3)
            certificate = solution.certificates[task * 3 + j]
            assert certificate.primal == pytest.approx(primal, rel=1e-6)

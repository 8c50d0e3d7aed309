"""Linear SVMs on blocks of coded rows, of which few are at hand at once."""

import numpy as np
import pytest
from scipy import sparse

from conftest import store
from localsvm import _core
from localsvm.solvers import (
    CodedRows,
    CodedTask,
    LinearProblem,
    SelectiveDescent,
    SolverOptions,
    solve_codes,
    solve_codes_jointly,
)

N_NODES, BIAS = 4, 0.7


def make_problem(seed=0, n=240, n_classes=2, storage="dense", dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)).astype(dtype)
    score = X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    nodes = np.stack([rng.permutation(N_NODES)[:2] for _ in range(n)])
    bounds = rng.uniform(0.2, 1.0, n) * (rng.random(n) > 0.1)
    return CodedRows(
        store(X, storage),
        np.searchsorted(edges, score).astype(np.int32),
        bounds,
        nodes.astype(np.int32),
        rng.uniform(0.3, 1.0, (n, 2)).astype(dtype),
    )


def whole_solution(rows, task, tol=1e-9):
    labels = task.labels(rows)
    n_classes = task.n_classes if task.is_joint else 2
    problem = LinearProblem(rows.X, labels, n_classes, rows.bounds, BIAS)
    options = SolverOptions(loss=task.loss, tol=tol, max_iter=100_000)
    solve = solve_codes_jointly if task.is_joint else solve_codes
    return solve(problem, rows.nodes, rows.weights, N_NODES, options=options)


def objectives(rows, task, vectors, duals):
    wide = CodedRows(
        rows.X.astype(np.float64),
        rows.class_index,
        rows.bounds,
        rows.nodes,
        rows.weights.astype(np.float64),
    )
    terms = task.compare(wide, task.decide(wide, vectors), duals)
    penalty = 0.5 * np.vdot(vectors, vectors)
    assert (terms.gap > -1e-6).all()
    np.testing.assert_allclose(terms.product.sum(), 2 * penalty, atol=1e-5)
    return penalty + terms.loss.sum(), terms.linear.sum() - penalty


def descend(rows, task, *, size=40, capacity=25, tol=1e-6, passes=300, seed=0):
    """Passes until the gap is small; the vectors, the duals and the objectives."""
    vectors = np.zeros((N_NODES, task.n_vectors, rows.X.shape[1] + 1))
    duals = np.zeros((task.n_vectors, rows.n_rows))
    history = [(np.inf, 0.0)]
    blocks = [slice(at, at + size) for at in range(0, rows.n_rows, size)]
    for number in range(passes):
        options = SolverOptions(loss=task.loss, tol=tol, seed=seed + number)
        descent = SelectiveDescent(
            task, vectors, duals, capacity, history[-1][0], options
        )
        for block in blocks:
            descent.look(rows.take(np.arange(rows.n_rows)[block]), block.start)
        descent.finish()
        vectors = descent.vectors
        history.append(objectives(rows, task, vectors, duals))
        if history[-1][0] - history[-1][1] <= tol * history[-1][0]:
            return vectors, duals, history
    raise AssertionError(f"not solved: {history[-1]}")


TASKS = [
    CodedTask(2, 1, N_NODES, BIAS),
    CodedTask(2, 1, N_NODES, BIAS, "squared_hinge"),
    CodedTask(3, 1, N_NODES, BIAS),
    CodedTask(3, None, N_NODES, BIAS),
]


@pytest.mark.parametrize("task", TASKS, ids=str)
@pytest.mark.parametrize("storage", ["dense", "csr_int32"])
def test_solution_is_that_of_all_rows_at_once(task, storage):
    rows = make_problem(n_classes=task.n_classes, storage=storage)
    solution = whole_solution(rows, task)
    vectors, duals, history = descend(rows, task)
    np.testing.assert_allclose(
        vectors[:, :, :-1].swapaxes(0, 1), solution.coef, atol=0.03
    )
    assert len(history) > 3
    best = solution.certificates[0]
    assert history[-1][0] == pytest.approx(best.primal, rel=2e-6)
    assert not duals[:, rows.bounds == 0].any()


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_dual_never_falls(task):
    rows = make_problem(1, n_classes=task.n_classes)
    dual = np.array(descend(rows, task)[2])[:, 1]
    assert (np.diff(dual) >= -1e-9 * dual.max()).all()


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_vectors_are_what_the_duals_define(task):
    rows = make_problem(2, n_classes=task.n_classes)
    vectors, duals, _ = descend(rows, task, tol=1e-3)
    np.testing.assert_allclose(vectors, task.weigh(rows, duals), atol=1e-10)


def test_rows_that_fit_into_one_solve_need_one_pass():
    rows = make_problem(3)
    _, _, history = descend(rows, TASKS[0], capacity=1000)
    assert len(history) == 2


def test_float32_rows_reach_the_tolerance():
    rows = make_problem(4, dtype=np.float32)
    _, _, history = descend(rows, TASKS[0], tol=1e-5)
    best = whole_solution(rows, TASKS[0], 1e-6).certificates[0]
    assert history[-1][0] == pytest.approx(best.primal, rel=3e-5)


def test_weights_of_duals_are_the_sums():
    rows = make_problem(5, n=30)
    duals = np.random.default_rng(0).random((1, 30))
    sign = np.where(rows.class_index == 1, 1.0, -1.0)
    wide = np.c_[rows.X, np.full(30, BIAS)]
    expected = np.zeros((N_NODES, 1, 4))
    for i in range(30):
        for node, weight in zip(rows.nodes[i], rows.weights[i], strict=True):
            expected[node, 0] += duals[0, i] * sign[i] * weight * wide[i]
    np.testing.assert_allclose(TASKS[0].weigh(rows, duals), expected)
    csr = CodedRows(
        sparse.csr_array(rows.X),
        rows.class_index,
        rows.bounds,
        rows.nodes,
        rows.weights,
    )
    np.testing.assert_allclose(TASKS[0].weigh(csr, duals), expected)


def test_arrays_that_do_not_fit_are_refused():
    rows = make_problem(6, n=30)
    with pytest.raises(ValueError, match="signed_duals needs the shape"):
        TASKS[3].weigh(rows, np.zeros((3, 29)))
    with pytest.raises(ValueError, match="prior needs the shape of nodes"):
        _core.solve_codes(
            _core.DenseFloat64(rows.X),
            _core.LinearTask(
                labels=rows.class_index,
                bounds=rows.bounds,
                first_positive=1,
                bias=BIAS,
                duals=np.zeros((1, 30)),
                nodes=np.zeros((1, N_NODES, 4)),
                prior=np.zeros((1, N_NODES, 3)),
            ),
            rows.nodes,
            rows.weights,
            SolverOptions().to_core(),
        )

"""Linear SVMs over blocks, as any method may use them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from localsvm._clock import StageClock
from localsvm.engine import Batches, MemoryStore, options
from localsvm.engine._open import open_blocks
from localsvm.passes._linear_problem import BlockProblem
from localsvm.passes._linear_solver import BlockSolver, solve_together
from localsvm.solvers import CodedRows, CodedTask, SolverOptions

N_ROWS, N_MACHINES, BLOCK_ROWS = 240, 3, 50


class Method:
    n_jobs = 2

    def get_params(self):
        return {}


@dataclass(frozen=True)
class Copies:
    """Every row once per machine, each with a bound of its own."""

    X: np.ndarray
    y: np.ndarray
    bounds: np.ndarray

    def __call__(self, number):
        own = slice(number * BLOCK_ROWS, (number + 1) * BLOCK_ROWS)
        bounds = self.bounds[own]
        n = len(bounds)
        nodes = np.repeat(np.arange(N_MACHINES, dtype=np.int32), n)[:, None]
        return CodedRows(
            np.tile(self.X[own], (N_MACHINES, 1)),
            np.tile(self.y[own], N_MACHINES),
            bounds.T.ravel(),
            nodes,
            np.ones(nodes.shape, self.X.dtype),
        )


def make_copies(seed=0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, 4))
    y = (X[:, 0] + np.sin(2 * X[:, 1]) > 0).astype(np.int32)
    bounds = 0.2 * np.random.default_rng(seed).dirichlet(np.ones(N_MACHINES), N_ROWS)
    return Copies(X, y, bounds)


def make_problem(store, read, *, loss="hinge", positive=1, tol=1e-6):
    sizes = np.full(-(-N_ROWS // BLOCK_ROWS), BLOCK_ROWS * N_MACHINES)
    sizes[-1] = N_ROWS % BLOCK_ROWS * N_MACHINES
    return BlockProblem(
        store=store,
        name="solve",
        read=read,
        tasks=(CodedTask(2, positive, N_MACHINES, 1.0, loss),),
        sizes=sizes,
        n_features=4,
        capacity=60,
        options=SolverOptions(loss=loss, tol=tol, max_iter=1000, seed=3),
    )


@pytest.fixture
def rows():
    copies = make_copies()
    batches = Batches.of(copies.X, copies.y, rows=BLOCK_ROWS)
    with options(), open_blocks(Method(), batches, None, None) as rows:
        yield rows


def solve(rows, problem, start=None, **limits):
    return BlockSolver(rows, problem, StageClock(), **limits).run(start)


def test_several_machines_with_bounds_of_their_own(rows):
    read = make_copies()
    solution = solve(rows, make_problem(rows.store, read))
    assert solution.worst_gap <= 1e-6
    for machine in range(N_MACHINES):
        expected = LinearSVC(
            loss="hinge", tol=1e-9, max_iter=10**6, random_state=0
        ).fit(read.X, read.y, read.bounds[:, machine])
        found = solution.vectors(0)[machine, 0]
        np.testing.assert_allclose(found[:-1], expected.coef_[0], atol=5e-3)
        np.testing.assert_allclose(found[-1], expected.intercept_[0], atol=5e-3)


@pytest.mark.parametrize(
    ("loss", "positive"), [("hinge", 1), ("squared_hinge", 1), ("hinge", None)]
)
def test_start_from_the_duals_of_a_similar_problem(rows, loss, positive):
    problem = make_problem(
        rows.store, make_copies(), loss=loss, positive=positive, tol=1e-4
    )
    before = solve(rows, problem)
    # The same bounds: nothing is left to do.
    again = solve(rows, replace(problem, name="again"), before.duals)
    assert before.n_iter > 1
    assert again.n_iter == 1
    # Other bounds: duals are put into them, and the weights are what they define.
    other = replace(problem, name="other", read=make_copies(seed=1))
    with_start = solve(rows, other, before.duals)
    anew = solve(rows, replace(other, name="anew"))
    assert with_start.worst_gap <= 1e-4
    np.testing.assert_allclose(
        with_start.states[0].primal, anew.states[0].primal, rtol=2e-4
    )


def test_weights_are_what_the_duals_define(rows):
    problem = make_problem(rows.store, make_copies())
    solution = solve(rows, problem)
    total = np.zeros(problem.shape(0))
    for number in problem.places:
        block = problem.read(number)
        duals = solution.duals(0, number)
        assert np.all((duals >= 0) & (duals <= block.bounds))
        total += problem.tasks[0].weigh(block, duals)
    np.testing.assert_allclose(solution.vectors(0), total, atol=1e-11)


def test_few_passes_and_files(rows):
    problem = make_problem(rows.store, make_copies(), tol=0.0)
    solution = solve(rows, problem, max_passes=2)
    assert solution.n_iter == 2
    solution.remove_files()
    assert not list(rows.folder.iterdir())


def test_problems_that_are_solved_together_are_those_solved_alone(rows):
    problem = make_problem(rows.store, make_copies(), tol=1e-4)
    before = solve(rows, problem)
    problems = [
        replace(problem, name="same"),
        replace(problem, name="other", read=make_copies(seed=1)),
        replace(problem, name="anew", read=make_copies(seed=1)),
    ]
    starts = [before.duals, before.duals, None]
    together = solve_together(
        [BlockSolver(rows, each, StageClock()) for each in problems], starts
    )
    for found, own, start in zip(together, problems, starts, strict=True):
        alone = solve(rows, replace(own, name=f"{own.name}-alone"), start)
        assert found.states == alone.states
        np.testing.assert_array_equal(found.vectors(0), alone.vectors(0))
    assert together[0].n_iter == 1 < together[2].n_iter


def test_a_store_in_memory_gives_the_same_bits(rows):
    read = make_copies()
    files = solve(rows, make_problem(rows.store, read, tol=1e-4))
    memory = solve(rows, make_problem(MemoryStore(), read, tol=1e-4))
    assert files.states == memory.states
    np.testing.assert_array_equal(files.vectors(0), memory.vectors(0))

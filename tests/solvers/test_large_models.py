import numpy as np
import pytest
from scipy import sparse

from localsvm.kernels import Kernel
from localsvm.solvers import _large_models, _local_models
from localsvm.solvers._large_models import LargeModel
from oracles.kernel_svm import one_vs_one
from oracles.local_models import make_models, pair_decisions

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=9.0),
    Kernel("poly", gamma=9.0, degree=2),
    Kernel("poly", gamma=9.0, degree=3, coef0=1.0),
    Kernel("laplace", gamma=9.0),
]
RBF = KERNELS[1]
CLASSES = {2: [(0, 1), (0, 1), (1,)], 4: [(0, 1, 2, 3), (1, 3), (2,)]}
NEVER = 10**9


@pytest.fixture
def set_limits(monkeypatch):
    """Set from how many support vectors and queries on a model is large."""

    def change(n_support, n_queries=1):
        monkeypatch.setattr(_local_models, "_LARGE_MODEL", n_support)
        monkeypatch.setattr(_local_models, "_MANY_QUERIES", n_queries)

    return change


@pytest.fixture
def seen(monkeypatch):
    """Numbers of support vectors and queries that went through matrix products."""
    calls = []
    decide = LargeModel.decide

    def record(self, kernel, X, prior, n_jobs):
        calls.append((len(self.support), len(X)))
        return decide(self, kernel, X, prior, n_jobs)

    monkeypatch.setattr(LargeModel, "decide", record)
    return calls


class Problem:
    """Rows, models, queries that are routed to all of them, and a prior."""

    def __init__(self, n_classes, seed=0, sizes=(40, 15, 0), n=90, dtype=np.float64):
        rng = np.random.default_rng(seed)
        self.n_classes = n_classes
        self.rows = rng.standard_normal((max(60, *sizes), 3)).astype(dtype)
        classes = CLASSES[n_classes]
        self.models = make_models(len(self.rows), sizes, classes, seed)
        self.X = rng.standard_normal((n, 3)).astype(dtype)
        self.route = rng.permutation(np.arange(n) % len(sizes))
        self.prior = rng.standard_normal((n, 1 if n_classes == 2 else n_classes))

    def decide(self, kernel=RBF, prior=None, n_threads=1, make=np.asarray):
        return self.models.decide(
            make(self.rows),
            kernel,
            self.n_classes,
            make(self.X),
            self.route,
            n_threads,
            prior,
        )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("limit", [1, 30])
def test_decisions_are_those_of_small_models(
    kernel, n_classes, with_prior, limit, set_limits, seen
):
    """At 1 both models with support vectors are large, at 30 one of them."""
    problem = Problem(n_classes)
    prior = problem.prior if with_prior else None
    set_limits(NEVER)
    expected = problem.decide(kernel, prior)
    assert not seen
    set_limits(limit)
    found = problem.decide(kernel, prior)
    assert seen == ([(40, 30), (15, 30)] if limit == 1 else [(40, 30)])
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert with_prior == (not np.allclose(found, problem.decide(kernel)))


def test_scores_are_votes_and_squeezed_sums(set_limits, seed):
    problem = Problem(4, seed)
    set_limits(1)
    found = problem.decide(Kernel("linear"))
    for model in (0, 1):
        rows = problem.route == model
        decisions = pair_decisions(
            problem.models, model, Kernel("linear"), problem.rows, problem.X[rows]
        )
        np.testing.assert_allclose(found[rows], one_vs_one(decisions, 4), atol=1e-10)


def test_absent_classes_have_the_score_of_none(set_limits):
    problem = Problem(4)
    set_limits(1)
    found = problem.decide(prior=problem.prior)
    np.testing.assert_array_equal(found[problem.route == 1][:, [0, 2]], -1)
    assert (found[problem.route == 1][:, [1, 3]] > -0.5).all()
    np.testing.assert_array_equal(
        found[problem.route == 2], np.tile([-1, -1, 1, -1], (30, 1))
    )


def test_decision_of_zero_is_a_vote_for_the_first(set_limits):
    problem = Problem(4)
    for array in (problem.models.coef, problem.models.intercept):
        array[:] = 0
    set_limits(1)
    found = problem.decide()[problem.route == 0]
    np.testing.assert_array_equal(found, np.tile([3, 2, 1, 0], (30, 1)))


@pytest.mark.parametrize(
    ("sizes", "n_queries", "large"),
    [
        ((300, 299, 0), 96, [(300, 32)]),
        ((299, 400, 0), 96, [(400, 32)]),
        ((300, 400, 0), 93, []),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_models_are_large_from_300_rows_and_32_queries_on(
    sizes, n_queries, large, n_classes, seen
):
    Problem(n_classes, sizes=sizes, n=n_queries).decide()
    assert seen == large


def test_queries_of_large_models_only(set_limits, seen):
    problem = Problem(4)
    everything = problem.decide()
    set_limits(1)
    chosen = problem.route == 0
    problem.X, problem.route = problem.X[chosen], problem.route[chosen]
    np.testing.assert_allclose(problem.decide(), everything[chosen], atol=1e-10)
    assert seen == [(40, 30)]


def test_no_queries(set_limits):
    problem = Problem(4, n=0)
    set_limits(1)
    assert problem.decide().shape == (0, 4)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_are_never_multiplied(n_classes, make, set_limits, seen):
    problem = Problem(n_classes)
    set_limits(1)
    found = problem.decide(make=make)
    assert not seen
    np.testing.assert_allclose(found, problem.decide(), atol=1e-10)
    assert seen


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("with_prior", [False, True])
def test_float32_is_kept(kernel, n_classes, with_prior, set_limits):
    problem = Problem(n_classes, dtype=np.float32)
    prior = problem.prior if with_prior else None
    set_limits(NEVER)
    expected = problem.decide(kernel, prior)
    set_limits(1)
    found = problem.decide(kernel, prior)
    assert found.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_far", [1, 30])
def test_float32_rows_far_apart_keep_their_decisions(n_far, set_limits):
    """Distances are small differences of large products there."""
    problem = Problem(2, dtype=np.float32)
    problem.rows[:n_far] += 1000
    problem.X[:n_far] += 1000
    set_limits(NEVER)
    expected = problem.decide()
    set_limits(1)
    np.testing.assert_allclose(problem.decide(), expected, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_a_bit(n_classes, dtype, set_limits):
    """Of as many queries as there are blocks to share."""
    problem = Problem(n_classes, n=3 * 5000, dtype=dtype)
    set_limits(1)
    one, three = (
        problem.decide(prior=problem.prior, n_threads=n_threads) for n_threads in (1, 3)
    )
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("block_values", [1, 7 * 40, 1 << 20])
def test_blocks_do_not_change_the_decisions(block_values, set_limits, monkeypatch):
    problem = Problem(4)
    set_limits(NEVER)
    expected = problem.decide()
    set_limits(1)
    monkeypatch.setattr(_large_models, "_BLOCK_VALUES", block_values)
    np.testing.assert_allclose(problem.decide(), expected, rtol=1e-10, atol=1e-10)

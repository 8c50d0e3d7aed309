import gc
import subprocess
import sys
import threading
from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from conftest import store
from localsvm.rows import Rows
from localsvm.solvers import (
    KernelOptions,
    LocalKernel,
    Status,
    cross_validate_neighborhoods,
    fit_neighborhoods,
)
from oracles import kernel_svm
from oracles.neighborhoods import (
    KERNELS,
    RBF,
    TIGHT,
    make_cover,
    make_queries,
    make_rows,
    oracle_scores,
)


def assert_equal_models(one, two):
    for field in fields(one):
        np.testing.assert_array_equal(
            getattr(one, field.name), getattr(two, field.name), err_msg=field.name
        )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_models_match_the_quadratic_programmes(kernel, n_classes, seed):
    rows, X = make_rows(seed, n=60, n_classes=n_classes)
    neighborhoods, _ = make_cover(X, seed)
    models = fit_neighborhoods(rows, neighborhoods, LocalKernel(kernel, 2.0), TIGHT)
    queries, route = make_queries(X, len(neighborhoods), seed)
    found = models.decide(X, kernel, n_classes, queries, route, 1)
    assert models.endings.n_problems == len(neighborhoods)
    assert models.endings.count(Status.converged) == len(neighborhoods)
    for model, members in enumerate(neighborhoods):
        expected = oracle_scores(rows, X, members, kernel, 2.0, queries[route == model])
        np.testing.assert_allclose(found[route == model], expected, atol=1e-5)


def test_arrays_outlive_the_record_of_the_core(seed):
    rows, X = make_rows(seed, n_classes=4)
    neighborhoods, _ = make_cover(X, seed)
    models = fit_neighborhoods(rows, neighborhoods, LocalKernel(RBF, 2.0), TIGHT)
    coef, kept = models.coef, models.coef.copy()
    del models
    gc.collect()
    others = [
        fit_neighborhoods(rows, neighborhoods, LocalKernel(RBF, C), TIGHT)
        for C in (0.5, 1.0, 3.0)
    ]
    np.testing.assert_array_equal(coef, kept)
    assert all(not np.shares_memory(coef, other.coef) for other in others)


def test_arrays_say_what_was_solved(seed):
    rows, X = make_rows(seed, n_classes=4)
    neighborhoods, _ = make_cover(X, seed)
    models = fit_neighborhoods(rows, neighborhoods, LocalKernel(RBF, 2.0), TIGHT)
    assert (models.violation <= TIGHT.tol).all()
    assert (models.relative_gap <= 1e-6).all()
    for model, members in enumerate(neighborhoods):
        used = members[rows.penalty_weight[members] > 0]
        classes = np.unique(rows.class_index[used])
        pairs = slice(*models.pair_start[model : model + 2])
        expected = [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]
        assert models.pairs.reshape(-1, 2)[pairs].tolist() == [
            list(pair) for pair in expected
        ]
        support = models.support[slice(*models.support_start[model : model + 2])]
        coef = models.coef[slice(*models.coef_start[model : model + 2])]
        coef = coef.reshape(len(expected), len(support))
        assert set(support) <= set(used)
        assert coef.any(axis=0).all()
        assert (np.abs(coef) <= 2.0 * rows.penalty_weight[support]).all()
        np.testing.assert_allclose(coef.sum(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_neighborhood_of_one_class_is_constant(n_classes):
    """Rows of weight zero do not count, and the model before leaves no trace."""
    rows, X = make_rows(0, n_classes=n_classes)
    of_one = np.flatnonzero((rows.class_index == 1) & (rows.penalty_weight > 0))[:5]
    left_out = np.flatnonzero((rows.class_index == 0) & (rows.penalty_weight == 0))[:1]
    of_zero = np.flatnonzero((rows.class_index == 0) & (rows.penalty_weight > 0))[:6]
    neighborhoods = np.array(
        [np.arange(6), [*of_one, *left_out], of_zero], dtype=np.int32
    )
    models = fit_neighborhoods(rows, neighborhoods, LocalKernel(RBF, 1.0), TIGHT)
    assert models.only_class.tolist() == [-1, 1, 0]
    assert models.gamma.tolist() == [0.5, 0, 0]
    assert models.C.tolist() == [1, 0, 0]
    assert (np.diff(models.support_start)[1:] == 0).all()
    assert models.n_iter[0] > 0
    assert not models.n_iter[1:].any()
    found = models.decide(X, RBF, n_classes, X[:4], np.array([1, 2, 2, 1]), 1)
    expected = [
        kernel_svm.constant(only, 1, n_classes)[0].tolist() for only in (1, 0, 0, 1)
    ]
    assert found.tolist() == expected


def test_neighborhood_without_a_weight_does_not_crash():
    """In a process of its own, which a bad read would end by a signal."""
    code = """
import numpy as np
from localsvm.kernels import Kernel
from localsvm.solvers import (
    KernelOptions, LabelledRows, LocalKernel, fit_neighborhoods)
rows = Rows.weighted(np.eye(4), np.zeros(4, dtype=np.int32), np.zeros(4), 2)
members = np.arange(4, dtype=np.int32)[None]
fit_neighborhoods(rows, members, LocalKernel(Kernel("rbf"), 1.0), KernelOptions())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert run.returncode >= 0


@pytest.mark.parametrize("n_classes", [3, 5])
def test_all_rows_in_one_neighborhood_are_scored_like_libsvm(n_classes):
    rows, X = make_rows(4, n=200, n_classes=n_classes)
    rows = replace(rows, penalty_weight=np.ones(200))
    members = np.arange(200, dtype=np.int32)[None]
    models = fit_neighborhoods(rows, members, LocalKernel(RBF, 3.0), TIGHT)
    peer = SVC(C=3.0, gamma=0.5, tol=1e-8, decision_function_shape="ovr")
    expected = peer.fit(X, rows.class_index).decision_function(X)
    route = np.zeros(200, dtype=np.int64)
    found = models.decide(X, RBF, n_classes, X, route, 1)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("storage", ["dense", "csr_int32"])
def test_more_rows_than_a_matrix_is_kept_for(storage):
    """Above 2000 rows kernel rows are computed when they are needed."""
    rows, X = make_rows(5, n=2100, n_classes=3, storage=storage)
    weight = np.ones(2100)
    rows = replace(rows, penalty_weight=weight)
    members = np.random.default_rng(0).permutation(2100).astype(np.int32)[None]
    options = KernelOptions(tol=1e-5, max_iter=1_000_000, cache_size=1)
    models = fit_neighborhoods(rows, members, LocalKernel(RBF, 1.0), options)
    assert models.endings.count(Status.converged) == 1
    peer = SVC(C=1.0, gamma=0.5, tol=1e-5).fit(X, rows.class_index)
    route = np.zeros(300, dtype=np.int64)
    found = models.decide(rows.X, RBF, 3, rows.X[:300], route, 1)
    np.testing.assert_allclose(found, peer.decision_function(X[:300]), atol=1e-3)
    train, test = np.arange(0, 2000), np.arange(2000, 2100)
    assigned = np.zeros(2100, dtype=np.int32)
    (held_out,) = cross_validate_neighborhoods(
        rows, members, assigned, [(train, test)], LocalKernel(RBF, 1.0), options
    )
    peer.fit(X[train], rows.class_index[train])
    np.testing.assert_allclose(held_out[0], peer.decision_function(X[test]), atol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decisions_are_sums_of_kernel_values(kernel, storage, dtype):
    rows, X = make_rows(1, n_classes=3, storage=storage, dtype=dtype)
    neighborhoods, _ = make_cover(X, 1)
    local = LocalKernel(kernel, 2.0)
    models = fit_neighborhoods(rows, neighborhoods, local, KernelOptions())
    queries, route = make_queries(X, len(neighborhoods), 1, n=600)
    found = models.decide(rows.X, kernel, 3, store(queries, storage), route, 2)
    assert found.dtype == dtype
    wide, support_rows = queries.astype(np.float64), X.astype(np.float64)
    for query, model in enumerate(route):
        if models.only_class[model] >= 0:
            expected = kernel_svm.constant(models.only_class[model], 1, 3)
        else:
            support = models.support[slice(*models.support_start[model : model + 2])]
            coef = models.coef[slice(*models.coef_start[model : model + 2])]
            pairs = slice(*models.pair_start[model : model + 2])
            values = kernel_svm.kernel_matrix(
                kernel, support_rows[support], wide[query : query + 1]
            )
            decisions = coef.reshape(-1, len(support)) @ values
            decisions += models.intercept[pairs][:, None]
            names = map(tuple, models.pairs.reshape(-1, 2)[pairs].tolist())
            expected = kernel_svm.one_vs_one(
                dict(zip(names, decisions, strict=True)), 3
            )
        atol = 1e-10 if dtype == np.float64 else 1e-3
        np.testing.assert_allclose(found[query], expected[0], atol=atol)


def test_compact_models_decide_alike_with_their_support_vectors(storage):
    rows, X = make_rows(2, n=200, n_classes=3, storage=storage)
    neighborhoods, _ = make_cover(X, 2)
    models = fit_neighborhoods(
        rows, neighborhoods, LocalKernel(RBF, 0.5), KernelOptions()
    )
    compact, kept = models.compact()
    queries, route = make_queries(X, len(neighborhoods), 2)
    queries = store(queries, storage)
    assert set(kept) == set(models.support)
    assert len(kept) < len(X)
    np.testing.assert_array_equal(
        compact.decide(store(X[kept], storage), RBF, 3, queries, route, 1),
        models.decide(rows.X, RBF, 3, queries, route, 1),
    )


def test_threads_do_not_change_a_bit():
    rows, X = make_rows(3, n=300, n_classes=3)
    neighborhoods, labels = make_cover(X, 3)
    queries, route = make_queries(X, len(neighborhoods), 3, n=2000)
    local = LocalKernel(
        RBF, 1.0, local_gamma=True, C_factors=(0.1, 10), gamma_factors=(1, 3)
    )
    folds = list(KFold(3).split(X))
    results = []
    for n_threads in (1, 2, 4):
        options = KernelOptions(n_threads=n_threads)
        models = fit_neighborhoods(rows, neighborhoods, local, options)
        scores = models.decide(X, RBF, 3, queries, route, n_threads)
        held_out = cross_validate_neighborhoods(
            rows, neighborhoods, labels, folds, local, options
        )
        results.append((models, scores, np.concatenate(held_out, axis=1)))
    for models, scores, held_out in results[1:]:
        assert_equal_models(models, results[0][0])
        np.testing.assert_array_equal(scores, results[0][1])
        np.testing.assert_array_equal(held_out, results[0][2])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_does_not_change_the_scores(kernel, storage, dtype):
    dense, X = make_rows(4, n_classes=3, dtype=dtype)
    other, _ = make_rows(4, n_classes=3, dtype=dtype, storage=storage)
    neighborhoods, labels = make_cover(X, 4)
    local = LocalKernel(kernel, 1.0)
    options = KernelOptions(tol=1e-5, max_iter=1_000_000)
    queries, route = make_queries(X, len(neighborhoods), 4)
    one, two = (
        fit_neighborhoods(rows, neighborhoods, local, options).decide(
            rows.X, kernel, 3, store(queries, name), route, 1
        )
        for rows, name in ((dense, "dense"), (other, storage))
    )
    atol = 1e-4 if dtype == np.float64 else 1e-2
    np.testing.assert_allclose(two, one, atol=atol)
    folds = list(KFold(3).split(X))
    one, two = (
        cross_validate_neighborhoods(rows, neighborhoods, labels, folds, local, options)
        for rows in (dense, other)
    )
    np.testing.assert_allclose(two[0], one[0], atol=atol)


def test_weight_two_is_the_row_twice(seed):
    rows, X = make_rows(seed)
    rows = replace(rows, penalty_weight=np.ones(len(X)))
    heavy = replace(rows, penalty_weight=np.where(np.arange(len(X)) < 10, 2.0, 1.0))
    members = np.arange(30, dtype=np.int32)[None]
    twice = np.append(members, np.arange(10, dtype=np.int32))[None]
    route = np.zeros(len(X), dtype=np.int64)
    local = LocalKernel(RBF, 1.0)
    one, two = (
        fit_neighborhoods(data, listed, local, TIGHT).decide(X, RBF, 2, X, route, 1)
        for data, listed in ((heavy, members), (rows, twice))
    )
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_steps_that_run_out_are_counted(seed):
    rows, X = make_rows(seed, n_classes=3)
    neighborhoods, _ = make_cover(X, seed)
    local = LocalKernel(RBF, 2.0)
    models = fit_neighborhoods(rows, neighborhoods, local, KernelOptions(max_iter=1))
    n_pairs = np.diff(models.pair_start)
    assert models.endings.count(Status.max_iter) == np.count_nonzero(n_pairs)
    assert models.endings.count(Status.converged) == np.count_nonzero(n_pairs == 0)
    np.testing.assert_array_equal(models.n_iter, n_pairs)
    assert models.violation.max() > 0.1
    assert models.endings.shortfall == f"worst violation {models.violation.max():.1e}"
    assert (models.relative_gap[n_pairs > 0] > 0).all()


def test_overflow_is_counted():
    rows, X = make_rows(0)
    neighborhoods, _ = make_cover(X, 0)
    rows = replace(rows, X=X * 1e150)
    models = fit_neighborhoods(
        rows, neighborhoods, LocalKernel(KERNELS[3], 1.0), KernelOptions()
    )
    n_pairs = np.diff(models.pair_start)
    assert models.endings.count(Status.not_finite) == np.count_nonzero(n_pairs)


def endless_neighborhoods():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 30))
    label = rng.integers(0, 2, 600).astype(np.int32)
    members = np.array([rng.permutation(600) for _ in range(4)], dtype=np.int32)
    return Rows.weighted(X, label, np.full(600, 1e6), 2), members


def test_time_limit_is_counted():
    rows, members = endless_neighborhoods()
    options = KernelOptions(tol=0, max_iter=10**12, max_time=0.2)
    models = fit_neighborhoods(rows, members, LocalKernel(KERNELS[0], 1.0), options)
    assert models.endings.count(Status.max_time) == 4


def validate(rows, members, local, options):
    assigned, folds = np.zeros(600, dtype=np.int32), list(KFold(3).split(rows.X))
    cross_validate_neighborhoods(rows, members, assigned, folds, local, options)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("solve", [fit_neighborhoods, validate])
def test_cancelling_raises(solve, n_threads):
    rows, members = endless_neighborhoods()
    cancel = threading.Event()
    options = KernelOptions(
        tol=0, max_iter=10**12, max_time=60, n_threads=n_threads, cancel=cancel
    )
    timer = threading.Timer(0.2, cancel.set)
    timer.start()
    with pytest.raises(InterruptedError, match="cancelled"):
        solve(rows, members, LocalKernel(KERNELS[0], 1.0), options)
    timer.join()

"""The fit on bins, against an oracle that forms the code."""

import numpy as np
import pytest

from additive_data import mixed_table
from localsvm.estimators._additive import AdditiveSettings, fit_additive, learn_bins
from localsvm.solvers import RunLimits, Status
from oracles import additive as oracle

LOSSES = ["squared_hinge", "logistic"]
EXACT = RunLimits(tol=1e-10, max_iter=100)


def prepare(n_classes=2, **settings):
    X, y, categorical = mixed_table(n_classes=n_classes, **settings)
    weight = np.random.default_rng(2).uniform(0.5, 1.5, len(X))
    bins = learn_bins(X, weight, categorical)
    return X, y, weight, bins, bins.encode(X)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fit_is_the_solution_of_the_oracle(loss, n_classes):
    X, y, weight, bins, codes = prepare(n_classes)
    settings = AdditiveSettings(3.0, loss)
    fit = fit_additive(codes, bins, y, weight, n_classes, settings, EXACT)
    code = oracle.step_code(codes, bins.n_bins, bins.n_ordered, weight)
    decisions = fit.model.decide(X)
    positives = [1] if n_classes == 2 else range(n_classes)
    for task, positive in enumerate(positives):
        sign = np.where(y == positive, 1.0, -1.0)
        coef = oracle.solve(code, sign, 3.0 * weight, loss)
        expected = code @ coef[:-1] + coef[-1]
        np.testing.assert_allclose(decisions[:, task], expected, atol=2e-4)
        primal, dual = oracle.objectives(code, sign, 3.0 * weight, loss, fit.coef[task])
        found = fit.certificates[task]
        assert found.primal == pytest.approx(primal, rel=1e-10)
        assert found.dual == pytest.approx(dual, rel=1e-9)
        assert found.status == Status.converged
        assert abs(primal - dual) <= 1e-9 * primal
        best, _ = oracle.objectives(code, sign, 3.0 * weight, loss, coef)
        assert primal <= best * (1 + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_gap_holds_where_the_fit_has_stopped(loss):
    _, y, weight, bins, codes = prepare()
    settings = AdditiveSettings(10.0, loss)
    code = oracle.step_code(codes, bins.n_bins, bins.n_ordered, weight)
    optimum = fit_additive(codes, bins, y, weight, 2, settings, EXACT)
    for steps in (1, 2):
        limits = RunLimits(tol=1e-10, max_iter=steps)
        fit = fit_additive(codes, bins, y, weight, 2, settings, limits)
        (found,) = fit.certificates
        sign = 2.0 * y - 1
        primal, dual = oracle.objectives(code, sign, 10 * weight, loss, fit.coef[0])
        assert found.primal == pytest.approx(primal, rel=1e-10)
        assert found.dual == pytest.approx(dual, rel=1e-9)
        assert found.dual < optimum.certificates[0].primal < found.primal
        assert (found.status, found.n_iter) == (Status.max_iter, steps)


def test_tables_are_centred_and_add_up():
    X, y, weight, bins, codes = prepare(3)
    fit = fit_additive(codes, bins, y, weight, 3, AdditiveSettings(), EXACT)
    model = fit.model
    means = np.add.reduceat(model.tables * bins.weight, bins.start[:-1], axis=1)
    np.testing.assert_allclose(means / weight.sum(), 0, atol=1e-12)
    parts = model.contributions(X)
    assert parts.shape == (600, 4, 3)
    np.testing.assert_allclose(parts.sum(axis=1) + model.bias, model.decide(X))
    sizes = np.average(np.abs(parts).mean(axis=2), axis=0, weights=weight)
    np.testing.assert_allclose(model.importances, sizes)


def test_what_was_never_seen_has_no_effect():
    X, y, weight, bins, codes = prepare()
    queries = X[:1].repeat(3, axis=0)
    queries[1, 1] = np.nan  # a number column without missing values
    queries[2, 3] = 77  # a category column without rare levels
    fit = fit_additive(codes, bins, y, weight, 2, AdditiveSettings(), EXACT)
    parts = fit.model.contributions(queries)
    assert parts[0].all()
    assert parts[1, 1] == parts[2, 3] == 0


def test_codes_and_rows_give_the_same_bits():
    X, y, weight, bins, codes = prepare(3)
    model = fit_additive(codes, bins, y, weight, 3, AdditiveSettings(), EXACT).model
    decisions = model.decide(X)
    np.testing.assert_array_equal(model.decide_codes(codes), decisions)
    np.testing.assert_array_equal(model.decide_codes(codes[:, 5:9]), decisions[5:9])
    np.testing.assert_array_equal(
        model.decide(X.astype(np.float32)[:, :]).shape, decisions.shape
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_do_not_change_the_bits(n_classes):
    X, y, weight, bins, codes = prepare(n_classes, n_rows=200_000)
    fits = [
        fit_additive(
            codes,
            bins,
            y,
            weight,
            n_classes,
            AdditiveSettings(),
            RunLimits(tol=1e-6, max_iter=20, n_threads=n_threads),
        )
        for n_threads in (1, 2, 8)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef, fits[0].coef)
        np.testing.assert_array_equal(other.model.decide(X, 2), fits[0].model.decide(X))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_changes_the_way_only(loss):
    X, y, weight, bins, codes = prepare()
    first = fit_additive(codes, bins, y, weight, 2, AdditiveSettings(1.0, loss), EXACT)
    settings = AdditiveSettings(1.1, loss)
    cold = fit_additive(codes, bins, y, weight, 2, settings, EXACT)
    warm = fit_additive(codes, bins, y, weight, 2, settings, EXACT, start=first)
    assert warm.n_iter < cold.n_iter
    np.testing.assert_allclose(warm.model.decide(X), cold.model.decide(X), atol=1e-4)


def test_rows_can_be_taken_from_the_codes():
    X, y, weight, bins, codes = prepare()
    part = np.arange(0, 600, 2)
    weight_of_part = np.zeros(600)
    weight_of_part[part] = weight[part]
    by_rows = fit_additive(
        codes[:, part], bins, y[part], weight[part], 2, AdditiveSettings(), EXACT
    )
    by_weight = fit_additive(
        codes, bins, y, weight_of_part, 2, AdditiveSettings(), EXACT
    )
    np.testing.assert_allclose(
        by_rows.model.decide(X), by_weight.model.decide(X), atol=1e-5
    )


def test_time_that_is_over_leaves_one_step():
    _, y, weight, bins, codes = prepare()
    limits = RunLimits(tol=1e-10, max_iter=50, max_time=0.0)
    fit = fit_additive(codes, bins, y, weight, 2, AdditiveSettings(), limits)
    assert (fit.n_iter, fit.count(Status.max_time)) == (1, 1)
    assert fit.worst_gap > 1e-3

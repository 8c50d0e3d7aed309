import numpy as np
import pytest
from scipy import sparse

from localsvm import ClusteredSVC
from localsvm.data import make_xor


def fit(global_reg=2.0, **parameters):
    X, y = make_xor(400, random_state=0)
    settings = {"C": 0.1, "n_nearest": 1, "random_state": 0, **parameters}
    model = ClusteredSVC(4, global_reg=global_reg, **settings)
    return model.fit(X, y), X, y


def corrected_metric(global_reg, k):
    """M of Definition 3 as it must be for 1/2 tr(W M W') to be the penalty."""
    return np.eye(k) - np.full((k, k), 1 / (global_reg + k))


def test_corrected_metric_gives_the_penalty_of_equation_3():
    rng = np.random.default_rng(0)
    W, global_reg = rng.standard_normal((6, 4)), 2.0
    w = W.sum(axis=1) / (global_reg + 4)
    penalty = global_reg / 2 * w @ w + 0.5 * ((W.T - w) ** 2).sum()
    M = corrected_metric(global_reg, 4)
    assert 0.5 * np.trace(W @ M @ W.T) == pytest.approx(penalty, rel=1e-10)
    np.testing.assert_allclose(
        np.diag(np.linalg.inv(M)), np.full(4, 1 + 1 / global_reg), rtol=1e-10
    )


@pytest.mark.parametrize("global_reg", [2.0, np.inf])
def test_terms_are_those_of_the_corrected_theorem(global_reg):
    model, X, y = fit(global_reg)
    bound = model.generalization_bound(X, y, delta=0.1)
    n, k = 400, 4
    biased = np.hstack([X, np.full((n, 1), model.intercept_scaling_)])
    W = np.hstack([model.coef_[:, 0], model.intercept_ / model.intercept_scaling_]).T
    M = np.eye(k) if np.isinf(global_reg) else corrected_metric(global_reg, k)
    B = 0.5 * np.trace(W @ M @ W.T)
    g = np.eye(k)[model.region(X)]
    inside = (biased**2).sum(axis=1) * np.einsum("il,lm,im->i", g, np.linalg.inv(M), g)
    assert bound.local_complexity == pytest.approx(
        3 * np.sqrt(B) / n * np.sqrt(inside.sum()), rel=1e-6
    )
    assert bound.partition_complexity == pytest.approx(15 * k * np.sqrt(np.log(n) / n))
    assert bound.confidence == pytest.approx(3 * np.sqrt(np.log(20) / (2 * n)))
    sign = np.where(y == 1, 1, -1)
    ramp = np.clip(1 - sign * model.decision_function(X), 0, 1)
    assert bound.empirical_error == pytest.approx(ramp.mean())
    assert bound.empirical_error >= 1 - model.score(X, y)
    assert bound.total == pytest.approx(
        bound.empirical_error
        + bound.local_complexity
        + bound.partition_complexity
        + bound.confidence
    )


def test_local_complexity_bounds_the_rademacher_complexity():
    """Theorem 5 by Monte Carlo: the supremum over the ball has a closed form."""
    model, X, y = fit()
    bound = model.generalization_bound(X, y)
    n, k, global_reg = 400, 4, 2.0
    biased = np.hstack([X, np.full((n, 1), model.intercept_scaling_)])
    M = corrected_metric(global_reg, k)
    W = np.hstack([model.coef_[:, 0], model.intercept_ / model.intercept_scaling_]).T
    B = 0.5 * np.trace(W @ M @ W.T)
    g = np.eye(k)[model.region(X)]
    root = np.linalg.cholesky(np.linalg.inv(M))
    rng = np.random.default_rng(0)
    values = []
    for _ in range(200):
        sums = biased.T @ (rng.choice([-1, 1], n)[:, None] * g)
        values.append(2 / n * np.sqrt(2 * B) * np.linalg.norm(sums @ root))
    assert np.mean(values) <= bound.local_complexity
    assert np.mean(values) > 0.8 * bound.local_complexity


def test_bound_says_when_it_is_vacuous():
    model, X, y = fit()
    bound = model.generalization_bound(X, y)
    assert bound.is_vacuous
    assert "vacuous" in str(bound)
    from dataclasses import replace

    tight = replace(bound, partition_complexity=0.0, local_complexity=0.0)
    assert not tight.is_vacuous
    assert "holds with probability 0.95" in str(tight)


def test_partition_term_falls_below_one_only_for_very_many_rows():
    def term(n):
        return 15 * 8 * np.sqrt(np.log(n) / n)

    assert term(60_000) == pytest.approx(1.63, abs=0.01)
    assert term(173_000) > 1 > term(176_000)


def test_sparse_rows_give_the_same_bound():
    model, X, y = fit()
    dense = model.generalization_bound(X, y)
    assert model.generalization_bound(sparse.csr_array(X), y) == dense


@pytest.mark.parametrize("delta", [0, 1, -0.1])
def test_delta_outside_its_range_is_refused(delta):
    model, X, y = fit()
    with pytest.raises(ValueError, match=r"delta must be in the range \(0, 1\)"):
        model.generalization_bound(X, y, delta=delta)


def test_models_that_the_theorem_does_not_cover_are_refused(three_classes):
    X, y = make_xor(200, random_state=0)
    with pytest.raises(ValueError, match="proved for n_nearest=1"):
        ClusteredSVC(4).fit(X, y).generalization_bound(X, y)
    X, y = three_classes
    with pytest.raises(ValueError, match=r"proved for 2 classes\. Got 3"):
        ClusteredSVC(4, n_nearest=1).fit(X, y).generalization_bound(X, y)


def test_unknown_label_is_refused():
    model, X, y = fit()
    with pytest.raises(ValueError, match="label 7"):
        model.generalization_bound(X, np.where(y == 1, 7, y))

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtri
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from conftest import STORAGES, store
from localsvm import GradientMetric
from localsvm.estimators._staged.preparation import (
    SCALINGS,
    Preparation,
    QuantileMap,
    model as _preparation,
)
from localsvm.estimators._staged.preparation.ranks import capped_ranks
from localsvm.rows._records import Rows
from oracles import preparation as oracle

NUMERIC, BINARY = [0, 1, 2, 5], [3, 4]
OUTERMOST = ndtri(0.0005)

OF_COLUMNS = ("none", "standard", "quantile", "ranks")
OF_SPARSE_COLUMNS = ("none", "standard")


def as_rows(X, weight=None):
    n = X.shape[0]
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    return Rows.weighted(X, np.zeros(n, dtype=np.int32), weight, 2)


def make_rows(n=300, seed=0, dtype=np.float64):
    """Wide, skewed, counted, rare 0/1, even 0/1 and constant columns."""
    rng = np.random.default_rng(seed)
    columns = [
        5 * rng.standard_normal(n) + 3,
        rng.lognormal(0, 1, n),
        rng.poisson(1.5, n),
        rng.random(n) < 0.1,
        rng.random(n) < 0.5,
        np.full(n, 7.0),
    ]
    return np.column_stack(columns).astype(dtype)


def make_counts(n=400, seed=0):
    """Integers and 0/1, so that the map is linear half way between integers."""
    rng = np.random.default_rng(seed)
    numeric = rng.poisson([6, 9, 4], (n, 3)) - 2
    return np.column_stack([numeric, rng.integers(0, 2, n)]).astype(np.float64)


def make_weight(n, seed=0):
    return np.random.default_rng(seed).uniform(0.2, 3.0, n)


def learn_map(column, weight=None):
    return QuantileMap.learn(as_rows(column[:, None], weight), np.array([0]))


def prepare(X, scaling, n_components=None, weight=None):
    rows = as_rows(X, weight)
    return Preparation.learn(rows, scaling, n_components, 0).apply(X)


def make_metric(size, diagonal, seed=0):
    """A metric with a random map."""
    values = np.random.default_rng(seed).uniform(0.5, 2, (size, size))
    metric = GradientMetric(diagonal=diagonal)
    metric.components_ = np.diag(np.diagonal(values)) if diagonal else values
    return metric


def with_sign_of(Z, other):
    """Columns turned to the side of those of another array."""
    return Z * np.sign((Z * other).sum(axis=0))


@pytest.mark.parametrize("scaling", OF_COLUMNS)
def test_prepared_rows_are_those_of_one_column_at_a_time(scaling, seed):
    X, weight = make_rows(seed=seed), make_weight(300, seed)
    found = prepare(X, scaling, weight=weight)
    np.testing.assert_allclose(found, oracle.prepare(X, weight, scaling), atol=1e-10)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("n_components", [None, 2])
def test_prepared_rows_are_centred_and_of_unit_norm(scaling, n_components):
    X, weight = make_rows(), make_weight(300)
    Z = prepare(X, scaling, n_components, weight)
    np.testing.assert_allclose(weight @ Z, 0, atol=1e-10)
    assert oracle.rms(Z, weight) == pytest.approx(1, abs=1e-10)


def test_standard_columns_are_those_of_scikit_learn():
    X, weight = make_rows(), make_weight(300)
    expected = StandardScaler().fit(X, sample_weight=weight).transform(X)
    expected[:, BINARY] = X[:, BINARY] - np.average(X[:, BINARY], 0, weight)
    expected /= oracle.rms(expected, weight)
    found = prepare(X, "standard", weight=weight)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("scaling", OF_COLUMNS)
def test_zero_and_one_stay_one_unit_apart(scaling):
    """The unit is in which the other columns have deviation one."""
    X = make_rows(n=4000)
    Z = prepare(X, scaling)
    unit = np.ptp(Z[:, BINARY], axis=0)
    assert unit[0] == pytest.approx(unit[1], rel=1e-12)
    deviation = {"none": 5, "ranks": 2}.get(scaling, 1)
    assert Z[:, 0].std() / unit[0] == pytest.approx(deviation, rel=0.02)


@pytest.mark.parametrize("scaling", OF_COLUMNS)
def test_constant_columns_become_zero(scaling):
    np.testing.assert_allclose(prepare(make_rows(), scaling)[:, 5], 0, atol=1e-12)
    np.testing.assert_array_equal(prepare(np.full((9, 2), 7.0), scaling), 0)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_constant_columns_of_weighted_rows_give_no_warning(make, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepare(make(make_rows(seed=seed)), "standard", weight=make_weight(300, seed))


def test_scores_are_nearly_normal():
    column = np.random.default_rng(0).lognormal(0, 1, 5000)
    scores = learn_map(column).apply(np.sort(column)[:, None])[:, 0]
    expected = ndtri((np.arange(5000) + 0.5) / 5000)
    np.testing.assert_allclose(scores[50:-50], expected[50:-50], atol=0.02)
    np.testing.assert_allclose(scores[[0, -1]], [OUTERMOST, -OUTERMOST], rtol=1e-12)


def test_map_rises_between_knots_and_is_level_outside(seed):
    X = make_rows(seed=seed)
    quantiles = QuantileMap.learn(as_rows(X), np.array(NUMERIC[:3]))
    for column in range(3):
        values = X[:, column]
        inside = np.linspace(values.min(), values.max(), 500)
        grid = np.zeros((502, 6))
        grid[:, column] = [values.min() - 9, *inside, values.max() + 9]
        steps = np.diff(quantiles.apply(grid)[:, column])
        assert (steps[1:-1] > 0).all()
        np.testing.assert_array_equal(steps[[0, -1]], 0)


def test_value_with_mass_gets_the_score_of_its_middle():
    rng = np.random.default_rng(0)
    column = rng.permutation(np.r_[np.zeros(600), np.full(100, 3.0), np.arange(4, 304)])
    found = learn_map(column).apply(np.array([[0.0], [3.0]]))
    np.testing.assert_allclose(found[:, 0], ndtri([0.3, 0.65]), atol=1e-12)


def test_mass_is_that_of_the_weights():
    column, weight = np.array([5.0, 1.0, 2.0]), np.array([1.0, 8.0, 1.0])
    found = learn_map(column, weight).apply(column[:, None])
    np.testing.assert_allclose(found[:, 0], ndtri([0.95, 0.4, 0.85]), atol=1e-12)


def test_map_leaves_other_columns_and_the_rows_given():
    X = make_rows()
    before = X.copy()
    mapped = QuantileMap.learn(as_rows(X), np.array([1])).apply(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(np.delete(mapped, 1, 1), np.delete(X, 1, 1))
    assert not np.allclose(mapped[:, 1], X[:, 1])


def test_slope_is_that_of_differences(seed):
    X = make_counts(seed=seed)
    quantiles = QuantileMap.learn(as_rows(X), np.array([0, 2]))
    within = np.minimum(X, X.max(axis=0) - 1) + 0.5
    above, below = (quantiles.apply(within + step) for step in (0.25, -0.25))
    slope = quantiles.slope(within)
    assert (slope > 0).all()
    np.testing.assert_allclose(slope, (above - below) / 0.5, rtol=1e-10)


def test_slope_outside_of_the_knots_is_zero():
    X = make_counts()
    quantiles = QuantileMap.learn(as_rows(X), np.array([0, 2]))
    for outside in (X.min(axis=0) - 0.5, X.max(axis=0) + 0.5):
        np.testing.assert_array_equal(quantiles.slope(outside[None]), [[0, 1, 0, 1]])


def test_map_of_a_constant_column_is_zero_and_flat():
    quantiles = learn_map(np.full(40, 7.0))
    X = np.array([[6.0], [7.0], [8.0]])
    np.testing.assert_allclose(quantiles.apply(X), 0, atol=1e-12)
    np.testing.assert_array_equal(quantiles.slope(X), 0)


def interpolated(column, knots):
    return np.interp(column, *knots)


@pytest.mark.parametrize("n_values", [3, 40, 399, 400, 401, 5000])
def test_increasing_map_of_a_column_leaves_its_ranks(n_values):
    rng = np.random.default_rng(0)
    column = rng.choice(np.sort(rng.lognormal(0, 2, n_values)), 4 * n_values)
    weight = make_weight(len(column))
    values, ranks = capped_ranks(column, weight)
    assert len(values) <= min(400, len(set(column)))
    assert ranks[0] == 0
    assert ranks[-1] == pytest.approx(3.46)
    assert (np.diff(ranks) > 0).all()
    mapped_values, mapped_ranks = capped_ranks(np.log(column), weight)
    np.testing.assert_array_equal(mapped_values, np.log(values))
    np.testing.assert_array_equal(mapped_ranks, ranks)


def test_increasing_maps_of_columns_leave_prepared_rows():
    X = make_rows()
    X[:, :2] = np.round(X[:, :2], 1)
    mapped = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, X[:, 2:] * 2 + 1])
    expected = prepare(X, "ranks")
    np.testing.assert_allclose(prepare(mapped, "ranks"), expected, atol=1e-12)
    assert not np.allclose(prepare(mapped, "quantile"), prepare(X, "quantile"))


def test_common_values_are_held_down():
    """As capital gains are: zero in nine rows of ten."""
    column = np.r_[np.zeros(900), np.arange(1, 101)]
    values, ranks = capped_ranks(column, np.ones(1000))
    middle = interpolated(50.5, (values, ranks)) / 3.46
    # The zeros count 1/48, as the other hundred count a tenth together.
    assert middle == pytest.approx((1 / 96 + 0.05) / (1 / 96 + 0.1), abs=0.01)
    plain = QuantileMap.learn(as_rows(column[:, None]), np.array([0]))
    spread = np.ptp(plain.apply(column[900:, None])) / np.ptp(
        plain.apply(column[[0, -1], None])
    )
    assert np.ptp(ranks[1:]) / 3.46 > 1.3 * spread


def test_many_values_are_interpolated_between_ranks():
    column = np.random.default_rng(0).standard_normal(5000)
    knots = capped_ranks(column, np.ones(5000))
    assert len(knots[0]) == 400
    exact = 3.46 * np.argsort(np.argsort(column)) / 4999
    np.testing.assert_allclose(interpolated(column, knots), exact, atol=0.02)
    np.testing.assert_array_equal(interpolated([-99.0, 99.0], knots), [0, knots[1][-1]])


def test_ranks_do_not_depend_on_the_order_of_rows():
    X, weight = make_rows(n=900), make_weight(900)
    order = np.random.default_rng(1).permutation(900)
    found = prepare(X[order], "ranks", weight=weight[order])
    expected = prepare(X, "ranks", weight=weight)[order]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_ranks_of_two_values_are_half_a_unit_apart():
    for column in (np.array([3.0, 9.0, 9.0]), np.array([0.0, 1.0, 1.0])):
        np.testing.assert_array_equal(capped_ranks(column, np.ones(3))[1], [0, 0.5])
    X = make_rows()
    X[:, 3] = 0
    learned = QuantileMap.learn_ranks(as_rows(X), np.array(NUMERIC))
    np.testing.assert_array_equal(learned.apply(np.ones((1, 6)))[0, BINARY], 0.5)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("largest_covariance", [1000, 5])
def test_components_are_those_of_scikit_learn(scaling, largest_covariance, monkeypatch):
    monkeypatch.setattr(_preparation, "_LARGEST_COVARIANCE", largest_covariance)
    X = make_rows()
    expected = PCA(3).fit_transform(prepare(X, scaling))
    expected /= oracle.rms(expected, np.ones(300))
    found = prepare(X, scaling, 3)
    np.testing.assert_allclose(with_sign_of(found, expected), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("n_components", "n_features", "n_kept"),
    [
        (None, 120, 120),
        (7, 20, 7),
        (20, 20, 20),
        (30, 20, 20),
    ],
)
def test_number_of_components(n_components, n_features, n_kept):
    X = np.random.default_rng(0).standard_normal((200, n_features))
    preparation = Preparation.learn(as_rows(X), "standard", n_components, 0)
    assert preparation.apply(X).shape == (200, n_kept)
    assert (preparation.components.ndim == 1) == (n_kept == n_features)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("n_components", [None, 3])
def test_weight_two_is_the_row_twice(scaling, n_components):
    X = make_rows()
    weight = np.random.default_rng(1).integers(1, 4, 300)
    weighted = Preparation.learn(as_rows(X, weight), scaling, n_components, 0)
    repeated = np.repeat(X, weight, axis=0)
    again = Preparation.learn(as_rows(repeated), scaling, n_components, 0).apply(X)
    found = weighted.apply(X)
    np.testing.assert_allclose(with_sign_of(found, again), again, atol=1e-9)
    assert not np.allclose(np.abs(found), np.abs(prepare(X, scaling, n_components)))


@pytest.mark.parametrize("scaling", OF_SPARSE_COLUMNS)
@pytest.mark.parametrize("n_components", [None, 1])
@pytest.mark.parametrize("storage", STORAGES[1:])
def test_sparse_rows_stay_sparse_and_are_not_centred(scaling, n_components, storage):
    X, weight = make_rows()[:, [0, 2, 2]] * [1, 1, 30], make_weight(300)
    scale = StandardScaler().fit(X, sample_weight=weight).scale_
    expected = X if scaling == "none" else X / scale
    expected = expected / oracle.rms(expected, weight)
    stored = store(X, storage)
    found = prepare(stored, scaling, n_components, weight)
    assert sparse.issparse(found)
    assert found.format == "csr"
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)
    assert found.nnz == stored.nnz


@pytest.mark.parametrize("scaling", OF_SPARSE_COLUMNS)
def test_sparse_zero_and_one_stay_one_unit_apart(scaling):
    X = make_rows()[:, [0, *BINARY]]
    Z = prepare(sparse.csr_array(X), scaling).toarray()
    assert Z[:, 1].max() == pytest.approx(Z[:, 2].max(), rel=1e-12)


@pytest.mark.parametrize("n_components", [None, 3])
@pytest.mark.parametrize(
    ("make", "scaling"),
    [
        *((np.asarray, scaling) for scaling in SCALINGS),
        *((sparse.csr_array, scaling) for scaling in (*OF_SPARSE_COLUMNS, "unit")),
    ],
)
def test_float32_rows_stay_float32(scaling, n_components, make):
    wide = make(make_rows())
    expected = prepare(wide, scaling, n_components)
    found = prepare(wide.astype(np.float32), scaling, n_components)
    assert found.dtype == np.float32
    if sparse.issparse(found):
        found, expected = found.toarray(), expected.toarray()
    np.testing.assert_allclose(with_sign_of(found, expected), expected, atol=1e-4)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("n_components", [None, 3])
def test_threads_do_not_change_the_rows(scaling, n_components):
    X = make_rows(n=5000)
    preparation = Preparation.learn(as_rows(X), scaling, n_components, 0)
    one, three, alone = (
        preparation.apply(X, 1),
        preparation.apply(X, 3),
        preparation.apply(X[2040:2060], 1),
    )
    np.testing.assert_array_equal(one, three)
    np.testing.assert_allclose(one[2040:2060], alone, atol=1e-12)


@pytest.mark.parametrize("scaling", OF_COLUMNS)
@pytest.mark.parametrize("n_components", [None, 2])
@pytest.mark.parametrize("diagonal", [None, True, False])
def test_gradients_are_pulled_back_to_the_columns_given(
    scaling, n_components, diagonal
):
    X = make_counts()
    preparation = Preparation.learn(as_rows(X), scaling, n_components, 0)
    size = len(preparation.offset)
    if diagonal is not None:
        preparation = preparation.then(make_metric(size, diagonal))
    tasks = np.random.default_rng(3).standard_normal((2, size))
    queries = np.minimum(X[:50], X.max(axis=0) - 1) + 0.5
    gradient = np.broadcast_to(tasks, (50, 2, size))
    found = preparation.pull_back(gradient, queries)
    assert found.dtype == np.float64
    for column, shift in enumerate(0.25 * np.eye(4)):
        above, below = (
            preparation.apply(queries + s) @ tasks.T for s in (shift, -shift)
        )
        expected = (above - below) / 0.5
        np.testing.assert_allclose(found[:, :, column], expected, atol=1e-10)


@pytest.mark.parametrize("scaling", OF_SPARSE_COLUMNS)
def test_gradients_of_sparse_rows_are_pulled_back(scaling):
    X = sparse.csr_array(make_counts())
    preparation = Preparation.learn(as_rows(X), scaling, None, 0)
    gradient = np.random.default_rng(0).standard_normal((3, 1, 4))
    found = preparation.pull_back(gradient, X[:3])
    ratio = preparation.apply(X).sum(axis=0) / X.sum(axis=0)
    np.testing.assert_allclose(found, gradient * np.ravel(ratio), rtol=1e-10)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("n_components", [None, 3])
@pytest.mark.parametrize("diagonal", [True, False])
def test_then_is_a_map_afterwards(scaling, n_components, diagonal):
    X = make_rows()
    preparation = Preparation.learn(as_rows(X), scaling, n_components, 0)
    Z = preparation.apply(X)
    first, second = (make_metric(Z.shape[1], diagonal, seed) for seed in (0, 1))
    mapped = preparation.then(first)
    assert mapped.metric is first
    expected = Z @ first.components_
    np.testing.assert_allclose(mapped.apply(X), expected, atol=1e-10)
    expected = expected @ second.components_
    np.testing.assert_allclose(mapped.then(second).apply(X), expected, atol=1e-10)


@pytest.mark.parametrize("scaling", [*OF_SPARSE_COLUMNS, "unit"])
def test_sparse_rows_stay_sparse_after_a_diagonal_map(scaling):
    X = sparse.csr_array(make_counts())
    preparation = Preparation.learn(as_rows(X), scaling, None, 0)
    metric = make_metric(4, diagonal=True)
    found = preparation.then(metric).apply(X)
    assert sparse.issparse(found)
    expected = preparation.apply(X).toarray() @ metric.components_
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_unit_rows_are_divided_by_their_norm(make):
    X = np.vstack([make_counts() + 1, np.zeros(4)])
    Z = prepare(make(X), "unit")
    Z = Z.toarray() if sparse.issparse(Z) else Z
    unit = np.vstack([X[:-1] / np.linalg.norm(X[:-1], axis=1, keepdims=True), X[-1]])
    expected = unit if make is sparse.csr_array else unit - unit.mean(axis=0)
    expected /= np.sqrt((expected**2).sum(axis=1).mean())
    np.testing.assert_allclose(Z, expected, atol=1e-12)


@pytest.mark.parametrize("n_components", [None, 2])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_gradients_of_unit_rows_are_pulled_back(n_components, make):
    X = make_counts() + 1.0
    preparation = Preparation.learn(as_rows(make(X)), "unit", n_components, 0)
    task = np.random.default_rng(3).standard_normal(len(preparation.offset))
    gradient = np.broadcast_to(task, (20, 1, len(task)))
    found = preparation.pull_back(gradient, make(X[:20]))[:, 0]
    for column, shift in enumerate(1e-5 * np.eye(4)):
        above, below = (preparation.apply(X[:20] + s) @ task for s in (shift, -shift))
        np.testing.assert_allclose(found[:, column], (above - below) / 2e-5, atol=1e-8)

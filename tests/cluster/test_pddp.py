import itertools
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from conftest import store
from localsvm.cluster import PDDP
from localsvm.cluster._pddp import _principal
from oracles.pddp import pddp

SETTINGS = [
    {"n_clusters": 1},
    {"n_clusters": 2},
    {"n_clusters": 25},
    {"max_scatter": 40.0},
    {"n_clusters": 6, "max_scatter": 10.0},
    {"n_clusters": 200, "max_scatter": 300.0},
]


def some_rows(n_samples=300, n_features=5, dtype=np.float64, seed=0):
    """Half of the entries zero, in three heaps, columns of different widths."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * np.linspace(1, 2, n_features)
    X += 4 * rng.integers(0, 3, (n_samples, 1))
    return (X * (rng.random(X.shape) < 0.5)).astype(dtype)


def lattice(dtype=np.float64):
    """Symmetric rows, many of them on the hyperplanes."""
    side = np.arange(-4, 5) / 10
    grid = np.meshgrid(side, side, side)
    rows = np.stack(grid, axis=-1).reshape(-1, 3)
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((37, 3)))[0].T
    return (rows * [1.3, 1.2, 1.1] @ turned + 1).astype(dtype)


def fitted_arrays(model):
    tree = model._tree
    return (
        model.cluster_centers_,
        model.cluster_scatters_,
        tree.directions,
        tree.offsets,
        tree.content,
    )


def assert_same_model(one, two):
    for left, right in zip(fitted_arrays(one), fitted_arrays(two), strict=True):
        np.testing.assert_array_equal(left, right, strict=True)


def assert_equals_oracle(model, X):
    settings = {"n_clusters": model.n_clusters, "max_scatter": model.max_scatter}
    given = {name: value for name, value in settings.items() if value is not None}
    labels, means, scatters = pddp(X, **given)
    np.testing.assert_array_equal(model.labels_, labels, strict=True)
    assert model.n_clusters_ == len(means)
    assert model.cluster_centers_.dtype == X.dtype
    tolerance = 1e-12 if X.dtype == np.float64 else 1e-6
    np.testing.assert_allclose(model.cluster_centers_, means, atol=tolerance, rtol=0)
    np.testing.assert_allclose(model.cluster_scatters_, scatters, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("setting", SETTINGS)
def test_equals_the_slow_version(setting, dtype, storage):
    X = some_rows(dtype=dtype)
    assert_equals_oracle(PDDP(**setting).fit(store(X, storage)), X)


@pytest.mark.parametrize("shape", [(300, 7), (40, 300)])
def test_all_ways_to_a_direction_agree(shape, storage, seed, monkeypatch):
    X = some_rows(*shape, seed=seed)
    for direct_side in (0, 1000):
        monkeypatch.setattr(_principal, "_DIRECT_SIDE", direct_side)
        assert_equals_oracle(PDDP(12).fit(store(X, storage)), X)


def test_direction_is_found_after_many_restarts(monkeypatch):
    monkeypatch.setattr(_principal, "_LANCZOS_STEPS", 2)
    monkeypatch.setattr(_principal, "_LANCZOS_RESTARTS", 1000)
    X = some_rows()
    assert_equals_oracle(PDDP(12).fit(sparse.csr_matrix(X)), X)


def test_equal_widths_in_all_directions_are_cut():
    X = np.vstack([np.eye(300), -np.eye(300)])
    for rows in (X, sparse.csr_array(X)):
        model = PDDP(2).fit(rows)
        assert model.n_clusters_ == 2
        assert model._tree.directions.shape == (1, 300)
        assert np.linalg.norm(model._tree.directions) == pytest.approx(1.0)


def test_the_largest_scatter_is_cut_and_the_total_falls():
    X = some_rows()
    models = [PDDP(n_clusters).fit(X) for n_clusters in range(1, 30)]
    for before, after in itertools.pairwise(models):
        scatters = before.cluster_scatters_
        cut = int(scatters.argmax())
        kept = np.delete(scatters, cut)
        new = np.delete(after.cluster_scatters_, [cut, cut + 1])
        np.testing.assert_array_equal(new, kept)
        parts = after.cluster_scatters_[cut : cut + 2]
        assert parts.sum() < scatters[cut]
        of_cut = before.labels_ == cut
        assert set(after.labels_[of_cut]) == {cut, cut + 1}


def test_no_cluster_is_above_max_scatter_and_none_is_cut_in_vain():
    X = some_rows()
    model = PDDP(max_scatter=20.0).fit(X)
    assert model.cluster_scatters_.max() <= 20
    fewer = PDDP(model.n_clusters_ - 1).fit(X)
    assert fewer.cluster_scatters_.max() > 20
    assert_same_model(model, PDDP(model.n_clusters_).fit(X))


def test_max_scatter_of_zero_leaves_distinct_rows():
    X = some_rows(50)
    model = PDDP(max_scatter=0.0).fit(np.repeat(X, 3, axis=0))
    distinct = np.unique(X, axis=0)
    np.testing.assert_array_equal(np.unique(model.cluster_centers_, axis=0), distinct)
    np.testing.assert_array_equal(model.cluster_scatters_, 0.0)


def test_default_number_of_clusters_counts_weights():
    X = some_rows(100)
    assert PDDP().fit(X).n_clusters_ == 10
    assert PDDP().fit(np.repeat(X, 4, axis=0)).n_clusters_ == 20
    assert PDDP().fit(X, sample_weight=np.full(100, 4.0)).n_clusters_ == 20
    assert PDDP().fit(X, sample_weight=0.001).n_clusters_ == 1


@pytest.mark.parametrize("rows", [some_rows(), lattice()], ids=["random", "lattice"])
def test_order_copies_and_threads_do_not_change_a_bit(rows, storage):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(rows))
    order = rng.permutation(weight.sum())
    repeated = np.repeat(np.arange(len(rows)), weight)[order]
    weighted = PDDP(20).fit(store(rows, storage), sample_weight=weight)
    copied = PDDP(20, n_jobs=3).fit(store(rows[repeated], storage))
    assert_same_model(weighted, copied)
    np.testing.assert_array_equal(weighted.labels_[repeated], copied.labels_)
    np.testing.assert_array_equal(copied.predict(rows), weighted.predict(rows))


def test_weights_move_means_and_cuts():
    X = some_rows(60)
    weight = np.random.default_rng(1).integers(1, 5, 60)
    model = PDDP(8).fit(X, sample_weight=weight)
    labels, means, scatters = pddp(np.repeat(X, weight, axis=0), 8)
    np.testing.assert_array_equal(np.repeat(model.labels_, weight), labels)
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-12)
    np.testing.assert_allclose(model.cluster_scatters_, scatters)


def test_rows_of_weight_zero_are_absent_but_labelled(storage):
    X = some_rows()
    weight = np.ones(300)
    weight[::3] = 0
    model = PDDP(10).fit(store(X, storage), sample_weight=weight)
    present = PDDP(10).fit(store(X[weight > 0], storage))
    assert_same_model(model, present)
    np.testing.assert_array_equal(model.labels_, present.predict(store(X, storage)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [some_rows, lattice])
def test_predict_repeats_the_labels_whatever_rows_are_beside(make, dtype, storage):
    X = make(dtype=dtype)
    model = PDDP(60).fit(store(X, storage))
    assert model.labels_.dtype == np.int32
    np.testing.assert_array_equal(np.unique(model.labels_), np.arange(60))
    for n_jobs in (1, 2, 5):
        model.set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(model.predict(store(X, storage)), model.labels_)
    one_by_one = [model.predict(store(X[[i]], storage))[0] for i in range(len(X))]
    np.testing.assert_array_equal(one_by_one, model.labels_)


def test_centres_are_the_means_of_the_labelled_rows():
    X = lattice()
    model = PDDP(50).fit(X)
    means = [X[model.labels_ == label].mean(axis=0) for label in range(50)]
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-14)


@pytest.mark.parametrize("format_", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_rows_are_not_made_dense(format_, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("made dense")

    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, 20_000, (2000, 10)) * 10 + np.arange(10))
    parts = rng.random(20_000), columns.ravel(), np.arange(0, 20_001, 10)
    X = format_(parts, shape=(2000, 200_000))
    for name in ("toarray", "todense"):
        monkeypatch.setattr(format_, name, refuse)
    tracemalloc.start()
    try:
        model = PDDP(8).fit(X)
        model.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.n_clusters_ == 8
    # Means, directions and Lanczos vectors; the dense rows would take 3200 MB.
    assert peak < 150e6


def test_sparse_scatter_does_not_cancel():
    X = 1 + 1e-6 * np.random.default_rng(0).standard_normal((200, 4))
    dense, csr = (PDDP(5).fit(rows) for rows in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(
        csr.cluster_scatters_.sum(), dense.cluster_scatters_.sum(), rtol=1e-6
    )


def test_small_cases():
    same = PDDP().fit(np.full((50, 3), 0.1))
    assert same.n_clusters_ == 1
    np.testing.assert_array_equal(same.labels_, 0)
    np.testing.assert_array_equal(same.cluster_centers_, np.full((1, 3), 0.1))
    np.testing.assert_array_equal(same.cluster_scatters_, [0.0])
    one = PDDP(1).fit([[3.0, 4.0]])
    np.testing.assert_array_equal(one.predict([[0.0, 0.0], [9.0, 9.0]]), [0, 0])
    line = PDDP(4).fit(sparse.csr_matrix([[0.0], [1.0], [10.0], [11.0]]))
    np.testing.assert_array_equal(line.labels_, [0, 1, 2, 3])


def test_rows_that_rounding_cannot_separate_stay_together():
    eps = np.finfo(np.float64).eps
    X = np.array([[1 + eps], [1 + 2 * eps], [5.0]])
    with pytest.warns(ConvergenceWarning, match="Only 2 clusters instead of n_cl"):
        model = PDDP(3).fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1])
    assert model.cluster_scatters_[0] > 0


def test_too_few_distinct_rows_warn():
    X = np.repeat(some_rows(4), 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="Only 4 clusters instead of n_cl"):
        model = PDDP(7).fit(X)
    assert model.n_clusters_ == 4
    np.testing.assert_array_equal(model.cluster_centers_[model.labels_], X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PDDP(4).fit(X)
        PDDP(7, max_scatter=1e-3).fit(X)
        PDDP().fit(X[:5])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of PDDP must be None or an int"),
        ({"n_clusters": 2.5}, "Got 2.5 instead"),
        ({"n_clusters": "auto"}, "Got 'auto' instead"),
        ({"max_scatter": -1.0}, "'max_scatter' parameter of PDDP must be None or a fl"),
        ({"max_scatter": np.inf}, "Got inf instead"),
        ({"max_scatter": np.nan}, "Got nan instead"),
        ({"n_clusters": 11}, r"n_samples=10 should be >= n_clusters=11\."),
    ],
)
def test_bad_parameters_are_named(setting, message):
    with pytest.raises(ValueError, match=message):
        PDDP(**setting).fit(some_rows(10))


@pytest.mark.parametrize("storage", ["dense", "csr_int32"])
def test_bad_input_is_refused(storage):
    X = some_rows(10)
    with pytest.raises(NotFittedError):
        PDDP(3).predict(X)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample"):
        PDDP(3).fit(store(X, storage), sample_weight=-np.ones(10))
    with pytest.raises(ValueError, match="Weighted sums of squares are not finite"):
        PDDP(3).fit(store(1e200 * X, storage))
    with pytest.raises(ValueError, match="weights up to 1e\\+308"):
        PDDP(3).fit(store(X, storage), sample_weight=np.full(10, 1e308))
    holes = X.copy()
    holes[4, 2] = np.nan
    with pytest.raises(ValueError, match="the first in row 4, column 2"):
        PDDP(3).fit(store(holes, storage))
    with pytest.raises(ValueError, match="X has 2 features"):
        PDDP(3).fit(store(X, storage)).predict(X[:, :2])


def test_a_fit_that_fails_changes_nothing():
    X = some_rows(30)
    model = PDDP(3).fit(X)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="not finite"):
        model.fit(1e200 * X[:, :2])
    assert pickle.dumps(model) == before


def test_copies_and_pickles_are_the_same_model():
    X = some_rows()
    model = PDDP(9, n_jobs=2).fit(X)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(X)):
        assert_same_model(model, other)
        np.testing.assert_array_equal(other.predict(X), model.labels_)

"""SupportClusterSVC on rows in blocks."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture

from engine_data import (
    ROWS,
    local_client,
    make_rows,
    same_bits,
    uneven_batches,
    write_parquet,
)
from localsvm import SupportClusterSVC
from localsvm.cluster import ThresholdClustering
from localsvm.engine import Batches, UnreadableBlockError, options
from localsvm.estimators import NeighborSVC

MODEL = {"n_clusters": 12, "random_state": 0}


def fit(*arguments, **settings):
    settings.setdefault("block_rows", ROWS)
    with options(**settings):
        return SupportClusterSVC(**MODEL).fit(*arguments)


def moments(model):
    """Weight, mean and variance of each class, all clusters as one."""
    summary = model.summary_.ordered()
    return summary.merged(np.unique(summary.label, return_inverse=True)[1])


@pytest.fixture(params=[np.float32, np.float64])
def data(request):
    return make_rows(dtype=request.param)


def test_one_block_is_the_fit_in_memory(data):
    X, y, weight = data
    expected = SupportClusterSVC(**MODEL).fit(X, y, weight)
    assert same_bits(fit(Batches.of(X, y, weight, rows=len(y))), expected)


def test_all_rows_as_clusters_are_the_fit_in_memory(data):
    X, y, weight = data
    settings = {
        "n_clusters": 500,
        "tol": 1e-8,
        "max_iter": 10_000_000,
        "random_state": 0,
    }
    whole = SupportClusterSVC(**settings).fit(X, y, weight)
    parts = SupportClusterSVC(**settings).fit(Batches.of(X, y, weight, rows=ROWS))
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), atol=2e-5
    )


def test_every_row_is_counted_once(data):
    X, y, weight = data
    whole = SupportClusterSVC(**MODEL).fit(X, y, weight)
    found = moments(fit(Batches.of(X, y, weight, rows=ROWS)))
    expected = moments(whole)
    np.testing.assert_allclose(found.weight, expected.weight)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-12)


def test_many_blocks_do_not_make_clusters_much_wider():
    X = np.random.default_rng(0).standard_normal((6400, 4))
    y = (X[:, 0] > 0).astype(int)
    model = SupportClusterSVC(n_clusters=20, random_state=0)

    def spread(*rows):
        summary = model.fit(*rows).summary_
        assert summary.n_clusters <= 40
        return summary.weight @ summary.covariance.sum(axis=1)

    assert spread(Batches.of(X, y, rows=100)) < 1.6 * spread(X, y)


def test_same_bits_from_every_source_and_driver(data, tmp_path):
    X, y, weight = data
    path = write_parquet(tmp_path / "rows.parquet", X, y, weight)
    expected = fit(Batches.of(X, y, weight, rows=ROWS))
    rows = da.from_array(X, chunks=(ROWS, 2))
    frame = dd.read_parquet(path, split_row_groups=True)
    batches = (
        (X[i : i + ROWS], y[i : i + ROWS], weight[i : i + ROWS])
        for i in range(0, len(y), ROWS)
    )
    assert same_bits(fit(batches), expected)
    assert same_bits(fit(path, "label", "weight"), expected)
    assert same_bits(fit(rows, y, weight), expected)
    assert same_bits(fit(frame, "label", "weight"), expected)
    for n_workers in (1, 2, 4):
        with local_client(n_workers) as client:
            assert same_bits(fit(rows, y, weight), expected)
            assert same_bits(fit(frame, "label", "weight"), expected)
            for form in (path, "label", "weight"), (Batches.of(*data, rows=ROWS),):
                assert same_bits(fit(*form, client=client), expected)


def test_a_local_cluster_of_processes(tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *make_rows())
    expected = fit(path, "label", "weight")
    assert same_bits(fit(path, "label", "weight", n_workers=2), expected)


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(4, n_init=1),
        GaussianMixture(3),
        ThresholdClustering(None, threshold=1.0),
    ],
)
def test_any_clusterer(clusterer, data):
    X, y, weight = data
    model = SupportClusterSVC(clusterer=clusterer, random_state=0)
    model.fit(Batches.of(X, y, weight, rows=ROWS))
    assert model.score(X, y) > 0.5
    sizes = np.unique(model.summary_.label, return_counts=True)[1]
    assert sizes.max() <= (4 if hasattr(clusterer, "tol") else 60)
    np.testing.assert_allclose(model.summary_.weight.sum(), weight.sum())


def test_sparse_rows():
    X, y, _ = make_rows()
    X *= np.abs(X) > 0.5
    dense = fit(Batches.of(X, y, rows=ROWS))
    csr = fit(Batches.of(sparse.csr_array(X), y, rows=ROWS))
    np.testing.assert_allclose(csr.decision_function(X), dense.decision_function(X))


def test_blocks_without_rows_weight_or_a_class(data):
    batches, X, y, weight = uneven_batches(*data)
    model = fit(batches)
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    np.testing.assert_allclose(model.summary_.weight.sum(), weight.sum())
    with pytest.raises(ValueError, match="at least one non-zero"):
        fit(Batches.of(X, y, 0 * weight, rows=ROWS))


def test_a_class_without_any_weight_keeps_its_place(data):
    X, y, weight = data
    weight = np.where(y == "birch", 0.0, weight)
    model = fit(Batches.of(X, y, weight, rows=ROWS))
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    assert set(model.predict(X)) == {"ash", "cedar"}


def test_balanced_classes():
    X, y, weight = make_rows()
    balanced = SupportClusterSVC(**MODEL, class_weight="balanced")
    expected = balanced.fit(X, y, weight).decision_function(X)
    batches = Batches.of(X, y, weight, rows=len(y))
    np.testing.assert_array_equal(balanced.fit(batches).decision_function(X), expected)


def test_a_failed_fit_changes_nothing(tmp_path):
    X, y, _ = make_rows()
    model = SupportClusterSVC(**MODEL).fit(X, y)
    before = model.decision_function(X)
    path = write_parquet(tmp_path / "rows.parquet", X[:, :2], y)
    content = bytearray(path.read_bytes())
    content[40] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(UnreadableBlockError):
        model.fit(path, "label")
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="number of classes has to be greater than"):
        fit(iter([(np.ones((3, 2)), [1, 1, 1])]))


def test_scales_are_warned_of(data):
    X, y, _ = data
    with pytest.warns(UserWarning, match="very different scales"):
        fit(Batches.of(X * [1, 1, 1, 5e3], y, rows=ROWS))


def test_methods_without_blocks_say_so(tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *make_rows()[:2])
    with pytest.raises(TypeError, match=r"NeighborSVC takes rows in memory; .*parq"):
        NeighborSVC().fit(path, "label")


def unknown_chunks(X):
    return X[da.ones(X.shape[0], chunks=X.chunks[0], dtype=bool)]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_on_arrays_are_lazy(n_classes):
    X, y, _ = make_rows(n_classes=n_classes, dtype=np.float32)
    model = SupportClusterSVC(**MODEL).fit(X, y)
    rows = da.from_array(X, chunks=(ROWS, 3))
    for queries in (rows, unknown_chunks(rows)):
        scores, labels = model.decision_function(queries), model.predict(queries)
        assert len(scores.chunks[0]) == len(labels.chunks[0]) == 6
        assert scores.dtype == np.float32
        assert labels.dtype == y.dtype
        expected = model.decision_function(X)
        assert scores.ndim == expected.ndim
        np.testing.assert_array_equal(scores.compute(), expected)
        np.testing.assert_array_equal(labels.compute(), model.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_on_frames_are_lazy_and_keep_the_index(n_classes):
    X, y, _ = make_rows(n_classes=n_classes)
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(len(y))[::-1])
    model = SupportClusterSVC(**MODEL).fit(frame, y)
    rows = dd.from_pandas(frame, npartitions=4, sort=False)
    rows = rows[rows["a"] > -9]
    scores, labels = model.decision_function(rows), model.predict(rows)
    assert scores.npartitions == labels.npartitions == 4
    pd.testing.assert_series_equal(
        labels.compute(), pd.Series(model.predict(frame), frame.index)
    )
    np.testing.assert_allclose(
        scores.compute(), model.decision_function(frame), atol=1e-12
    )
    if n_classes == 3:
        assert scores.columns.tolist() == model.classes_.tolist()


def test_chunks_without_rows_are_predicted():
    X, y, _ = make_rows()
    model = SupportClusterSVC(**MODEL).fit(X, y)
    rows = da.from_array(X, chunks=(ROWS, 4))
    few = rows[rows[:, 0] > 2.5]
    np.testing.assert_array_equal(
        model.predict(few).compute(), model.predict(X[X[:, 0] > 2.5])
    )


def test_predictions_need_a_fitted_model():
    with pytest.raises(NotFittedError):
        SupportClusterSVC().predict(da.ones((4, 2)))


def _lumpy(seed):
    return make_classification(
        20_000,
        10,
        n_informative=6,
        n_clusters_per_class=4,
        class_sep=0.9,
        flip_y=0.05,
        random_state=seed,
    )


def _curved(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20_000, 10))
    level = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    return X, (level + 0.3 * rng.standard_normal(20_000) > 0).astype(int)


def test_blocks_are_about_as_accurate_as_rows_in_memory():
    losses = []
    for X, y in [make(seed) for make in (_lumpy, _curved) for seed in range(4)]:
        train, test = slice(14_000), slice(14_000, None)
        batches = Batches.of(X[train], y[train], rows=3500)
        accuracy = [
            SupportClusterSVC(random_state=0).fit(*rows).score(X[test], y[test])
            for rows in ((X[train], y[train]), (batches,))
        ]
        losses.append(accuracy[0] - accuracy[1])
    assert np.mean(losses) < 0.001

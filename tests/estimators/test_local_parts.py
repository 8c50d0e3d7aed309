"""LocalSVC on rows in partitions."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest

from engine_data import ROWS, local_client, make_rows, same_bits, write_parquet
from localsvm import LocalSVC
from localsvm.engine import Batches, options
from localsvm.estimators import _local_cells, _local_steps

MODEL = {"n_neighbors": 20, "random_state": 0}
ATTRIBUTES = [
    "classes_",
    "n_regions_",
    "n_constant_regions_",
    "region_sizes_",
    "region_class_counts_",
    "center_indices_",
    "n_neighbors_",
    "n_assigned_",
    "n_support_",
    "gamma_",
    "C_",
    "duality_gap_",
    "violation_",
    "n_iter_",
    "n_features_in_",
]


def fit(*arguments, model=MODEL, **settings):
    settings.setdefault("partition_rows", ROWS)
    with options(**settings):
        return LocalSVC(**model).fit(*arguments)


def batches(X, y, weight=None, rows=ROWS):
    return Batches.of(X, y, weight, rows=rows)


def same_model(first, second):
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), name)
    assert same_bits(first, second)


def n_cells(monkeypatch):
    """Numbers of cells of the fits from here on."""
    found, solve = [], _local_steps.solve_cells

    def note(rows, task):
        found.append(len(task.cells.n_rows))
        solve(rows, task)

    monkeypatch.setattr("localsvm.estimators._local.solve_cells", note)
    return found


@pytest.fixture(params=[np.float32, np.float64])
def data(request):
    return make_rows(dtype=request.param)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"route": "center", "kernel": "linear"},
        {"gamma": "scale", "class_weight": "balanced", "neighbors": "brute"},
        {"class_weight": {"ash": 2.0, "birch": 0.0}, "neighbors": "kd_tree"},
        {"local_grid": {"C": [0.1, 1.0]}, "gamma": "auto", "n_assigned": 1},
        {"n_neighbors": "auto", "kernel": "poly", "degree": 1},
        {"n_neighbors": 500},
    ],
)
def test_one_partition_is_the_fit_in_memory(data, settings):
    X, y, weight = data
    X[7], y[7] = X[3], "birch"
    X[400:420] = X[:20]
    model = {**MODEL, **settings}
    expected = LocalSVC(**model).fit(X, y, weight)
    same_model(fit(batches(X, y, weight, len(y)), model=model), expected)


def test_one_cell_of_many_partitions_is_the_fit_in_memory(data):
    X, y, weight = data
    X[400:420] = X[:20]
    model = {"n_neighbors": 150, "random_state": 0}
    expected = LocalSVC(**model).fit(X, y, weight)
    same_model(fit(batches(X, y, weight), model=model), expected)


@pytest.mark.parametrize(("route", "workers"), [("row", (2,)), ("center", (1, 2, 4))])
def test_same_bits_from_every_source_and_driver(route, workers, tmp_path, monkeypatch):
    cells = n_cells(monkeypatch)
    X, y, weight = data = make_rows(dtype=np.float32)
    path = write_parquet(tmp_path / "rows.parquet", X, y, weight)
    model = {**MODEL, "route": route}
    expected = fit(batches(*data), model=model)
    assert cells[0] == 4
    same_model(fit(path, "label", "weight", model=model | {"n_jobs": 3}), expected)
    rows = da.from_array(X, chunks=(ROWS, 2))
    frame = dd.read_parquet(path, split_row_groups=True)
    for n_workers in workers:
        with local_client(n_workers) as client:
            same_model(fit(rows, y, weight, model=model), expected)
            if n_workers == 2:
                same_model(fit(frame, "label", "weight", model=model), expected)
                form = path, "label", "weight"
                same_model(fit(*form, model=model, client=client), expected)


@pytest.mark.parametrize("n_features", [2, 8])
def test_neighborhoods_are_the_nearest_of_all_rows(n_features, monkeypatch):
    X, y, _ = make_rows(900, n_features)
    X[::9] = X[0]
    X[1::9, 0] = 0.5
    found = []
    cover_cell = _local_cells.cover_cell

    def note(cell, own, task):
        cover = cover_cell(cell, own, task)
        found.append((cover, own, task))
        return cover

    monkeypatch.setattr(_local_cells, "cover_cell", note)
    model = fit(batches(X, y))
    assert len(found) >= 8
    every = np.concatenate([own for _, own, _ in found])
    assert len(every) == len(np.unique(np.c_[X, y == "ash", y == "birch"], axis=0))
    beyond = 0
    for cover, own, task in found:
        centers = own[cover.centers]
        distances = np.linalg.norm(centers[:, np.newaxis] - every, axis=2)
        near = np.take_along_axis(distances, cover.neighborhoods, axis=1)
        np.testing.assert_allclose(near, np.sort(distances, axis=1)[:, :20])
        np.testing.assert_array_equal(every[cover.neighborhoods[:, 0]], centers)
        for row, label in enumerate(cover.labels):
            rows = every[cover.neighborhoods[label, :5]]
            assert (rows == own[row]).all(axis=1).any()
        shared = every[cover.neighborhoods][:, :, np.newaxis] == own
        beyond += (~shared.all(axis=3).any(axis=2)).sum()
        assert task.sizes == (20, 5)
    assert beyond > 100
    assert model.region_sizes_.sum() == len(every)

"""LocalSVC on rows in blocks."""

from dataclasses import replace
from functools import wraps

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from data_sets import loaded
from engine_data import ROWS, local_client, make_rows, same_bits, write_parquet
from localsvm import LocalSVC, load, save
from localsvm.cluster import ShortListNeighbors
from localsvm.data import load_benchmark, make_two_spirals
from localsvm.engine import Batches, NotEnoughMemoryError, options
from localsvm.estimators._local import (
    cells as _cells,
    cover as _cover,
)

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
    "region_gamma_",
    "region_C_",
    "duality_gap_",
    "violation_",
    "n_iter_",
    "n_features_in_",
]


def fit(*arguments, model=MODEL, **settings):
    settings.setdefault("block_rows", ROWS)
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
    found, solve = [], _cover.solve_cells

    def note(rows, task):
        found.append(len(task.cells.n_rows))
        solve(rows, task)

    monkeypatch.setattr("localsvm.estimators._local.estimator.solve_cells", note)
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
        {"kernel": "laplace"},
        {"kernel": "laplace", "gamma": "scale"},
        {"n_neighbors": "auto", "kernel": "poly", "degree": 1},
        {"n_neighbors": 500},
    ],
)
def test_one_block_is_the_fit_in_memory(data, settings):
    X, y, weight = data
    X[7], y[7] = X[3], "birch"
    X[400:420] = X[:20]
    model = {**MODEL, **settings}
    expected = LocalSVC(**model).fit(X, y, weight)
    same_model(fit(batches(X, y, weight, len(y)), model=model), expected)


def test_one_cell_of_many_blocks_is_the_fit_in_memory(data):
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
    cover_cell = _cover.cover_cell

    def note(cell, own, task):
        cover = cover_cell(cell, own, task)
        found.append((cover, own, task))
        return cover

    monkeypatch.setattr(_cover, "cover_cell", note)
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


def test_no_row_is_lost_or_counted_twice(data):
    X, y, weight = data
    X[400:420], y[400:420] = X[:20], y[:20]
    weight[:20] = weight[400:420] = 1.5
    model = fit(batches(X, y, weight))
    counts = [weight[y == label].sum() for label in model.classes_]
    np.testing.assert_allclose(model.region_class_counts_.sum(axis=0), counts)
    present = np.c_[X, np.unique(y, return_inverse=True)[1]][weight > 0]
    assert model.region_sizes_.sum() == len(np.unique(present, axis=0))
    centers = model.center_indices_
    assert len(np.unique(centers)) == model.n_regions_
    assert (weight[centers] > 0).all()
    np.testing.assert_array_equal(model.region(X[centers]), np.arange(len(centers)))


def test_weight_two_is_the_row_twice():
    X, y, weight = make_rows()
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    models = [
        fit(batches(X, y, weight), model=MODEL | {"n_neighbors": 40}),
        fit(batches(X[twice], y[twice], rows=120), model=MODEL | {"n_neighbors": 40}),
    ]
    assert models[0].n_regions_ == models[1].n_regions_
    assert same_bits(*models)


def test_width_of_all_blocks():
    X, y, weight = make_rows()
    X += 3 * (y == "ash")[:, np.newaxis]
    order = np.argsort(y, kind="stable")
    model = MODEL | {"gamma": "scale", "class_weight": "balanced"}
    expected = LocalSVC(**model).fit(X, y, weight)
    found = fit(batches(X[order], y[order], weight[order]), model=model)
    np.testing.assert_allclose(
        found.region_gamma_.max(), expected.region_gamma_.max(), rtol=1e-12
    )


@pytest.mark.parametrize("route", ["row", "center"])
def test_spirals_are_learned_as_in_memory(route):
    X, y = make_two_spirals(5000, random_state=0)
    model = {"n_neighbors": 50, "random_state": 0, "route": route}
    whole = LocalSVC(**model).fit(X[:4000], y[:4000]).score(X[4000:], y[4000:])
    parts = fit(batches(X[:4000], y[:4000], rows=500), model=model)
    assert abs(parts.score(X[4000:], y[4000:]) - whole) < 0.01


@pytest.mark.slow
def test_covtype_is_learned_as_in_memory():
    covtype = loaded(load_benchmark, "covtype")
    rows = np.random.default_rng(0).permutation(len(covtype.y_train))[:25_000]
    X = StandardScaler().fit_transform(covtype.X_train[rows])
    y = covtype.y_train[rows]
    whole = LocalSVC(random_state=0).fit(X[:20_000], y[:20_000])
    expected = whole.score(X[20_000:], y[20_000:])
    parts = fit(batches(X[:20_000], y[:20_000], rows=5000), model={"random_state": 0})
    assert abs(parts.score(X[20_000:], y[20_000:]) - expected) < 0.01


def test_blocks_without_rows_weight_or_a_class(data):
    X, y, weight = data
    order = np.argsort(y, kind="stable")
    X, y, weight = X[order], y[order], weight[order]
    weight[:ROWS] = 0
    edges = [0, 0, ROWS, ROWS, 3 * ROWS, len(y), len(y)]

    def read(number):
        own = slice(edges[number], edges[number + 1])
        return X[own], y[own], weight[own]

    expected = LocalSVC(**MODEL).fit(X, y, weight)
    model = fit(Batches(read, 6))
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    np.testing.assert_allclose(
        model.region_class_counts_.sum(axis=0),
        expected.region_class_counts_.sum(axis=0),
    )
    assert (weight[model.center_indices_] > 0).all()
    with pytest.raises(ValueError, match="at least one non-zero"):
        fit(batches(X, y, 0 * weight))


def test_cells_smaller_than_a_neighborhood(monkeypatch):
    monkeypatch.setattr(_cells, "_NEIGHBORHOODS_PER_CELL", 0.25)
    cells = n_cells(monkeypatch)
    X, y, _ = make_rows(240, 2)
    model = fit(batches(X, y, rows=15), model={"n_neighbors": 60, "random_state": 0})
    assert cells[0] == 16
    assert model.n_neighbors_ == 60
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("stage", ["shuffle", "merge", "solve"])
def test_an_interrupted_fit_goes_on(stage, tmp_path, monkeypatch):
    X, y, weight = make_rows(900, 2)
    path = write_parquet(tmp_path / "rows.parquet", X, y, weight)
    expected = fit(path, "label", "weight")
    module, name, survived = {
        "shuffle": (_cells, "shuffle_rows", 9),
        "merge": (_cells, "_merge", 3),
        "solve": (_cover, "cover_cell", 3),
    }[stage]
    function, before, after = getattr(module, name), [], set()

    @wraps(function)
    def break_off(*arguments):
        if len(before) == survived:
            raise KeyboardInterrupt
        before.append(name)
        return function(*arguments)

    @wraps(function)
    def count(*arguments):
        # A thread of the first fit may still be at one of them.
        after.add(str(arguments[0]))
        return function(*arguments)

    setting = {"checkpoint": tmp_path / "state", "checkpoint_seconds": 0.0}
    monkeypatch.setattr(module, name, break_off)
    with pytest.raises(KeyboardInterrupt):
        fit(path, "label", "weight", **setting)
    monkeypatch.setattr(module, name, count)
    same_model(fit(path, "label", "weight", **setting), expected)
    # The shuffle goes on at the last group of eight blocks.
    assert len(after) == {"shuffle": 10 - 8, "merge": 8 - 3, "solve": 8 - 3}[stage]
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": StandardScaler()}, r"metric=StandardScaler\(\) needs all rows"),
        ({"shrink": 1.0}, r"shrink=1\.0 needs all rows in memory; .* expected 0"),
        ({"neighbors": ShortListNeighbors(None)}, "neighbors=Short.* name of a search"),
        ({"kernel": "poly"}, "degree=3 needs all rows .* expected 1, or another kern"),
        ({"n_neighbors": 501}, "n_neighbors=501 should be <= n_samples=500"),
        ({"n_assigned": 30}, "n_assigned=30 should be <= n_neighbors=20"),
        ({"class_weight": {"ash": 0, "birch": 0, "cedar": 0}}, "leaves no row with a"),
        ({"C": -1}, "The 'C' parameter of LocalSVC must be"),
    ],
)
def test_what_blocks_cannot_do_is_refused(settings, message):
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match=message):
        fit(batches(X, y), model=MODEL | settings)


def test_other_rows_are_refused():
    X, y, _ = make_rows()
    with pytest.raises(TypeError, match="takes dense rows in blocks, found a spar"):
        fit(batches(sparse.csr_array(X), y))
    with pytest.raises(ValueError, match="number of classes has to be greater than"):
        fit(batches(X, np.ones(500)))
    with pytest.raises(ValueError, match="not finite: X has entries too large"):
        fit(batches(1e200 * X, y))
    with pytest.warns(UserWarning, match="very different scales"):
        fit(batches(X * [1, 1, 1, 5e3], y))


def test_a_block_that_does_not_fit_is_refused(tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *make_rows()[:2])
    with pytest.raises(NotEnoughMemoryError, match=r"row group 0\) needs .* 16 copies"):
        fit(path, "label", memory_limit=1000)


def test_rows_that_do_not_fit_need_another_route(monkeypatch):
    X, y, _ = make_rows()
    # As if each row had a million columns when it is kept.
    need = _cells.MemoryNeed

    def kept(copies, **others):
        return need(1e9 if copies < 8 else copies, **others)

    monkeypatch.setattr(_cells, "MemoryNeed", kept)
    with pytest.raises(NotEnoughMemoryError, match=r"route='row'.* needs .*='center'"):
        fit(batches(X, y))
    assert fit(batches(X, y), model=MODEL | {"route": "center"}).n_regions_ > 0


def test_a_cell_that_does_not_fit_is_refused(monkeypatch):
    X, y, _ = make_rows()
    need = _cover.cell_need
    monkeypatch.setattr(
        _cover, "cell_need", lambda *sizes: replace(need(*sizes), copies=1e12)
    )
    with pytest.raises(NotEnoughMemoryError, match=r"largest cell \(cell \d\) needs"):
        fit(batches(X, y))


@pytest.mark.parametrize("route", ["row", "center"])
def test_neighborhoods_of_one_class_need_no_support_vectors(route):
    X, y, _ = make_rows(400, 2, n_classes=2)
    X += 100 * (y == "ash")[:, np.newaxis]
    model = fit(batches(X, y), model=MODEL | {"route": route})
    assert model.n_constant_regions_ == model.n_regions_
    assert model.n_support_.sum() == 0
    assert model.score(X, y) == 1.0


def test_models_are_written_and_read(tmp_path):
    X, y, weight = make_rows()
    model = fit(batches(X, y, weight))
    save(model, tmp_path / "model")
    same_model(load(tmp_path / "model"), model)


def test_time_limit_of_blocks(tmp_path):
    X, y, weight = make_rows(900, 2)
    path = write_parquet(tmp_path / "rows.parquet", X, y, weight)
    with pytest.warns(ConvergenceWarning, match="stopped at max_time=1e-09"):
        stopped = fit(path, "label", "weight", model=MODEL | {"max_time": 1e-9})
    assert stopped.n_iter_ <= 1
    assert np.isin(stopped.predict(X), stopped.classes_).all()
    enough = fit(path, "label", "weight", model=MODEL | {"max_time": 1e3})
    same_model(enough, fit(path, "label", "weight"))

"""A fit is resumed from a checkpoint of the same rows, columns and parameters only."""

import importlib
import os
import shutil

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans

import localsvm
from engine_data import ROWS, local_client, make_rows, same_bits, write_parquet
from localsvm import (
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    SupportClusterSVC,
)
from localsvm.engine import Batches, options
from localsvm.estimators._regional.model import RegionalModel

MODELS = {
    "ClusteredSVC": ClusteredSVC(3, C=0.3, random_state=0),
    "LocalSVC": LocalSVC(20, random_state=0),
    "MixtureSVC": MixtureSVC(2, em_max_iter=1, random_state=0),
    "ReducedSVC": ReducedSVC(kernel="linear", random_state=0),
    "SupportClusterSVC": SupportClusterSVC(6, random_state=0),
}
# Called when all rows have been read, and what stems from them is in the checkpoint.
LATE = {
    "ClusteredSVC": "passes._linear_solver:BlockSolver:run",
    "LocalSVC": "estimators._local.estimator:solve_cells",
    "MixtureSVC": "estimators._mixture.em.loop:maximize",
    "ReducedSVC": "estimators._reduced.master:run_passes",
    "SupportClusterSVC": "estimators._support_cluster.fit:finish_merging",
}
PLACES = {
    "batches": "batch 0",
    "parquet": r"rows\.parquet, row group 0",
    "dask": "chunk 0",
    "iterator": "batch 0",
}


def rows_as(form, folder, X, y, weight, rows=ROWS):
    """Arguments of ``fit`` for rows in a form."""
    if form == "batches":
        return (Batches.of(X, y, weight, rows=rows),)
    if form == "iterator":
        batches = Batches.of(X, y, weight, rows=rows)
        return (iter([batches.read(number) for number in range(batches.n_batches)]),)
    if form == "parquet":
        return write_parquet(folder / "rows.parquet", X, y, weight), "label", "weight"
    return da.from_array(X, chunks=(rows, X.shape[1])), y, weight


def fit(model, arguments, state=None, **settings):
    settings = {"block_rows": ROWS, "checkpoint_seconds": 0.0} | settings
    with options(checkpoint=state, **settings):
        return clone(model).fit(*arguments)


def interrupt(*arguments, **named):
    raise KeyboardInterrupt


def stop(model, arguments, state, **settings):
    """Interrupt a fit late."""
    module, *outer, name = LATE[type(model).__name__].split(":")
    owner = importlib.import_module(f"localsvm.{module}")
    for part in outer:
        owner = getattr(owner, part)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(model, arguments, state, **settings)
    assert list(state.rglob("*.state"))


def refused(reason):
    return pytest.raises(
        ValueError,
        match=rf"checkpoint in .*state is that of another fit: .*{reason}.*"
        r"Remove the folder to begin anew, or give another one",
    )


@pytest.mark.parametrize("form", ["batches", "parquet", "dask"])
@pytest.mark.parametrize("name", MODELS)
def test_rows_with_other_labels_are_refused(name, form, tmp_path):
    X, y, weight = make_rows(300)
    model, state = MODELS[name], tmp_path / "state"
    stop(model, rows_as(form, tmp_path, X, y, weight), state)
    other = {"ash": "cedar", "birch": "ash", "cedar": "birch"}
    labels = np.array([other[label] for label in y])
    changed = rows_as(form, tmp_path, X, labels, weight)
    with refused(f"{PLACES[form]} had other rows, labels or weights"):
        fit(model, changed, state)
    shutil.rmtree(state)
    assert same_bits(fit(model, changed, state), fit(model, changed))


@pytest.mark.parametrize("form", ["parquet", "dask", "iterator"])
@pytest.mark.parametrize("name", ["ClusteredSVC", "SupportClusterSVC"])
def test_the_same_rows_are_resumed(name, form, tmp_path):
    data, model = make_rows(300), MODELS[name]
    stop(model, rows_as(form, tmp_path, *data), tmp_path / "state")
    # Objects of their own, and a file that was written again.
    again = fit(model, rows_as(form, tmp_path, *data), tmp_path / "state")
    assert same_bits(again, fit(model, rows_as(form, tmp_path, *data)))
    assert not list((tmp_path / "state").iterdir())


def change_one_weight(X, y, weight):
    weight[150] += 1.0


def change_one_entry(X, y, weight):
    X[-1, 1] += 1e-9


def swap_two_rows(X, y, weight):
    X[[3, 4]] = X[[4, 3]]


@pytest.mark.parametrize("form", ["batches", "parquet", "dask", "iterator"])
@pytest.mark.parametrize(
    ("change", "place"),
    [(change_one_weight, 1), (change_one_entry, 3), (swap_two_rows, 0)],
)
def test_small_changes_are_refused(form, change, place, tmp_path):
    data = make_rows(300)
    stop(MODELS["ClusteredSVC"], rows_as(form, tmp_path, *data), tmp_path / "state")
    change(*data)
    changed = rows_as(form, tmp_path, *data)
    with refused(PLACES[form].replace("0", str(place))):
        fit(MODELS["ClusteredSVC"], changed, tmp_path / "state")


def test_only_rows_that_were_used_have_to_be_the_same(tmp_path):
    X, y, _ = make_rows(20 * 30)

    def read(number):
        if number == 19 and not stopped:
            stopped.append(number)
            raise KeyboardInterrupt
        own = slice(number * 30, (number + 1) * 30)
        return X[own], y[own]

    model, state, stopped = MODELS["SupportClusterSVC"], tmp_path / "state", []
    with pytest.raises(KeyboardInterrupt):
        fit(model, (Batches(read, 20),), state)
    X[3 * 30] *= -1.0
    with refused("batch 3"):
        fit(model, (Batches(read, 20),), state)
    X[3 * 30] *= -1.0
    # Of the last group of eight nothing was kept.
    X[17 * 30] *= -1.0
    again = fit(model, (Batches(read, 20),), state)
    assert same_bits(again, fit(model, (Batches(read, 20),)))


def test_rows_are_compared_on_the_workers(tmp_path):
    X, y, weight = make_rows(300)
    state, model = tmp_path / "state", MODELS["ClusteredSVC"]
    with local_client(2) as client:
        for form in ("dask", "parquet"):
            stop(model, rows_as(form, tmp_path, X, y, weight), state, client=client)
            again = fit(
                model, rows_as(form, tmp_path, X, y, weight), state, client=client
            )
            assert same_bits(again, fit(model, rows_as(form, tmp_path, X, y, weight)))
            stop(model, rows_as(form, tmp_path, X, y, weight), state, client=client)
            other = rows_as(form, tmp_path, -X, y, weight)
            with refused(PLACES[form]):
                fit(model, other, state, client=client)
            shutil.rmtree(state)


def write_frame(path, frame):
    frame.to_parquet(path, row_group_size=ROWS)
    return path


def frame_of_two():
    """Columns of which two can be labels, and two weights."""
    X, y, weight = make_rows(300)
    code = (y == "ash").astype(int)
    return pd.DataFrame(
        {
            **{"a": X[:, 0], "b": X[:, 1], "one": code, "two": code[::-1]},
            **{"weight": weight, "other": weight[::-1]},
        }
    )


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (("two", "weight"), "its column 2 was 'two', now it is 'one'"),
        (("one", "other"), "its column 3 was 'other', now it is 'weight'"),
        (("one", None), "its number of columns was '4', now it is '5'"),
    ],
)
def test_another_target_or_weight_is_refused(columns, reason, tmp_path):
    path = write_frame(tmp_path / "rows.parquet", frame_of_two())
    model = MODELS["SupportClusterSVC"]
    stop(model, (path, "one", "weight"), tmp_path / "state")
    with refused(reason):
        fit(model, (path, *columns), tmp_path / "state")


def test_a_target_or_weight_of_another_name_is_refused(tmp_path):
    X, y, weight = make_rows(300)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(one=y, weight=weight)
    model, state = MODELS["ClusteredSVC"], tmp_path / "state"
    rows = dd.from_pandas(frame, npartitions=3, sort=False)
    stop(model, (rows, "one", "weight"), state)
    renamed = rows.rename(columns={"one": "two"})
    with refused("its column of labels was 'one', now it is 'two'"):
        fit(model, (renamed, "two", "weight"), state)
    renamed = rows.rename(columns={"weight": "mass"})
    with refused("its column of weights was 'weight', now it is 'mass'"):
        fit(model, (renamed, "one", "mass"), state)


def test_columns_in_another_order_are_refused(tmp_path):
    frame, path = frame_of_two(), tmp_path / "rows.parquet"
    stop(MODELS["ClusteredSVC"], (write_frame(path, frame), "one"), tmp_path / "state")
    write_frame(path, frame[["b", "a", "one", "two", "weight", "other"]])
    with refused("its column 0 was 'a', now it is 'b'"):
        fit(MODELS["ClusteredSVC"], (path, "one"), tmp_path / "state")


@pytest.mark.parametrize("form", ["batches", "dask"])
def test_rows_cut_in_another_way_are_refused(form, tmp_path):
    data, model = make_rows(300), MODELS["ClusteredSVC"]
    stop(model, rows_as(form, tmp_path, *data), tmp_path / "state")
    with refused("its number of blocks was '4', now it is '6'"):
        fit(model, rows_as(form, tmp_path, *data, rows=50), tmp_path / "state")
    with refused(PLACES[form]):
        fit(model, rows_as(form, tmp_path, *data, rows=90), tmp_path / "state")


def test_a_batch_that_was_empty_is_refused_with_rows(tmp_path):
    X, y, _ = make_rows(200)
    edges = [0, 100, 100, 200]

    def read(number):
        own = slice(edges[number], edges[number + 1])
        return X[own], y[own]

    model, state = MODELS["SupportClusterSVC"], tmp_path / "state"
    stop(model, (Batches(read, 3),), state)
    assert same_bits(
        fit(model, (Batches(read, 3),), state), fit(model, (Batches(read, 3),))
    )
    stop(model, (Batches(read, 3),), state)
    edges[1] = 99
    with refused("batch 0"):
        fit(model, (Batches(read, 3),), state)
    edges[1:3] = 100, 101
    with refused("batch 1"):
        fit(model, (Batches(read, 3),), state)


CENTERS = np.random.default_rng(0).standard_normal((300, 4))


def other_centers():
    centers = CENTERS.copy()
    centers[150, 2] += 1e-9
    return centers


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({"C": 0.3}, {"C": 0.5}, r"parameter C was '0\.3', now it is '0\.5'"),
        ({"class_weight": {"ash": 2}}, {"class_weight": {"ash": 3}}, "class_weight"),
        (
            {"clusterer": KMeans(300, init=CENTERS, n_init=1)},
            {"clusterer": KMeans(300, init=other_centers(), n_init=1)},
            r"parameter clusterer__init was 'ndarray of shape \(300, 4\) with SHA-1",
        ),
        (
            {"clusterer": KMeans(3, n_init=1)},
            {"clusterer": KMeans(3, n_init=2)},
            "parameter clusterer__n_init was '1', now it is '2'",
        ),
        (
            {"random_state": np.random.RandomState(0)},
            {"random_state": np.random.RandomState(1)},
            "parameter random_state was 'RandomState with SHA-1",
        ),
    ],
    ids=["number", "dict", "array", "clusterer", "generator"],
)
def test_other_parameters_are_refused(before, after, reason, tmp_path):
    batches = (Batches.of(*make_rows(600), rows=ROWS),)
    model, state = ClusteredSVC("auto", C=0.3, random_state=0), tmp_path / "state"
    stop(clone(model).set_params(**before), batches, state)
    with refused(reason):
        fit(clone(model).set_params(**after), batches, state)


def test_equal_parameters_of_other_objects_are_resumed(tmp_path):
    batches = (Batches.of(*make_rows(600), rows=ROWS),)

    def model(**others):
        return ClusteredSVC(
            "auto",
            clusterer=KMeans(300, init=CENTERS.copy(), n_init=1),
            class_weight={"ash": np.float64(2.0)} | others,
            random_state=np.random.RandomState(3),
        )

    stop(model(cedar=1.0), batches, tmp_path / "state")
    again = model(cedar=1.0).set_params(class_weight={"cedar": 1.0, "ash": 2.0})
    again = fit(again.set_params(n_jobs=2), batches, tmp_path / "state")
    assert same_bits(again, fit(model(cedar=1.0), batches))


def test_a_generator_that_drew_the_seed_is_recognised_after_an_interruption(
    tmp_path, monkeypatch
):
    rows = Batches.of(*make_rows(300), rows=ROWS)
    expected = clone(MODELS["ClusteredSVC"])
    expected.set_params(random_state=np.random.RandomState(3)).fit(rows)
    model = clone(expected).set_params(random_state=np.random.RandomState(3))
    with options(checkpoint=tmp_path / "state"):
        with monkeypatch.context() as patch:
            patch.setattr(RegionalModel, "from_solution", interrupt)
            with pytest.raises(KeyboardInterrupt):
                model.fit(rows)
        assert list((tmp_path / "state").rglob("*.state"))
        model.fit(rows)
    assert same_bits(model, expected)


def test_a_parameter_that_no_process_can_recognise_is_refused(tmp_path):
    model = clone(MODELS["ClusteredSVC"]).set_params(
        clusterer=KMeans(3, init=lambda X, n_clusters, random_state: X[:n_clusters])
    )
    batches = (Batches.of(*make_rows(200), rows=ROWS),)
    with pytest.raises(TypeError, match=r"clusterer__init=.*cannot be recognised"):
        fit(model, batches, tmp_path / "state")
    fit(model, batches)


def test_another_version_of_the_library_is_refused(tmp_path, monkeypatch):
    batches = (Batches.of(*make_rows(300), rows=ROWS),)
    stop(MODELS["ClusteredSVC"], batches, tmp_path / "state")
    now = localsvm.__version__
    monkeypatch.setattr(localsvm, "__version__", "99.1")
    with refused(f"its localsvm version was '{now}', now it is '99.1'"):
        fit(MODELS["ClusteredSVC"], batches, tmp_path / "state")


def test_another_estimator_is_refused(tmp_path):
    batches = (Batches.of(*make_rows(300), rows=ROWS),)
    stop(MODELS["ClusteredSVC"], batches, tmp_path / "state")
    with refused(r"its estimator was '.*\.ClusteredSVC', now it is '.*\.ReducedSVC'"):
        fit(MODELS["ReducedSVC"], batches, tmp_path / "state")


def count_reads(monkeypatch):
    from localsvm.engine._sources import _parquet

    reads, original = [], _parquet.ParquetPart.read

    def read(self):
        reads.append(self.row_groups[0])
        return original(self)

    monkeypatch.setattr(_parquet.ParquetPart, "read", read)
    return reads


def test_a_file_that_was_left_alone_is_not_read_again(tmp_path, monkeypatch):
    arguments = rows_as("parquet", tmp_path, *make_rows(300))
    model, state = MODELS["ClusteredSVC"], tmp_path / "state"
    stop(model, arguments, state)
    reads = count_reads(monkeypatch)
    fit(model, arguments, state)
    assert reads == []


def test_a_file_that_was_copied_is_read_once(tmp_path, monkeypatch):
    arguments = rows_as("parquet", tmp_path, *make_rows(300))
    model, state = MODELS["ClusteredSVC"], tmp_path / "state"
    expected = fit(model, arguments)
    stop(model, arguments, state)
    content = arguments[0].read_bytes()
    arguments[0].unlink()
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "copy.parquet"
    path.write_bytes(content)
    reads = count_reads(monkeypatch)
    assert same_bits(fit(model, (path, *arguments[1:]), state), expected)
    assert sorted(reads) == [0, 1, 2, 3]


def test_a_file_of_equal_length_and_time_is_not_taken_for_the_old_one(tmp_path):
    X, y, weight = make_rows(300)
    path, *columns = rows_as("parquet", tmp_path, X, y, weight)
    model, state = MODELS["ClusteredSVC"], tmp_path / "state"
    stop(model, (path, *columns), state)
    before = os.stat(path)
    # Two rows change places in a chunk: the statistics in the footer stay, too.
    X[[3, 4]] = X[[4, 3]]
    write_parquet(path, X, y, weight)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(path).st_size == before.st_size
    assert os.stat(path).st_mtime_ns == before.st_mtime_ns
    with refused("row group 0"):
        fit(model, (path, *columns), state)


def test_a_fit_without_results_keeps_no_other_fit_out(tmp_path):
    state = tmp_path / "state"
    batches = (Batches.of(*make_rows(300), rows=ROWS),)
    with pytest.raises(ValueError, match="needs all rows in memory"):
        fit(LocalSVC(20, shrink=1.0), batches, state)
    assert not list(state.iterdir())
    fit(MODELS["LocalSVC"], batches, state)

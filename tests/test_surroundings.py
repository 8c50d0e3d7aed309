"""What a test process finds around it, and what happens where data sets are missing."""

import os
import tempfile
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

import surroundings
from data_sets import loaded
from localsvm.data import load_benchmark

N_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


@pytest.mark.parametrize(
    ("n_cores", "n_workers", "expected"), [(8, 1, 8), (8, 3, 2), (2, 2, 1), (2, 4, 1)]
)
def test_cores_are_divided_among_workers(n_cores, n_workers, expected):
    assert surroundings.threads_per_worker(n_cores, n_workers) == expected


def test_libraries_and_child_processes_have_the_threads_of_one_worker():
    given = int(os.environ["OMP_NUM_THREADS"])
    assert given * N_WORKERS <= max(os.cpu_count(), N_WORKERS)
    libraries = threadpool_info()
    assert {each["user_api"] for each in libraries} >= {"blas", "openmp"}
    assert max(each["num_threads"] for each in libraries) <= given


def test_temporary_files_of_this_process_and_its_children_are_in_one_place(tmp_path):
    if "TMPDIR" in os.environ:
        assert tempfile.gettempdir() == os.environ["TMPDIR"]
    assert tmp_path.is_relative_to(tempfile.gettempdir())


def test_a_small_or_missing_folder_has_no_room(tmp_path, monkeypatch):
    assert not surroundings.has_room(tmp_path / "nothing")
    monkeypatch.setattr(surroundings, "ROOM", 0)
    assert surroundings.has_room(tmp_path)
    monkeypatch.setattr(surroundings, "ROOM", 2**62)
    assert not surroundings.has_room(tmp_path)


def absent():
    raise FileNotFoundError("no such rows")


@pytest.mark.parametrize(
    ("required", "outcome"),
    [("0", pytest.skip.Exception), ("1", pytest.fail.Exception)],
)
def test_missing_data_sets_fail_where_they_are_promised(monkeypatch, required, outcome):
    monkeypatch.setenv("LOCALSVM_REQUIRE_DATA", required)
    with pytest.raises(outcome, match="no such rows"):
        loaded(absent)
    assert loaded(Path, "rows") == Path("rows")


def test_data_sets_are_not_downloaded(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOCALSVM_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="tests do not use the network"):
        load_benchmark("mnist")

"""Workers and clients that are killed, files that are corrupt, Ctrl-C."""

import errno
import fcntl
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from sklearn.base import clone

import engine_faults
from engine_data import local_client, make_rows, same_bits, write_parquet
from localsvm.engine import (
    Batches,
    FolderInUseError,
    UnreadableBlockError,
    options,
)

# How often a method reads its rows.
N_PASSES = {"SupportClusterSVC": 1, "ClusteredSVC": 2}
PARTS = "localsvm.passes._linear_solver"
MIXTURE = "localsvm.estimators._mixture"
REDUCED = "localsvm.estimators._reduced.master"


@pytest.fixture(scope="module")
def expected():
    """Models of fits without a fault."""
    from localsvm.passes import _linear_solver as _part_solver

    before = _part_solver._WORKING_BYTES
    engine_faults.small_solves()
    batches = Batches(engine_faults.read, engine_faults.N_BATCHES)
    models = {
        name: clone(model).fit(batches) for name, model in engine_faults.MODELS.items()
    }
    _part_solver._WORKING_BYTES = before
    return models


def start_fit(name, folder, *fault):
    """Start a fit in a process of its own, which notes the batches it reads."""
    tests = Path(engine_faults.__file__).parent
    environment = os.environ | {
        "READS": str(folder / "reads"),
        "PYTHONPATH": os.pathsep.join([str(tests), *sys.path]),
    }
    command = [sys.executable, engine_faults.__file__, name, str(folder), *fault]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def run_fit(name, folder, *fault):
    """A fit in a process of its own; its exit status and the batches it read."""
    reads = folder / "reads"
    reads.unlink(missing_ok=True)
    process = start_fit(name, folder, *fault)
    sys.stderr.write(process.communicate()[1])
    status = process.returncode
    numbers = reads.read_text().split() if reads.exists() else []
    return status, [int(number) for number in numbers]


@pytest.mark.parametrize(
    ("name", "function", "call", "passes"),
    [
        # Batches 0 to 7 are a group: read to be compared, the others to be clustered.
        ("SupportClusterSVC", "engine_faults:read", "13", 1),
        pytest.param(
            *("ClusteredSVC", "engine_faults:read", "30", 3), marks=pytest.mark.slow
        ),
        ("ClusteredSVC", "localsvm.solvers:SelectiveDescent:finish", "2", 1),
        pytest.param(
            *("ClusteredSVC", f"{PARTS}:evaluate_block", "1", 1), marks=pytest.mark.slow
        ),
        pytest.param(
            *("ClusteredSVC", f"{PARTS}:_remove_older", "2", 1), marks=pytest.mark.slow
        ),
        ("MixtureSVC", "localsvm.solvers:SelectiveDescent:finish", "20", 1),
        pytest.param(
            *("MixtureSVC", f"{MIXTURE}.em.loop:save_em", "2", 1),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("MixtureSVC", f"{MIXTURE}.blocks:StoredRows:drop_shares", "25", 1),
            marks=pytest.mark.slow,
        ),
        ("ReducedSVC", f"{REDUCED}:check_block", "30", 1),
        pytest.param(
            *("ReducedSVC", f"{REDUCED}:ReducedStore:drop_before", "1", 1),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_fit_that_was_killed_goes_on(
    name, function, call, passes, expected, tmp_path
):
    if function.startswith("engine_faults"):
        function = function.replace("engine_faults", "__main__")
    status, _ = run_fit(name, tmp_path, function, call)
    assert status == -signal.SIGKILL
    assert list((tmp_path / "state").rglob("*.state"))
    status, reads = run_fit(name, tmp_path)
    assert status == 0
    # Batch 0 is read at first, to see what the batches are like.
    counts = (
        np.bincount(reads, minlength=engine_faults.N_BATCHES)
        - np.eye(engine_faults.N_BATCHES)[0]
    )
    assert counts.min() >= 1
    assert counts.max() <= passes
    model = pickle.loads((tmp_path / "model").read_bytes())
    assert same_bits(model, expected[name])
    certificate = "violation_" if name == "ReducedSVC" else "duality_gap_"
    assert getattr(model, certificate) == getattr(expected[name], certificate)
    assert model.n_iter_ == expected[name].n_iter_
    assert not list((tmp_path / "state").iterdir())


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    run_fit("ClusteredSVC", tmp_path, f"{PARTS}:_remove_older", "1")
    batches = Batches(engine_faults.read, engine_faults.N_BATCHES)
    other = clone(engine_faults.MODELS["ClusteredSVC"]).set_params(C=0.5)
    message = r"its parameter C was '0\.3', now it is '0\.5'\. Remove the folder"
    with (
        options(checkpoint=tmp_path / "state"),
        pytest.raises(ValueError, match=message),
    ):
        other.fit(batches)


@pytest.fixture
def waiting_fit(tmp_path):
    """A process that is in the middle of a fit until a file "go" is there."""
    function = "localsvm.estimators._support_cluster.fit:finish_merging"
    process = start_fit("SupportClusterSVC", tmp_path, function, "1", "wait")
    deadline = time.monotonic() + 120
    while not (tmp_path / "waiting").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield process
    process.kill()
    process.communicate()


def test_a_second_process_is_told_who_has_the_checkpoint(waiting_fit, tmp_path):
    second = start_fit("SupportClusterSVC", tmp_path)
    message = second.communicate()[1].splitlines()[-1]
    assert second.returncode == 1
    assert "FolderInUseError: The checkpoint in" in message
    assert f"in use by process {waiting_fit.pid} on {socket.gethostname()}" in message
    assert re.search(r"fits SupportClusterSVC since \d{4}-\d\d-\d\d .* UTC\.", message)
    assert "options(checkpoint=...)" in message
    # The first one has lost nothing.
    (tmp_path / "go").touch()
    assert waiting_fit.wait(120) == 0
    assert (tmp_path / "model").exists()
    assert not list((tmp_path / "state").iterdir())


def test_the_lock_of_a_killed_process_holds_nobody_up(waiting_fit, expected, tmp_path):
    waiting_fit.kill()
    waiting_fit.wait()
    assert (tmp_path / "state" / "localsvm-fit.lock").exists()
    status, reads = run_fit("SupportClusterSVC", tmp_path)
    assert status == 0
    # Compared only: the clusters are those of the first process.
    assert sorted(reads) == [0, *range(engine_faults.N_BATCHES)]
    model = pickle.loads((tmp_path / "model").read_bytes())
    assert same_bits(model, expected["SupportClusterSVC"])
    assert not list((tmp_path / "state").iterdir())


def test_a_second_thread_is_told_of_the_first(tmp_path):
    inside, go = threading.Event(), threading.Event()

    def read(number):
        inside.set()
        assert go.wait(60)
        return engine_faults.read(number)

    def fit(read):
        with options(checkpoint=tmp_path / "state"):
            model = clone(engine_faults.MODELS["SupportClusterSVC"])
            return model.fit(Batches(read, engine_faults.N_BATCHES))

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(fit, read)
        assert inside.wait(60)
        message = f"by process {os.getpid()} on .*: another thread of this process"
        try:
            with pytest.raises(FolderInUseError, match=message):
                fit(engine_faults.read)
        finally:
            go.set()
        assert first.result().classes_.tolist() == ["ash", "birch", "cedar"]
    assert same_bits(fit(engine_faults.read), first.result())


FORKS = """
import os, pathlib, signal, sys
from localsvm.engine._checkpoints._lock import locked_folder
with locked_folder(pathlib.Path(sys.argv[1]), "x"):
    child = os.fork()
    if child == 0:
        os.close(1)
        signal.pause()
    print(child, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_child_of_a_killed_process_holds_nobody_up(tmp_path):
    from localsvm.engine._checkpoints._lock import locked_folder

    command = [sys.executable, "-c", FORKS, str(tmp_path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    child = int(done.stdout)
    try:
        assert done.returncode == -signal.SIGKILL
        with locked_folder(tmp_path, "x"):
            os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_lock_that_is_gone_when_it_is_got_is_not_taken(tmp_path, monkeypatch):
    from localsvm.engine._checkpoints import _lock

    original, calls = fcntl.flock, []

    def flock(file, how):
        # As if the fit that held it had ended after the file was opened.
        if not calls:
            (tmp_path / "localsvm-fit.lock").unlink()
        calls.append(how)
        original(file, how)

    monkeypatch.setattr(_lock.fcntl, "flock", flock)
    with _lock.locked_folder(tmp_path, "x"):
        assert len(calls) == 2
        with (
            pytest.raises(FolderInUseError, match="another thread"),
            _lock.locked_folder(tmp_path, "y"),
        ):
            pass
    with _lock.locked_folder(tmp_path, "x"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_file_system_without_locks_is_told_of(tmp_path, monkeypatch):
    def flock(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("localsvm.engine._checkpoints._lock.fcntl.flock", flock)
    batches = Batches(engine_faults.read, engine_faults.N_BATCHES)
    with (
        options(checkpoint=tmp_path),
        pytest.warns(UserWarning, match="cannot be locked .*No locks available"),
    ):
        clone(engine_faults.MODELS["SupportClusterSVC"]).fit(batches)


@pytest.mark.slow
def test_a_worker_that_dies_does_not_matter(expected, tmp_path):
    read = engine_faults.ReadOnceKilled(tmp_path / "marker", 11)
    with local_client(2, processes=True) as client, options(client=client):
        model = clone(engine_faults.MODELS["SupportClusterSVC"])
        model.fit(Batches(read, engine_faults.N_BATCHES))
        assert (tmp_path / "marker").exists()
        assert same_bits(model, expected["SupportClusterSVC"])


def test_a_worker_that_dies_while_solving_does_not_matter(
    expected, tmp_path, monkeypatch
):
    from localsvm.passes import _linear_solver as _part_solver

    monkeypatch.setattr(_part_solver, "_WORKING_BYTES", 6000.0)
    killed = []

    def kill_after_the_first_pass(client, pids):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if list(tmp_path.glob("*/solve-vectors-*-1")):
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])
                return
            time.sleep(0.002)

    batches = Batches(engine_faults.read, engine_faults.N_BATCHES)
    with local_client(2, processes=True) as client:
        pids = list(client.run(os.getpid).values())
        killer = threading.Thread(
            target=kill_after_the_first_pass, args=(client, pids), daemon=True
        )
        killer.start()
        with options(client=client, folder=tmp_path):
            model = clone(engine_faults.MODELS["ClusteredSVC"]).fit(batches)
        killer.join()
    assert killed
    assert same_bits(model, expected["ClusteredSVC"])


@pytest.mark.parametrize("name", ["SupportClusterSVC", "ClusteredSVC"])
def test_a_corrupt_row_group_loses_nothing(name, tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "rows.parquet", *make_rows(600), rows=30)
    content = path.read_bytes()
    group = pyarrow.parquet.ParquetFile(path).metadata.row_group(17)
    corrupt = bytearray(content)
    corrupt[group.column(2).data_page_offset + 75] ^= 0xFF
    model, message = engine_faults.MODELS[name], r"Row group 17 of .*rows\.parquet"
    with options(block_rows=30):
        expected = clone(model).fit(path, "label", "weight")
        path.write_bytes(corrupt)
        with options(checkpoint=tmp_path / "state", checkpoint_seconds=0.0):
            # Threads that read ahead are still at it when the error is raised.
            with (
                ended_threads(),
                pytest.raises(UnreadableBlockError, match=message),
            ):
                clone(model).fit(path, "label", "weight")
            path.write_bytes(content)
            reads = count_reads(monkeypatch)
            again = clone(model).fit(path, "label", "weight")
    assert same_bits(again, expected)
    # The first two groups of eight blocks were merged before; they are compared,
    # since the file was replaced. Threads read the others in any order; a second pass
    # begins when they are done.
    assert sorted(reads[:16]) == list(range(16))
    assert sorted(reads[16:20]) == [16, 17, 18, 19]
    assert sorted(reads[20:]) == sorted([*range(20)] * (N_PASSES[name] - 1))


@contextmanager
def ended_threads():
    """Wait for the threads that were begun inside."""
    before = set(sys._current_frames())
    yield
    deadline = time.monotonic() + 60
    while set(sys._current_frames()) - before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def count_reads(monkeypatch):
    """Numbers of the row groups that are read from now on."""
    from localsvm.engine._sources import _parquet

    reads, original = [], _parquet._File.read_group

    def read_group(self, group, *others):
        reads.append(group)
        return original(self, group, *others)

    monkeypatch.setattr(_parquet._File, "read_group", read_group)
    return reads


@pytest.fixture
def ctrl_c():
    """Let this process hear Ctrl-C, whatever was started in it before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is not None:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_fit_and_changes_nothing():
    X, y, _ = make_rows(300)
    model = clone(engine_faults.MODELS["ClusteredSVC"]).fit(X, y)
    before = model.decision_function(X)

    def interrupt(number):
        if number == 5:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return engine_faults.read(number)

    with pytest.raises(KeyboardInterrupt):
        model.fit(Batches(interrupt, engine_faults.N_BATCHES))
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_solve(monkeypatch):
    from localsvm.passes import _linear_solver as _part_solver

    original, ended = _part_solver.run_pass, threading.Event()

    def run_pass(*arguments):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            return original(*arguments)
        except InterruptedError:
            ended.set()
            raise

    monkeypatch.setattr(f"{PARTS}.run_pass", run_pass)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 30)), rng.integers(0, 2, 20_000)
    model = clone(engine_faults.MODELS["ClusteredSVC"])
    model.set_params(C=1e6, tol=0.0, max_iter=10**9, max_time=60.0, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(Batches.of(X, y, rows=5000))
    assert ended.wait(10)

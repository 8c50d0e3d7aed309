"""Model files that are updated: durable, whole, and readable by everybody."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import localsvm
import updating_process
from localsvm import AdditiveSVC, ClusteredSVC
from localsvm.exceptions import DataError
from localsvm.export import UpdatableFile, load_file
from localsvm.export._file._journal import journal_of
from localsvm.rows import identify_rows
from updating_process import changes


def make_rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.fixture
def saved(tmp_path):
    X, y = make_rows()
    model = ClusteredSVC(6, random_state=0, updatable=True).fit(X, y)
    path = tmp_path / "model.lsvm"
    localsvm.save(model, path, state=True, notes={"of": "a test"})
    return path, X, y


def hashes_of(model):
    rows = model._kept.rows.compacted()[0]
    return set(rows.identity.hashes.tolist())


def test_updates_are_there_for_whoever_loads(saved):
    path, X, y = saved
    with UpdatableFile(path) as file:
        before = path.read_bytes()
        file.update(remove=(X[:2], y[:2]))
        file.update(add=(X[:1] + 1, y[:1], [2.0]))
        assert path.read_bytes() == before
        loaded = load_file(path)
        assert hashes_of(loaded.model) == hashes_of(file.model)
        assert loaded.notes == {"of": "a test"}
        expected = file.model.decision_function(X)
    np.testing.assert_array_equal(localsvm.load(path).decision_function(X), expected)
    with UpdatableFile(path) as file:
        np.testing.assert_array_equal(file.model.decision_function(X), expected)
        file.checkpoint()
    assert not journal_of(path).exists()
    loaded = localsvm.load(path)
    np.testing.assert_array_equal(loaded.decision_function(X), expected)
    assert loaded.duality_gap_ <= loaded.tol


def test_a_long_journal_becomes_part_of_the_file(saved):
    path, X, _y = saved
    with UpdatableFile(path) as file:
        before = path.read_bytes()
        for seed in range(1, 6):
            file.update(add=make_rows(40, seed))
            if path.read_bytes() != before:
                break
        else:
            raise AssertionError("the journal only grew")
    assert localsvm.load(path)._kept.rows.n_rows == len(X) + 40 * seed


def test_an_unfinished_entry_is_not_there(saved):
    path, X, y = saved
    journal = journal_of(path)
    states, lengths = [], []
    with UpdatableFile(path) as file:
        for row in range(3):
            file.update(remove=(X[row : row + 1], y[row : row + 1]))
            states.append(hashes_of(file.model))
            lengths.append(journal.stat().st_size)
    whole = journal.read_bytes()
    states = [states[0] | {0}, *states]  # before: not looked at
    for cut in range(lengths[1], lengths[2], 97):
        journal.write_bytes(whole[:cut])
        assert hashes_of(localsvm.load(path)) == states[2]
    # The length was written, but not what the disk had not yet got.
    journal.write_bytes(whole[:-1] + b"\x00")
    assert hashes_of(localsvm.load(path)) == states[2]
    # What was begun is longer than what comes next.
    begun = (10**6).to_bytes(8, "little") + bytes(10**5)
    journal.write_bytes(whole[: lengths[1]] + begun)
    assert hashes_of(localsvm.load(path)) == states[2]
    with UpdatableFile(path) as file:
        file.update(remove=(X[5:6], y[5:6]))
        expected = hashes_of(file.model)
    assert (
        hashes_of(localsvm.load(path))
        == expected
        == states[2] - set(identify_rows(X[5:6], y[5:6].astype(np.int32)).tolist())
    )


def test_a_damaged_entry_is_an_error(saved):
    path, X, y = saved
    with UpdatableFile(path) as file:
        for row in range(2):
            file.update(remove=(X[row : row + 1], y[row : row + 1]))
    content = bytearray(journal_of(path).read_bytes())
    content[300] ^= 1
    journal_of(path).write_bytes(content)
    with pytest.raises(DataError, match="journal"):
        localsvm.load(path)


def test_entries_of_another_file_do_not_count(saved):
    path, X, y = saved
    with UpdatableFile(path) as file:
        file.update(remove=(X[:1], y[:1]))
    model = ClusteredSVC(4, random_state=1, updatable=True).fit(X, y)
    localsvm.save(model, path, state=True)
    assert localsvm.load(path)._kept.rows.n_rows == len(X)
    with UpdatableFile(path) as file:
        file.update(remove=(X[:3], y[:3]))
    assert localsvm.load(path)._kept.rows.n_rows == len(X) - 3


def test_one_process_at_a_time(saved):
    path, X, y = saved
    with UpdatableFile(path), pytest.raises(DataError, match="in use"):
        UpdatableFile(path)
    with UpdatableFile(path) as file:
        file.update(remove=(X[:1], y[:1]))


def test_what_cannot_be_written_is_not_made(saved, monkeypatch):
    path, X, y = saved
    with UpdatableFile(path) as file:
        before = file.model._kept

        def full(number):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            file.update(remove=(X[:1], y[:1]))
        monkeypatch.undo()
        assert file.model._kept is before
        file.update(remove=(X[1:2], y[1:2]))
    assert localsvm.load(path)._kept.rows.n_rows == len(X) - 1


def test_pipelines_map_the_rows(tmp_path):
    X, y = make_rows()
    model = make_pipeline(
        StandardScaler(), ClusteredSVC(6, random_state=0, updatable=True)
    ).fit(X * 3 + 1, y)
    path = tmp_path / "pipeline.lsvm"
    localsvm.save(model, path, state=True)
    with UpdatableFile(path) as file:
        for row in range(3):
            file.update(remove=(X[row : row + 1] * 3 + 1, y[row : row + 1]))
    assert localsvm.load(path)[-1]._kept.rows.n_rows == len(X) - 3


@pytest.mark.parametrize("kind", ["sparse", "missing"])
def test_rows_of_all_kinds(kind, tmp_path):
    X, y = make_rows()
    if kind == "sparse":
        X[X < -1] = 0
        X = sparse.csr_array(X)
        model = ClusteredSVC(6, random_state=0, updatable=True).fit(X, y)
    else:
        X[:30, 0] = np.nan
        model = AdditiveSVC(C=1.0, updatable=True).fit(X, y)
    path = tmp_path / "model.lsvm"
    localsvm.save(model, path, state=True)
    with UpdatableFile(path) as file:
        file.update(remove=(X[:2], y[:2]))
    assert localsvm.load(path)._kept.rows.n_rows == model._kept.rows.n_rows - 2


def test_models_without_rows_are_refused(tmp_path):
    X, y = make_rows()
    path = tmp_path / "model.lsvm"
    model = ClusteredSVC(6, random_state=0, updatable=True).fit(X, y)
    localsvm.save(model, path)
    with pytest.raises(ValueError, match="state=True"):
        UpdatableFile(path)
    assert not journal_of(path).exists()


def kill_while_updating(path, first, chance):
    """Kill a process at a random moment; return the last update that it reported."""
    worker = subprocess.Popen(
        [sys.executable, updating_process.__file__, str(path), str(first)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout.readline() == "ready\n"
    time.sleep(chance.uniform(0.0, 0.05))
    worker.send_signal(signal.SIGKILL)
    reported = worker.stdout.read().split("\n")
    worker.wait()
    done = [int(each) for each in reported if each]
    return done[-1] if done else first - 1


def check_kills(path, X, y, n_kills):
    fixed = set(identify_rows(X, y.astype(np.int32)).tolist())

    def expected(n):
        if n < 0:
            return fixed
        row, label = changes(n)
        return fixed | set(identify_rows(row, label.astype(np.int32)).tolist())

    chance, n, made = random.Random(0), -1, 0
    for _ in range(n_kills):
        last = kill_while_updating(path, n + 1, chance)
        found = hashes_of(localsvm.load(path))
        # What was reported is there; one more may be, which was not reported yet.
        assert found in (expected(last), expected(last + 1))
        made += last - n
        n = last if found == expected(last) else last + 1
    return made


def test_killed_processes_leave_whole_models(saved):
    path, X, y = saved
    assert check_kills(path, X, y, 4) > 0


@pytest.mark.slow
def test_many_killed_processes_leave_whole_models(saved):
    path, X, y = saved
    assert check_kills(path, X, y, 200) > 200

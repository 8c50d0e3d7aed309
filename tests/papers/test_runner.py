import io
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from papers import Method, Part, Size, Store, run_experiments
from papers_data import toy, toy_runs

N_RUNS = 12


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "records")


def run(experiment, store, **options):
    options.setdefault("stream", io.StringIO())
    return run_experiments([experiment], Size.SMOKE, store, **options)


def lines(path):
    return path.read_text().split() if path.exists() else []


def test_every_run_is_recorded_once(store, tmp_path):
    trace = tmp_path / "trace"
    experiment = toy(toy_runs(trace=str(trace)))
    assert run(experiment, store).n_done == 3
    again = run(experiment, store)
    assert (again.n_done, again.n_before) == (0, 3)
    assert lines(trace) == ["0", "1", "2"]
    records = store.read("toy/table1", Size.SMOKE)
    assert list(records) == [r.key for r in experiment.runs(Size.SMOKE)]
    assert [record["scores"]["accuracy"] for record in records.values()] == [100.0] * 3


def test_a_changed_definition_is_run_again(store, tmp_path):
    trace = str(tmp_path / "trace")
    run(toy(toy_runs(trace=trace)), store)
    changed = toy(toy_runs(trace=trace, threshold=0.5))
    assert run(changed, store).n_done == 3
    assert len(store.read("toy/table1", Size.SMOKE)) == 6
    assert run(changed, store).n_done == 0


def test_a_renamed_group_is_not_run_again(store):
    run(toy(toy_runs()), store)
    assert run(toy(toy_runs(group="other")), store).n_before == 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failing_run_does_not_stop_the_others(store, n_jobs):
    runs = [*toy_runs(1, fails=True), *toy_runs(2)]
    stream = io.StringIO()
    summary = run(toy(runs), store, n_jobs=n_jobs, stream=stream)
    assert summary.n_done == 2
    (failure,) = summary.failed
    assert "toy/table1 [ours, seed 0]" in failure
    assert "RuntimeError: it was asked to fail" in failure
    assert "failed" in stream.getvalue()
    assert run(toy(runs), store).n_before == 2


def test_a_dying_process_does_not_stop_the_others(store):
    runs = [*toy_runs(1, fails="dies"), *toy_runs(3)]
    summary = run(toy(runs), store, n_jobs=2)
    assert summary.n_done == 3
    (failure,) = summary.failed
    assert "its process ended with code -9" in failure


def test_methods_that_are_missing_are_left_pending(store):
    runs = toy_runs(2)
    missing = replace(runs[0], method=Method("MSVM", Part("localsvm.NoSuchSVC")))
    summary = run(toy([missing, *runs]), store)
    assert (summary.n_done, summary.failed) == (2, [])
    assert summary.unavailable == ["toy/table1 [ours]"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_repetitions_share_the_choice_of_a_setting(store, tmp_path, n_jobs):
    trace = tmp_path / "trace"
    runs = toy_runs(3, grid={"threshold": (-0.5, 0.0, 0.5)}, trace=str(trace))
    run(toy(runs[:2]), store, n_jobs=n_jobs)
    assert len(lines(trace)) == 3 * 2 + 2
    run(toy(runs), store, n_jobs=n_jobs)
    assert len(lines(trace)) == 3 * 2 + 3
    records = list(store.read("toy/table1", Size.SMOKE).values())
    assert [record["chosen"] for record in records] == [{"threshold": 0.0}] * 3
    assert ["select" in record["seconds"] for record in records] == [True, False, False]


def test_processes_record_what_one_process_records(tmp_path):
    runs = toy_runs(4, grid={"threshold": (-0.5, 0.0)}) + toy_runs(3, threshold=0.25)
    found = []
    for n_jobs in (1, 2):
        store = Store(tmp_path / str(n_jobs))
        run(toy(runs), store, n_jobs=n_jobs)
        records = store.read("toy/table1", Size.SMOKE)
        found.append({key: r["scores"] for key, r in records.items()})
    assert found[0] == found[1]
    assert len(found[0]) == 7


def test_experiments_with_common_runs_keep_them_in_one_file(store):
    first = toy(toy_runs(2))
    second = toy(toy_runs(3), id="toy/figure1", records_of="toy/table1")
    summary = run_experiments([first, second], Size.SMOKE, store, stream=io.StringIO())
    assert summary.n_done == 3
    assert [path.name for path in store.folder.rglob("*.jsonl")] == [
        "table1.smoke.jsonl"
    ]


def test_progress_is_a_line_per_run(store):
    stream = io.StringIO()
    run(toy(toy_runs(2)), store, stream=stream)
    first, second = stream.getvalue().splitlines()
    assert first.startswith("[1/2] toy/table1 [ours, seed 0]: accuracy 100.00 %")
    assert second.startswith("[2/2]")


SCRIPT = """
import sys
from papers_data import toy, toy_runs
from papers import Size, Store, run_experiments

if __name__ == "__main__":
    folder, trace, n_jobs, n_runs = sys.argv[1:]
    runs = toy_runs(int(n_runs), trace=trace, seconds=0.2)
    run_experiments([toy(runs)], Size.SMOKE, Store(folder), n_jobs=int(n_jobs))
"""


def start(tmp_path, store, n_jobs):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    arguments = [str(store.folder), str(tmp_path / "trace"), str(n_jobs), str(N_RUNS)]
    tests = Path(__file__).parents[1]
    path = os.pathsep.join([str(tests), *sys.path])
    return subprocess.Popen(
        [sys.executable, str(script), *arguments],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_for_records(store, n_records):
    deadline = time.monotonic() + 60
    while len(store.read("toy/table1", Size.SMOKE)) < n_records:
        assert time.monotonic() < deadline, "no records within a minute"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("n_jobs", "how"),
    [
        pytest.param(1, signal.SIGKILL, marks=pytest.mark.slow),
        (2, signal.SIGKILL),
        (2, signal.SIGINT),
    ],
)
def test_what_was_stopped_goes_on_where_it_was(store, tmp_path, n_jobs, how):
    process = start(tmp_path, store, n_jobs)
    wait_for_records(store, 3)
    os.killpg(process.pid, how)
    assert process.wait(timeout=20) != 0
    before = store.read("toy/table1", Size.SMOKE)
    seeds_before = [str(record["seed"]) for record in before.values()]
    assert 3 <= len(before) < N_RUNS

    assert start(tmp_path, store, n_jobs).wait(timeout=60) == 0
    after = store.read("toy/table1", Size.SMOKE)
    assert {record["seed"] for record in after.values()} == set(range(N_RUNS))
    assert len(store.path("toy/table1", Size.SMOKE).read_text().splitlines()) == N_RUNS
    assert all(after[key] == record for key, record in before.items())
    fits = Counter(lines(tmp_path / "trace"))
    assert all(fits[seed] == 1 for seed in seeds_before)


def test_processes_end_with_the_one_that_began_them(store, tmp_path):
    process = start(tmp_path, store, 2)
    wait_for_records(store, 2)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    deadline = time.monotonic() + 20
    while True:  # a signal 0 asks whether the process group still has members
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline, "orphans are left"
        time.sleep(0.1)

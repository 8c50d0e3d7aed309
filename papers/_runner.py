"""Carries out the runs of experiments that have no record yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TextIO

from papers._definition import Run
from papers._execute import choice_of
from papers._experiment import Experiment, Size
from papers._progress import Progress, show_progress
from papers._store import Record, RecordWriter, Store
from papers._workers import Ended, Job, Lane, carry_out


@dataclass
class Summary:
    """What became of the runs.

    Parameters
    ----------
    n_before : int, default=0
        Runs that had a record already.
    n_done : int, default=0
    unavailable : list of str
        Groups of runs whose method is not there.
    failed : list of str
        Runs that raised an error, with it.
    """

    n_before: int = 0
    n_done: int = 0
    unavailable: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def run_experiments(
    experiments: Sequence[Experiment],
    size: Size,
    store: Store,
    *,
    n_jobs: int = 1,
    stream: TextIO | None = None,
) -> Summary:
    """Carry out all runs without a record, and record them.

    It can be stopped at any time and started again: a finished run is not done twice.
    A run that fails is named in the summary and does not stop the others.

    Parameters
    ----------
    experiments : sequence of Experiment
    size : Size
    store : Store
    n_jobs : int, default=1
        Runs at a time, each in a process of its own with one thread.
    stream : text stream or None, default=None
        Where progress is shown; None is the standard error.

    Returns
    -------
    Summary
    """
    summary = Summary()
    runs: dict[str, dict[str, Run]] = {}
    for experiment in experiments:
        runs.setdefault(experiment.store_id, {}).update(experiment.distinct_runs(size))
    with ExitStack() as stack:
        writers = {name: stack.enter_context(store.writer(name, size)) for name in runs}
        lanes = [
            lane
            for name in runs
            for lane in _lanes(name, runs[name], store.read(name, size), summary)
        ]
        total = sum(len(lane.jobs) for lane in lanes)
        progress = stack.enter_context(show_progress(total, stream))
        # Closed first: no process of ours outlives an error or Ctrl-C.
        events = carry_out(lanes, n_jobs)
        stack.callback(events.close)  # type: ignore[attr-defined]
        for event in events:
            if isinstance(event, Job):
                progress.started(_name(event))
            else:
                _record(event, writers, summary, progress)
    return summary


def drop_old_records(
    experiments: Sequence[Experiment],
    known: Sequence[Experiment],
    size: Size,
    store: Store,
) -> int:
    """Drop records that no known experiment defines; return how many they were.

    Parameters
    ----------
    experiments : sequence of Experiment
        Those whose files are looked at.
    known : sequence of Experiment
        All that may keep their records in these files.
    size : Size
    store : Store
    """
    n_dropped = 0
    for name in {experiment.store_id for experiment in experiments}:
        keys: dict[str, Run] = {}
        for experiment in known:
            if experiment.store_id == name:
                keys.update(experiment.distinct_runs(size))
        n_dropped += store.keep_only(name, size, keys)
    return n_dropped


def _lanes(
    name: str, runs: Mapping[str, Run], records: Mapping[str, Record], summary: Summary
) -> list[Lane]:
    """Give the runs to carry out, those with a common choice together."""
    choices = {
        record.get("selection"): choice_of(record) for record in records.values()
    }
    lanes: dict[str, Lane] = {}
    for key, run in runs.items():
        job = Job(name, run)
        if key in records:
            summary.n_before += 1
        elif not run.is_available():
            pending = f"{name} [{run.group}]"
            if pending not in summary.unavailable:
                summary.unavailable.append(pending)
        else:
            shared = run.selection_key or key
            lane = lanes.setdefault(shared, Lane(deque(), choices.get(shared)))
            lane.jobs.append(job)
    return list(lanes.values())


def _record(
    ended: Ended,
    writers: dict[str, RecordWriter],
    summary: Summary,
    progress: Progress,
) -> None:
    name = _name(ended.job)
    if ended.record is None:
        summary.failed.append(f"{name}: {ended.error}")
        progress.finished(name, f"failed: {ended.error}")
        return
    writers[ended.job.experiment_id].append(ended.record)
    summary.n_done += 1
    progress.finished(name, _outcome(ended.record))


def _name(job: Job) -> str:
    return f"{job.experiment_id} [{job.run}]"


def _outcome(record: Record) -> str:
    seconds = sum(record["seconds"].values())
    return f"accuracy {record['scores']['accuracy']:.2f} %, {seconds:.1f} s"

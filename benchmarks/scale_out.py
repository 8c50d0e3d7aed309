"""Fits on more rows than the memory holds: time, memory, network, one and two workers.

Every fit is a process of its own with a limit of 2 GB: of its data (``RLIMIT_DATA``)
where threads of the process do the work, of the workers together where Dask does. The
rows are those of ``scale_data.py``. A peer of today, SGDClassifier with
``partial_fit``, takes one pass over the same files under the same limit.

``python benchmarks/scale_out.py FOLDER`` writes the rows to FOLDER, if they are not
there (3 GB), works there, and writes results/scale_out.json after each fit; it goes on
where it stopped. ``--only METHOD`` runs the fits of one method.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow.parquet as pq
from records import peak_bytes, reset_peak, resume, save, show
from scale_cases import Case, cases
from scale_data import GROUP_ROWS, LABEL, rows_folder, split, write
from sklearn.linear_model import SGDClassifier

import localsvm
from localsvm.engine import NotEnoughMemoryError, options

NAME = "scale_out"
COMMAND = "python benchmarks/scale_out.py FOLDER"
# Arrow's own allocator reserves a gigabyte that it does not use but that counts.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def run(case: Case, folder: Path) -> dict[str, Any]:
    """Fit in this process, and tell what it took."""
    source = rows_folder(folder, case.n_classes, case.n_rows)
    with ExitStack() as stack:
        client = stack.enter_context(_cluster(case)) if case.driver == "dask" else None
        if client is None:
            stack.enter_context(_limited(case.limit))
        watch = stack.enter_context(_Watch(folder / "work"))
        checked = _checked_bytes(case, source)
        rest = [reset_peak()] if client is None else _of_workers(client, reset_peak)
        before, begin = _traffic(), time.perf_counter()
        model = _fit(case, source, folder / "work", client)
        seconds, sent = time.perf_counter() - begin, _traffic() - before
        peaks = [peak_bytes()] if client is None else _of_workers(client, peak_bytes)
    _, (X, y) = split(case.n_classes)
    return {
        **asdict(case),
        "seconds": seconds,
        "rows_per_second": case.n_rows / seconds,
        "accuracy": 100 * float(np.mean(_predict(model, X) == y)),
        "peak_gb": max(peaks) / 1e9,
        "rest_gb": max(rest) / 1e9,
        "checked_gb": None if checked is None else checked / 1e9,
        "disk_gb": watch.largest / 1e9,
        "network_gb": None if client is None else sent / 1e9,
        "stages": getattr(model, "fit_report_", {}),
        "rounds": _rounds(model),
        "gap": getattr(model, "duality_gap_", None),
        "n_tasks": len(getattr(model, "intercept_", [0])),
    }


@contextmanager
def _limited(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (size, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, before)


def _fit(case: Case, source: Path, work: Path, client: Any) -> Any:
    if case.method == "SGDClassifier":
        return _fit_peer(source, case)
    settings = dict(case.settings)
    if client is None:
        settings["n_jobs"] = case.workers
    model = getattr(localsvm, case.method)(random_state=0, **settings)
    limit = case.limit if client is None else None
    work.mkdir(exist_ok=True)
    with options(folder=work, client=client, memory_limit=limit):
        return model.fit(source, LABEL)


def _fit_peer(source: Path, case: Case) -> SGDClassifier:
    """One pass of hinge loss by stochastic gradients, the labels known beforehand."""
    model = SGDClassifier(random_state=0)
    labels = np.arange(2) if case.n_classes == 2 else np.arange(1, 8)
    for path in sorted(source.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(GROUP_ROWS):
            columns = [np.asarray(column) for column in batch.columns]
            X = np.column_stack(columns[:-1])
            model.partial_fit(X, columns[-1], classes=labels)
    return model


def _predict(model: Any, X: Any) -> Any:
    names = getattr(model, "feature_names_in_", None)
    return model.predict(X if names is None else pd.DataFrame(X, columns=names))


class _Watch:
    """Looks now and then by how much a folder has grown."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.largest = folder, 0
        self._before = _size(folder)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(1.0):
            self.largest = max(self.largest, _size(self.folder) - self._before)


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue
    return total


@contextmanager
def _cluster(case: Case) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=case.workers,
            threads_per_worker=1,
            memory_limit=case.limit // case.workers,
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _of_workers(client: Any, measure: Callable[[], int]) -> list[int]:
    return list(client.run(measure).values())


def _checked_bytes(case: Case, source: Path) -> float | None:
    """Ask the check before the start for the memory of one task."""
    if case.method == "SGDClassifier":
        return None
    model = getattr(localsvm, case.method)(**case.settings)
    try:
        with options(memory_limit=1):
            model.fit(source, LABEL)
    except NotEnoughMemoryError as error:
        size, unit = re.findall(r" needs ([\d.]+) (\w+) = ", str(error))[0]
        return float(size) * {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    raise RuntimeError("A fit was not refused that has one byte.")


def _rounds(model: Any) -> int:
    """How often a method goes over the rows: passes, or steps of EM."""
    if hasattr(model, "history_"):
        return len(model.history_["seconds"])
    if hasattr(model, "passes_"):
        return int(max(model.passes_)) + 1
    return int(model.n_iter_) if hasattr(model, "clusterer_") else 1


def _traffic() -> int:
    """Bytes over the loopback device of this machine so far."""
    counters = psutil.net_io_counters(pernic=True)
    return int(counters["lo"].bytes_sent) if "lo" in counters else 0


def _run_apart(case: Case, folder: Path) -> dict[str, Any]:
    """Run a case in a new process, since limits and peaks are those of a process."""
    command = [
        sys.executable,
        __file__,
        str(folder),
        "--case",
        json.dumps(asdict(case)),
    ]
    done = subprocess.run(
        command,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _is_of(row: dict[str, Any], case: Case) -> bool:
    return all(row.get(name) == value for name, value in asdict(case).items())


def main(folder: Path, only: str | None) -> None:
    """Run what is missing in the result file, and write it after each fit."""
    wanted, rows = cases(), resume(NAME)
    rows = [row for row in rows if any(_is_of(row, case) for case in wanted)]
    for case in wanted:
        is_known = any(_is_of(row, case) for row in rows)
        if is_known or (only is not None and case.method != only):
            continue
        write(
            rows_folder(folder, case.n_classes, case.n_rows),
            case.n_rows,
            case.n_classes,
        )
        found = _run_apart(case, folder)
        show([{key: found[key] for key in ("method", "n_rows", "workers", "seconds")}])
        rows.append(found)
        save(NAME, COMMAND, rows, data=["covtype"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", metavar="METHOD")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.case is not None:
        print(json.dumps(run(Case(**json.loads(given.case)), given.folder.absolute())))
    else:
        main(given.folder.absolute(), given.only)

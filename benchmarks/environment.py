"""Where and with what a measurement is made: kept with every result."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import localsvm
from localsvm.data import benchmark_file

ROOT = Path(__file__).resolve().parents[1]
DATA = "LOCALSVM_DATA"

# What decides a measurement; a benchmark itself writes results and pages.
_SOURCES = ("src", "core", "benchmarks", "papers", "pyproject.toml", "CMakeLists.txt")
_WRITTEN = ":!benchmarks/results"
_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "pandas",
    "pyarrow",
    "dask",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "catboost",
    "interpret-core",
    "thundersvm",
    "onnxruntime",
    "opendp",
    "starlette",
    "uvicorn",
)


def use_shared_data() -> None:
    """Let ``LOCALSVM_DATA`` name ``../shared/data`` beside the checkout, if unset."""
    folder = ROOT.parent / "shared" / "data"
    if not os.environ.get(DATA) and folder.is_dir():
        os.environ[DATA] = str(folder)


def environment(data: Iterable[str | Path]) -> dict[str, Any]:
    """Describe code, machine, libraries and data files of a measurement.

    Parameters
    ----------
    data : iterable of str or Path
        Names of data sets or tasks of :mod:`localsvm.data`, or files.
    """
    return {
        **code(),
        **machine(),
        "threads": {name: os.environ[name] for name in _LIMITS if name in os.environ},
        "versions": versions(),
        "data": checksums(data),
    }


@cache
def code() -> dict[str, Any]:
    """Commit, whether sources differ from it, and the time; of the first call.

    The commit is None where there is no repository.
    """
    commit = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--", *_SOURCES, _WRITTEN)
    return {
        "commit": commit,
        "dirty": None if changes is None else bool(changes),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    """Model and number of CPUs, and the libraries that start threads."""
    shown = ("user_api", "internal_api", "version", "architecture", "num_threads")
    libraries = [
        {name: library[name] for name in shown if name in library}
        for library in threadpool_info()
    ]
    return {"cpu": cpu_model(), "cores": os.cpu_count(), "blas": libraries}


@cache
def cpu_model() -> str:
    """Name of the CPU, as the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine()).strip()


@cache
def versions() -> dict[str, str]:
    """Versions of Python, this library, what it stands on and the peers present."""
    found = {"python": platform.python_version(), "localsvm": localsvm.__version__}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def checksums(data: Iterable[str | Path]) -> dict[str, str]:
    """SHA-256 of data files by their names; "openml" of sets that are downloaded."""
    found = {}
    for each in data:
        path = each if isinstance(each, Path) else benchmark_file(each)
        if path is None:
            found[str(each)] = "openml"
        else:
            state = path.stat()
            found[path.name] = _sha256(path, state.st_size, state.st_mtime_ns)
    return dict(sorted(found.items()))


@cache
def _sha256(path: Path, size: int, changed: int) -> str:
    """Sum of a file; size and time of change only tell whether it is the same one."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def measured_at(environments: Iterable[Mapping[str, Any]]) -> str:
    """Sentence with commit and CPU, one environment per result; "" if none has them.

    Results of several commits are counted.
    """
    places = [_place(each) for each in environments]
    known = {place: places.count(place) for place in places if place}
    if not known:
        return ""
    is_one = len(set(places)) == 1
    texts = [
        place if is_one else f"{place} ({count} of {len(places)} results)"
        for place, count in known.items()
    ]
    return f"Measured at {'; '.join(texts)}."


def _place(found: Mapping[str, Any]) -> str:
    commit, cpu = found.get("commit"), found.get("cpu")
    if not commit or not cpu:
        return ""
    changed = " with changes" if found.get("dirty") else ""
    return f"`{commit[:10]}`{changed}, {cpu}"

"""Micro-benchmarks in instructions, which other work on the machine does not change.

Ten small tasks run once to warm up and once under valgrind's callgrind, which counts
the instructions of all threads; the imports before and the fits of the models are not
counted. Counts repeat to about one in a thousand, seconds under load to one in three.

``python benchmarks/micro.py`` writes results/micro.json for the installed package;
``compare BASE [HEAD]`` builds two commits, prints both counts, and exits with 1 if one
has grown by a tenth. ``make watch BASE=<commit>`` is the latter. Needs valgrind and a
C compiler (``apt-get install valgrind``).
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUILDS = ROOT / "build" / "micro"
LARGEST_LOSS = 0.10
NAME = "micro"
COMMAND = "python benchmarks/micro.py"
# What valgrind's client requests need: they are no functions of any library.
COUNTER = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
"""
SETTINGS = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def main() -> None:
    """Measure, compare, or run the tasks (under valgrind)."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command")
    compare = commands.add_parser("compare")
    compare.add_argument("base")
    compare.add_argument("head", nargs="?", default="HEAD")
    tasks = commands.add_parser("tasks")
    tasks.add_argument("counter")
    given = parser.parse_args()
    if given.command == "tasks":
        run_tasks(given.counter)
    elif given.command == "compare":
        sys.exit(1 if compare_commits(given.base, given.head) else 0)
    else:
        from records import save, show

        from localsvm.data import sample_path

        rows = [{"task": task, "instructions": n} for task, n in measure().items()]
        show(rows)
        save(NAME, COMMAND, rows, data=[sample_path("adult")])


def compare_commits(base: str, head: str) -> list[str]:
    """Print the counts of two commits; names of tasks that have lost."""
    before, after = (measure(build(commit)) for commit in (base, head))
    lost = losses(before, after)
    for task, n in after.items():
        ratio = f"{n / before[task]:7.3f}" if task in before else "    new"
        mark = "  LOSS" if task in lost else ""
        print(f"{task:<24}{before.get(task, 0):>14,}{n:>14,}{ratio}{mark}")
    return lost


def losses(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Tasks that take a tenth more instructions than before."""
    return [
        task
        for task, n in after.items()
        if task in before and n > (1 + LARGEST_LOSS) * before[task]
    ]


def build(commit: str) -> Path:
    """Install a commit into a folder of its own; built once."""
    words = ["git", "-C", str(ROOT), "rev-parse", "--short=12", f"{commit}^{{commit}}"]
    name = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    folder = BUILDS / name.strip()
    if (folder / "done").exists():
        return folder / "package"
    with tempfile.TemporaryDirectory() as checkout:
        tree = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*tree, "add", "--detach", checkout, commit], check=True)
        try:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            pip += ["--no-build-isolation", "--target", str(folder / "package")]
            options = f"--config-settings=build-dir={folder / 'cmake'}"
            subprocess.run([*pip, "--upgrade", options, checkout], check=True)
        finally:
            subprocess.run([*tree, "remove", "--force", checkout], check=True)
    (folder / "done").touch()
    return folder / "package"


def measure(package: Path | None = None) -> dict[str, int]:
    """Count the instructions of each task; ``package`` is used before the installed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counter = _compiled_counter(folder)
        path = os.environ.get("PYTHONPATH", "") if package is None else str(package)
        words = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"]
        words.append(f"--callgrind-out-file={folder / 'counts'}")
        program = [sys.executable, str(Path(__file__).resolve()), "tasks", str(counter)]
        environment = {**os.environ, **SETTINGS, "PYTHONPATH": path}
        subprocess.run([*words, *program], check=True, env=environment)
        return _counts(folder)


def _compiled_counter(folder: Path) -> Path:
    source, library = folder / "counter.c", folder / "counter.so"
    source.write_text(COUNTER)
    words = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source)]
    subprocess.run(words, check=True)
    return library


def _counts(folder: Path) -> dict[str, int]:
    """Totals by the names with which they were dumped, in order."""
    found = {}
    dumps = [path for path in folder.iterdir() if path.name.startswith("counts.")]
    for path in sorted(dumps, key=lambda path: int(path.suffix[1:])):
        text = path.read_text()
        _, _, task = text.partition("desc: Trigger: Client Request: ")
        _, _, total = text.partition("\ntotals: ")
        if task:
            found[task.partition("\n")[0]] = int(total.partition("\n")[0])
    return found


def run_tasks(counter: str) -> None:
    """Run all tasks in this process, counting each."""
    import scipy.sparse  # noqa: F401
    import sklearn.linear_model
    import sklearn.pipeline  # noqa: F401

    library = ctypes.CDLL(counter)

    def count(name: str, task: Callable[[], Any], *, warm: bool = True) -> None:
        if warm:
            task()
        library.begin()
        task()
        library.end(name.encode())

    count("import", _import, warm=False)
    for name, task in tasks().items():
        count(name, task)


def _import() -> None:
    import localsvm.estimators  # noqa: F401


def tasks() -> dict[str, Callable[[], Any]]:
    """Give the tasks, by name, with the models that they use."""
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from localsvm import AdditiveSVC, ClusteredSVC, LocalSVC, StagedSVC
    from localsvm.data import TableEncoder, make_xor, read_table, sample_path

    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 8))
    y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(int)
    batch = rng.standard_normal((2000, 8))
    xor = make_xor(300, random_state=0)
    regions = ClusteredSVC(8, random_state=0).fit(X, y)
    local = LocalSVC(60, random_state=0).fit(X, y)
    staged = StagedSVC(**STAGED).fit(X, y)
    table = read_table(sample_path("adult"), target="income")
    people = table.X.iloc[:300]
    encoded = make_pipeline(TableEncoder(), ClusteredSVC(8, random_state=0))
    encoded.fit(people, table.y[:300])
    found: dict[str, Callable[[], Any]] = {
        "fit ClusteredSVC": lambda: ClusteredSVC(4, random_state=0).fit(*xor),
        "fit AdditiveSVC": lambda: AdditiveSVC(C=1.0, random_state=0).fit(X, y),
        "refit StagedSVC": lambda: StagedSVC(**STAGED).fit(X, y),
        "one row ClusteredSVC": lambda: regions.predict(X[:1]),
        "one row StagedSVC": lambda: staged.predict(X[:1]),
        "one row of a table": lambda: encoded.predict(people[:1]),
        "batch ClusteredSVC": lambda: regions.predict(batch),
        "batch LocalSVC": lambda: local.predict(batch),
    }
    try:
        from localsvm.inspect import contributions
    except ImportError:  # of a commit before it
        return found
    return {**found, "contributions": lambda: contributions(regions, batch)}


# All parameters are given: nothing is searched.
STAGED: dict[str, Any] = {
    "scaling": "standard",
    "n_components": None,
    "gradient_metric": None,
    "C": 1.0,
    "cell_size": None,
    "gamma_factor": 2.0,
    "kernel_C": 10.0,
    "additive_C": 1.0,
    "laplace_C": 3.0,
    "random_state": 0,
    "join": {"additive": 0.5, "regions": 0.4, "rbf": 0.3, "bias": [0.1]},
}


if __name__ == "__main__":
    main()

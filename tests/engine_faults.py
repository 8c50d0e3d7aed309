"""Fits that are killed; run as a script, one fit in a process of its own.

    python engine_faults.py <estimator> <folder> [<function> <call> [wait]]

fits to the batches of :func:`read` with a checkpoint in the folder, and writes the
model there. With the name of a function, the process is killed when that is called for
the n-th time; or it makes a file "waiting" there and waits for one named "go".
"""

import importlib
import os
import pickle
import signal
import sys
import time
from functools import partial
from pathlib import Path

from engine_data import make_rows
from localsvm import ClusteredSVC, MixtureSVC, ReducedSVC, SupportClusterSVC
from localsvm.engine import Batches, options

N_BATCHES, BATCH_ROWS = 20, 30
MODELS = {
    "ClusteredSVC": ClusteredSVC(
        4, C=0.3, tol=1e-4, n_nearest=2, random_state=0, n_jobs=2
    ),
    "MixtureSVC": MixtureSVC(2, em_max_iter=2, random_state=0, n_jobs=2),
    "ReducedSVC": ReducedSVC(C=3.0, random_state=0, n_jobs=2),
    "SupportClusterSVC": SupportClusterSVC(6, random_state=0),
}
X, Y, WEIGHT = make_rows(N_BATCHES * BATCH_ROWS)


def read(number):
    """One batch; notes in a file, if the environment names one, that it was read."""
    if "READS" in os.environ:
        with open(os.environ["READS"], "a") as notes:
            notes.write(f"{number}\n")
    own = slice(number * BATCH_ROWS, (number + 1) * BATCH_ROWS)
    return X[own], Y[own], WEIGHT[own]


class ReadOnceKilled:
    """Batches whose reader dies when it reads one of them for the first time."""

    def __init__(self, marker, number):
        self.marker = str(marker)
        self.number = number

    def __call__(self, number):
        if number == self.number and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return read(number)


def small_solves():
    """Make solves so small that a pass needs several."""
    from localsvm.passes import _linear_solver as _part_solver

    _part_solver._WORKING_BYTES = 6000.0


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def wait_in(folder):
    (folder / "waiting").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)


def do_at(path, call, action):
    """Act at the n-th call of a function of a module or class."""
    module, *outer, name = path.split(":")
    owner = importlib.import_module(module)
    for part in outer:
        owner = getattr(owner, part)
    original, count = getattr(owner, name), 0

    def counted(*arguments, **named):
        nonlocal count
        count += 1
        if count == call:
            action()
        return original(*arguments, **named)

    setattr(owner, name, counted)


def main():
    name, folder, *fault = sys.argv[1:]
    small_solves()
    if fault:
        action = partial(wait_in, Path(folder)) if "wait" in fault else kill
        do_at(fault[0], int(fault[1]), action)
    with options(checkpoint=Path(folder) / "state", checkpoint_seconds=0.0):
        model = MODELS[name].fit(Batches(read, N_BATCHES))
    (Path(folder) / "model").write_bytes(pickle.dumps(model))


if __name__ == "__main__":
    main()

"""Fits that would run for hours, interrupted: a program of its own.

Its argument is a JSON list of cases; it prints a line of JSON for each. Signals belong
to a process, and what an interrupted fit leaves behind may still compute.
"""

import json
import os
import signal
import sys
import threading
import time

import numpy as np

import localsvm
from localsvm import estimators
from localsvm._progress import listening

PATIENCE = 60


def world(n_classes):
    """Names that the code of a case may use: noise labels, and all estimators."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 40))
    public = {name: getattr(estimators, name) for name in estimators.__all__}
    return {
        **public,
        "np": np,
        "rng": rng,
        "X": X,
        "y": rng.integers(0, n_classes, 30_000),
        "SupportClusterSVC": localsvm.SupportClusterSVC,
    }


class Interrupter:
    """Sends SIGINT once, shortly after a stage has begun."""

    def __init__(self, stage):
        self.stage = stage
        self.reached = threading.Event()
        if stage is None:  # it reports none
            self.reached.set()
        self.sent = None
        threading.Thread(target=self._send, daemon=True).start()

    def hear(self, stages):
        if self.stage in stages:
            self.reached.set()

    def _send(self):
        if not self.reached.wait(PATIENCE):
            sys.stderr.write(f"There was no stage {self.stage}.")
            sys.stderr.flush()
            os._exit(1)
        time.sleep(0.3)  # until the solver itself works
        self.sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)


def run(case):
    names = world(case["n_classes"])
    exec(case["prepare"], names)
    model = names["model"]
    before = {name: str(value) for name, value in vars(model).items()}
    interrupter = Interrupter(case["stage"])
    try:
        with listening(interrupter.hear):
            exec(case["call"], names)
    except KeyboardInterrupt:
        seconds = time.process_time() - interrupter.sent
        after = {name: str(value) for name, value in vars(model).items()}
        return {"cpu_seconds": seconds, "is_unchanged": after == before}
    return {"cpu_seconds": None, "is_unchanged": None}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for case in json.loads(sys.argv[1]):
        sys.stdout.write(json.dumps(run(case)) + "\n")
        sys.stdout.flush()
    os._exit(0)  # without waiting for what was left behind

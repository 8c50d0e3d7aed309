"""Ctrl-C and the time limit during a long fit."""

import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from localsvm import ClusteredSVC

# Noise labels and a huge C: the solver would run for hours.
LONG_FIT = """
import signal, sys, threading, time, os
import numpy as np
from localsvm import ClusteredSVC
rng = np.random.default_rng(0)
X, y = rng.standard_normal((30_000, 40)), rng.integers(0, {n_classes}, 30_000)
first = ClusteredSVC(5, random_state=0).fit(X[:500], y[:500])
before = first.coef_.copy()
first.set_params(C=1e6, tol=0, max_iter=10**9, assignment="{assignment}",
                 n_jobs={n_jobs})
def interrupt():
    time.sleep(1.5)
    print(time.time(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    first.fit(X, y)
except KeyboardInterrupt:
    print(time.time(), flush=True)
    assert (first.coef_ == before).all()
    sys.exit(0)
sys.exit(1)
"""


@pytest.mark.parametrize("assignment", ["soft", "hard"])
@pytest.mark.parametrize(("n_classes", "n_jobs"), [(2, 1), (4, 2)])
def test_interrupt_is_answered_and_changes_nothing(assignment, n_classes, n_jobs):
    code = LONG_FIT.format(assignment=assignment, n_classes=n_classes, n_jobs=n_jobs)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    sent, seen = (float(line) for line in run.stdout.split())
    assert seen - sent < 0.5 + 0.5  # half a second, and as much for a busy machine


@pytest.mark.skipif(sys.platform == "win32", reason="SIGALRM is a POSIX signal")
def test_handler_that_does_not_raise_lets_the_fit_go_on():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5000, 20)), rng.integers(0, 2, 5000)
    seen = []
    previous = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.time()))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = ClusteredSVC(5, C=1e4, tol=0, max_iter=10**9, max_time=0.8)
            model.fit(X, y)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert len(seen) == 1
    assert model.duality_gap_ < 1


def test_time_limit_warns_and_gives_a_model():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 40)), rng.integers(0, 2, 20_000)
    model = ClusteredSVC(5, C=1e6, tol=0, max_iter=10**9, max_time=0.5)
    start = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_time=0.5 \(worst"):
        model.fit(X, y)
    assert time.perf_counter() - start < 10
    assert model.predict(X).shape == y.shape


LONG_SEARCH = """
import os, signal, sys, threading, time
import numpy as np
from localsvm import ClusteredSVCCV
rng = np.random.default_rng(0)
X, y = rng.standard_normal((30_000, 40)), rng.integers(0, 2, 30_000)
def interrupt():
    time.sleep(2.5)
    print(time.time(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    search = ClusteredSVCCV(Cs=[1e6], search_tol=0, max_iter=10**9, n_jobs={n_jobs})
    search.fit(X, y)
except KeyboardInterrupt:
    print(time.time(), flush=True)
    sys.exit(0)
sys.exit(1)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_search_is_interrupted_on_any_number_of_threads(n_jobs):
    run = subprocess.run(
        [sys.executable, "-c", LONG_SEARCH.format(n_jobs=n_jobs)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    sent, seen = (float(line) for line in run.stdout.split())
    assert seen - sent < 1.0

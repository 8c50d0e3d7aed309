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
from localsvm.estimators import LocallyLinearSVC

# Noise labels and a huge C: the solver would run for hours. {prepare} makes `model`,
# {call} is what takes so long.
LONG_FIT = """
import os, signal, sys, threading, time
import numpy as np
from localsvm import ClusteredSVC, LocalSVC
from localsvm.estimators import ClusteredSVCCV, LocalSVCCV, NeighborSVC
from localsvm import MixtureSVC, ReducedSVC, SupportClusterSVC
from localsvm.estimators import LocallyLinearSVC
from localsvm.estimators import SoftmaxGate
rng = np.random.default_rng(0)
X, y = rng.standard_normal((30_000, 40)), rng.integers(0, {n_classes}, 30_000)
{prepare}
before = {{name: str(value) for name, value in vars(model).items()}}
def interrupt():
    time.sleep(2)
    print(time.time(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print(time.time(), flush=True)
    assert {{name: str(value) for name, value in vars(model).items()}} == before
    sys.exit(0)
sys.exit(1)
"""


def seconds_to_answer(prepare, n_classes=2, call="model.fit(X, y)"):
    """Seconds from the signal to KeyboardInterrupt, in a process of its own."""
    code = LONG_FIT.format(prepare=prepare, n_classes=n_classes, call=call)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    sent, seen = (float(line) for line in run.stdout.split())
    return seen - sent


@pytest.mark.parametrize("n_nearest", [8, 1])
@pytest.mark.parametrize(("n_classes", "n_jobs"), [(2, 1), (4, 2)])
def test_interrupt_is_answered_and_changes_nothing(n_nearest, n_classes, n_jobs):
    prepare = f"""
model = ClusteredSVC(5, random_state=0).fit(X[:500], y[:500])
model.set_params(C=1e6, tol=0, max_iter=10**9, n_nearest={n_nearest},
                 n_jobs={n_jobs})
"""
    # Half a second is promised; a busy machine gets as much again.
    assert seconds_to_answer(prepare, n_classes) < 1.0


@pytest.mark.parametrize("coding", ["inverse_distance", "local_coordinates"])
def test_locally_linear_solve_is_interrupted_and_changes_nothing(coding):
    prepare = f"""
model = LocallyLinearSVC(20, random_state=0).fit(X[:500], y[:500])
model.set_params(C=1e6, tol=0, max_iter=10**9, coding="{coding}")
"""
    assert seconds_to_answer(prepare) < 1.0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_search_is_interrupted_on_any_number_of_threads(n_jobs):
    prepare = (
        "model = ClusteredSVCCV(Cs=[1e6], search_tol=0, max_iter=10**9, "
        f"n_jobs={n_jobs})"
    )
    assert seconds_to_answer(prepare, n_classes=2) < 1.0


ENDLESS = "C=1e6, tol=0, max_iter=10**9"


@pytest.mark.parametrize(
    ("setting", "n_classes", "n_jobs"),
    [
        ("n_neighbors=500", 2, 1),
        ("n_neighbors=500, local_grid={'C': [1, 2]}, route='center'", 4, 2),
        ("n_neighbors=2500", 2, 1),  # too large for a matrix in memory
    ],
)
def test_local_solve_is_interrupted_and_changes_nothing(setting, n_classes, n_jobs):
    prepare = f"""
model = LocalSVC(20, random_state=0).fit(X[:300], y[:300])
model.set_params({ENDLESS}, {setting}, n_jobs={n_jobs})
"""
    call = "model.fit(X[:2500], y[:2500])"
    assert seconds_to_answer(prepare, n_classes, call) < 1.0


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_cover_is_interrupted(kernel):
    prepare = f"""
model = LocalSVC(20, random_state=0).fit(X[:300], y[:300])
model.set_params(n_neighbors=200, n_assigned=1, kernel="{kernel}", neighbors="brute")
"""
    assert seconds_to_answer(prepare) < 1.0


def test_local_search_is_interrupted():
    prepare = """
model = LocalSVCCV(n_neighbors=20, random_state=0).fit(X[:300], y[:300])
model.set_params(Cs=[1e6], search_tol=0, max_iter=10**9, n_neighbors=500, n_jobs=2)
"""
    call = "model.fit(X[:2500], y[:2500])"
    assert seconds_to_answer(prepare, call=call) < 1.0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_clustering_is_interrupted(n_jobs):
    prepare = f"""
model = SupportClusterSVC(20, random_state=0, n_jobs={n_jobs}).fit(X[:300], y[:300])
X, y = np.tile(X, (10, 1)), np.tile(y, 10)
X += rng.standard_normal(X.shape)
model.set_params(n_clusters=3000)
"""
    assert seconds_to_answer(prepare, n_classes=2) < 1.0


@pytest.mark.parametrize(
    ("reduction", "n_classes"), [("None", 2), ("estimators.Reduction()", 3)]
)
def test_exact_solve_is_interrupted(reduction, n_classes):
    prepare = f"""
from localsvm import estimators
model = ReducedSVC(n_jobs=2).fit(X[:300], y[:300])
model.set_params(C=1e12, gamma=1e-4, tol=1e-12, reduction={reduction})
"""
    call = "model.fit(X[:2000], y[:2000])"
    assert seconds_to_answer(prepare, n_classes, call) < 1.0


def test_interrupt_is_answered_by_a_solver_that_is_slow_to_stop():
    """Wide rows and no cache: many looks at the signals pass before the solver ends."""
    prepare = """
model = ReducedSVC(n_jobs=1).fit(X[:300], y[:300])
model.set_params(C=1e3, tol=1e-12, reduction=None, cache_size=1e-3)
X, y = rng.standard_normal((1500, 4000)), y[:1500]
"""
    seconds_to_answer(prepare)


@pytest.mark.parametrize(
    "slow", ["tol=1e-15, max_iter=10**9, C=1e6", "gate__steps=10**6"]
)
def test_mixture_is_interrupted(slow):
    prepare = f"""
model = MixtureSVC(8, gate=SoftmaxGate(), n_jobs=2, random_state=0)
model.fit(X[:500], y[:500])
model.set_params(em_max_iter=10**6, em_tol=0, {slow})
"""
    assert seconds_to_answer(prepare) < 1.0


def test_batch_of_a_stream_is_interrupted():
    prepare = """
model = SupportClusterSVC(3000).partial_fit(X[:300], y[:300])
X, y = np.tile(X, (10, 1)), np.tile(y, 10)
X += rng.standard_normal(X.shape)
"""
    assert seconds_to_answer(prepare, call="model.partial_fit(X, y)") < 1.0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_learning_of_clusters_is_interrupted(n_jobs):
    prepare = f"""
model = SupportClusterSVC(20, random_state=0, n_jobs={n_jobs}).fit(X[:300], y[:300])
model.set_params(n_clusters=3000, C=1e6, tol=0, max_iter=10**9)
"""
    call = "model.fit(X[:6000], y[:6000])"
    assert seconds_to_answer(prepare, n_classes=3, call=call) < 1.0


def test_prediction_is_interrupted():
    prepare = f"model = NeighborSVC(500, {ENDLESS}, n_jobs=2).fit(X[:2500], y[:2500])"
    assert seconds_to_answer(prepare, call="model.predict(X)") < 1.0


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


@pytest.mark.parametrize("estimator", [ClusteredSVC, LocallyLinearSVC])
def test_time_limit_warns_and_gives_a_model(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 40)), rng.integers(0, 2, 20_000)
    model = estimator(5, C=1e6, tol=0, max_iter=10**9, max_time=0.5)
    start = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_time=0.5 \(worst"):
        model.fit(X, y)
    assert time.perf_counter() - start < 10
    assert model.predict(X).shape == y.shape

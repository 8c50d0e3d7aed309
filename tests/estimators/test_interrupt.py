"""Ctrl-C and the time limit during a long fit."""

import json
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from localsvm import ClusteredSVC
from localsvm.estimators import LocallyLinearSVC

FITS = Path(__file__).with_name("interrupted_fits.py")
# As promised. CPU time, because wall time would measure what else the machine does.
MOST_SECONDS = 0.5
# With noise labels and this C a solver would run for hours.
ENDLESS = "C=1e6, tol=0, max_iter=10**9"


def case(prepare, stage, call="model.fit(X, y)", n_classes=2, limit=MOST_SECONDS):
    """A model, what takes long, and the stage in which it is interrupted."""
    return {
        "prepare": prepare,
        "stage": stage,
        "call": call,
        "n_classes": n_classes,
        "limit": limit,
    }


def fit_and_set(model, settings):
    """Code for a model that was fitted to few rows and gets other settings."""
    fitted = f"model = {model}.fit(X[:300], y[:300])"
    return f"{fitted}\nmodel.set_params({settings})"


def clustered(n_nearest, n_classes, n_jobs):
    settings = f"{ENDLESS}, n_nearest={n_nearest}, n_jobs={n_jobs}"
    code = fit_and_set("ClusteredSVC(5, random_state=0)", settings)
    return case(code, "solve", n_classes=n_classes)


def locally_linear(coding):
    settings = f'{ENDLESS}, coding="{coding}"'
    code = fit_and_set("LocallyLinearSVC(20, random_state=0)", settings)
    return case(code, "solve")


def search(n_jobs):
    stage = "solve" if n_jobs == 1 else "search"  # other threads report no stage
    settings = f"Cs=[1e6], search_tol=0, max_iter=10**9, n_jobs={n_jobs}"
    return case(f"model = ClusteredSVCCV({settings})", stage)


def local(settings, n_classes=2):
    code = fit_and_set("LocalSVC(20, random_state=0)", f"{ENDLESS}, {settings}")
    return case(code, "solve", "model.fit(X[:2500], y[:2500])", n_classes)


def cover(kernel):
    settings = f'n_neighbors=200, n_assigned=1, kernel="{kernel}", neighbors="brute"'
    code = fit_and_set("LocalSVC(20, random_state=0)", settings)
    return case(code, "cover")


def local_search():
    settings = "Cs=[1e6], search_tol=0, max_iter=10**9, n_neighbors=500, n_jobs=2"
    code = fit_and_set("LocalSVCCV(n_neighbors=20, random_state=0)", settings)
    return case(code, "search", "model.fit(X[:2500], y[:2500])")


def prediction():
    model = f"NeighborSVC(500, {ENDLESS}, n_jobs=2).fit(X[:2500], y[:2500])"
    return case(f"model = {model}", None, "model.predict(X)")


MORE_ROWS = "X, y = np.tile(X, (4, 1)), np.tile(y, 4)"


def clustering(n_jobs):
    model = f"SupportClusterSVC(20, random_state=0, n_jobs={n_jobs})"
    code = fit_and_set(model, "n_clusters=3000")
    return case(f"{code}\n{MORE_ROWS}", "cluster")


def stream():
    code = "model = SupportClusterSVC(3000).partial_fit(X[:300], y[:300])"
    return case(f"{code}\n{MORE_ROWS}", "cluster", "model.partial_fit(X, y)")


def learning(n_jobs):
    model = f"SupportClusterSVC(20, random_state=0, n_jobs={n_jobs})"
    code = fit_and_set(model, f"n_clusters=3000, {ENDLESS}")
    return case(code, "learn", "model.fit(X[:6000], y[:6000])", n_classes=3)


def exact(reduction, n_classes):
    settings = f"C=1e12, gamma=1e-4, tol=1e-12, reduction={reduction}"
    code = fit_and_set("ReducedSVC(n_jobs=2)", settings)
    return case(code, "solve", "model.fit(X[:2000], y[:2000])", n_classes)


def slow_to_stop():
    """Wide rows and no cache: many looks at the signals pass before the solver ends."""
    settings = "C=1e3, tol=1e-12, reduction=None, cache_size=1e-3"
    code = fit_and_set("ReducedSVC(n_jobs=1)", settings)
    rows = "X, y = rng.standard_normal((1500, 4000)), y[:1500]"
    return case(f"{code}\n{rows}", "solve", limit=60)


def mixture(slow, stage):
    model = "MixtureSVC(8, gate=SoftmaxGate(), n_jobs=2, random_state=0)"
    code = fit_and_set(model, f"em_max_iter=10**6, em_tol=0, {slow}")
    return case(code, stage)


FAMILIES = {
    "clustered": {
        "soft": clustered(8, 2, 1),
        "soft, four classes": clustered(8, 4, 2),
        "hard": clustered(1, 2, 1),
        "hard, four classes": clustered(1, 4, 2),
        "inverse distances": locally_linear("inverse_distance"),
        "local coordinates": locally_linear("local_coordinates"),
        "search": search(1),
        "search on two threads": search(2),
    },
    "local": {
        "cells": local("n_neighbors=500"),
        "grid": local(
            "n_neighbors=500, local_grid={'C': [1, 2]}, route='center', n_jobs=2", 4
        ),
        "too large for a matrix in memory": local("n_neighbors=2500"),
        "cover": cover("rbf"),
        "cover of a polynomial": cover("poly"),
        "search": local_search(),
        "prediction": prediction(),
    },
    "support cluster": {
        "learning": learning(1),
        "learning on two threads": learning(2),
        "stream": stream(),
        "clustering": clustering(1),
        "clustering on two threads": clustering(2),
    },
    "reduced": {
        "all rows": exact("None", 2),
        "clusters": exact("Reduction()", 3),
        "slow to stop": slow_to_stop(),
    },
    "mixture": {
        "solver": mixture("tol=1e-15, max_iter=10**9, C=1e6", "solve"),
        "gate": mixture("gate__steps=10**6", "gate"),
    },
}


@pytest.mark.parametrize("family", FAMILIES)
def test_interrupt_is_answered_and_changes_nothing(family):
    cases = FAMILIES[family]
    run = subprocess.run(
        [sys.executable, str(FITS), json.dumps(list(cases.values()))],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr
    answers = dict(zip(cases, map(json.loads, run.stdout.splitlines()), strict=True))
    late = {
        name: answer
        for name, answer in answers.items()
        if not answer["is_unchanged"] or answer["cpu_seconds"] > cases[name]["limit"]
    }
    assert not late


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
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_time=0.5 \(worst"):
        model.fit(X, y)
    assert model.predict(X).shape == y.shape

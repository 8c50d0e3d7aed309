"""Every fit ends: on degenerate problems, with any tolerance, and when time is over."""

import inspect
import signal
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import ConvergenceWarning

from localsvm import estimators
from localsvm.estimators import (
    AdditiveSVC,
    ClusteredSVC,
    ClusteredSVCCV,
    LocallyLinearSVC,
    LocalSVC,
    LocalSVCCV,
    MixtureSVC,
    NeighborSVC,
    ReducedSVC,
    Reduction,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.solvers import RunLimits
from staged_data import GIVEN

CPU_SECONDS = 60.0
"""Of a fit and its decisions; ten million steps on 60 rows take about one second."""

TOLERANCES = [0.0, 1e-16, 1e-8]
PENALTIES = [1e-12, 1.0, 1e6, 1e15]
KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": "scale"},
    "cubic": {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": "scale"},
    "quintic": {"kernel": "poly", "degree": 5, "coef0": 0.0, "gamma": "scale"},
}

KERNEL_MODELS = {
    "LocalSVC": lambda n, C, tol, kernel: LocalSVC(n, C=C, tol=tol, **kernel),
    "LocalSVC, cells": lambda n, C, tol, kernel: LocalSVC(
        min(n, 12), C=C, tol=tol, max_iter=10**7, **kernel
    ),
    "LocalSVCCV": lambda n, C, tol, kernel: LocalSVCCV(
        Cs=[C],
        gammas=[0.5],
        n_neighbors=[n // 2],
        search_tol=tol,
        tol=tol,
        cv=2,
        **{name: value for name, value in kernel.items() if name != "gamma"},
    ),
    "NeighborSVC": lambda n, C, tol, kernel: NeighborSVC(n, C=C, tol=tol, **kernel),
    "ReducedSVC": lambda n, C, tol, kernel: ReducedSVC(
        C=C, tol=tol or 1e-300, solver="smo", **kernel
    ),
    "ReducedSVC, reduced": lambda n, C, tol, kernel: ReducedSVC(
        C=C, tol=tol or 1e-300, reduction=Reduction(), **kernel
    ),
}
OTHER_MODELS = {
    "AdditiveSVC": lambda C, tol: AdditiveSVC(C=C, tol=tol),
    "AdditiveSVC, logistic": lambda C, tol: AdditiveSVC(C=C, tol=tol, loss="logistic"),
    "ClusteredSVC": lambda C, tol: ClusteredSVC(2, C=C, tol=tol),
    "ClusteredSVC, joint": lambda C, tol: ClusteredSVC(
        2, C=C, tol=tol, multi_class="crammer_singer"
    ),
    "ClusteredSVCCV": lambda C, tol: ClusteredSVCCV(
        Cs=[C], n_regions=[2], cv=2, tol=tol, search_tol=tol
    ),
    "LocallyLinearSVC": lambda C, tol: LocallyLinearSVC(3, C=C, tol=tol),
    "MixtureSVC": lambda C, tol: MixtureSVC(
        2, C=C, em_tol=tol, tol=tol or 1e-300, early_stopping=False
    ),
    "ReducedSVC, linear": lambda C, tol: ReducedSVC(
        C=C, tol=tol or 1e-300, kernel="linear"
    ),
    "StagedSVC": lambda C, tol: StagedSVC(
        **GIVEN | {"C": C, "kernel_C": C, "max_iter": 300}, tol=tol
    ),
    "SupportClusterSVC": lambda C, tol: SupportClusterSVC(
        20, C=C, tol=tol, max_iter=None if C <= 1 else 100_000
    ),
    "SupportClusterSVC, paper": lambda C, tol: SupportClusterSVC(
        20,
        C=C,
        tol=tol,
        max_iter=None if C <= 1 else 100_000,
        kernel_form="paper",
        multi_class="ovr",
    ),
}


def problem(name, seed=0):
    """Rows on which solvers have nothing good to find."""
    rng = np.random.default_rng(seed)
    n = {"six": 6, "noise": 60, "contrary": 20, "constant": 24}[name]
    X, y = rng.standard_normal((n, 2)), np.arange(n) % 2
    if name == "contrary":
        X = np.repeat(X[: n // 2], 2, axis=0)
    if name == "constant":
        X = np.column_stack([np.full(n, 3.0), np.sign(X[:, 0]), np.zeros(n)])
    return X, y


@contextmanager
def cpu_limit(seconds, what):
    """Interrupt what takes more CPU seconds of this process, as Ctrl-C would."""

    def end(*_):
        raise TimeoutError(f"{what} did not end in {seconds} CPU seconds")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fit_and_decide(model, X, y):
    """Decisions on the training rows, and the warnings that tell of no convergence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        decisions = model.fit(X, y).decision_function(X)
    told = [str(each.message) for each in caught if each.category is ConvergenceWarning]
    return decisions, told


def shortfall(model):
    """How far a fitted model is from the optimum, in the measure of its ``tol``."""
    for name in ("violation_", "duality_gap_"):
        if hasattr(model, name):
            return getattr(model, name)
    return 0.0


def check_ends(model, X, y):
    """End, decide in finite numbers, and say so if the optimum was not reached."""
    with cpu_limit(CPU_SECONDS, repr(model)):
        decisions, told = fit_and_decide(model, X, y)
    assert np.isfinite(decisions).all(), model
    # NeighborSVC solves anew for the decisions, which is worth a warning of its own.
    assert len(told) <= 1 + isinstance(model, NeighborSVC), told
    if isinstance(model, StagedSVC | MixtureSVC | SupportClusterSVC):
        return
    # A millionth of a margin is what rounding may take without a word.
    assert told or shortfall(model) <= max(model.tol, 1e-6), model


def names_of(models):
    return {name.split(",")[0] for name in models}


def test_every_public_classifier_is_here():
    public = {
        name
        for name in estimators.__all__
        if inspect.isclass(getattr(estimators, name))
        and is_classifier_class(getattr(estimators, name))
    }
    assert names_of(KERNEL_MODELS) | names_of(OTHER_MODELS) == public


def is_classifier_class(cls):
    """Whether it learns by itself: what wraps another classifier ends as that does."""
    own = issubclass(cls, ClassifierMixin) and not issubclass(cls, MetaEstimatorMixin)
    return own and hasattr(cls, "fit")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", KERNEL_MODELS)
def test_kernel_models_end_on_degenerate_rows(name, kernel):
    for place, rows in enumerate(("six", "contrary", "constant")):
        X, y = problem(rows)
        for step, C in enumerate(PENALTIES):
            tol = TOLERANCES[(place + step) % len(TOLERANCES)]
            model = KERNEL_MODELS[name](len(y), C, tol, KERNELS[kernel])
            if C > 1:
                # Slow, not endless: the generous limit has tests of its own.
                model.set_params(max_iter=100_000)
            check_ends(model.set_params(random_state=0), X, y)


@pytest.mark.parametrize("name", OTHER_MODELS)
def test_other_models_end_on_degenerate_rows(name):
    for place, rows in enumerate(("six", "contrary", "constant")):
        X, y = problem(rows)
        for step, C in enumerate(PENALTIES):
            tol = TOLERANCES[(place + step) % len(TOLERANCES)]
            model = OTHER_MODELS[name](C, tol)
            check_ends(model.set_params(random_state=0), X, y)


def test_no_tolerance_on_six_rows_ends_by_itself():
    X, y = problem("six")
    model = LocalSVC(6, tol=0, gamma="scale", random_state=0)
    check_ends(model, X, y)
    assert model.n_iter_ <= 100_000


@pytest.mark.parametrize(
    "model",
    [
        ReducedSVC(kernel="poly", C=1e12, random_state=0),
        LocalSVC(
            60, n_assigned=60, kernel="poly", gamma="scale", C=1e12, random_state=0
        ),
        SupportClusterSVC(60, C=1e13, tol=1e-12, random_state=0),
    ],
)
def test_a_slow_problem_ends_at_the_generous_limit(model):
    X, y = problem("noise")
    check_ends(model, X, y)
    assert np.max(model.n_iter_) <= 10_000_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tol", TOLERANCES)
@pytest.mark.parametrize("rows", ["six", "noise", "contrary", "constant"])
def test_random_degenerate_rows_end(rows, tol, seed):
    X, y = problem(rows, seed + 1)
    rng = np.random.default_rng(seed)
    for C in 10.0 ** rng.uniform(-12, 15, 3):
        for make in OTHER_MODELS.values():
            check_ends(make(C, tol).set_params(random_state=0), X, y)
        for name, make in KERNEL_MODELS.items():
            # It solves a problem of all rows for each query, which may take minutes.
            if name == "NeighborSVC":
                continue
            for kernel in KERNELS.values():
                model = make(len(y), C, tol, kernel)
                check_ends(model.set_params(random_state=0), X, y)


TIMED = {
    "AdditiveSVC": lambda: AdditiveSVC(),
    "ClusteredSVC": lambda: ClusteredSVC(4),
    "ClusteredSVC, hard": lambda: ClusteredSVC(4, n_nearest=1),
    "ClusteredSVC, joint": lambda: ClusteredSVC(4, multi_class="crammer_singer"),
    "ClusteredSVCCV": lambda: ClusteredSVCCV(n_regions=[4, 8], cv=2),
    "LocallyLinearSVC": lambda: LocallyLinearSVC(8),
    "LocalSVC": lambda: LocalSVC(20),
    "LocalSVC, one": lambda: LocalSVC(400, gamma="scale"),
    "LocalSVC, grid": lambda: LocalSVC(40, local_grid={"C": [0.1, 1, 10]}),
    "LocalSVC, drawn": lambda: LocalSVC(40, shrink=1.0),
    "LocalSVCCV": lambda: LocalSVCCV(n_neighbors=[20, 40], cv=2),
    "NeighborSVC": lambda: NeighborSVC(20),
    "MixtureSVC": lambda: MixtureSVC(4, early_stopping=False),
    "MixtureSVC, paper": lambda: MixtureSVC(4, gate="paper", early_stopping=False),
    "ReducedSVC": lambda: ReducedSVC(),
    "ReducedSVC, linear": lambda: ReducedSVC(kernel="linear"),
    "ReducedSVC, reduced": lambda: ReducedSVC(reduction=Reduction()),
    "ReducedSVC, reduced rows": lambda: ReducedSVC(
        reduction=Reduction(), cache_size=0.01
    ),
    "ReducedSVC, reduced linear": lambda: ReducedSVC(
        reduction=Reduction(), kernel="linear"
    ),
    "SupportClusterSVC": lambda: SupportClusterSVC(100),
}


class Clock:
    """Time that passes only by looking at it, and what is begun when it is over."""

    def __init__(self, monkeypatch, limit, looks):
        self.tick, self.limit, self.n_looks, self.late = limit / looks, limit, 0, 0
        monkeypatch.setattr(time, "perf_counter", self)
        seconds = RunLimits.seconds.fget

        def begin(options):
            left = seconds(options)
            self.late += left == 0
            # As the core sees it: it would measure real seconds.
            return left if left == 0 else np.inf

        monkeypatch.setattr(RunLimits, "seconds", property(begin))

    def __call__(self):
        self.n_looks += 1
        return self.n_looks * self.tick


def xor_rows(n=400):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    y = (X[:, 0] * X[:, 1] + 0.2 * rng.standard_normal(n) > -0.3).astype(int)
    return X, y


def test_every_model_with_a_time_limit_is_here():
    limited = {
        name
        for name in estimators.__all__
        if inspect.isclass(getattr(estimators, name))
        and is_classifier_class(getattr(estimators, name))
        and "max_time" in inspect.signature(getattr(estimators, name)).parameters
    }
    assert names_of(TIMED) == limited - {"StagedSVC"}


@pytest.mark.parametrize(
    ("looks", "limit"),
    [(0.5, 1e-3), (0.5, 1e-2), (0.5, 0.1), (0.5, 1.0), (5, 0.1), (20, 0.1)],
)
@pytest.mark.parametrize("name", TIMED)
def test_a_fit_ends_soon_after_its_time_is_over(monkeypatch, name, looks, limit):
    """The clock is over after so many looks; few more follow, and few solves begin."""
    X, y = xor_rows()
    model = TIMED[name]().set_params(max_time=limit, random_state=0, tol=1e-12)
    clock = Clock(monkeypatch, limit, looks)
    decisions, told = fit_and_decide(model, X, y)
    assert np.isfinite(decisions).all()
    # The global model that others are drawn to takes four fits, held-out rows one.
    assert clock.n_looks <= looks + 80
    assert clock.late <= 6
    assert len(told) <= 1 + (name == "LocalSVC, drawn"), told
    if looks == 0.5:
        assert told
        assert str(limit) in told[-1]
    majority = max(y.mean(), 1 - y.mean())
    assert np.mean(model.predict(X) == y) >= majority - 0.02


def test_time_that_is_over_leaves_one_pass(monkeypatch):
    X, y = xor_rows()
    Clock(monkeypatch, 1.0, 0.5)
    for name in ("ClusteredSVC", "LocallyLinearSVC", "ReducedSVC, linear"):
        model = TIMED[name]().set_params(max_time=1.0, random_state=0, tol=1e-12)
        _, told = fit_and_decide(model, X, y)
        assert len(told) == 1
        assert model.n_iter_ == 1


def test_passes_of_the_reduction_share_one_deadline(monkeypatch):
    X, y = xor_rows()
    model = ReducedSVC(reduction=Reduction(), cache_size=0.01, random_state=0, tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(X, y).passes_[0] > 1
        Clock(monkeypatch, 1.0, 0.5)
        assert model.set_params(max_time=1.0).fit(X, y).passes_[0] == 0

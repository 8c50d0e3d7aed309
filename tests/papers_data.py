"""Small experiments for the tests of the papers' framework, and what they fit."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from localsvm.data import Benchmark
from papers import (
    Cell,
    Data,
    Experiment,
    Method,
    Part,
    Printed,
    Run,
    Selection,
    Table,
)


def blobs(n_rows=40, test_offset=0.0):
    """Two classes on a line; the test rows can be put elsewhere."""
    X = np.linspace(-1, 1, n_rows).reshape(-1, 1)
    y = (X[:, 0] > 0).astype(int)
    return Benchmark("blobs", X, y, X + test_offset, y, None, "drawn")


class Threshold(ClassifierMixin, BaseEstimator):
    """Says 1 above a threshold; can be slow, leave traces, fail or die."""

    def __init__(
        self, threshold=0.0, seconds=0.0, trace=None, fails=False, random_state=None
    ):
        self.threshold = threshold
        self.seconds = seconds
        self.trace = trace
        self.fails = fails
        self.random_state = random_state

    def fit(self, X, y):
        if self.fails == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fails:
            raise RuntimeError("it was asked to fail")
        if self.trace is not None:
            with Path(self.trace).open("a") as file:
                file.write(f"{self.random_state}\n")
        time.sleep(self.seconds)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > self.threshold).astype(int)


def threshold_method(**params):
    return Method("threshold", Part("papers_data.Threshold", params))


def toy_runs(n_runs=3, group="ours", grid=None, **params):
    method = threshold_method(**params)
    if grid:
        method = Method("threshold", method.estimator, grid)
    return [
        Run(group, Data(blobs), method, selection=Selection(n_folds=2), seed=seed)
        for seed in range(n_runs)
    ]


def toy(runs, *, cells=None, **options):
    """An experiment with the same runs at every size."""
    cells = cells or {("threshold", "blobs"): Cell("ours", printed=Printed(99.0))}
    return Experiment(
        id=options.pop("id", "toy/table1"),
        title="Toy",
        shows="Nothing.",
        runs=lambda size: runs,
        table=Table(cells),
        **options,
    )

"""The work of a search: side by side on threads, and nothing done twice."""

import threading
import warnings

import numpy as np
import pytest

from localsvm import StagedSVC
from localsvm.estimators._regional import GradientMetric
from localsvm.estimators._staged.jobs import run_jobs
from localsvm.estimators._staged.preparation import learn
from localsvm.estimators._staged.preparation.learn import Preparations
from localsvm.estimators._staged.sum import trial as sum_trial
from localsvm.estimators._staged.sum.terms import RowMap
from localsvm.estimators._staged.terms import scores
from staged_data import make_options, make_rows, training_rows


def chosen(X, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return StagedSVC(random_state=0, **parameters).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("join", ["sum", "switch"])
@pytest.mark.parametrize("few", [100, 4000])
def test_threads_of_a_search_do_not_change_a_bit(join, n_classes, few, monkeypatch):
    """Neither with kernel matrices of all rows, nor with rows on demand."""
    monkeypatch.setattr(scores, "_WHOLE_MATRIX_ROWS", few)
    X, y = make_rows(300, n_classes)
    models = [chosen(X, y, join=join, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        assert model.best_params_ == models[0].best_params_
        for name in ("error", "log_loss"):
            np.testing.assert_array_equal(
                model.selection_[name], models[0].selection_[name]
            )
        np.testing.assert_array_equal(
            model.decision_function(X), models[0].decision_function(X)
        )


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_jobs_share_the_threads(n_jobs):
    seen = []
    jobs = [lambda options: seen.append(options.n_jobs)] * 2
    run_jobs(jobs, make_options(n_jobs=n_jobs))
    assert seen == [max(1, n_jobs // 2)] * 2


def test_an_error_of_one_job_ends_the_others():
    ended = threading.Event()

    def fail(options):
        raise ValueError("first")

    def wait(options):
        while not options.is_late:
            options.cancel.wait(0.01)
        ended.set()

    with pytest.raises(ValueError, match="first"):
        run_jobs([wait, fail], make_options(n_jobs=2))
    assert ended.is_set()


def test_metrics_of_a_scaling_share_their_first_step(monkeypatch):
    """Three models serve both metrics of two steps, and each is that of its class."""
    X, y = make_rows(300)
    rows, options = training_rows(X, y).merged(0).rows, make_options()
    fits = []
    moment = learn._moment
    monkeypatch.setattr(
        learn, "_moment", lambda *given: fits.append(1) or moment(*given)
    )
    shared = Preparations(rows, options)
    for kind in ("full", "diagonal"):
        found = shared.learn(RowMap("standard", None, kind), options)
        alone = Preparations(rows, options)
        own = alone.learn(RowMap("standard", None, kind), options)
        np.testing.assert_array_equal(found.components, own.components)
        assert isinstance(found.metric, GradientMetric)
        assert found.metric.diagonal == (kind == "diagonal")
    assert len(fits) == 3 + 4


def test_regions_of_a_preparation_are_found_once(monkeypatch):
    """Penalties that are asked one after the other are fitted to the same regions."""
    starts = []
    fit_regions = sum_trial.fit_regions

    def watched(rows, penalties, options, start):
        starts.append(start is not None)
        return fit_regions(rows, penalties, options, start)

    monkeypatch.setattr(sum_trial, "fit_regions", watched)
    chosen(*make_rows(300), join="sum", scaling="standard", gradient_metric=None)
    assert starts.count(False) == 3
    assert any(starts)

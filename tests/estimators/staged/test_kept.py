"""Ctrl-C during a fit that keeps what it has."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from localsvm import StagedSVC
from localsvm.estimators._staged import fit as staged_fit
from localsvm.estimators._staged.sum.trial import SumTrial
from localsvm.estimators._staged.switch.trial import Trial
from staged_data import GIVEN, make_rows

TRIALS = {"sum": (SumTrial, "decide"), "switch": (Trial, "wrong")}


def interrupt(monkeypatch, owner, name, at):
    """Let the function raise in its call with this number, from 1 on."""
    function, calls = getattr(owner, name), []

    def interrupted(*given):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return function(*given)

    monkeypatch.setattr(owner, name, interrupted)


def fit(X, y, **parameters):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = StagedSVC(**{"random_state": 0, **parameters}).fit(X, y)
    return model, [str(each.message) for each in caught]


@pytest.mark.parametrize("join", TRIALS)
@pytest.mark.parametrize("at", [1, 2, 4])
def test_interrupted_search_leaves_the_best_so_far(join, at, monkeypatch):
    X, y = make_rows(3000)
    interrupt(monkeypatch, *TRIALS[join], at)
    model, messages = fit(X, y, join=join, on_interrupt="keep")
    assert len(messages) == 1
    assert messages[0].startswith("Ctrl-C came too early to choose ")
    assert "a quick fit of 2000 of 3000 rows" in messages[0]
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("join", TRIALS)
def test_what_was_chosen_before_is_kept(join, monkeypatch):
    X, y = make_rows(600)
    whole, _ = fit(X, y, join=join)
    interrupt(monkeypatch, *TRIALS[join], 8 if join == "switch" else 2)
    model, _ = fit(X, y, join=join, on_interrupt="keep")
    n_tried = len(model.selection_["error"])
    assert n_tried < len(whole.selection_["error"])
    n_first = np.count_nonzero(model.selection_["question"] == "scaling")
    assert n_first > 1
    np.testing.assert_array_equal(
        model.selection_["error"][:n_first], whole.selection_["error"][:n_first]
    )
    assert model.best_params_["scaling"] in model.selection_["scaling"][:n_first]


def test_interrupted_fit_is_one_of_a_sample(monkeypatch):
    X, y = make_rows(3000)
    interrupt(monkeypatch, staged_fit, "_fit", 1)
    model, messages = fit(X, y, **GIVEN, on_interrupt="keep")
    expected = "Ctrl-C allowed a quick fit of 2000 of 3000 rows."
    assert messages[0].startswith(expected)
    assert np.count_nonzero(model.stage_) == 2000


def test_interrupt_within_a_limit_keeps_the_last_sample(monkeypatch):
    X, y = make_rows(3000)
    interrupt(monkeypatch, staged_fit, "_fit", 2)
    _, messages = fit(X, y, **GIVEN, on_interrupt="keep", max_time=1000)
    assert messages[0].startswith("Ctrl-C allowed a quick fit of 2000 of 3000 rows.")


@pytest.mark.parametrize("given", [{}, {"on_interrupt": "keep"}])
def test_interrupt_changes_nothing_unless_asked_and_possible(given, monkeypatch):
    """A second Ctrl-C, during the fit of the sample, ends that as well."""
    X, y = make_rows(300)
    model = StagedSVC(**GIVEN, **given).fit(X, y)
    before = dict(vars(model))

    def raises(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(staged_fit, "_fit", raises)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:200], y[:200])
    assert vars(model) == before


PROGRAM = """
import os, signal, threading, time, warnings
import numpy as np
from localsvm import StagedSVC
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((20_000, 30))
y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(20_000) < 0.1)
def send():
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send, daemon=True).start()
model = StagedSVC(random_state=0, on_interrupt="keep", n_jobs=N_JOBS).fit(X, y)
print(model.score(X, y) > 0.5)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_signal_ends_a_fit_with_a_model(n_jobs):
    program = PROGRAM.replace("N_JOBS", str(n_jobs))
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"


def test_only_two_words_are_taken():
    with pytest.raises(ValueError, match=r"on_interrupt.*'raise' or 'keep'.*'stop'"):
        StagedSVC(on_interrupt="stop").fit([[0], [1]], [0, 1])

"""The course of a race, with a clock that only fits move."""

import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import FunctionTransformer

from localsvm.tune import _field, race
from localsvm.tune._candidates import Candidate
from localsvm.tune._entrants import Entrant, best_of_methods, survivors, winner_of
from localsvm.tune._scores import Validation


class Clock:
    """Time stands still unless it is moved."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Runner(ClassifierMixin, BaseEstimator):
    """Takes a known time; right wherever the second column is above its error."""

    def __init__(self, clock, candidate, max_time, cost, error):
        self.clock, self.candidate, self.max_time = clock, candidate, max_time
        self.cost, self.error = cost, error

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.n = X.shape[0]
        self.clock.now += self.cost(self.candidate, self.n)
        return self

    def predict(self, X):
        wrong = X[:, 1] < self.error(self.candidate, self.n)
        return np.where(wrong, 1 - X[:, 0], X[:, 0])


@pytest.fixture
def track(monkeypatch):
    """Race fake estimators: track(cost, error, n_rows, **options) -> result, clock."""

    def run(cost, error, n_rows=20_000, **options):
        clock = Clock()
        monkeypatch.setattr(
            _field,
            "make_estimator",
            lambda candidate, seed, n_jobs, limit: Runner(
                clock, candidate, limit, cost, error
            ),
        )
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, n_rows)
        X = np.c_[y, rng.uniform(size=n_rows)]
        # No scaling: the columns have to stay what they are.
        options = {
            "encoder": FunctionTransformer(),
            "methods": ["reduced", "clustered"],
        } | options
        return race(X, y, clock=clock, **options), clock

    return run


def by_name(**values):
    """Cost or error by method: a number, or a function of the rows."""

    def function(candidate, n):
        value = values[candidate.name]
        return value(n) if callable(value) else value

    return function


def finished(result):
    return [trial for trial in result.trials if trial.status == "finished"]


def test_the_best_wins_and_is_fitted_to_all_rows(track):
    result, _ = track(
        by_name(reduced=0.01, clustered=0.01), by_name(reduced=0.1, clustered=0.05)
    )
    assert result.best_method == "clustered"
    assert result.n_score_rows == 16_000
    assert result.n_rows == result.best_estimator_[-1].n == 20_000
    assert result.score.value == pytest.approx(0.95, abs=0.01)
    assert result.best_estimator_[-1].max_time is None


def test_a_third_goes_on_and_the_top_is_reached(track):
    result, _ = track(
        by_name(reduced=0.01, clustered=0.01), by_name(reduced=0.1, clustered=0.05)
    )
    rungs = [trial.rung for trial in finished(result)]
    counts = np.bincount(rungs)
    assert counts[0] > 10
    assert -(-counts[0] // 3) <= counts[1] <= -(-counts[0] // 3) + 1
    assert {t.n_rows for t in result.trials if t.rung == max(rungs)} == {12_800}


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("budget", [0.5, 5.0, 60.0])
def test_the_race_ends_within_about_the_budget(track, power, budget):
    def cost(candidate, n):
        return 1e-3 * (n / 250) ** power

    result, clock = track(
        cost, by_name(reduced=0.1, clustered=0.05), time_budget=budget
    )
    assert result.seconds == clock.now - 1000.0
    # Predictions are rather too high, so that there is nothing to make up for.
    assert result.seconds <= budget


def test_what_cannot_finish_is_not_started(track):
    def cost(candidate, n):
        return 0.01 if candidate.name == "clustered" else 0.001 * (n / 100) ** 2

    errors = by_name(reduced=0.02, clustered=0.2)
    result, _ = track(cost, errors, time_budget=10.0)
    refused = [t for t in result.trials if t.status.startswith("not started")]
    assert refused
    assert all(t.score is None and t.seconds == 0 for t in refused)
    slow = [t for t in refused if t.method == "reduced" and t.n_rows == 12_800]
    # 16.4 s at the top, a quarter more to be sure.
    expected = 1.25 * 0.001 * 128**2
    said = float(slow[0].status.removeprefix("not started: would take ").split(" s")[0])
    assert said == pytest.approx(expected, abs=0.1)
    assert max(t.seconds for t in finished(result)) < 5.0


def test_a_winner_that_is_too_slow_for_all_rows_gets_as_many_as_the_time_allows(track):
    def cost(candidate, n):
        return 0.001 * (n / 100) ** 2

    result, _ = track(cost, by_name(reduced=0.02), time_budget=5.0, methods=["reduced"])
    assert 1000 < result.n_score_rows < 16_000
    assert result.n_rows == result.n_score_rows == result.best_estimator_[-1].n
    assert result.seconds <= 5.0


def test_without_any_time_the_cheapest_is_fitted_to_a_few_rows(track):
    costs = by_name(reduced=3.0, clustered=30.0)
    result, _ = track(costs, by_name(reduced=0.3, clustered=0.0), time_budget=1e-3)
    assert result.best_method == "reduced"
    assert len(finished(result)) == 1
    assert result.n_rows == result.n_score_rows < 750
    assert result.seconds == 6.0


def test_of_equals_the_faster_wins_if_it_is_felt(track):
    errors = by_name(reduced=0.1, clustered=0.1)
    slow = by_name(reduced=2.0, clustered=0.1)
    assert track(slow, errors, time_budget=100.0)[0].best_method == "clustered"
    # A hundredth of the budget is not felt, and the first of equals wins.
    assert track(slow, errors, time_budget=500.0)[0].best_method == "reduced"


def test_of_equally_fast_ones_the_better_wins(track):
    errors = by_name(reduced=0.1, clustered=0.099)
    costs = by_name(reduced=0.1, clustered=0.1)
    assert track(costs, errors)[0].best_method == "clustered"


def test_a_better_neighbor_of_the_best_is_found_at_the_top(track):
    def error(candidate, n):
        if candidate.name == "clustered":
            return 0.3
        distance = abs(math.log10(candidate.params.get("C", 1.0)) - 0.5)
        return 0.05 + 0.1 * distance

    result, _ = track(by_name(reduced=0.01, clustered=0.01), error)
    assert result.best_params == {"C": 3.16}
    assert result.score.value == pytest.approx(0.95, abs=0.01)


def test_a_method_that_needs_many_rows_gets_a_second_chance(track):
    def error(candidate, n):
        if candidate.name == "reduced":
            return 0.1
        return 0.02 if n > 10_000 else 0.3

    result, _ = track(by_name(reduced=0.01, clustered=0.01), error)
    assert result.best_method == "clustered"


def test_failures_do_not_end_the_race_unless_all_fail(track):
    def cost(candidate, n):
        if candidate.name == "reduced":
            raise ValueError("no such rows\nsecond line")
        return 0.01

    result, _ = track(cost, by_name(clustered=0.1))
    failed = [t for t in result.trials if t.method == "reduced"]
    assert [t.status for t in failed] == ["failed: ValueError: no such rows"]
    assert result.best_method == "clustered"
    with pytest.raises(RuntimeError, match="ValueError: no such rows") as raised:
        track(cost, by_name(), methods=["reduced"])
    assert isinstance(raised.value.__cause__, ValueError)


def test_an_interrupt_ends_the_race(track):
    def cost(candidate, n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        track(cost, by_name())


def test_the_same_readings_of_the_clock_give_the_same_race(track):
    def cost(candidate, n):
        return 1e-3 * n / 250

    options = {"error": by_name(reduced=0.1, clustered=0.09), "time_budget": 3.0}
    (first, _), (second, _) = track(cost, **options), track(cost, **options)
    assert first.to_dict() == second.to_dict()
    other, _ = track(cost, **options, random_state=1)
    assert other.to_dict() != first.to_dict()


def test_every_trial_is_told_when_it_ends(track):
    told = []
    result, _ = track(
        by_name(reduced=0.01, clustered=0.01),
        by_name(reduced=0.1, clustered=0.05),
        on_progress=told.append,
    )
    assert tuple(told) == result.trials


def _entrant(name, credit, rung=0, waits=False, **params):
    credit = np.asarray(credit, dtype=float)
    validation = Validation(np.arange(len(credit)), credit, np.ones(len(credit)))
    candidate = Candidate(name, "none", tuple(params.items()))
    return Entrant(candidate, rung=rung, validation=validation, waits=waits)


def test_survivors_are_the_best_third_and_the_best_of_every_method():
    better = [
        _entrant("reduced", [1] * (90 - i) + [0] * (10 + i), C=i) for i in range(12)
    ]
    other = _entrant("mixture", [0] * 100)
    kept = survivors([*better, other], 1, lambda entrant: 1.0)
    assert set(kept) == {*better[:5], other}
    assert other not in survivors([*better, other], 3, lambda entrant: 1.0)


def test_survivors_start_with_the_fastest_of_the_equals():
    good = [1] * 90 + [0] * 10
    slow, fast = _entrant("reduced", good), _entrant("local", good)
    worse = _entrant("mixture", [0] * 50 + [1] * 50)
    seconds = {slow: 5.0, fast: 1.0, worse: 0.1}
    assert survivors([slow, worse, fast], 1, seconds.get) == [fast, slow, worse]


def test_whoever_was_left_behind_is_out_and_whoever_waits_is_not():
    top = _entrant("reduced", [1] * 80 + [0] * 20, rung=2)
    behind = _entrant("local", [1] * 100, rung=1)
    assert winner_of([top, behind], lambda entrant: 1.0) is top
    behind.waits = True
    assert winner_of([top, behind], lambda entrant: 1.0) is behind
    assert winner_of([Entrant(Candidate("local", "none"))], lambda e: 1.0) is None


def test_speeds_within_a_factor_of_two_are_the_same():
    better = _entrant("local", [1] * 80 + [0] * 20)
    worse = _entrant("reduced", [0] * 21 + [1] * 79)
    for seconds, winner in ((1.9, better), (2.1, worse)):
        cost = {better: seconds, worse: 1.0}
        assert winner_of([better, worse], cost.get) is winner


def test_best_of_methods_prefers_higher_rungs():
    low, high = _entrant("local", [1] * 10), _entrant("local", [1, 0] * 5, rung=1)
    assert best_of_methods([low, high, Entrant(Candidate("mixture", "none"))]) == [high]


@pytest.mark.parametrize(
    ("error", "winner"),
    [(0.0499, "staged"), (0.02, "clustered")],
)
def test_who_wins_is_better_than_the_staged_svm(track, error, winner):
    """A lead of 0.0001 is noise, one of 0.03 is none."""
    result, _ = track(
        by_name(staged=lambda n: n / 10_000, clustered=0.01),
        by_name(staged=0.05, clustered=error),
        methods=["staged", "clustered"],
    )
    assert result.best_method == winner


@pytest.mark.parametrize(("cost", "winner"), [(5.0, "staged"), (40.0, "clustered")])
def test_the_staged_svm_goes_to_the_top_if_it_can_finish(track, cost, winner):
    """On few rows it is worse, on all rows better."""
    result, clock = track(
        by_name(staged=lambda n: cost * n / 12_800, clustered=0.01),
        by_name(staged=lambda n: 0.05 if n > 10_000 else 0.3, clustered=0.06),
        methods=["staged", "clustered"],
        time_budget=60.0,
    )
    assert result.best_method == winner
    assert clock.now - 1000.0 <= 60.0

"""The clock, and what a fit will take."""

import itertools

import pytest

from localsvm.tune._costs import Budget, Costs, GrowthCurve


def test_budget_counts_from_its_start():
    ticks = itertools.count(100.0, 2.0)
    budget = Budget(5.0, lambda: next(ticks))
    assert budget.spent() == 2.0
    assert budget.left() == 1.0
    assert budget.left() == -1.0


def test_nothing_is_predicted_from_nothing():
    assert GrowthCurve(1.0).predict(100) is None


def test_a_measured_size_is_told_as_measured_and_its_longest_time_counts():
    curve = GrowthCurve(1.0)
    for seconds in (0.5, 0.7, 0.6):
        curve.add(100, seconds)
    assert curve.predict(100) == 0.7


@pytest.mark.parametrize(("seconds", "power"), [(4.0, 2.0), (2.0, 1.0), (32.0, 3.0)])
def test_growth_is_measured_between_limits(seconds, power):
    curve = GrowthCurve(1.0)
    curve.add(100, 1.0)
    curve.add(200, seconds)
    assert curve.predict(400) == pytest.approx(1.25 * seconds * 2**power)


def test_one_size_grows_by_the_given_power_and_overheads_do_not_lower_it():
    curve = GrowthCurve(1.5)
    curve.add(100, 1.0)
    assert curve.predict(400) == pytest.approx(1.25 * 8)
    curve.add(200, 1.0)
    assert curve.predict(800) == pytest.approx(1.25 * 8)


def test_fewer_rows_are_not_promised_to_be_faster():
    curve = GrowthCurve(2.0)
    curve.add(100, 1.0)
    assert curve.predict(10) == 1.0


def test_costs_keep_one_curve_of_each():
    costs = Costs()
    costs.of("a", 2.0).add(10, 1.0)
    assert costs.of("a").predict(20) == pytest.approx(1.25 * 4)
    assert costs.of("b").predict(20) is None

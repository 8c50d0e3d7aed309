"""Scores, intervals and ties."""

import numpy as np
import pytest
from scipy.stats import binomtest

from localsvm.tune._scores import Validation, held_out_score


@pytest.mark.parametrize(("right", "n"), [(0, 7), (7, 7), (45, 50), (900, 1000)])
def test_interval_is_that_of_wilson(right, n):
    correct = np.arange(n) < right
    score = held_out_score(correct, np.ones(n))
    expected = binomtest(right, n).proportion_ci(0.95, "wilson")
    assert score.value == right / n
    assert score.n_rows == n
    assert (score.low, score.high) == pytest.approx((expected.low, expected.high))
    assert score.low <= score.value <= score.high


def test_weights_count_in_the_score_and_their_unit_does_not_matter():
    correct = np.array([True, True, False, False])
    weight = np.array([3.0, 3.0, 1.0, 1.0])
    score = held_out_score(correct, weight)
    assert score.value == 0.75
    assert held_out_score(correct, 10 * weight) == score
    even = held_out_score(correct, np.ones(4))
    assert score.high - score.low > even.high - even.low - 0.05


def test_score_can_be_printed_and_written():
    score = held_out_score(np.ones(10, dtype=bool), np.ones(10))
    assert str(score) == "1.0000 (95 % interval 0.7225 to 1.0000, 10 rows)"
    assert score.to_dict()["n_rows"] == 10


def _validation(credit, rows=None, weight=None):
    credit = np.asarray(credit, dtype=float)
    rows = np.arange(len(credit)) if rows is None else np.asarray(rows)
    weight = np.ones(len(credit)) if weight is None else np.asarray(weight)
    return Validation(rows, credit, weight)


def test_rows_scored_twice_are_averaged():
    weight = np.array([1.0, 2.0, 1.0])
    rows = np.array([2, 0, 1, 2])
    validation = Validation.of(rows, np.array([True, True, False, False]), weight)
    assert validation.rows.tolist() == [0, 1, 2]
    assert validation.credit.tolist() == [1.0, 0.0, 0.5]
    assert validation.score == pytest.approx(1.5 / 4)


def test_standard_error_is_that_of_a_share():
    validation = _validation([1] * 80 + [0] * 20)
    assert validation.standard_error == pytest.approx(np.sqrt(0.8 * 0.2 / 100))


def test_a_small_lead_on_the_same_rows_is_a_tie_and_a_consistent_one_is_not():
    base = np.r_[np.ones(80), np.zeros(20)]
    noisy, better = base.copy(), base.copy()
    noisy[[0, 1, 2, 80, 81, 82, 83]] = 1 - noisy[[0, 1, 2, 80, 81, 82, 83]]
    better[80:84] = 1
    assert _validation(noisy).score == pytest.approx(0.81)
    assert _validation(noisy).is_no_better_than(_validation(base))
    assert not _validation(better).is_no_better_than(_validation(base))
    assert _validation(base).is_no_better_than(_validation(better))


def test_only_common_rows_are_compared():
    # The second has easier rows: on those of both it is worse.
    first = _validation(np.ones(50))
    credit = np.r_[np.zeros(10), np.ones(90)]
    second = _validation(credit, rows=np.arange(40, 140))
    assert first.score == 1.0
    assert not first.is_no_better_than(second)
    assert second.is_no_better_than(first)


def test_weights_count_in_ties():
    base = _validation([0, 1] * 50, weight=np.ones(100))
    other = np.array([0.0, 1.0] * 50)
    other[:10:2] = 1
    light = _validation(other, weight=np.r_[np.full(10, 1e-9), np.ones(90)])
    assert light.score == pytest.approx(base.score, abs=1e-6)

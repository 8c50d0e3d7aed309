"""The paired t-test beside the cells of a table."""

from dataclasses import replace

import numpy as np
import pytest
from papers._paired import compare_paired
from papers._text import ours
from scipy import stats

from papers import Cell, CellResult, Printed, Table

CELL = Cell("group", printed=Printed(80.0))


def by_seed(values):
    return dict(enumerate(values))


@pytest.mark.parametrize("shift", [-3.0, -0.5, 0.0, 0.5, 3.0])
def test_agrees_with_scipy(shift):
    rng = np.random.default_rng(0)
    others = rng.normal(80, 5, 10)
    values = others + shift + rng.normal(0, 1, 10)
    significant = stats.ttest_rel(values, others).pvalue < 0.05
    arrow = ("↑" if values.mean() > others.mean() else "↓") if significant else ""
    assert compare_paired(by_seed(values), by_seed(others)) == arrow


def test_equal_values_are_no_difference():
    assert compare_paired(by_seed([80.0, 81.0]), by_seed([80.0, 81.0])) == ""


def test_constant_gain_is_significant():
    assert compare_paired(by_seed([80.0, 81.0]), by_seed([79.0, 80.0])) == "↑"


def test_only_common_folds_count():
    values, others = {0: 90.0, 1: 80.0}, {1: 90.0, 2: 10.0}
    assert compare_paired(values, others) == ""


def test_arrow_is_shown_after_the_spread():
    result = CellResult(CELL, (81.0, 83.0), 2, "", arrow="↑")
    assert ours(result, Table({}, digits=1)) == "82.0±1.4↑"


def test_folds_are_judged_by_the_spread_of_their_mean():
    result = CellResult(CELL, tuple(np.linspace(76, 90, 10)), 10, "")
    table = Table({})
    assert not result.differs(table)
    assert result.differs(replace(table, folds=True))

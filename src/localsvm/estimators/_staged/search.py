"""The choice of what a user has left open: a sum of terms, or a switch."""

from __future__ import annotations

from localsvm.estimators._staged.evaluation import Choice
from localsvm.estimators._staged.grid import Grid
from localsvm.estimators._staged.jobs import keeping
from localsvm.estimators._staged.setting import StageOptions
from localsvm.estimators._staged.sum.search import choose_sum
from localsvm.estimators._staged.switch.search import choose_switch
from localsvm.rows import Rows


def choose(rows: Rows, grid: Grid, options: StageOptions) -> Choice:
    """Choose what is open, in half of the time at most.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    grid : Grid
    options : StageOptions
        Of the fit.
    """
    if not grid.is_open:
        return Choice(grid.first())
    choice = None
    with keeping(options):
        choice = choose_sum(rows, grid, options) if grid.offers_sum else None
    return choice or choose_switch(rows, grid, options)

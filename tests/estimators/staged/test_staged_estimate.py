"""What StagedSVC expects of its choice is what it fits, and what fresh rows show."""

from functools import partial

import numpy as np
import pytest
import staged_estimates

from data_sets import loaded
from localsvm import StagedSVC
from localsvm.data import load_benchmark
from localsvm.estimators._staged import (
    estimator as _staged,
    grid as _staged_grid,
    setting as _staged_setting,
)
from localsvm.estimators._staged.setting import StageSizes
from localsvm.estimators._staged.switch import search as _staged_choice
from staged_data import GIVEN, make_rows


@pytest.mark.parametrize("largest_model", [500, 650, 750, 850, 950, 1050])
def test_setting_that_is_scored_is_the_setting_that_is_fitted(
    largest_model, monkeypatch
):
    """Of 1000 rows, all hard, a trial sees 700 and a confirmation 800."""
    sizes = partial(StageSizes, fewest_hard=1000, largest_model=largest_model)
    monkeypatch.setattr(_staged, "StageSizes", sizes)
    monkeypatch.setattr(_staged_setting, "_FEWEST_TRIAL_ROWS", 100)
    for module in (_staged_grid, _staged_setting):
        monkeypatch.setattr(module, "CELL_SIZES", (100, 300))
    monkeypatch.setattr(_staged_choice, "FEWEST_ROWS_TO_HOLD_OUT", 1000)
    X, y = make_rows(1000)
    choice = {"cell_size": "auto", "gamma_factor": "auto", "threshold": np.inf}
    model = StagedSVC(**GIVEN | choice).fit(X, y)
    assert model.n_hard_ == 1000
    in_cells = largest_model < 1000
    assert (model.second_stage_.n_regions_ > 1) == in_cells
    assert (model.best_params_["cell_size"] is not None) == in_cells
    tried = model.selection_
    assert {size is not None for size in tried["cell_size"]} == {in_cells}
    assert tried["chosen"].any()
    assert set(tried["n_rows"][tried["chosen"]]) == {1000}


@pytest.mark.slow
@pytest.mark.parametrize("task", staged_estimates.TASKS, ids=lambda task: task.name)
def test_estimate_is_what_fresh_rows_show(task):
    loaded(load_benchmark, task.name)
    rows = [staged_estimates.run(task, seed) for seed in staged_estimates.SEEDS]
    assert staged_estimates.agrees(staged_estimates.summary(rows))

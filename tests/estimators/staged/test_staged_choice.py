"""The choice phase of StagedSVC: what is tried, what is chosen, when it ends."""

import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from localsvm import StagedSVC
from localsvm.data import make_two_spirals
from localsvm.estimators._staged.evaluation import (
    Evaluation,
    _needed_lead,
    selection_table,
)
from localsvm.estimators._staged.grid import Grid
from localsvm.estimators._staged.setting import StagedSetting, StageSizes
from localsvm.estimators._staged.switch.search import (
    _FULL_SHARE,
    _TRIAL_ROWS,
    _TRIAL_SHARE,
    _Search,
)
from localsvm.estimators._staged.switch.trial import Trial
from staged_data import GIVEN, make_options, make_rows, training_rows

SETTING = StagedSetting("none", None, None, 1.0, 200, 2.0, 10.0, 0.0)
COLUMNS = {
    "question",
    "n_rows",
    "n_held_out",
    "error",
    "log_loss",
    "seconds",
    "chosen",
}


def fit_open(X, y, *names, **changes):
    """Fit with some parameters left to the choice."""
    given = GIVEN | changes | dict.fromkeys(names, "auto")
    return StagedSVC(**given).fit(X, y)


def make_linear(n_samples=300):
    """A linear problem with noise in the labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, 3))
    y = (X[:, 0] > 0) ^ (rng.random(n_samples) < 0.15)
    return X, y.astype(int)


def make_checkers(n_samples=800):
    X = np.random.default_rng(0).uniform(0, 4, (n_samples, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


def evaluation_of(wrong, thresholds, weight=None):
    wrong = np.array(wrong, dtype=bool)
    weight = np.ones(wrong.shape[1]) if weight is None else np.array(weight, float)
    settings = [replace(SETTING, threshold=threshold) for threshold in thresholds]
    cell_sizes = [setting.cell_size for setting in settings]
    return Evaluation("threshold", settings, wrong, weight, 100, 0.5, cell_sizes)


def first_wrong(*counts, n_rows=40):
    """Settings that are wrong on the first rows, each on so many of them."""
    return [np.arange(n_rows) < count for count in counts]


def test_nothing_is_tried_where_all_is_given(monkeypatch):
    def refuse(*_):
        raise AssertionError("asked")

    monkeypatch.setattr(_Search, "run", refuse)
    monkeypatch.setattr(Trial, "__init__", refuse)
    X, y = make_rows(100)
    model = StagedSVC(**GIVEN).fit(X, y)
    assert model.selection_ == {}
    chosen = {name: GIVEN[name] for name in model.best_params_}
    assert model.best_params_ == chosen | {"cell_size": None}
    with pytest.raises(AssertionError, match="asked"):
        fit_open(X, y, "C")


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (make_linear, ("threshold", "C")),
        (make_checkers, ("threshold", "gamma_factor", "kernel_C")),
        (make_checkers, ("scaling", "gradient_metric", "cell_size")),
    ],
)
@pytest.mark.parametrize("cell_size", [100, "auto"])
def test_best_parameters_give_the_same_model_to_the_bit(make, names, cell_size):
    X, y = make(300)
    model = fit_open(X, y, *names, **{"cell_size": cell_size})
    again = StagedSVC(**GIVEN | model.best_params_).fit(X, y)
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    assert again.best_params_ == model.best_params_
    assert again.selection_ == {}
    assert again.n_regions_ == model.n_regions_


@pytest.mark.parametrize("make", [make_linear, make_checkers])
def test_table_lists_what_was_tried(make):
    X, y = make(300)
    model = fit_open(X, y, "C", "threshold", "gamma_factor", "kernel_C")
    table = model.selection_
    assert set(table) == COLUMNS | set(model.best_params_)
    assert len({len(column) for column in table.values()}) == 1
    assert ((table["error"] >= 0) & (table["error"] <= 1)).all()
    assert (table["seconds"] > 0).all()
    assert (table["n_rows"] == 300).all()
    assert len(set(table["C"])) > 1
    assert {0.0, np.inf} <= set(table["threshold"])
    assert set(table["scaling"]) == {"standard"}
    assert set(table["question"]) == {"C", "kernel"}
    (chosen,) = np.flatnonzero(table["chosen"])
    for name in ("scaling", "gradient_metric", "C", "threshold"):
        assert table[name][chosen] == model.best_params_[name]
    if model.best_params_["threshold"] > 0:
        for name in ("gamma_factor", "kernel_C"):
            assert table[name][chosen] == model.best_params_[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scaling", "quantile"),
        ("gradient_metric", "diagonal"),
        ("C", 0.3),
        ("gamma_factor", 3.0),
        ("kernel_C", 7.0),
        ("threshold", 1.2),
    ],
)
def test_given_values_are_tried_alone(name, value):
    X, y = make_checkers(150)
    other = "kernel_C" if name == "C" else "C"
    model = fit_open(X, y, other, **{name: value})
    assert set(model.selection_[name]) == {value}
    assert model.best_params_[name] == value
    assert len(set(model.selection_[other])) > 1


def test_fully_open_choice_beats_its_first_setting():
    X, y = make_two_spirals(300, random_state=0)
    model = StagedSVC(join="switch", random_state=0).fit(X, y)
    X, y = make_two_spirals(300, random_state=1)
    assert model.score(X, y) > 0.9
    assert {"none", "standard", "quantile"} <= set(model.selection_["scaling"])
    assert set(model.selection_["gradient_metric"]) == {None, "full", "diagonal"}


def test_standard_scaling_is_chosen_over_a_huge_column():
    X, y = make_checkers(400)
    noise = 1e4 * np.random.default_rng(1).standard_normal((400, 1))
    changes = {"gamma_factor": 4.0, "threshold": np.inf}
    model = fit_open(np.hstack([X, noise]), y, "scaling", **changes)
    assert model.best_params_["scaling"] != "none"
    # To standardise would make much of what is little.
    model = fit_open(np.hstack([X, 1e-8 * noise]), y, "scaling", **changes)
    assert model.best_params_["scaling"] == "none"


def test_quantile_scaling_is_chosen_for_heavy_tails():
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((400, 2))
    y = np.floor(normal).sum(axis=1).astype(int) % 2
    X = np.sign(normal) * np.expm1(3 * np.abs(normal))
    model = fit_open(X, y, "scaling", threshold=np.inf, gamma_factor=4.0)
    assert model.best_params_["scaling"] == "quantile"


def test_metric_is_chosen_over_irrelevant_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 16))
    y = (np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] > 0).astype(int)
    model = fit_open(X, y, "gradient_metric", threshold=np.inf)
    assert model.best_params_["gradient_metric"] is not None
    assert model.gradient_metric_ is not None
    alike = fit_open(
        *make_checkers(800), "gradient_metric", threshold=np.inf, gamma_factor=4.0
    )
    assert alike.best_params_["gradient_metric"] is None


def test_first_stage_alone_is_chosen_for_a_linear_problem():
    kernel = {"gamma_factor": 8.0, "kernel_C": 100.0}
    model = fit_open(*make_linear(), "threshold", n_regions=1, **kernel)
    assert model.best_params_["threshold"] == 0
    assert model.second_stage_ is None


def test_second_stage_is_chosen_for_checkers():
    model = fit_open(*make_checkers(), "threshold", n_regions=4, gamma_factor=8.0)
    assert model.best_params_["threshold"] > 0
    assert model.second_stage_ is not None


def test_wider_values_are_tried_where_the_edge_is_best():
    X = np.random.default_rng(0).uniform(0, 8, (500, 2))
    y = np.floor(X).sum(axis=1).astype(int) % 2
    fine = fit_open(X, y, "gamma_factor", threshold=np.inf, kernel_C=100.0)
    assert fine.best_params_["gamma_factor"] > 4
    linear = fit_open(*make_linear(), "gamma_factor", threshold=np.inf)
    assert linear.selection_["gamma_factor"].max() == 4


def test_lead_counts_the_rows_on_which_two_differ():
    tried = evaluation_of([[1, 0, 0, 0, 1, 0], [1, 1, 1, 1, 0, 0]], [0.0, 1.0])
    assert tried.lead(*tried.wrong) == pytest.approx(2 / np.sqrt(4))
    assert tried.lead(*tried.wrong[::-1]) == pytest.approx(-2 / np.sqrt(4))
    assert tried.lead(tried.wrong[0], tried.wrong[0]) == 0


def test_lead_and_errors_respect_weights():
    tried = evaluation_of([[1, 0, 0], [0, 1, 1]], [0.0, 1.0], weight=[4.0, 1.0, 2.0])
    np.testing.assert_allclose(tried.errors, [4 / 7, 3 / 7])
    assert tried.lead(*tried.wrong) == pytest.approx((3 - 4) / np.sqrt(16 + 1 + 4))


@pytest.mark.parametrize(
    ("counts", "thresholds", "best"),
    [
        ((9, 9), (0.0, 1.0), 0),
        ((9, 0), (0.0, 1.0), 1),
        ((9, 20), (0.0, 1.0), 0),
        ((9, 9), (1.0, 1.5), 0),
        ((9, 0, 0), (0.0, 1.0, np.inf), 1),
        ((20, 10, 1), (0.0, 1.0, np.inf), 2),
        ((0, 16), (np.inf, 0.0), 0),  # whatever their order
        ((9, 9), (np.inf, 0.0), 1),
    ],
)
def test_larger_thresholds_have_to_earn_their_cost(counts, thresholds, best):
    assert evaluation_of(first_wrong(*counts), thresholds).best() == best


@pytest.mark.parametrize("threshold", [1.0, np.inf])
def test_lead_has_to_exceed_what_is_needed(threshold):
    fewer = int(_needed_lead(threshold) ** 2)
    for count, best in ((9 - fewer, 0), (9 - fewer - 1, 1)):
        tried = evaluation_of(first_wrong(9, count), (0.0, threshold))
        assert tried.best() == best


def test_widths_of_one_threshold_are_taken_by_their_errors():
    tried = evaluation_of(first_wrong(16, 0, 9), (1.0, 1.0, 1.0))
    for i, gamma_factor in enumerate((1.0, 2.0, 4.0)):
        tried.settings[i] = replace(tried.settings[i], gamma_factor=gamma_factor)
    assert tried.best() == 1


def test_heavy_rows_decide():
    wrong = [[1, 1, 0, 0], [0, 0, 1, 1]]
    assert evaluation_of(wrong, (0.0, 1.0)).best() == 0
    assert evaluation_of(wrong, (0.0, 1.0), weight=[9, 9, 1, 1]).best() == 1


@pytest.mark.parametrize("n_rows", [200, 10_500])
@pytest.mark.parametrize("n_rare", [1, 2])
def test_trials_train_on_every_class(n_rows, n_rare):
    labels = np.zeros(n_rows, dtype=np.int32)
    labels[:n_rare] = 1
    rows = training_rows(np.arange(n_rows, dtype=float)[:, np.newaxis], labels)
    _, folds = _Search(rows, Grid.of(rows, {}), make_options())._folds(full=False)
    assert folds
    for train, test in folds:
        assert set(labels[train]) == {0, 1}
        assert len(test)
        assert not set(train) & set(test)


@pytest.mark.parametrize("n_rows", [2, 3, 4, 6, 12])
def test_few_rows_are_enough(n_rows):
    X = np.arange(n_rows, dtype=float)[:, np.newaxis]
    model = StagedSVC(random_state=0).fit(X, X[:, 0] > X.mean())
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict(X[[0, -1]]).tolist() == [False, True]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_of_one_row_does_not_stop_the_choice(n_classes):
    X, y = make_rows(80, n_classes - 1) if n_classes > 2 else make_rows(80)
    y = np.zeros_like(y) if n_classes == 2 else y
    y[7], X[7] = n_classes - 1, 40.0
    model = StagedSVC(random_state=0).fit(X, y)
    assert len(model.classes_) == n_classes
    assert model.score(X, y) > 0.8


def test_small_data_are_cross_validated():
    X, y = make_rows(100)
    table = fit_open(X, y, "C").selection_
    assert set(table["n_rows"]) == {100}
    assert set(table["n_held_out"]) == {100}


@pytest.mark.parametrize("n_samples", [9999, 10_000, _TRIAL_ROWS + 1000])
def test_large_data_are_held_out(n_samples):
    X = np.random.default_rng(0).standard_normal((n_samples, 2))
    y = (X[:, 0] > 0).astype(int)
    table = fit_open(X, y, "C", threshold=0.0, n_regions=2).selection_
    n_rows = min(n_samples, _TRIAL_ROWS)
    n_held_out = 9999 if n_samples == 9999 else int(_TRIAL_SHARE * n_rows)
    assert (n_rows, n_held_out) in zip(
        table["n_rows"], table["n_held_out"], strict=True
    )
    assert (n_samples == 9999) == (9999 in table["n_held_out"])


def test_many_rows_are_compared_on_a_part():
    few, many = _TRIAL_ROWS, _TRIAL_ROWS + 1000
    X = np.random.default_rng(0).standard_normal((many, 2))
    y = (X[:, 0] > 0).astype(int)
    table = fit_open(X, y, "scaling", threshold=0.0, n_regions=2).selection_
    assert set(table["n_rows"]) == {few}
    assert set(table["n_held_out"]) == {int(_TRIAL_SHARE * few)}


def test_threshold_is_confirmed_at_full_size(monkeypatch):
    sizes = {"fewest_hard": 100, "largest_model": 100}
    monkeypatch.setattr(
        "localsvm.estimators._staged.estimator.StageSizes", lambda: StageSizes(**sizes)
    )
    monkeypatch.setattr(StageSizes, "shrunk", lambda self, share: self)
    X = np.random.default_rng(0).standard_normal((10_500, 2))
    y = (X[:, 0] > 0).astype(int)
    changes = {"n_regions": 2, "cell_size": 100, "C": 10.0}
    table = fit_open(X, y, "threshold", **changes).selection_
    confirmed = table["question"] == "confirm"
    assert {0.0, 1.0, np.inf} <= set(table["threshold"][confirmed])
    assert set(table["n_rows"][confirmed]) == {10_500}
    assert set(table["n_held_out"][confirmed]) == {int(_FULL_SHARE * 10_500)}
    assert set(table["n_held_out"][~confirmed]) == {int(_TRIAL_SHARE * 10_500)}


def test_class_weight_counts_in_held_out_errors():
    X, y = make_linear()
    tables = [
        StagedSVC(**GIVEN | {"C": "auto", "threshold": 0.0}, class_weight=weight)
        .fit(X, y)
        .selection_
        for weight in (None, {1: 1000.0})
    ]
    assert tables[1]["error"].min() < 0.05 < tables[0]["error"].min()


def test_table_keeps_one_line_per_setting_and_rows():
    tried = evaluation_of(first_wrong(4, 2), (0.0, 1.0))
    other = replace(tried.settings[0], gamma_factor=8.0, kernel_C=1.0)
    same = replace(tried, question="kernel", settings=[other, tried.settings[1]])
    table = selection_table([tried, same], other)
    assert table["question"].tolist() == ["threshold", "threshold"]
    assert table["error"].tolist() == [0.1, 0.05]
    assert table["chosen"].tolist() == [True, False]
    assert selection_table([], SETTING) == {}


@pytest.mark.parametrize("max_time", [1e-6, 0.1])
def test_tiny_time_limit_warns_once_and_gives_a_model(max_time):
    X, y = make_rows()
    with pytest.warns(ConvergenceWarning, match="not enough to choose") as caught:
        model = StagedSVC(random_state=0, max_time=max_time).fit(X, y)
    text = [str(w.message) for w in caught if "choose" in str(w.message)]
    assert len(text) == 1
    assert f"max_time={max_time} " in text[0]
    assert "kernel" in text[0]
    assert "cells" in text[0]
    assert caught[0].filename == __file__
    assert model.score(X, y) > 0.6
    assert set(model.best_params_) <= set(GIVEN)


def test_generous_time_limit_changes_nothing():
    X, y = make_checkers(200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = [
            StagedSVC(**GIVEN | {"C": "auto"}, max_time=limit).fit(X, y)
            for limit in (None, 600)
        ]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))


@pytest.mark.parametrize("n_before", [0, 3])
def test_interrupted_choice_changes_nothing(n_before, monkeypatch):
    X, y = make_rows(100)
    model = StagedSVC(**GIVEN).fit(X, y).set_params(C="auto", scaling="auto")
    before = dict(vars(model))
    calls, wrong = [], Trial.wrong

    def interrupted(*args):
        calls.append(args)
        if len(calls) > n_before:
            raise KeyboardInterrupt
        return wrong(*args)

    monkeypatch.setattr(Trial, "wrong", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(calls) == n_before + 1
    assert vars(model) == before


LONG_CHOICE = """
import os, signal, threading, time
import numpy as np
from localsvm import StagedSVC
rng = np.random.default_rng(0)
X, y = rng.standard_normal((9000, 20)), rng.integers(0, 2, 9000)
model = StagedSVC(n_jobs=2, random_state=0)
def interrupt():
    time.sleep(1.0)
    print(time.time(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(time.time(), flush=True)
    assert not hasattr(model, "classes_")
"""


def test_choice_answers_an_interrupt():
    run = subprocess.run(
        [sys.executable, "-c", LONG_CHOICE], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    sent, seen = (float(line) for line in run.stdout.split())
    assert seen - sent < 1.0

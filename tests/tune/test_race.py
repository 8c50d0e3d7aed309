"""The race as users start it."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight

from localsvm.data import make_xor
from localsvm.tune import _candidates, _field, race
from localsvm.tune._candidates import make_estimator
from localsvm.tune._methods import METHODS

FAST = ["reduced", "clustered"]


@pytest.fixture
def clock(monkeypatch):
    """A clock that every fit moves by a second; limits in its seconds are not felt."""
    fits = []
    monkeypatch.setattr(
        _field,
        "make_estimator",
        lambda *arguments: fits.append(1) or make_estimator(*arguments),
    )
    return lambda: float(len(fits))


@pytest.fixture
def quick(clock):
    """Race two fast methods for 30 fits."""

    def run(X, y, **options):
        defaults = {"clock": clock, "time_budget": 30.0, "methods": FAST}
        return race(X, y, **defaults | options)

    return run


class Witness(TransformerMixin, BaseEstimator):
    """Drops the first column, the number of the row, and notes who was seen."""

    fitted: list = []  # noqa: RUF012
    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None):
        Witness.fitted.append(X[:, 0].astype(int).tolist())
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        Witness.seen.append(X[:, 0].astype(int).tolist())
        return X[:, 1:]


@pytest.mark.parametrize("n_rows", [300, 2000])
def test_test_rows_are_seen_by_the_final_model_alone(n_rows, quick):
    X, y = make_xor(n_rows, random_state=0)
    Witness.fitted, Witness.seen = [], []
    rows = np.c_[np.arange(n_rows), X]
    result = quick(rows, y, encoder=Witness(), time_budget=80.0)
    n_test = n_rows // 5
    *fitted, pool, everything = map(set, Witness.fitted)
    # Fitting transforms, too.
    *seen, pool_seen, test, everything_seen = map(set, Witness.seen)
    assert everything == everything_seen == set(range(n_rows))
    assert pool == pool_seen == everything - test
    assert len(test) == n_test == result.score.n_rows
    assert all(not rows & test for rows in [*fitted, *seen])


def test_the_score_is_that_of_the_model_without_the_test_rows(quick):
    X, y = make_xor(600, random_state=0)
    Witness.fitted, Witness.seen = [], []
    numbered = np.c_[np.arange(600), X]
    result = quick(numbered, y, encoder=Witness())
    pool, test = Witness.fitted[-2], Witness.seen[-2]
    last = result.best_estimator_[-1]
    again = type(last)(**last.get_params()).fit(X[pool], y[pool])
    assert again.score(X[test], y[test]) == pytest.approx(result.score.value)
    assert result.n_score_rows == 480
    assert result.n_rows == 600
    refitted = type(last)(**last.get_params()).fit(X, y)
    assert np.array_equal(refitted.predict(X), result.best_estimator_.predict(numbered))


def test_all_methods_race_and_the_model_is_good(clock):
    X, y = make_xor(300, random_state=0)
    result = race(X, y, time_budget=45.0, clock=clock)
    assert {trial.method for trial in result.trials} == set(METHODS)
    assert result.score.value > 0.9
    assert result.score.low <= result.score.value <= result.score.high
    new = make_xor(2000, random_state=1)
    assert result.best_estimator_.score(*new) > 0.93


def test_the_same_clock_and_seed_give_the_same_result(quick):
    X, y = make_xor(400, random_state=0)
    first, second = quick(X, y), quick(X, y)
    assert first.to_dict() == second.to_dict()
    other = quick(X, y, random_state=5)
    assert other.to_dict() != first.to_dict()


def test_the_worst_clock_still_gives_a_model():
    X, y = make_xor(3000, random_state=0)
    readings = itertools.count(0.0, 100.0)
    result = race(X, y, time_budget=1.0, clock=lambda: next(readings))
    finished = [trial for trial in result.trials if trial.score is not None]
    assert len(finished) == 1
    assert result.best_method == "reduced"
    assert result.n_rows < 750
    assert result.best_estimator_.predict(X).shape == (3000,)


def test_scaling_is_part_of_the_choice(quick):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.standard_normal((600, 3)) * [1.0, 1e4, 1e4]
    X[:, 0] += 3 * (2 * y - 1)
    result = quick(X, y, methods=["reduced"])
    assert result.best_scaling in ("standard", "minmax")
    assert isinstance(result.best_estimator_, Pipeline)
    assert [name for name, _ in result.best_estimator_.steps] == ["scale", "model"]
    assert result.score.value > 0.95
    assert {trial.scaling for trial in result.trials} == {"standard", "minmax", "none"}


def test_no_warning_of_scales_when_the_race_has_chosen_them(
    recwarn, quick, monkeypatch
):
    monkeypatch.setattr(_candidates, "SCALINGS", ("none",))
    X = np.random.default_rng(0).standard_normal((300, 2)) * [1, 1e5]
    assert quick(X, X[:, 1] > 0).best_scaling == "none"
    assert not [w for w in recwarn if "very different scales" in str(w.message)]


@pytest.mark.parametrize(
    "counts", [(60, 1), (60, 2), (30, 30, 1, 1, 1), (4, 2), (3, 1)]
)
def test_rare_classes_and_few_rows(counts, quick):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(counts)), counts)
    X = rng.standard_normal((len(y), 2)) + y[:, None]
    labels = np.array([f"class {label}" for label in y])
    result = quick(X, labels)
    assert list(result.best_estimator_.classes_) == sorted(set(labels))
    assert result.n_rows == len(y)


def test_many_classes(quick):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 4)
    X = rng.standard_normal((40, 5))[y] + 0.05 * rng.standard_normal((160, 5))
    result = quick(X, y, time_budget=20.0)
    assert len(result.best_estimator_.classes_) == 40
    assert result.score.value > 0.8


@pytest.mark.parametrize("store", [sparse.csr_matrix, sparse.coo_array])
def test_sparse_rows(store, clock):
    X, y = make_xor(100, random_state=0)
    result = race(store(X), y, time_budget=40.0, clock=clock)
    assert not [t for t in result.trials if t.status.startswith("failed")]
    assert result.score.value > 0.85
    assert len(result.best_estimator_.predict(sparse.csr_matrix(X))) == 100


def test_frames_lists_and_names(quick):
    X, y = make_xor(300, random_state=0)
    frame = pd.DataFrame(X, columns=["east", "north"], index=range(7, 307))
    result = quick(frame, pd.Series(y))
    assert list(result.best_estimator_.feature_names_in_) == ["east", "north"]
    plain = quick(X.tolist(), y.tolist())
    assert plain.score == result.score


def test_weights_count_and_rows_without_weight_do_not(quick):
    X, y = make_xor(400, random_state=0)
    noise = np.random.default_rng(0).integers(0, 2, 400)
    weight = np.r_[np.ones(400), np.zeros(400)]
    both = quick(np.vstack([X, X]), np.r_[y, noise], sample_weight=weight)
    assert both.to_dict() == quick(X, y, sample_weight=np.ones(400)).to_dict()
    assert both.n_rows == 400


def test_balanced_weights_make_balanced_scores(quick):
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(380, dtype=int), np.ones(20, dtype=int)]
    X = rng.standard_normal((400, 2)) + y[:, None]
    plain = quick(X, y)
    balanced = quick(X, y, sample_weight=compute_sample_weight("balanced", y))
    assert plain.score.value > 0.9
    assert (plain.best_estimator_.predict(X) == 1).sum() < 40
    assert (balanced.best_estimator_.predict(X) == 1).sum() > 60


def test_the_result_can_be_read_and_written(quick):
    X, y = make_xor(300, random_state=0)
    result = quick(X, y, methods=["reduced", "staged"], time_budget=12.0)
    written = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert written["method"] == result.best_method
    assert written["score"]["value"] == result.score.value
    assert len(written["trials"]) == len(result.trials)
    lines = result.table().splitlines()
    assert lines[0].split()[:4] == ["rows", "method", "scaling", "parameters"]
    candidates = {(t.method, t.scaling, str(t.params)) for t in result.trials}
    assert len(lines) == 1 + len(candidates)
    short = result.table(2).splitlines()
    assert short[:3] == [line.rstrip() for line in short[:3]]
    assert short[3] == f"and {len(candidates) - 2} more"
    text = str(result)
    assert f"{result.best_method}(" in text
    assert "95 % interval" in text
    assert "fitted to 300 rows" in text
    assert "fitted to 240 rows" in text


def test_what_a_staged_svm_chose_at_the_top_is_what_wins(clock):
    X, y = make_xor(5200, random_state=0)
    result = race(
        X, y, methods=["staged"], time_budget=10.0, clock=clock, random_state=0
    )
    model = result.best_estimator_
    assert result.best_params["kernel_C"] == model.kernel_C
    assert not len(model.selection_.get("error", ()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_budget": 0}, "time_budget must be a number of seconds above 0. Got 0"),
        ({"time_budget": float("nan")}, "time_budget must be"),
        ({"methods": ["staged", "forest"]}, "found 'forest'"),
        ({"methods": []}, "found none"),
        ({"test_size": 0.9}, "test_size must be"),
        ({"test_size": 0}, "test_size must be"),
        ({"test_size": True}, "test_size must be"),
        ({"test_size": 59}, "test_size=59 should be <= 57"),
        ({"sample_weight": np.ones(3)}, "inconsistent numbers of samples"),
    ],
)
def test_wrong_options_are_named(options, message):
    X, y = make_xor(60, random_state=0)
    with pytest.raises(ValueError, match=message):
        race(X, y, **options)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((5, 2)), np.zeros(5), "greater than one; got 1 class"),
        (np.ones((5, 2)), np.linspace(0, 1, 5), "continuous"),
        (np.ones((5, 2)), np.arange(5), "found 5 rows of 5 classes"),
        (np.ones((5, 2)), np.zeros(4), "inconsistent numbers of samples"),
        ([[1, np.nan]] * 5, [0, 1, 0, 1, 0], "contains NaN.*row 0, column 1"),
        ([["a", "b"]] * 5, [0, 1, 0, 1, 0], "X is not numeric: found 'a'"),
    ],
)
def test_wrong_data_are_refused_before_the_race(X, y, message):
    with pytest.raises(ValueError, match=message):
        race(X, y)


def test_one_method_may_be_named_alone(quick):
    X, y = make_xor(100, random_state=0)
    result = quick(X, y, methods="clustered")
    assert {trial.method for trial in result.trials} == {"clustered"}

"""StagedSVC under a time limit: it ends, says how far it came, and has a model."""

import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from localsvm import StagedSVC
from localsvm.estimators._staged.switch import fit as _fit, trial as _trial
from localsvm.estimators._staged.switch.fit import fit_first
from staged_data import GIVEN, make_rows

LIMIT = 1000.0


class EndingClock:
    """Stands still until it was read so many times, then leaps past every limit."""

    def __init__(self, n_readings):
        self.n_left = n_readings

    def __call__(self):
        self.n_left -= 1
        return 10 * LIMIT * max(0, -self.n_left)

    @property
    def is_over(self):
        return self.n_left < 0


def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def fit_until(monkeypatch, n_readings, X, y, **given):
    """Fit with a clock that ends at a reading; the model and its warnings."""
    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.setattr(time, "perf_counter", EndingClock(n_readings))
        model = StagedSVC(max_time=LIMIT, random_state=0, **given).fit(X, y)
    return model, [w for w in caught if w.category is ConvergenceWarning]


@pytest.mark.parametrize("n_readings", [0, 2, 5, 9, 11, 13, 15, 18, 25, 40])
def test_model_is_never_below_a_linear_one(n_readings, monkeypatch):
    X, y = digits()
    train, test = slice(600), slice(600, None)
    linear = make_pipeline(StandardScaler(), LinearSVC(random_state=0))
    expected = linear.fit(X[train], y[train]).score(X[test], y[test])
    model, caught = fit_until(monkeypatch, n_readings, X[train], y[train])
    assert model.score(X[test], y[test]) > expected - 0.02
    assert len(caught) == 1
    text = str(caught[0].message)
    assert f"max_time={LIMIT} " in text
    assert "not enough to choose" in text or "of 600 rows" in text


@pytest.mark.parametrize("n_readings", [0, 6, 12, 40])
def test_after_the_end_only_the_smallest_model_is_fitted(n_readings, monkeypatch):
    X, y = make_rows(3000)
    late = []

    def counted(rows, Cs, options):
        if time.perf_counter.is_over:
            late.append((rows.X.shape[0], len(Cs)))
        return fit_first(rows, Cs, options)

    for module in (_fit, _trial):
        monkeypatch.setattr(module, "fit_first", counted)
    fit_until(monkeypatch, n_readings, X, y)
    assert late in ([], [(2000, 1)])


def test_rows_that_time_did_not_allow_have_no_stage(monkeypatch):
    X, y = make_rows(3000)
    model, caught = fit_until(monkeypatch, 0, X, y)
    assert "a quick fit of 2000 of 3000 rows" in str(caught[0].message)
    assert np.bincount(model.stage_).tolist() == [1000, 2000]
    np.testing.assert_array_equal(model.stage_shares_, [1.0, 0.0])
    assert model.region_sizes_.sum() == 2000
    assert set(model.stage(X)) == {1}


def test_every_class_is_fitted_however_short_the_time(monkeypatch):
    X, y = make_rows(3000, n_classes=3)
    y[:2] = [7, 8]
    model, _ = fit_until(monkeypatch, 0, X, y)
    assert model.classes_.tolist() == [0, 1, 2, 7, 8]
    assert (model.stage_ > 0).sum() <= 2002
    assert np.isfinite(model.decision_function(X)).all()


def test_rows_are_added_while_there_is_time(monkeypatch):
    X, y = make_rows(20_000)
    given = GIVEN | {"threshold": 0.0, "n_regions": 5, "tol": 1.0}
    del given["random_state"]
    fitted = {
        int(np.count_nonzero(fit_until(monkeypatch, n, X, y, **given)[0].stage_))
        for n in (0, 10, 20, 40)
    }
    assert {2000, 20_000} <= fitted <= {2000, 8000, 20_000}


def test_sparse_rows_have_a_model_in_no_time(monkeypatch):
    X, y = make_rows(2500)
    model, _ = fit_until(monkeypatch, 0, sparse.csr_array(X * (np.abs(X) > 0.5)), y)
    assert np.isfinite(model.decision_function(sparse.csr_array(X))).all()


def test_generous_limit_gives_the_model_without_one():
    X, y = make_rows(2500)
    models = [
        StagedSVC(**GIVEN | {"C": "auto", "threshold": 0.0}, max_time=limit).fit(X, y)
        for limit in (None, LIMIT)
    ]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))

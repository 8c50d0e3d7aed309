"""ClusteredSVCCV on rows in blocks."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from engine_data import ROWS, local_client, make_rows, same_bits, write_parquet
from localsvm import ClusteredSVC
from localsvm.engine import Batches, NotEnoughMemoryError, options
from localsvm.estimators import ClusteredSVCCV
from localsvm.estimators._regional import search as _search
from localsvm.passes import _linear_solver

SEARCH = ClusteredSVCCV(n_regions=[1, 5], Cs=[0.01, 0.3], cv=3, random_state=0)


def fit(model, *arguments, **settings):
    settings.setdefault("block_rows", ROWS)
    with options(**settings):
        return clone(model).fit(*arguments)


def test_final_fit_is_that_of_the_chosen_setting():
    X, y, weight = make_rows()
    batches = Batches.of(X, y, weight, rows=ROWS)
    search = fit(SEARCH, batches)
    assert search.cv_results_["mean_test_score"].shape == (4,)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert set(search.fit_report_) == {"scan", "search", "cluster", "assign", "solve"}
    chosen = ClusteredSVC(**search.best_params_, random_state=0)
    assert same_bits(search, fit(chosen, batches))


def test_settings_are_scored_on_a_sample(monkeypatch):
    X, y, _ = make_rows()
    seen = []
    score = ClusteredSVCCV._score_grid

    def note(self, rows, *others):
        seen.append(rows)
        return score(self, rows, *others)

    monkeypatch.setattr(ClusteredSVCCV, "_score_grid", note)
    monkeypatch.setattr(_search, "_SEARCH_ROWS", 150)
    for rows in (ROWS, 64):
        fit(SEARCH, Batches.of(X, y, rows=rows))
    first, second = seen
    assert first.n_rows == 150
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.class_index, second.class_index)
    names = np.unique(y)
    for row, label in zip(first.X, first.class_index, strict=True):
        (own,) = np.flatnonzero((row == X).all(axis=1))
        assert y[own] == names[label]


def test_same_bits_from_every_driver(tmp_path):
    data = make_rows(dtype=np.float32)
    path = write_parquet(tmp_path / "rows.parquet", *data)
    expected = fit(SEARCH, Batches.of(*data, rows=ROWS))
    found = fit(clone(SEARCH).set_params(n_jobs=2), path, "label", "weight")
    assert same_bits(found, expected)
    with local_client(2) as client:
        found = fit(SEARCH, path, "label", "weight", client=client)
    assert same_bits(found, expected)


def test_a_resumed_fit_does_not_search_again(tmp_path, monkeypatch):
    X, y, weight = make_rows()
    batches = Batches.of(X, y, weight, rows=ROWS)
    expected = fit(SEARCH, batches)
    settings = {"checkpoint": tmp_path / "state", "checkpoint_seconds": 0.0}

    def stop(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_linear_solver.BlockSolver, "run", stop)
        with pytest.raises(KeyboardInterrupt):
            fit(SEARCH, batches, **settings)
    monkeypatch.setattr(ClusteredSVCCV, "_score_grid", stop)
    resumed = fit(SEARCH, batches, **settings)
    assert same_bits(resumed, expected)
    assert resumed.best_params_ == expected.best_params_


def test_folds_by_number_are_refused():
    X, y, _ = make_rows(200)
    batches = Batches.of(X, y, rows=ROWS)
    splits = list(KFold(2).split(X))
    with pytest.raises(ValueError, match="cv is a list, which gives rows by their"):
        fit(clone(SEARCH).set_params(cv=splits), batches)
    fit(clone(SEARCH).set_params(cv=KFold(2)), batches)


def test_memory_of_the_sample_is_checked(monkeypatch):
    X, y, _ = make_rows()
    monkeypatch.setattr(_search, "_SAMPLE_COPIES", 1e9)
    with pytest.raises(NotEnoughMemoryError, match="The sample of rows for the search"):
        fit(SEARCH, Batches.of(X, y, rows=ROWS), memory_limit="100GB")

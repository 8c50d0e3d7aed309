"""A prediction of one row: no thread, no limit of libraries, and the same answer."""

import _thread
import threading

import numpy as np
import pytest
import threadpoolctl

from localsvm import _threads
from localsvm.estimators import METHODS
from model_file_data import fitted

# NeighborSVC trains an SVM for each row.
CASES = [method.golden for method in METHODS if method.name != "neighbor"] + [
    *("hard", "coordinates", "local-center", "local-csr", "reduced-linear"),
    *("staged-quantile", "staged-sum", "staged-sum-codes", "mixture-levels"),
]


def refuse(*args, **parameters):
    raise AssertionError("a row is worked on by the thread that asks")


def refuse_threads(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    monkeypatch.setattr(_threads, "single_threaded_libraries", refuse)
    monkeypatch.setattr(threadpoolctl.ThreadpoolController, "limit", refuse)
    monkeypatch.setattr(threadpoolctl.threadpool_limits, "__init__", refuse)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("case", CASES)
def test_one_row_needs_no_thread(case, monkeypatch):
    model = fitted(case)
    refuse_threads(monkeypatch)
    X = np.random.default_rng(1).standard_normal((4, model.n_features_in_))
    together = [model.predict(X), model.decision_function(X)]
    rows = [X[i : i + 1] for i in range(4)]
    one_by_one = [
        np.concatenate([answer(row) for row in rows])
        for answer in (model.predict, model.decision_function)
    ]
    np.testing.assert_array_equal(one_by_one[0], together[0])
    np.testing.assert_allclose(one_by_one[1], together[1], 1e-5, 1e-6)


def test_the_guard_sees_threads_and_limits(monkeypatch):
    refuse_threads(monkeypatch)
    with pytest.raises(AssertionError, match="the thread that asks"):
        threading.Thread(target=print).start()
    with pytest.raises(AssertionError, match="the thread that asks"):
        _threads.map_row_blocks(print, 100, None)
    with pytest.raises(AssertionError, match="the thread that asks"):
        threadpoolctl.threadpool_limits(1)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("case", ["soft", "hard-sampled", "staged-sum", "local-center"])
def test_rows_are_validated_once(case, monkeypatch):
    model, seen = fitted(case), []
    from localsvm import _checks
    from localsvm.cluster import _base as clusterers
    from localsvm.estimators import _base as estimators

    def count(*args, **parameters):
        seen.append(args)
        return _checks.check_rows(*args, **parameters)

    for module in (clusterers, estimators):
        monkeypatch.setattr(module, "check_rows", count)
    model.predict(np.zeros((1, model.n_features_in_)))
    assert len(seen) == 1

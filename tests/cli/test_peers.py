"""Other classifiers beside a model."""

import threading

import numpy as np

from localsvm._progress import listening, stage
from localsvm.cli._show import _peers
from localsvm.cli._show._screen import Screen
from localsvm.data import Table


def test_others_are_fitted_where_ctrl_c_can_leave_them(monkeypatch):
    """An SVC of scikit-learn does not hear it; the main thread does."""
    seen = {}

    def compare_peers(model, *rows, **limits):
        with stage("fit SVC"):
            seen.update(limits, rows=rows, thread=threading.current_thread())
        return ["peers"]

    heard = []

    def watching(screen, title):
        return listening(heard.append)

    monkeypatch.setattr(_peers, "compare_peers", compare_peers)
    monkeypatch.setattr(_peers, "watching", watching)
    train, test = (Table(np.eye(2), np.arange(2), name) for name in "ab")
    screen = Screen("compare", as_json=False, quiet=True)
    assert _peers.compare_models(None, train, test, screen, max_time=3) == ["peers"]
    assert seen["thread"] is not threading.main_thread()
    assert seen["rows"] == (train.X, train.y, test.X, test.y)
    assert seen["max_time"] == 3
    assert heard == [("fit SVC",), ()]

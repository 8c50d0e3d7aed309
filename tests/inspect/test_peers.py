import itertools
import json
import os
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from localsvm import ClusteredSVC, StagedSVC
from localsvm._progress import listening
from localsvm.data import TableEncoder, make_xor
from localsvm.inspect import compare_peers
from localsvm.inspect._quality import _peer_race, _peers
from localsvm.inspect._quality._intervals import compare_paired
from localsvm.inspect._quality._peer_race import Contestant, Course

NAMES = ["ClusteredSVC", "LinearSVC", "SVC", "HistGradientBoostingClassifier"]


@pytest.fixture
def xor():
    X, y = make_xor(900, random_state=0)
    return X[:600], y[:600], X[600:], y[600:]


@pytest.fixture
def model(xor):
    return ClusteredSVC(4, random_state=0).fit(*xor[:2])


def test_peers_are_scored_as_if_by_hand(model, xor):
    X, y, X_test, y_test = xor
    peers = compare_peers(model, *xor)
    assert [peer.name for peer in peers] == NAMES
    by_hand = [
        model,
        LinearSVC(random_state=0).fit(X, y),
        SVC(random_state=0).fit(X, y),
        HistGradientBoostingClassifier(random_state=0).fit(X, y),
    ]
    found = [peer.accuracy.value for peer in peers]
    expected = [classifier.score(X_test, y_test) for classifier in by_hand]
    assert found == pytest.approx(expected, abs=0.011)
    right = [classifier.predict(X_test) == y_test for classifier in by_hand]
    assert peers[2].difference.value == pytest.approx(
        (right[0].mean() - right[2].mean()), abs=0.011
    )
    for peer in peers:
        assert peer.accuracy.low < peer.accuracy.value < peer.accuracy.high
        assert (peer.n_train, peer.n_test) == (600, 300)
        assert peer.predict_us > 0
        assert peer.is_given == (peer.fit_seconds is None)
        assert peer.is_given == (peer.difference is None) == (peer.p_value is None)


def test_linear_svm_is_worse_where_no_plane_separates(model, xor):
    linear = compare_peers(model, *xor)[1]
    assert linear.difference.low > 0.2
    assert linear.p_value < 1e-6


def test_paired_comparison_is_mcnemars():
    first = np.repeat([True, True, False, False], [80, 12, 3, 5])
    second = np.repeat([True, False, True, False], [80, 12, 3, 5])
    pair = compare_paired(first, second, 1.96)
    assert pair.difference.value == pytest.approx(0.09)
    assert pair.p_value == pytest.approx(stats.binomtest(12, 15).pvalue)
    swapped = compare_paired(second, first, 1.96)
    assert swapped.difference.low == pytest.approx(-pair.difference.high)
    same = compare_paired(first, first, 1.96)
    assert same.p_value == 1.0
    assert same.difference.low < 0 < same.difference.high


def test_same_seed_gives_the_same_result(model, xor):
    first, second = (compare_peers(model, *xor, sample=100) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert (one.accuracy, one.difference) == (other.accuracy, other.difference)
    others = (compare_peers(model, *xor, sample=100, random_state=s) for s in (1, 2, 3))
    assert any(other[2].accuracy != first[2].accuracy for other in others)


def test_svc_gets_a_sample_of_every_class(model, xor):
    X, y, X_test, y_test = xor
    y = np.where(np.arange(600) == 599, 2, y)  # one row of a third class
    svc = compare_peers(model, X, y, X_test, y_test, sample=60)[2]
    assert svc.n_train == 60
    assert svc.notes == ("fitted on a sample of 60 of 600 rows, so not compared",)
    assert (svc.difference, svc.p_value) == (None, None)
    course = Course.of(model, (X, y), (X_test, y_test), 1.0, 0)
    counts = np.bincount(course.train_labels.true[course.train_order[:60]])
    assert counts[2] == 1
    np.testing.assert_allclose(counts[:2], 60 * np.bincount(y)[:2] / 600, atol=2)
    assert sorted(course.train_order) == list(range(600))


def test_peers_of_a_pipeline_get_its_rows(xor):
    X, y, X_test, y_test = xor
    seen = []

    class Seen(StandardScaler):
        def transform(self, X):
            rows = super().transform(X)
            seen.append(rows)
            return rows

    pipeline = make_pipeline(Seen(), ClusteredSVC(4, random_state=0)).fit(X, y)
    peers = compare_peers(pipeline, *xor)
    assert peers[0].name == "ClusteredSVC"
    assert peers[0].accuracy.value == pytest.approx(pipeline.score(X_test, y_test))
    course = Course.of(pipeline, (X, y), (X_test, y_test), 1.0, 0)
    assert any(rows.shape == X.shape and rows is course.train for rows in seen)


def test_peers_of_codes_get_features():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"kind": rng.choice(list("abcdef"), 400), "size": rng.random(400)}
    )
    y = frame["kind"].isin(["a", "d", "f"]).to_numpy()
    frame["share"] = rng.choice(["0%", "1 - 9%", "10% up"], 400)
    frame.loc[::5, "size"] = np.nan
    kinds = {"share": "ordered"}
    encoder = TableEncoder(kinds=kinds, encoding="codes").fit(frame)
    last = ClusteredSVC(4, random_state=0)
    model = make_pipeline(encoder, SimpleImputer(), last).fit(frame, y)
    peers = compare_peers(model, frame[:300], y[:300], frame[300:], y[300:])
    assert peers[0].accuracy.value == pytest.approx(model.score(frame[300:], y[300:]))
    # No linear function of codes finds three levels of six.
    assert peers[1].accuracy.value == 1


def test_frames_of_strings(xor):
    X, y, X_test, y_test = xor
    names = np.array(["no", "yes"])
    train, test = (pd.DataFrame(rows, columns=["a", "b"]) for rows in (X, X_test))
    model = StagedSVC(random_state=0).fit(train, names[y])
    peers = compare_peers(model, train, names[y], test, pd.Series(names[y_test]))
    assert peers[0].accuracy.value == pytest.approx(model.score(test, names[y_test]))
    assert peers[2].accuracy.value > 0.8
    with pytest.raises(ValueError, match="feature names should match"):
        compare_peers(model, train, names[y], test[["b", "a"]], names[y_test])


def test_class_weight_is_that_of_the_model(xor):
    X, y, X_test, y_test = xor
    keep = (y == 0) | (np.arange(600) % 8 == 0)
    train = X[keep], y[keep]
    accuracies = []
    for class_weight in (None, "balanced"):
        model = ClusteredSVC(4, class_weight=class_weight, random_state=0).fit(*train)
        accuracies.append(compare_peers(model, *train, X_test, y_test)[2].accuracy)
    assert accuracies[1].value > accuracies[0].value + 0.015


def test_sparse_rows(xor):
    rows = [sparse.csr_matrix(xor[0]), xor[1], sparse.csr_array(xor[2]), xor[3]]
    model = ClusteredSVC(4, random_state=0).fit(*rows[:2])
    dense = ClusteredSVC(4, random_state=0).fit(*xor[:2])
    for ours, theirs in zip(
        compare_peers(model, *rows), compare_peers(dense, *xor), strict=True
    ):
        assert ours.accuracy == pytest.approx(theirs.accuracy, abs=0.02)


def test_rows_too_wide_to_be_dense_leave_boosting_out(model, xor, monkeypatch):
    monkeypatch.setattr(_peers, "_MOST_DENSE_BYTES", 100)
    assert compare_peers(model, *xor)[3].n_train == 600
    rows = [sparse.csr_matrix(xor[0]), xor[1], sparse.csr_matrix(xor[2]), xor[3]]
    boosting = compare_peers(model, *rows)[3]
    assert (boosting.n_train, boosting.n_test, boosting.accuracy) == (0, 0, None)
    assert "left out: it takes no sparse rows" in boosting.notes[0]
    assert boosting.to_dict()["accuracy"] is None


def test_unscaled_columns_are_standardised_for_svms(xor):
    X, y, X_test, y_test = xor
    scale = np.array([1.0, 1e5])
    model = make_pipeline(StandardScaler(), ClusteredSVC(4, random_state=0))
    wide = np.c_[X * scale, 0 * X], y, np.c_[X_test * scale, 0 * X_test], y_test
    peers = compare_peers(StagedSVC(random_state=0).fit(wide[0], y), *wide)
    assert peers[2].notes == ("on standardised columns",)
    assert peers[2].accuracy.value > 0.8
    assert peers[3].notes == ()
    scaled = compare_peers(model.fit(wide[0], y), *wide)
    assert scaled[2].notes == ()


def test_a_solver_that_does_not_converge_says_so():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    y = rng.integers(0, 2, 400)
    model = ClusteredSVC(2, random_state=0).fit(X, y)
    course = Course.of(model, (X, y), (X, y), 1.0, 0)
    slow = Contestant("slow", lambda: LinearSVC(max_iter=1, dual=True), 400)
    assert course.fit(slow).notes == ("its solver did not converge",)
    assert course.fit(Contestant("SVC", SVC, 400)).notes == ()


class Clock:
    """Time that only fits and predictions make go on."""

    def __init__(self, monkeypatch, per_row):
        self.now, self.per_row = 0.0, per_row
        monkeypatch.setattr(_peer_race, "cpu_seconds", lambda: self.now)

    def classifier(self):
        clock = self

        class Slow(SVC):
            def fit(self, X, y):
                clock.now += clock.per_row * X.shape[0]
                return super().fit(X[:200], y[:200])

            def predict(self, X):
                clock.now += clock.per_row * X.shape[0]
                return super().predict(X)

        return Slow()


def test_fits_that_would_take_long_get_fewer_rows(monkeypatch):
    X, y = make_xor(40_000, random_state=0)
    model = ClusteredSVC(4, random_state=0).fit(X[:300], y[:300])
    course = Course.of(model, (X, y), (X[:9], y[:9]), 10.0, 0)
    clock = Clock(monkeypatch, per_row=1e-3)
    fitted = course.fit(Contestant("slow", clock.classifier, 40_000))
    assert fitted.n_rows == 8000
    assert (clock.now, fitted.seconds) == (9.0, 8.0)
    assert fitted.notes == (
        "fitted on 8,000 of 40,000 rows, so not compared: more would take over "
        "max_time=10 s of CPU",
    )
    clock.per_row = 2e-3
    assert course.fit(Contestant("slower", clock.classifier, 40_000)).n_rows == 4000
    clock.per_row = 8e-3
    assert course.fit(Contestant("slowest", clock.classifier, 40_000)).n_rows == 1000
    clock.per_row = 1e-5
    assert course.fit(Contestant("fast", clock.classifier, 40_000)).n_rows == 40_000


def test_a_busy_machine_takes_no_rows_away(model, xor, monkeypatch):
    """An hour on the wall passes whenever somebody looks."""
    X, y = make_xor(3000, random_state=1)
    hours = itertools.count(step=3600.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(hours))
    monkeypatch.setattr(time, "monotonic", lambda: next(hours))
    peers = compare_peers(model, X, y, *xor[2:])
    assert [peer.n_train for peer in peers] == [3000] * 4
    assert all(peer.difference is not None for peer in peers[1:])


def test_time_of_children_is_counted(monkeypatch):
    readings = []
    for of_children in (0.0, 100.0):
        found = os.times_result((0.0, 0.0, of_children, of_children / 5, 0.0))
        monkeypatch.setattr(os, "times", lambda found=found: found)
        readings.append(_peer_race.cpu_seconds())
    assert readings[1] - readings[0] >= 120


def test_a_classifier_of_fewer_rows_is_not_compared(model, xor, monkeypatch):
    clock = Clock(monkeypatch, per_row=1e-2)
    course = Course.of(model, xor[:2], xor[2:], 4.0, 0)
    slow = Contestant("slow", clock.classifier, 400)
    score = _peers._score_peer(slow, course, np.ones(300, dtype=bool))
    assert score.n_train == 400
    assert score.accuracy is not None
    assert (score.difference, score.p_value) == (None, None)


def test_predictions_stop_when_the_time_is_over(model, xor, monkeypatch):
    X, y = make_xor(20_000, random_state=1)
    clock = Clock(monkeypatch, per_row=1e-3)
    peer = Contestant("slow", clock.classifier, 600)
    course = Course.of(model, xor[:2], (X, y), 6.0, 0)
    score = _peers._score_peer(peer, course, np.ones(20_000, dtype=bool))
    assert score.n_test == 2 * 4096
    assert score.predict_us == pytest.approx(1000)
    assert "scored on 8,192 of 20,000 rows, drawn at random" in score.notes[-1]
    assert score.difference.value == pytest.approx(1 - score.accuracy.value)


def test_labels_that_only_training_rows_have(model, xor):
    X, y, X_test, y_test = xor
    y = y.copy()
    y[:500] = 7
    peers = compare_peers(model, X, y, X_test, y_test)
    assert peers[2].accuracy.value < 0.5
    y_test = np.where(np.arange(300) < 100, 9, y_test)
    with_unknown = compare_peers(model, *xor[:3], y_test)
    assert all(peer.accuracy.value <= 2 / 3 for peer in with_unknown)


def test_dictionary_is_json(model, xor):
    peers = [peer.to_dict() for peer in compare_peers(model, *xor)]
    found = json.loads(json.dumps(peers, allow_nan=False))
    assert found[1]["difference"].keys() == {"value", "low", "high"}
    assert found[1]["notes"] == []


def test_classifiers_are_told_as_stages(model, xor):
    told = []
    with listening(told.append):
        compare_peers(model, *xor)
    assert told[0] == ("score ClusteredSVC",)
    assert ("fit SVC",) in told


def test_seconds_of_the_model_are_those_given(model, xor):
    """Wall-clock time of its fit would stand beside CPU time of the others."""
    assert compare_peers(model, *xor)[0].fit_seconds is None
    assert compare_peers(model, *xor, fit_seconds=2.5)[0].fit_seconds == 2.5


@pytest.mark.parametrize(
    ("options", "message"),
    [({"sample": 1}, "sample=1"), ({"max_time": 0.0}, r"max_time=0\.0")],
)
def test_bad_limits_are_named(model, xor, options, message):
    with pytest.raises(ValueError, match=message):
        compare_peers(model, *xor, **options)


def test_bad_labels_are_named(model, xor):
    X, y, X_test, y_test = xor
    with pytest.raises(ValueError, match="labels in y_train"):
        compare_peers(model, X, y.astype(str), X_test, y_test)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compare_peers(model, X, y, X_test, y_test[1:])

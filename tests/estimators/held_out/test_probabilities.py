"""Probabilities: the most probable class is predicted, and they are what happens."""

import re

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss

from calibration_data import MODELS, draw, fitted
from localsvm import ClusteredSVC, LocalSVC, MixtureSVC, SupportClusterSVC
from localsvm.engine import Batches
from localsvm.estimators._held_out import ClassMap, SignMap, identity_map
from localsvm.estimators._held_out.maps import learn_map

each_model = pytest.mark.parametrize("name", MODELS)


# Their solver stops at another point of the same tolerance.
COUPLED = ("clustered", "hard", "squared", "joint", "locally-linear")


def with_classes(name):
    return [2] if name in ("squared", "joint") else [2, 3]


CASES = [(name, n) for name in MODELS for n in with_classes(name)] + [("joint", 3)]
each_case = pytest.mark.parametrize(("name", "n_classes"), CASES)


@each_case
def test_most_probable_class_is_predicted(name, n_classes):
    model = clone(MODELS[name]).fit(*draw(400, n_classes))
    X, y = draw(2000, n_classes, seed=1)
    found = model.predict_proba(X)
    assert found.shape == (2000, n_classes)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    labels = model.classes_[found.argmax(axis=1)]
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), found)
    # Better than the shares of the classes, and than certainty about the label.
    certain = np.where(found == found.max(axis=1, keepdims=True), 0.999, 1e-3)
    loss = log_loss(y, found)
    # The classes lie so that no line tells them apart.
    assert loss < (1.01 if name == "reduced-linear" else 0.9) * np.log(n_classes)
    assert loss < log_loss(y, certain / certain.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"reduced-linear"}))
def test_probabilities_are_frequencies(name):
    model = clone(MODELS[name]).fit(*draw(1000))
    X, y = draw(3000, seed=2)
    second = model.predict_proba(X)[:, 1]
    edges = np.quantile(second, [0.2, 0.4, 0.6, 0.8])
    group = np.searchsorted(edges, second)
    away = [
        abs(second[group == number].mean() - (y[group == number] == "b").mean())
        for number in range(5)
    ]
    assert np.mean(away) < 0.08


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_sign_map_keeps_the_sign_and_ascends(weight):
    rng = np.random.default_rng(0)
    decisions = rng.normal(size=(300, 1))
    y = (rng.random(300) < expit(3 * decisions[:, 0] - 1)).astype(np.int32)
    found = learn_map(decisions, y, np.full(300, weight))
    tiny = np.array([-1e-300, 0.0, 1e-300, 1e-18, 1e300, -1e300])
    p = found.probabilities(tiny)
    np.testing.assert_array_equal(p.argmax(axis=1), tiny > 0)
    grid = found.log_odds(np.linspace(-4, 4, 1001))
    assert (np.diff(grid) > 0).all()
    assert found.log_odds(np.zeros(1)) == 0


def test_class_map_keeps_the_first_of_equals():
    rng = np.random.default_rng(0)
    decisions = rng.normal(size=(300, 3))
    y = rng.integers(3, size=300).astype(np.int32)
    found = learn_map(decisions, y, np.ones(300))
    close = np.array([[0.0, 1e-300, 0], [1, 1, 1], [0, 2, 2], [1e308, 0, -1e308]])
    close = np.concatenate([close, np.round(rng.normal(size=(5000, 3)), 1)])
    p = found.probabilities(close)
    np.testing.assert_array_equal(p.argmax(axis=1), close.argmax(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_weight_two_is_the_row_twice(n_outputs):
    rng = np.random.default_rng(0)
    decisions = rng.normal(size=(200, n_outputs))
    y = rng.integers(max(2, n_outputs), size=200).astype(np.int32)
    weight = rng.integers(1, 4, size=200)
    twice = np.repeat(np.arange(200), weight)
    one = learn_map(decisions, y, weight.astype(float))
    other = learn_map(decisions[twice], y[twice], np.ones(len(twice)))
    np.testing.assert_allclose(
        one.probabilities(decisions), other.probabilities(decisions), rtol=1e-4
    )


def test_gradients_are_those_of_the_loss():
    """A map that was found is better than its neighbours."""
    rng = np.random.default_rng(1)
    decisions = rng.normal(size=(400, 3)) * [1, 2, 3]
    y = (decisions + rng.gumbel(size=(400, 3))).argmax(axis=1).astype(np.int32)
    best = learn_map(decisions, y, np.ones(400))

    def loss(own):
        return log_loss(y, own.probabilities(decisions))

    for k in range(3):
        for factor in (0.7, 1.4):
            slope, bias = best.slope.copy(), best.bias.copy()
            slope[k] *= factor
            bias[k] += np.log(factor)
            assert loss(ClassMap(slope, best.bias)) > loss(best)
            assert loss(ClassMap(best.slope, bias)) > loss(best)


def test_identity_is_the_logistic_function():
    decisions = np.linspace(-5, 5, 11)[:, np.newaxis]
    p = identity_map(2).probabilities(decisions)
    np.testing.assert_allclose(p[:, 1], expit(decisions[:, 0]), rtol=1e-12)


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"clustered-cv"}))
def test_order_changes_nothing(name):
    X, y = draw(200)
    order = np.random.default_rng(0).permutation(200)
    queries = draw(50, seed=3)[0]
    model = clone(MODELS[name])
    if name in COUPLED:
        model.set_params(tol=1e-9, max_iter=100_000)
    one, other = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    np.testing.assert_allclose(
        one.predict_proba(queries), other.predict_proba(queries), rtol=1e-3
    )
    if name != "support-cluster":  # it keeps no rows
        found, expected = (each.familiarity(queries) for each in (one, other))
        np.testing.assert_array_equal(found, expected)


def test_class_weights_move_the_probabilities():
    X, y = draw(400)
    own = ClusteredSVC(5, class_weight={"a": 1, "b": 20}, random_state=0).fit(X, y)
    queries = draw(500, seed=3)[0]
    second = own.predict_proba(queries)[:, 1]
    assert second.mean() > fitted("clustered").predict_proba(queries)[:, 1].mean() + 0.1


def reason(model, name):
    """Why a method is not there."""
    with pytest.raises(AttributeError) as error:
        getattr(model, name)
    return str(error.value.__cause__)


def test_blocks_leave_no_probabilities_until_they_are_calibrated():
    X, y = draw(400)
    model = ClusteredSVC(5, random_state=0)
    model.fit(Batches(lambda i: (X[i::2], y[i::2]), 2))
    assert not hasattr(model, "predict_proba")
    for name in ("predict_proba", "predict_log_proba", "predict_set"):
        assert re.search(r"held out.*calibrate\(X, y\)", reason(model, name))
    assert re.search(r"rows to compare.*calibrate\(X", reason(model, "familiarity"))
    before = model.decision_function(X)
    model.calibrate(*draw(300, seed=5))
    np.testing.assert_array_equal(model.decision_function(X), before)
    labels = model.classes_[model.predict_proba(X).argmax(axis=1)]
    np.testing.assert_array_equal(labels, model.predict(X))
    assert model.familiarity([[50.0, 50.0]]) < 0.01


def test_a_second_fit_forgets_the_first():
    X, y = draw(400)
    model = ClusteredSVC(5, random_state=0).fit(X, y)
    model.fit(Batches(lambda i: (X[i::2], y[i::2]), 2))
    assert not hasattr(model, "predict_proba")


def test_probabilities_of_blocks():
    X = draw(60, seed=4)[0]
    found = fitted("local").predict_proba(Batches(lambda i: X[i * 30 :][:30], 2))
    np.testing.assert_allclose(found, fitted("local").predict_proba(X))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 3, r"y has shape \(3,\); expected \(20,\)"),
        (["z"] * 20, "y contains the class 'z'; expected one of"),
    ],
)
def test_bad_rows_to_calibrate_with(y, message):
    with pytest.raises(ValueError, match=message):
        fitted("clustered").calibrate(draw(20)[0], y)


def test_mixture_keeps_its_own_probabilities():
    X, y = draw(400)
    model = MixtureSVC(3, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    assert not hasattr(model, "predict_set")
    model.calibrate(*draw(300, seed=5))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.predict_set(X).any(axis=1).all()


def test_a_stream_is_tested_before_it_is_learned():
    model = SupportClusterSVC(20, random_state=0)
    model.partial_fit(*draw(200, seed=1))
    assert not hasattr(model, "predict_proba")
    for seed in range(2, 6):
        model.partial_fit(*draw(200, seed=seed))
    assert model._calibration.conformity.weight.sum() == 500
    X, y = draw(2000, seed=9)
    assert log_loss(y, model.predict_proba(X)) < 0.6
    model.partial_fit(X[:1], ["z"])
    assert not hasattr(model, "predict_proba")


def test_local_cells_without_their_rows_are_less_sure():
    """Decisions of cells that hold the row would be too good to be true."""
    model = LocalSVC(40, C=1000.0, gamma=20.0, random_state=0)
    X, y = draw(600)
    model.fit(X, y)
    fresh, labels = draw(4000, seed=6)
    honest = log_loss(labels, model.predict_proba(fresh))
    own = (y == "b").astype(np.int32)
    seen = learn_map(model.decision_function(X)[:, np.newaxis], own, np.ones(600))
    naive = seen.probabilities(model.decision_function(fresh)[:, np.newaxis])
    assert honest < 0.9 * log_loss(labels, naive)
    assert isinstance(seen, SignMap)


@pytest.mark.parametrize("name", ["clustered", "local", "reduced", "additive-given"])
def test_weights_of_a_fit_count_as_rows_in_its_probabilities(name):
    X, y = draw(300, 3)
    weight = np.random.default_rng(0).integers(0, 4, 300)
    twice = np.repeat(np.arange(300), weight)
    one = clone(MODELS[name]).fit(X, y, weight).predict_proba(X)
    two = clone(MODELS[name]).fit(X[twice], y[twice]).predict_proba(X)
    np.testing.assert_allclose(one, two, atol=2e-2)

"""Labels by what errors cost."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

import localsvm
from calibration_data import MODELS, draw, fitted
from localsvm import ClusteredSVC
from localsvm.estimators import CostClassifier

COSTS = [[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 9.0, 0.0]]


def decided(cost, n_classes=3, **parameters):
    model = ClusteredSVC(5, random_state=0, **parameters)
    return CostClassifier(model, cost).fit(*draw(500, n_classes))


@pytest.mark.parametrize(
    ("estimator", "check"),
    estimator_checks_generator(CostClassifier(ClusteredSVC(2, random_state=0), {})),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_answer_is_the_cheapest_of_all():
    model, X = decided(COSTS), draw(300, 3, seed=1)[0]
    p = model.predict_proba(X)
    expected = [
        min(range(3), key=lambda j: sum(row[i] * COSTS[i][j] for i in range(3)))
        for row in p
    ]
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected])
    changed = model.predict(X) != model.estimator_.predict(X)
    assert 0.05 < changed.mean() < 0.9


def test_costs_of_one_leave_the_labels():
    model, X = decided({}), draw(300, 3, seed=1)[0]
    np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))


def test_costs_save_costs():
    X, y = draw(4000, 2, seed=3)
    dear = {("b", "a"): 10.0}
    model = decided(dear, 2)

    def paid(labels):
        wrong = labels != y
        return np.where(wrong & (y == "b"), 10.0, wrong).mean()

    assert paid(model.predict(X)) < 0.8 * paid(model.estimator_.predict(X))


def test_labels_of_numbers_are_their_thresholds():
    X, y = draw(300)
    model = CostClassifier(LogisticRegression(), {(1, 0): 3}).fit(X, y == "b")
    second = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X), second > 0.25)


def test_a_fitted_model_is_kept_and_saved(tmp_path):
    X, y = draw(100, seed=2)
    frozen = FrozenEstimator(fitted("local"))
    for inner in (frozen, MODELS["clustered"]):
        model = CostClassifier(inner, {("a", "b"): 5.0}).fit(X, y)
        localsvm.save(model, tmp_path / "model.lsvm")
        back = localsvm.load(tmp_path / "model.lsvm")
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        np.testing.assert_array_equal(back.cost_, model.cost_)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([[0, 1]], r"cost has shape \(1, 2\); expected \(3, 3\)"),
        ({("a", "z"): 1}, "cost names the class 'z'; expected one of"),
        ({"a": 1}, r"cost has the key 'a'; expected \(true, predicted\)"),
        ({("a", "b"): np.inf}, "cost has NaN or infinity"),
        ({("a", "b"): -1}, "an error that costs less than the right answer"),
    ],
)
def test_bad_costs(cost, message):
    with pytest.raises(ValueError, match=message):
        decided(cost)


def test_classifier_without_probabilities():
    from sklearn.svm import LinearSVC

    with pytest.raises(ValueError, match="LinearSVC gives no probabilities"):
        CostClassifier(LinearSVC(), {}).fit(*draw(50))

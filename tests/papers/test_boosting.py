import numpy as np
import pytest
from papers._boosting import ResampledLinearSVC, WeightedLinearSVC
from papers._selection import choose
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.svm import LinearSVC

from localsvm.data import make_circle_in_square
from papers import Method, Selection, _methods as methods


@pytest.fixture
def rows():
    return make_classification(200, flip_y=0.2, random_state=0)


def test_scale_of_the_weights_does_not_matter(rows):
    X, y = rows
    weight = np.random.default_rng(0).random(len(y))
    parameters = {"C": 0.1, "loss": "hinge", "random_state": 0}
    found = WeightedLinearSVC(**parameters).fit(X, y, weight / weight.sum())
    expected = LinearSVC(**parameters).fit(X, y, weight / weight.mean())
    np.testing.assert_allclose(found.coef_, expected.coef_)
    alone = WeightedLinearSVC(**parameters).fit(X, y)
    np.testing.assert_array_equal(alone.coef_, LinearSVC(**parameters).fit(X, y).coef_)


def test_rows_without_weight_are_never_drawn(rows):
    X, y = rows
    weight = (np.arange(len(y)) < 100).astype(float)
    broken = np.where(weight[:, None] > 0, X, 1e6)
    found = ResampledLinearSVC(random_state=0).fit(broken, y, weight)
    same = ResampledLinearSVC(random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(found.coef_, same.coef_)


def test_drawn_rows_let_boosting_go_on_where_weights_end_it():
    X, y = make_circle_in_square(400, random_state=0)
    drawn, weighted = (
        AdaBoostClassifier(weak(C=0.1, loss="hinge"), n_estimators=100, random_state=0)
        for weak in (ResampledLinearSVC, WeightedLinearSVC)
    )
    drawn.fit(X, y)
    assert len(weighted.fit(X, y).estimators_) < 50
    assert len(drawn.estimators_) == 100
    assert drawn.score(X, y) > weighted.score(X, y) + 0.1


def test_boosted_svms_have_the_penalty_that_is_best_for_one(rows):
    penalties = (1e-4, 0.01, 1.0)
    boosted = methods.boosted_linear_svm(penalties, n_estimators=3)
    single = Method("one", boosted.estimator.params["estimator"], {"C": penalties})
    selection = Selection(n_folds=3)
    found = choose(boosted, selection, *rows)
    expected = choose(single, selection, *rows)
    assert found.params == {"estimator__C": expected.params["C"]}
    assert found.score == expected.score
    model = boosted.estimator.make(0, **found.params)
    assert expected.params["C"] == model.fit(*rows).estimators_[0].C

"""Class weights that no classifier may accept."""

import numpy as np
import pytest

from localsvm.estimators import METHODS


@pytest.mark.parametrize("classifier", [method.estimator for method in METHODS])
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "2", None])
def test_class_weights_are_finite_numbers_of_at_least_zero(classifier, weight):
    X = np.random.default_rng(0).standard_normal((60, 3))
    message = rf"'class_weight' parameter of {classifier.__name__} must be .*Got \{{1: "
    with pytest.raises(ValueError, match=message):
        classifier(class_weight={1: weight}).fit(X, X[:, 0] > 0)

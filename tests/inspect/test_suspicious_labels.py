"""Labels that the other rows speak against."""

import numpy as np
import pytest

from localsvm import ClusteredSVC
from localsvm.inspect import suspicious_labels


def flipped(n_classes, C=0.3):
    rng = np.random.default_rng(0)
    X = (
        rng.standard_normal((300, 2))
        + 6 * np.eye(3)[rng.integers(0, n_classes, 300), :2]
    )
    y = (X[:, 0] - X[:, 1] > 0).astype(int)
    if n_classes == 3:
        y[np.abs(X).max(axis=1) < 3] = 2
    wrong = rng.choice(300, 9, replace=False)
    labels = y.copy()
    labels[wrong] = (labels[wrong] + 1) % n_classes
    model = ClusteredSVC(4, C=C, random_state=0, updatable=True).fit(X, labels)
    return model, X, y, labels, wrong


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_flipped_labels_are_found(n_classes, exact):
    model, X, y, labels, wrong = flipped(n_classes)
    found = suspicious_labels(model, X, labels, most=20, exact=exact)
    rows = [each.row for each in found]
    assert len(set(wrong) & set(rows)) >= 7
    margins = [each.margin for each in found]
    assert margins == sorted(margins)
    for each in found:
        assert each.label == labels[each.row]
        if each.row in wrong and each.margin < -1:
            assert each.predicted == y[each.row]
    assert str(found[0]).startswith(f"row {rows[0]}: ")


def test_rows_that_are_right_are_not_listed():
    model, X, _, labels, _ = flipped(2)
    every = suspicious_labels(model, X, labels)
    assert len(every) < 60
    assert all(each.margin < 0 for each in every)
    assert suspicious_labels(model, X, labels, most=0) == []

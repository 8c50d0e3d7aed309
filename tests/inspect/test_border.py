"""The nearest row of another class and changes of one feature."""

import re
from functools import cache

import numpy as np
import pytest

from inspect_models import MODELS, fitted, held_out, training_rows
from localsvm import ClusteredSVC, LocalSVC, ReducedSVC
from localsvm.data import make_xor
from localsvm.inspect import explain

N_ROWS = 2


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


@cache
def explained(name, n_classes, n_rows=N_ROWS):
    """Model, rows and their explanations, which the tests share."""
    model, X = fitted(name, n_classes), held_out(n_classes)[0][:n_rows]
    return model, X, explain(model, X)


def test_the_nearest_row_has_the_label_that_is_stated(name, n_classes):
    model, X, explanations = explained(name, n_classes)
    low, high = np.sort(training_rows(n_classes)[0], axis=0)[[0, -1]]
    for x, found in zip(X, explanations, strict=True):
        border = found.border
        assert border is not None
        assert model.predict([border.point])[0] == border.label
        assert border.label != found.predicted_class
        assert border.distance == pytest.approx(np.linalg.norm(border.point - x))
        moved = border.point != x
        assert (low <= border.point)[moved].all()
        assert (border.point <= high)[moved].all()
        if border.region is not None:
            assert border.region == model.region([border.point])[0]
            assert border.in_same_region == (border.region == found.regions[0])
        shifts = {shift.name: shift for shift in border.shifts}
        assert len(shifts) == moved.sum()
        for column in np.flatnonzero(moved):
            expected = (f"x{column}", x[column], border.point[column])
            assert shifts[f"x{column}"] == expected
        sizes = [abs(shift.to - shift.value) for shift in border.shifts]
        assert sizes == sorted(sizes, reverse=True)


def test_no_single_change_is_nearer_than_the_nearest_row(name, n_classes):
    _, _, explanations = explained(name, n_classes)
    for found in explanations:
        if found.changes:
            assert found.border.distance <= found.changes[0].distance


def test_one_change_alone_changes_the_label(name, n_classes):
    model, X, explanations = explained(name, n_classes)
    low, high = np.sort(training_rows(n_classes)[0], axis=0)[[0, -1]]
    n_changes = 0
    for x, found in zip(X, explanations, strict=True):
        assert list(found.changes) == sorted(found.changes, key=lambda c: c.distance)
        assert len({change.name for change in found.changes}) == len(found.changes)
        for change in found.changes:
            column = int(change.name[1:])
            assert change.value == x[column]
            assert change.distance == pytest.approx(abs(change.to - change.value))
            assert low[column] <= change.to <= high[column]
            moved = x.copy()
            moved[column] = change.to
            assert model.predict([moved])[0] == change.label != found.predicted_class
            # A little less is not enough: it is rounded, and no more than that.
            moved[column] = change.to - 0.002 * (change.to - change.value)
            assert model.predict([moved])[0] == found.predicted_class
            n_changes += 1
    assert n_changes >= N_ROWS


def test_printed_numbers_change_the_label(name, n_classes):
    """What a reader copies from the text is enough."""
    model, X, explanations = explained(name, n_classes)
    for x, found in zip(X, explanations, strict=True):
        for line in ("Single change", "Smallest change"):
            words = re.search(f"{line}: +(.*)", str(found))[1]
            for sentence in words.split("; "):
                moved, label = x.copy(), re.search(r"gives? (\w+)", sentence)
                if label is None:
                    assert "no change" in sentence
                    continue
                for column, to in re.findall(
                    r"x(\d) from \S+ to ([-+.\de]+)", sentence
                ):
                    moved[int(column)] = float(to)
                assert model.predict([moved])[0] == label[1]


def nearest_linear_border(scores, coef, label):
    """Nearest of the pairwise borders: by the formula of the distance to a plane."""
    points = []
    for other in range(len(scores)):
        if other != label:
            w = coef[label] - coef[other]
            points.append((scores[other] - scores[label]) / (w @ w) * w)
    return min(points, key=np.linalg.norm)


@pytest.mark.parametrize("name", ["hard", "exact linear"])
def test_border_of_linear_regions_is_exact(name, n_classes):
    model, X = fitted(name, n_classes), held_out(n_classes)[0][:8]
    scores = model.decision_function(X).reshape(8, -1)
    coef = model.local_coef(X)[0]
    if n_classes == 2:
        scores, coef = (
            np.concatenate([np.zeros_like(each), each], axis=1)
            for each in (scores, coef)
        )
    low, high = model.feature_range_

    def is_outside(point):
        return (point < low).any() or (point > high).any()

    n_exact = 0
    for row, found in enumerate(explain(model, X)):
        label = list(model.classes_).index(found.predicted_class)
        way = nearest_linear_border(scores[row], coef[row], label)
        if found.border.is_exact:
            error = np.linalg.norm(found.border.point - X[row] - way)
            assert error < 5e-3 * np.linalg.norm(way)
            assert found.border.distance >= np.linalg.norm(way)
            end = "the smallest in the region)" if name == "hard" else "the smallest)"
            assert end in str(found)
            n_exact += 1
        else:
            # Another region, or an end of a range, is on the way, or another region
            # is nearer.
            if found.border.distance < np.linalg.norm(way):
                assert not found.border.in_same_region
                continue
            end = X[row] + 1.01 * way
            leaves = name == "hard" and model.region([end])[0] != found.regions[0]
            assert leaves or is_outside(end)
            assert "the smallest found" in str(found)
    assert n_exact > (5 if name == "exact linear" else 3)


def test_border_that_leaves_the_region_is_found_where_it_is():
    """Two regions of one class each: the border is between them, not in them."""
    X, y = make_xor(400, random_state=0)
    model = ClusteredSVC(4, n_nearest=1, random_state=0).fit(X, y)
    found = [each for each in explain(model, X[:20]) if each.border is not None]
    left = [each for each in found if not each.border.in_same_region]
    assert left
    for each in left:
        assert not each.border.is_exact
        assert f"in region {each.border.region}" in str(each)
        assert model.predict([each.border.point])[0] == each.border.label


def test_gradients_lead_to_a_border_that_is_nearly_the_nearest():
    model, X = fitted("exact"), held_out()[0][:4]
    directions = np.random.default_rng(0).standard_normal((4000, 5))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for x, found in zip(X, explain(model, X), strict=True):
        for share in (0.7, 0.9):
            points = x + share * found.border.distance * directions
            same = model.predict(points) == found.predicted_class
            assert same.mean() > (0.999 if share == 0.7 else 0.99)


def test_kernel_region_of_one_class_has_no_border():
    X, y = training_rows()
    far = np.vstack([X, X + 1000.0])
    labels = np.append(y, np.full(len(y), "ant"))
    model = LocalSVC(20, random_state=0).fit(far, labels)
    found = explain(model, X[0] + 1000.0)
    assert not found.coef.any()
    assert found.border is None
    assert found.changes == ()
    assert found.margin.distance is None
    text = str(found)
    for what in ("change", "change of a single column"):
        assert (
            f"no {what} within the range of the training data was found to change the "
            "prediction"
        ) in text


def test_linear_function_that_never_changes_the_label_has_no_border():
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = ReducedSVC(kernel="linear", C=1e-9).fit(X, X[:, 0] > -1.0)
    model._model.coef[:] = 0.0
    assert explain(model, X[0]).border is None


def test_rows_with_many_columns_are_worked_on_in_parts(monkeypatch):
    model, X = fitted("soft"), held_out()[0][:2]
    expected = explain(model, X)
    monkeypatch.setattr("localsvm.inspect._local_view._BLOCK_VALUES", 50)
    for found, other in zip(explain(model, X), expected, strict=True):
        np.testing.assert_array_equal(found.border.point, other.border.point)
        assert found.changes == other.changes

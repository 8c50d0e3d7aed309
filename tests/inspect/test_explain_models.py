"""Explanations of every estimator: sums, margins, regions, plain data."""

import json
import re
from functools import cache

import numpy as np
import pytest
from scipy import sparse

import localsvm
from inspect_models import (
    MODELS,
    STAGED,
    WITH_REGIONS,
    fitted,
    held_out,
    training_rows,
)
from localsvm import ClusteredSVC, StagedSVC, SupportClusterSVC
from localsvm.inspect import explain, region_table

CURVED = {
    "local",
    "local searched",
    "mixture",
    "clusters",
    "clusters against the rest",
    "neighbours",
    "exact",
}
VOTES = {"local", "local linear", "local searched", "clusters", "neighbours"}


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


@cache
def explained(name, n_classes, n_rows=6):
    """Model, rows and their explanations, which the tests share."""
    model = fitted(name, n_classes)
    X = held_out(n_classes)[0][:n_rows]
    return model, X, explain(model, X, border=False)


def class_scores(model, X):
    """Scores of shape (n_samples, n_classes), those of two classes 0 and f."""
    scores = model.decision_function(X).reshape(len(X), -1)
    if scores.shape[1] == 1:
        return np.hstack([np.zeros_like(scores), scores])
    return scores


def test_contributions_and_intercept_sum_to_the_decision_value(name, n_classes):
    model, X, found = explained(name, n_classes)
    scores, winner = class_scores(model, X), model.predict(X)
    for row, each in enumerate(found):
        column = 1 if n_classes == 2 else list(model.classes_).index(winner[row])
        total = each.contributions.sum() + each.intercept
        assert total == pytest.approx(scores[row, column], abs=1e-6)
        assert each.decision_value == pytest.approx(scores[row, column], abs=1e-9)
        assert each.predicted_class == winner[row]
        task = 0 if n_classes == 2 else column
        np.testing.assert_allclose(each.coef, model.local_coef(X)[0][row, task])
        assert each.border is None
        assert each.changes == ()


def test_margin_is_the_lead_over_the_runner_up(name, n_classes):
    model, X, found = explained(name, n_classes)
    for scores, each in zip(class_scores(model, X), found, strict=True):
        first = list(model.classes_).index(each.predicted_class)
        others = np.delete(np.arange(n_classes), first)
        second = others[scores[others].argmax()]
        assert each.margin.runner_up == model.classes_[second]
        assert each.margin.difference == pytest.approx(scores[first] - scores[second])


def test_distance_is_the_lead_over_the_norm_of_the_weights(name, n_classes):
    model, X, found = explained(name, n_classes)
    if n_classes == 3 and name in VOTES:
        assert all(each.margin.distance is None for each in found)
        return
    coef = model.local_coef(X)[0]
    if n_classes == 2:
        coef = np.concatenate([np.zeros_like(coef), coef], axis=1)
    for row, each in enumerate(found):
        if name.startswith("staged") and n_classes == 3 and each.is_gradient:
            assert each.margin.distance is None
            continue
        first, second = np.searchsorted(
            model.classes_, [each.predicted_class, each.margin.runner_up]
        )
        norm = np.linalg.norm(coef[row, first] - coef[row, second])
        if name == "additive":
            assert (norm, each.margin.distance) == (0, None)
            continue
        assert each.margin.distance == pytest.approx(each.margin.difference / norm)


def test_gradients_are_said_to_be_such(name, n_classes):
    model, X, found = explained(name, n_classes)
    for x, each in zip(X, found, strict=True):
        curved = name in CURVED or (name == "local linear" and n_classes == 3)
        if isinstance(model, StagedSVC):
            curved = model.stage([x])[0] == 2
        assert each.is_gradient == curved
        assert ("gradient" in str(each)) == curved


@pytest.mark.parametrize("name", WITH_REGIONS)
def test_regions_are_those_of_the_estimator(name, n_classes):
    model, X, found = explained(name, n_classes)
    regions, weights = model.region(X, return_weights=True)
    for row, each in enumerate(found):
        present = weights[row] != 0
        np.testing.assert_array_equal(each.regions, regions[row][present])
        np.testing.assert_allclose(each.region_weights, weights[row][present])
        main = regions[row, 0]
        assert each.n_region_rows == pytest.approx(model.region_sizes_[main])
        counts = dict(
            zip(model.classes_, model.region_class_counts_[main], strict=True)
        )
        assert each.region_class_counts == counts
        if isinstance(model, SupportClusterSVC):
            assert counts[each.predicted_class] > 0
        share = weights[row, 0] / np.abs(weights[row]).sum()
        assert f"region {main} (share {share:.2f}" in str(each)


@pytest.mark.parametrize("name", WITH_REGIONS)
def test_shares_of_regions_in_the_text_sum_to_one(name, n_classes):
    _, _, found = explained(name, n_classes)
    for each in found:
        words = re.search("Decided by: +(.*)", str(each))[1]
        found_shares = re.findall(r"(?:\(|share )(-?\d\.\d\d)[,)]", words)
        shares = [float(share) for share in found_shares]
        n_hidden = int((re.search(r"(\d+) more below", words) or [0, 0])[1])
        total = np.abs(shares).sum()
        assert total <= 1.01 + 0.005 * len(shares)
        assert total >= 1 - 0.05 * n_hidden - 0.005 * len(shares)


def test_a_region_with_all_rows_is_no_region_in_the_text():
    X, y = training_rows()
    params = STAGED | {"cell_size": len(X)}
    model = StagedSVC(threshold=np.inf, **params).fit(X, y)
    (found,) = explain(model, X[:1], border=False)
    assert found.has_all_rows
    assert "Decided by:      one SVM fitted to all 200 training rows, not" in str(found)
    (found,) = explain(fitted("staged"), X[:1], border=False)
    assert not found.has_all_rows


@pytest.mark.parametrize(("n_classes", "words"), [(4, "1 more class"), (5, "2 more c")])
def test_classes_that_are_not_shown_are_counted(n_classes, words):
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.arange(200) % n_classes
    model = ClusteredSVC(1, n_nearest=1, random_state=0).fit(X, y)
    text = str(explain(model, X[0], border=False))
    assert f", {words}" in text
    assert "1 more classes" not in text


def test_neighbours_stand_for_a_region():
    model, X, found = explained("neighbours", 3)
    _, y_train = training_rows(3)
    near = model.neighborhood(X)
    for row, each in enumerate(found):
        assert len(each.regions) == 0
        assert each.n_region_rows == 40
        labels, counts = np.unique(y_train[near[row]], return_counts=True)
        expected = {"ant": 0, "bee": 0, "cat": 0} | dict(
            zip(labels, counts, strict=True)
        )
        assert each.region_class_counts == expected
        assert "the 40 nearest training rows" in str(each)


def test_exact_svm_tells_its_support_vectors():
    model, _, found = explained("exact", 2)
    assert f"one SVM with {len(model.support_)} support vectors" in str(found[0])
    assert "Training rows" not in str(found[0])


def test_table_with_rows_gives_the_accuracy_of_the_region():
    model, (X, y) = fitted("hard"), held_out()
    table = region_table(model, X, y)
    found = explain(model, X[0], table=table, border=False)
    accuracy = table[found.regions[0]].accuracy
    assert found.region_accuracy == accuracy
    assert f"accuracy {accuracy:.3f}" in str(found)
    assert explain(model, X[0], border=False).region_accuracy is None


def test_plain_data_has_everything(name, n_classes):
    model, X = fitted(name, n_classes), held_out(n_classes)[0]
    found = explain(model, X[0])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["predicted_class"] == found.predicted_class
    assert plain["decision_value"] == found.decision_value
    assert plain["margin"]["runner_up"] == found.margin.runner_up
    contributions = sum(each["contribution"] for each in plain["features"])
    assert contributions + plain["intercept"] == pytest.approx(found.decision_value)
    assert len(plain["regions"]) == len(found.regions)
    assert len(plain["changes"]) == len(found.changes)
    if found.border is not None:
        assert plain["border"]["distance"] == found.border.distance
        assert plain["border"]["shifts"][0]["to"] == found.border.shifts[0].to


@pytest.mark.parametrize(
    "name", ["hard", "local", "exact", "clusters", "neighbours", "staged"]
)
def test_narrow_and_sparse_rows(name):
    model, X = fitted(name), held_out()[0][:3]
    expected = explain(model, X, border=False)
    for rows, tolerance in ((X.astype(np.float32), 1e-3), (sparse.csr_array(X), 1e-9)):
        for found, other in zip(
            explain(model, rows, border=False), expected, strict=True
        ):
            assert found.predicted_class == other.predicted_class
            np.testing.assert_allclose(found.coef, other.coef, atol=tolerance)
            total = found.contributions.sum() + found.intercept
            assert total == pytest.approx(other.decision_value, abs=10 * tolerance)


def test_model_that_was_saved_is_explained_alike(name, n_classes, tmp_path):
    model, (X, y) = fitted(name, n_classes), held_out(n_classes)
    localsvm.save(model, tmp_path / "model.lsvm")
    loaded = localsvm.load(tmp_path / "model.lsvm")
    found, expected = (explain(each, X[0], border=False) for each in (loaded, model))
    assert found.to_dict() == expected.to_dict()
    if name in WITH_REGIONS:
        found, expected = (region_table(each, X, y) for each in (loaded, model))
        assert found.to_dict() == expected.to_dict()


def test_stream_learns_once_when_it_is_explained():
    X, y = training_rows()
    model = SupportClusterSVC(8).partial_fit(X, y)
    found = explain(model, X[0], border=False)
    assert "learn" in model.fit_report_
    assert found.predicted_class == model.predict(X[:1])[0]

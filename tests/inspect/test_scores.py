import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from localsvm import ClusteredSVC, MixtureSVC
from localsvm.inspect import score_model
from localsvm.inspect._quality._intervals import (
    auc_estimate,
    compare_paired,
    mean_estimate,
    mean_of_shares,
    quantile_of,
    wilson,
)

Z = quantile_of(0.95)


class Told(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions are the first column of the rows."""

    def __init__(self, classes=(0, 1)):
        self.classes = classes

    def fit(self, X=None, y=None):
        self.classes_ = np.array(self.classes)
        return self

    def predict(self, X):
        return self.classes_[np.asarray(X)[:, 0].astype(int)]


def told(predicted, classes):
    model = Told(tuple(classes)).fit()
    return model, np.searchsorted(model.classes_, predicted).reshape(-1, 1)


@pytest.fixture(params=[2, 3])
def fitted(request):
    X, y = make_classification(
        900, 8, n_informative=5, n_classes=request.param, random_state=0
    )
    y = np.array(["ash", "birch", "cedar"])[y]
    return LogisticRegression().fit(X[:300], y[:300]), X[300:], y[300:]


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_scikit_learn(fitted, weighted):
    model, X, y = fitted
    rng = np.random.default_rng(0)
    weight = rng.uniform(0, 3, len(y)) if weighted else None
    scores = score_model(model, X, y, weight)
    predicted, proba = model.predict(X), model.predict_proba(X)
    options = {"sample_weight": weight}
    expected = {
        "accuracy": metrics.accuracy_score(y, predicted, **options),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted, **options),
        "macro_f1": metrics.f1_score(y, predicted, average="macro", **options),
        "log_loss": metrics.log_loss(y, proba, **options),
        "brier": metrics.brier_score_loss(y, proba, **options)
        if len(model.classes_) > 2
        else metrics.brier_score_loss(y, proba[:, 1], pos_label="birch", **options),
    }
    if len(model.classes_) == 2:
        expected["auc"] = metrics.roc_auc_score(y, proba[:, 1], **options)
    found = {name: score.value for name, score in scores.summary().items()}
    assert found == pytest.approx(expected)
    confusion = metrics.confusion_matrix(y, predicted, **options)
    np.testing.assert_allclose(scores.confusion, confusion)
    by_class = metrics.precision_recall_fscore_support(y, predicted, **options)
    ours = [(s.precision.value, s.recall.value, s.f1, s.n_rows) for s in scores.classes]
    np.testing.assert_allclose(np.transpose(ours), by_class)
    for score in scores.summary().values():
        assert score.low < score.value < score.high


def test_wilson_is_that_of_scipy():
    expected = stats.binomtest(83, 100).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson(0.83, 100, Z), expected)
    assert wilson(1.0, 0, Z) == (pytest.approx(0.0), 1.0)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_wilson_of_all_or_nothing_ends_there(share):
    low, high = wilson(share, 10, Z)
    assert (low == share) != (high == share)
    assert high - low == pytest.approx(Z**2 / (10 + Z**2))


def test_intervals_cover_what_they_promise():
    """Of 95 % intervals about 19 of 20 cover the truth, in each of the forms."""
    rng = np.random.default_rng(0)
    n_repeats, recalls = 600, np.array([0.6, 0.8, 0.97])
    sizes = np.array([30, 40, 50])
    true_auc = stats.norm.cdf(1 / np.sqrt(2))
    covered = np.zeros(4)
    for _ in range(n_repeats):
        shares = rng.binomial(sizes, recalls) / sizes
        mean = mean_of_shares(shares, sizes, Z)
        is_positive = np.arange(90) < 40
        score = rng.standard_normal(90) + is_positive
        area = auc_estimate(score, is_positive, np.ones(90), Z)
        loss = mean_estimate(rng.exponential(1.0, 200), np.ones(200), Z)
        kind = rng.choice(4, 150, p=[0.7, 0.12, 0.05, 0.13])
        pair = compare_paired((kind == 0) | (kind == 1), (kind == 0) | (kind == 2), Z)
        truths = [recalls.mean(), true_auc, 1.0, 0.07]
        for place, (estimate, truth) in enumerate(
            zip([mean, area, loss, pair.difference], truths, strict=True)
        ):
            covered[place] += estimate.low <= truth <= estimate.high
    assert np.all((covered / n_repeats > 0.92) & (covered / n_repeats < 0.98))


def test_macro_f1_interval_is_that_of_drawn_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [200, 60, 40])
    predicted = np.where(rng.random(300) < 0.8, y, rng.integers(0, 3, 300))
    scores = score_model(*told(predicted, [0, 1, 2]), y)
    draws = []
    for _ in range(2000):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(y == c), (y == c).sum()) for c in range(3)]
        )
        draws.append(metrics.f1_score(y[rows], predicted[rows], average="macro"))
    expected = np.quantile(draws, [0.025, 0.975])
    np.testing.assert_allclose(scores.macro_f1[1:], expected, atol=0.01)


def test_intervals_of_a_faultless_model_have_a_width():
    y = np.repeat(["a", "b"], [30, 20])
    scores = score_model(*told(y, ["a", "b"]), y)
    for score in (scores.accuracy, scores.balanced_accuracy, scores.macro_f1):
        assert score.value == score.high == 1.0
        assert 0.8 < score.low < 0.95


def test_auc_of_separated_classes_has_a_width():
    is_positive = np.arange(30) < 10
    area = auc_estimate(is_positive.astype(float), is_positive, np.ones(30), Z)
    assert area.value == area.high == 1.0
    assert 0.6 < area.low < 0.9


def test_auc_counts_ties_half():
    score = np.array([0.0, 0.0, 1.0, 1.0])
    is_positive = np.array([True, False, True, False])
    assert auc_estimate(score, is_positive, np.ones(4), Z).value == 0.5


def test_weight_zero_is_absence(fitted):
    model, X, y = fitted
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    part = weight > 0
    some = score_model(model, X[part], y[part]).to_dict()
    same = score_model(model, X, y, weight).to_dict()
    assert some["n_rows"] == same["n_rows"]
    assert some["classes"] == same["classes"]
    for name in ("accuracy", "balanced_accuracy", "macro_f1", "log_loss"):
        assert some[name] == pytest.approx(same[name])


def test_a_class_of_weight_zero_is_left_out():
    y = np.array([0, 0, 1, 2])
    scores = score_model(*told([0, 0, 1, 2], [0, 1, 2]), y, [1.0, 1.0, 1.0, 0.0])
    assert [line.label for line in scores.classes] == [0, 1]
    assert scores.n_rows == 3


def test_only_ratios_of_weights_count(fitted):
    model, X, y = fitted
    doubled = score_model(model, X, y, np.full(len(y), 2.0))
    assert doubled.accuracy == pytest.approx(score_model(model, X, y).accuracy)


def test_unequal_weights_widen_the_interval(fitted):
    model, X, y = fitted
    weight = np.where(np.arange(len(y)) % 2, 1.0, 9.0)
    plain, weighted = score_model(model, X, y), score_model(model, X, y, weight)
    for name in ("accuracy", "balanced_accuracy", "macro_f1", "log_loss"):
        widths = [
            getattr(s, name).high - getattr(s, name).low for s in (plain, weighted)
        ]
        assert widths[1] > 1.15 * widths[0]


def test_same_seed_gives_the_same_scores(fitted):
    model, X, y = fitted
    first, second = (score_model(model, X, y, random_state=3) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    other = score_model(model, X, y, random_state=4)
    assert other.macro_f1 != first.macro_f1


def test_confidence_level_sets_the_width(fitted):
    model, X, y = fitted
    narrow = score_model(model, X, y, confidence_level=0.5)
    wide = score_model(model, X, y, confidence_level=0.99)
    for name, score in narrow.summary().items():
        other = wide.summary()[name]
        assert other.low < score.low < score.high < other.high
    with pytest.raises(ValueError, match="confidence_level=95"):
        score_model(model, X, y, confidence_level=95)


def test_unknown_labels_are_named_and_wrong(fitted):
    model, X, y = fitted
    y = y.astype(object)
    y[:7], y[7:10] = "yew", "oak"
    scores = score_model(model, X, y)
    assert scores.unknown_labels == ("oak", "yew")
    known = score_model(model, X[10:], y[10:])
    n_right = known.accuracy.value * (len(y) - 10)
    assert scores.accuracy.value == pytest.approx(n_right / len(y))
    assert [s.label for s in scores.classes][-2:] == ["oak", "yew"]
    assert scores.classes[-1].recall.value == 0
    assert scores.classes[-1].precision is None
    assert "does not know, and is wrong on: 'oak', 'yew' (10 rows)" in str(scores)
    assert scores.log_loss.value > known.log_loss.value
    assert scores.auc == known.auc
    assert (scores.auc is None) == (len(model.classes_) > 2)


def test_labels_of_another_type_are_refused(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match=r"none of the labels.* found 0.*'ash'"):
        score_model(model, X, np.zeros(len(y)))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_are_counted(fitted, missing):
    model, X, y = fitted
    y = y.astype(object)
    y[[3, 8]] = missing
    with pytest.raises(ValueError, match="y has 2 missing labels"):
        score_model(model, X, y)


def test_classes_that_are_not_there_are_left_out():
    y = np.array([0, 0, 1])
    scores = score_model(*told([0, 1, 1], [0, 1, 2]), y)
    assert [s.label for s in scores.classes] == [0, 1]
    expected = metrics.balanced_accuracy_score(y, [0, 1, 1])
    assert scores.balanced_accuracy.value == expected
    alone = score_model(*told([0, 2, 2], [0, 1, 2]), np.array([0, 0, 0]))
    assert alone.classes[1].recall is None
    assert alone.balanced_accuracy.value == pytest.approx(1 / 3)


def test_auc_needs_both_classes(fitted):
    model, X, y = fitted
    assert score_model(model, X[y == "ash"], y[y == "ash"]).auc is None


def test_model_without_probabilities_has_no_log_loss(two_moons):
    X, y = two_moons
    scores = score_model(LinearSVC().fit(X, y), X, y)
    assert scores.log_loss is None
    assert scores.brier is None
    assert scores.auc is not None
    assert "log_loss" not in scores.to_dict()


def test_pipelines_frames_and_series(two_moons):
    X, y = two_moons
    frame, target = pd.DataFrame(X, columns=["a", "b"]), pd.Series(y, dtype="category")
    model = make_pipeline(StandardScaler(), MixtureSVC(2, random_state=0)).fit(frame, y)
    scores = score_model(model, frame, target)
    assert scores.accuracy.value == pytest.approx(model.score(frame, y))
    assert set(scores.summary()) >= {"log_loss", "brier", "auc"}


def test_dictionary_is_json(fitted):
    model, X, y = fitted
    found = json.loads(json.dumps(score_model(model, X, y).to_dict(), allow_nan=False))
    assert found["accuracy"].keys() == {"value", "low", "high"}
    assert found["classes"][1]["label"] == "birch"


def test_text_is_a_table(three_classes):
    X, y = three_classes
    text = str(score_model(ClusteredSVC(3, random_state=0).fit(X, y), X, y))
    lines = text.splitlines()
    assert lines[0].startswith("240 rows")
    assert "95 % interval" in lines[0]
    assert any(line.startswith("balanced accuracy") for line in lines)
    assert [line.split()[0] for line in lines[-3:]] == ["ash", "birch", "cedar"]


def test_text_of_many_long_labels_stays_short():
    labels = [f"{'x' * 200}{place:03d}" for place in range(60)]
    text = str(score_model(*told(labels, labels), np.array(labels)))
    assert "and 40 more classes" in text
    assert max(map(len, text.splitlines())) < 90


def test_bad_models_are_refused(two_moons):
    X, y = two_moons
    with pytest.raises(TypeError, match=r"fitted classifier.*LinearRegression"):
        score_model(LinearRegression().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        score_model(ClusteredSVC(), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        score_model(ClusteredSVC(2).fit(X, y), X, y[:-1])


class Fixed(ClassifierMixin, BaseEstimator):
    """Predicts what it is told."""

    def __init__(self, answers, class_weight=None):
        self.answers = answers
        self.class_weight = class_weight
        self.classes_ = np.array(["a", "b", "c"])
        self.fitted_ = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.array(list(self.answers))


@pytest.mark.parametrize(
    ("answers", "missed", "words"),
    [
        ("aabb", (), ""),
        ("aaaa", ("b",), "Never predicted: class 'b' (2 rows, recall 0)."),
        ("bbaa", ("a", "b"), "Never rightly predicted: classes 'a', 'b' (4 rows"),
        ("ccbb", ("a",), "Never predicted: class 'a' (2 rows, recall 0)."),
    ],
)
def test_classes_that_are_never_found_are_named(answers, missed, words):
    scores = score_model(Fixed(answers), np.zeros((4, 1)), list("aabb"))
    assert scores.missed_classes == missed
    assert scores.to_dict()["missed_classes"] == list(missed)
    assert words in str(scores)
    assert ("class_weight='balanced'" in str(scores)) == bool(missed)
    weighted = make_pipeline(
        StandardScaler().fit(np.eye(1)), Fixed(answers, "balanced")
    )
    again = score_model(weighted, np.zeros((4, 1)), list("aabb"))
    assert "class_weight" not in str(again)


def test_a_label_that_the_model_does_not_know_is_not_called_missed():
    scores = score_model(Fixed("aaaa"), np.zeros((4, 1)), list("aaax"))
    assert scores.unknown_labels == ("x",)
    assert scores.missed_classes == ()

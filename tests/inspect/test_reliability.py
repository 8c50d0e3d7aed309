"""The picture of right answers by confidence."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from inspect_models import held_out, make_rows
from localsvm import ClusteredSVC, MixtureSVC
from localsvm.data import make_xor
from localsvm.inspect import ReliabilityDisplay

mpl.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def mixture():
    return MixtureSVC(4, random_state=0).fit(*make_xor(400, random_state=0))


def test_probabilities_are_those_of_the_predicted_class(mixture):
    X, y = make_xor(1000, random_state=1)
    display = ReliabilityDisplay.from_estimator(mixture, X, y, n_bins=8)
    assert display.kind == "probability"
    confidence = mixture.predict_proba(X).max(axis=1)
    np.testing.assert_array_equal(display.confidence, confidence)
    hit = mixture.predict(X) == y
    right, said = calibration_curve(hit, confidence, n_bins=8, strategy="quantile")
    np.testing.assert_allclose(display.bin_accuracy, right, atol=0.02)
    np.testing.assert_allclose(display.bin_confidence, said, atol=0.01)
    assert display.bin_counts.sum() == 1000
    assert np.ptp(display.bin_counts) <= 2
    gap = np.abs(display.bin_accuracy - display.bin_confidence)
    expected = (gap * display.bin_counts).sum() / 1000
    assert display.calibration_error == pytest.approx(expected)
    assert display.ideal_ is not None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_are_taken_where_there_are_no_probabilities(n_classes):
    X, y = held_out(n_classes)
    model = LinearSVC().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=4)
    assert display.kind == "margin"
    assert display.calibration_error is None
    assert display.ideal_ is None
    scores = model.decision_function(X)
    if n_classes == 2:
        expected = np.abs(scores)
    else:
        expected = np.diff(np.sort(scores, axis=1)[:, -2:]).ravel()
    np.testing.assert_allclose(display.confidence, expected)
    order = np.argsort(expected)
    hit = (model.predict(X) == y)[order]
    quarters = [part.mean() for part in np.array_split(hit, 4)]
    np.testing.assert_allclose(display.bin_accuracy, quarters)
    means = [part.mean() for part in np.array_split(expected[order], 4)]
    np.testing.assert_allclose(display.bin_confidence, means)


def test_calibrated_classifier_has_probabilities():
    X, y = make_rows(n_samples=600)
    inner = make_pipeline(StandardScaler(), ClusteredSVC(4, random_state=0))
    model = CalibratedClassifierCV(inner, cv=3).fit(X[:300], y[:300])
    display = ReliabilityDisplay.from_estimator(model, X[300:], y[300:])
    assert display.kind == "probability"
    assert display.calibration_error < 0.2


def test_margins_of_a_model_with_probabilities_may_be_asked_for(mixture):
    X, y = make_xor(200, random_state=1)
    display = ReliabilityDisplay.from_estimator(mixture, X, y, kind="margin")
    np.testing.assert_allclose(display.confidence, np.abs(mixture.decision_function(X)))


def test_equal_confidences_share_a_bin():
    X, y = make_rows()
    model = KNeighborsClassifier(3).fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=10)
    assert len(display.bin_counts) == len(np.unique(display.confidence)) == 2
    np.testing.assert_allclose(display.bin_confidence, [2 / 3, 1])
    sure = model.predict_proba(X).max(axis=1) == 1
    hit = model.predict(X) == y
    np.testing.assert_array_equal(display.bin_counts, [(~sure).sum(), sure.sum()])
    np.testing.assert_allclose(
        display.bin_accuracy, [hit[~sure].mean(), hit[sure].mean()]
    )


def test_picture_shows_intervals_and_rows(mixture):
    X, y = make_xor(500, random_state=1)
    display = ReliabilityDisplay.from_estimator(mixture, X, y, name="mixture")
    assert display.figure_ is display.ax_.figure
    line, _, (bars,) = display.line_
    np.testing.assert_array_equal(line.get_xdata(), display.bin_confidence)
    np.testing.assert_array_equal(line.get_ydata(), display.bin_accuracy)
    for segment, accuracy in zip(
        bars.get_segments(), display.bin_accuracy, strict=True
    ):
        low, high = segment[:, 1]
        assert 0 <= low <= accuracy <= high <= 1
        assert low < high
    heights = np.array([bar.get_height() for bar in display.histogram_])
    counts, _ = np.histogram(display.confidence, bins=30)
    np.testing.assert_allclose(heights / heights.max(), counts / counts.max())
    labels = display.ax_.get_legend_handles_labels()[1]
    assert {"mixture", "500 rows", "as probable"} == set(labels)


def test_options_reach_matplotlib(mixture):
    X, y = make_xor(100, random_state=1)
    _, ax = plt.subplots()
    display = ReliabilityDisplay.from_estimator(
        mixture, X, y, ax=ax, line_kw={"color": "red"}, histogram_kw={"color": "blue"}
    )
    assert display.ax_ is ax
    assert display.line_[0].get_color() == "red"
    assert display.histogram_[0].get_facecolor()[:3] == (0, 0, 1)
    assert display.plot() is display
    assert display.ax_ is not ax


def test_bad_arguments_are_refused(mixture):
    X, y = make_xor(50, random_state=1)
    draw = ReliabilityDisplay.from_estimator
    with pytest.raises(ValueError, match="kind='odds' is not known"):
        draw(mixture, X, y, kind="odds")
    with pytest.raises(ValueError, match="needs a classifier with predict_proba"):
        draw(LinearSVC().fit(X, y), X, y, kind="probability")
    with pytest.raises(ValueError, match="needs a classifier with decision_function"):
        draw(KNeighborsClassifier().fit(X, y), X, y, kind="margin")
    with pytest.raises(ValueError, match="n_bins=0 should be >= 1"):
        draw(mixture, X, y, n_bins=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        draw(mixture, X, y[:5])
    with pytest.raises(TypeError, match="classifier; got StandardScaler"):
        draw(StandardScaler().fit(X), X, y)


def test_a_few_very_clear_answers_do_not_squeeze_the_others():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (500, 1)), [[1000.0]]]
    model = LinearSVC().fit(X[:500], X[:500, 0] > 0)
    display = ReliabilityDisplay.from_estimator(model, X, X[:, 0] > 0)
    bars = display.histogram_
    end = bars[-1].get_x() + bars[-1].get_width()
    assert end < 0.1 * display.confidence.max()
    heights = np.array([bar.get_height() for bar in bars])
    counts = heights / heights[heights > 0].min()
    assert counts.sum() == pytest.approx(501)

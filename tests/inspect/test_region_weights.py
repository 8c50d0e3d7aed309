"""The heat map of weights per region."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from inspect_models import fitted, held_out, make_rows
from localsvm import ClusteredSVC
from localsvm.inspect import RegionWeightsDisplay

mpl.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_map_shows_the_largest_weights_of_the_largest_regions():
    model = fitted("hard")
    display = RegionWeightsDisplay.from_estimator(model, n_regions=3, n_features=2)
    largest = np.argsort(-model.region_sizes_, kind="stable")[:3]
    np.testing.assert_array_equal(display.regions, largest)
    weights = model.coef_[largest, 0]
    features = np.argsort(-np.abs(weights).max(axis=0))[:2]
    np.testing.assert_allclose(display.weights, weights[:, features].T)
    np.testing.assert_allclose(display.image_.get_array(), display.weights)
    assert ticks(display.ax_.xaxis) == [str(region) for region in largest]
    assert ticks(display.ax_.yaxis) == [f"x{j}" for j in features]
    low, high = display.image_.get_clim()
    assert -low == high == np.abs(display.weights).max()
    assert display.label == "bee"
    assert "class bee" in display.colorbar_.ax.get_ylabel()


def test_one_of_several_classes():
    model = fitted("soft", 3)
    display = RegionWeightsDisplay.from_estimator(model, label="cat")
    columns = [int(name[1:]) for name in display.feature_names]
    expected = model.coef_[display.regions, 2][:, columns].T
    np.testing.assert_allclose(display.weights, expected)
    frequent = model.region_class_counts_.sum(axis=0).argmax()
    label = RegionWeightsDisplay.from_estimator(model).label
    assert label == model.classes_[frequent]


def test_kernel_regions_need_rows():
    model, (X, _) = fitted("local"), held_out()
    with pytest.raises(ValueError, match="found no X"):
        RegionWeightsDisplay.from_estimator(model)
    display = RegionWeightsDisplay.from_estimator(model, X)
    assert set(display.regions) <= set(model.region(X))
    assert np.isfinite(display.weights).all()


@pytest.mark.parametrize("name", ["anchors", "mixture", "staged", "clusters"])
def test_other_estimators_are_drawn(name):
    display = RegionWeightsDisplay.from_estimator(fitted(name), n_regions=4)
    assert display.weights.shape == (5, 4)


def test_pipeline_gives_names():
    X, y = make_rows()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = make_pipeline(StandardScaler(), ClusteredSVC(3, random_state=0))
    display = RegionWeightsDisplay.from_estimator(model.fit(frame, y), frame)
    assert sorted(display.feature_names) == list("abcde")
    display = RegionWeightsDisplay.from_estimator(model, feature_names=list("vwxyz"))
    assert sorted(display.feature_names) == list("vwxyz")


def test_plot_can_be_repeated_on_other_axes():
    display = RegionWeightsDisplay.from_estimator(fitted("hard"))
    _, ax = plt.subplots()
    assert display.plot(ax, cmap="coolwarm", colorbar=False) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.colorbar_ is None
    assert display.image_.get_cmap().name == "coolwarm"


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match=r"with regions.*got ReducedSVC"):
        RegionWeightsDisplay.from_estimator(fitted("exact"))
    with pytest.raises(ValueError, match=r"label='dog' is not known.*'ant'"):
        RegionWeightsDisplay.from_estimator(fitted("hard", 3), label="dog")
    with pytest.raises(ValueError, match="label='ant' is the first of two classes"):
        RegionWeightsDisplay.from_estimator(fitted("hard"), label="ant")

"""The picture of a fit's time and end, and scikit-learn's picture of decisions."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from inspect_models import MODELS, fitted, make_rows
from localsvm import ClusteredSVC
from localsvm.data import make_three_gaussians, make_xor
from localsvm.inspect import (
    FitReportDisplay,
    RegionWeightsDisplay,
    ReliabilityDisplay,
)
from localsvm.inspect._fit_report import _STAGES

mpl.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", MODELS)
def test_bars_are_the_seconds_of_the_stages(name):
    model = fitted(name)
    display = FitReportDisplay.from_estimator(model)
    expected = {
        stage: seconds
        for stage, seconds in model.fit_report_.items()
        if isinstance(seconds, float)
    }
    assert display.seconds == expected
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, list(expected.values()))
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [_STAGES[stage] for stage in expected]
    title = " ".join(display.ax_.get_title(loc="left").split())
    assert title.startswith(type(model).__name__)
    if hasattr(model, "duality_gap_"):
        assert f"duality gap {model.duality_gap_:.2g}" in title


def test_regions_and_method_are_told():
    model = fitted("hard")
    facts = FitReportDisplay.from_estimator(model).facts
    sizes = model.region_sizes_
    assert facts["regions"] == (
        f"5, of {sizes.min()} to {sizes.max()} rows, median {np.median(sizes):.0f}"
    )
    assert facts["support vectors"] == str(model.n_support_.sum())
    exact = fitted("exact")
    assert FitReportDisplay.from_estimator(exact).facts["method"] == exact.method_


def test_pipeline_options_and_other_axes():
    model = make_pipeline(StandardScaler(), ClusteredSVC(3, random_state=0))
    model.fit(*make_rows())
    _, ax = plt.subplots()
    display = FitReportDisplay.from_estimator(model, ax=ax, bar_kw={"color": "red"})
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.bars_[0].get_facecolor()[:3] == (1, 0, 0)
    assert display.plot() is display
    assert display.ax_ is not ax


def test_what_is_neither_time_nor_word_is_not_drawn():
    model = ClusteredSVC(3, random_state=0).fit(*make_rows())
    known = FitReportDisplay.from_estimator(model)
    model.fit_report_ = {**model.fit_report_, "losses": {"C=1": 0.3}}
    display = FitReportDisplay.from_estimator(model)
    assert (display.seconds, display.facts) == (known.seconds, known.facts)


def test_estimator_without_a_report_is_refused():
    with pytest.raises(TypeError, match=r"'fit_report_'.*got SVC"):
        FitReportDisplay.from_estimator(SVC().fit(*make_rows()))


@pytest.mark.parametrize(
    ("display", "arguments"),
    [
        (FitReportDisplay, ()),
        (RegionWeightsDisplay, ()),
        (ReliabilityDisplay, make_rows()),
    ],
)
def test_missing_matplotlib_gives_the_install_command(display, arguments, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'localsvm\[plot\]'"):
        display.from_estimator(fitted("hard"), *arguments)


@pytest.mark.parametrize("response", ["auto", "predict", "decision_function"])
@pytest.mark.parametrize("name", MODELS)
def test_scikit_learn_draws_the_decisions_of_two_classes(name, response):
    X, y = make_xor(120, random_state=0)
    model = fitted_plane(name, 2)
    display = DecisionBoundaryDisplay.from_estimator(
        model, X, response_method=response, grid_resolution=12
    )
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    method = "predict" if response == "predict" else "decision_function"
    np.testing.assert_allclose(
        display.response.ravel(), getattr(model, method)(grid), rtol=1e-6
    )
    assert set(model.classes_) == set(y)


@pytest.mark.parametrize("name", MODELS)
def test_scikit_learn_draws_the_decisions_of_three_classes(name):
    X, _ = make_three_gaussians(120, random_state=0)
    display = DecisionBoundaryDisplay.from_estimator(
        fitted_plane(name, 3), X, response_method="predict", grid_resolution=12
    )
    assert set(np.unique(display.response)) <= {0, 1, 2}


PLANE = {}


def fitted_plane(name, n_classes):
    """Model of two features, fitted once."""
    if (name, n_classes) not in PLANE:
        make = make_xor if n_classes == 2 else make_three_gaussians
        model = clone(MODELS[name])
        PLANE[name, n_classes] = model.fit(*make(120, random_state=0))
    return PLANE[name, n_classes]

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from localsvm import ClusteredSVC
from localsvm.data import make_three_gaussians, make_xor
from localsvm.inspect import RegionMapDisplay

mpl.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def xor():
    return make_xor(200, random_state=0)


def draw(model, X, y=None, **options):
    return RegionMapDisplay.from_estimator(model, X, y, grid_resolution=60, **options)


def line_points(display):
    return np.concatenate(
        display.boundary_[0].get_paths()[0].to_polygons(closed_only=False)
    )


@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_display_draws_every_part(xor, assignment):
    X, y = xor
    model = ClusteredSVC(4, assignment=assignment, random_state=0).fit(X, y)
    display = draw(model, X, y)
    assert display.figure_ is display.ax_.figure
    assert len(display.surface_) == 2
    assert len(display.boundary_) == 1
    assert len(display.borders_.get_segments()) >= 3
    np.testing.assert_allclose(
        display.centers_.get_offsets(), model.clusterer_.cluster_centers_
    )
    drawn = [rows.get_offsets() for rows in display.rows_]
    np.testing.assert_allclose(drawn[0], X[y == 0])
    np.testing.assert_allclose(drawn[1], X[y == 1])


def test_boundary_is_where_the_decision_value_is_zero(xor):
    model = LinearSVC(random_state=0).fit(*xor)
    points = line_points(draw(model, xor[0]))
    assert len(points) > 10
    np.testing.assert_allclose(model.decision_function(points), 0, atol=1e-9)


def test_borders_lie_between_regions(xor):
    model = ClusteredSVC(4, assignment="hard", random_state=0).fit(*xor)
    display = draw(model, xor[0])
    step = np.diff(display.xx0[0]).max() + np.diff(display.xx1[:, 0]).max()
    centers = model.clusterer_.cluster_centers_
    for x in np.concatenate(display.borders_.get_segments()):
        nearest = np.sort(np.linalg.norm(centers - x, axis=1))[:2]
        assert nearest[1] - nearest[0] < 2 * step


def test_borders_are_drawn_once():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = ClusteredSVC(
        clusterer=KMeans(2, init=[[0.0, 0.5], [1.0, 0.5]], n_init=1), assignment="hard"
    ).fit(X, [0, 1, 1, 0])
    (segment,) = draw(model, X).borders_.get_segments()
    np.testing.assert_allclose(segment[:, 0], 0.5, atol=0.02)


def test_background_agrees_with_predict(xor):
    model = ClusteredSVC(4, random_state=0).fit(*xor)
    display = draw(model, xor[0])
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    winner = display.margins.argmax(axis=0).ravel()
    np.testing.assert_array_equal(model.classes_[winner], model.predict(grid))


@pytest.mark.parametrize(
    "model",
    [
        ClusteredSVC(3, random_state=0),
        ClusteredSVC(3, assignment="hard", random_state=0),
        SVC(),
        DecisionTreeClassifier(random_state=0),
    ],
    ids=["soft", "hard", "SVC", "tree"],
)
def test_several_classes(model):
    X, y = make_three_gaussians(150, random_state=0)
    labels = np.array(["red", "green", "blue"])[y]
    display = draw(model.fit(X, labels), X, labels)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    winner = display.margins.argmax(axis=0).ravel()
    np.testing.assert_array_equal(model.classes_[winner], model.predict(grid))
    assert np.count_nonzero(display.margins > 0, axis=0).max() == 1
    assert len(display.boundary_) == len(display.surface_) == 3
    assert [rows.get_label() for rows in display.rows_] == ["blue", "green", "red"]


def test_more_classes_than_colours():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.repeat(np.arange(12), 10)
    display = draw(DecisionTreeClassifier(random_state=0).fit(X, y), X, y)
    colors = {tuple(rows.get_facecolor()[0]) for rows in display.rows_}
    assert len(colors) == 12


def test_classifier_without_regions_is_drawn_without_them(xor):
    display = draw(SVC().fit(*xor), *xor)
    assert display.regions is None
    assert display.borders_ is None
    assert display.centers_ is None
    assert len(display.boundary_) == 1


@pytest.mark.filterwarnings("error")
def test_boundary_outside_the_picture_is_left_out():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = LinearSVC().fit(np.vstack([X, X + 50]), np.repeat([0, 1], 40))
    display = draw(model, X)
    assert display.boundary_ == []
    assert len(display.surface_) == 1


def test_rows_without_labels_are_grey(xor):
    display = draw(SVC().fit(*xor), xor[0])
    (rows,) = display.rows_
    assert len(rows.get_offsets()) == 200
    red, green, blue, _ = rows.get_facecolor()[0]
    assert red == green == blue


def test_options_reach_matplotlib(xor):
    model = ClusteredSVC(4, random_state=0).fit(*xor)
    _, ax = plt.subplots()
    display = draw(
        model,
        *xor,
        ax=ax,
        colors=["black", "white"],
        boundary_kw={"linewidths": 7},
        border_kw={"linewidths": 5},
        center_kw={"s": 99},
        row_kw={"visible": False},
    )
    assert display.ax_ is ax
    assert display.boundary_[0].get_linewidth()[0] == 7
    assert display.borders_.get_linewidth()[0] == 5
    assert display.centers_.get_sizes()[0] == 99
    assert not display.rows_[0].get_visible()
    np.testing.assert_array_equal(display.rows_[0].get_facecolor()[0, :3], [0, 0, 0])


def test_plot_can_be_repeated_on_other_axes(xor):
    display = draw(ClusteredSVC(4, random_state=0).fit(*xor), *xor)
    first = display.ax_
    _, ax = plt.subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax is not first


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frame_gives_axis_labels(xor, frame):
    X = frame({"width": xor[0][:, 0], "height": xor[0][:, 1]})
    display = draw(ClusteredSVC(4, random_state=0).fit(X, xor[1]), X, xor[1])
    assert display.ax_.get_xlabel() == "width"
    assert display.ax_.get_ylabel() == "height"


def test_sparse_rows(xor):
    model = ClusteredSVC(4, random_state=0).fit(*xor)
    display = draw(model, sparse.csr_array(xor[0]), xor[1])
    np.testing.assert_allclose(display.X, xor[0])


def test_clusterer_without_centres(xor):
    class Halves:
        def fit(self, X):
            return self

        def predict(self, X):
            return (X[:, 0] > 0).astype(int)

        def get_params(self, deep=True):
            return {}

    model = ClusteredSVC(assignment="hard", clusterer=Halves()).fit(*xor)
    display = draw(model, *xor)
    assert display.centers_ is None
    (segment,) = display.borders_.get_segments()
    step = np.diff(display.xx0[0]).max()
    np.testing.assert_allclose(segment[:, 0], 0, atol=step)


@pytest.mark.parametrize("n_features", [1, 3])
def test_other_than_two_features_is_refused(n_features):
    X = np.random.default_rng(0).normal(size=(40, n_features))
    model = SVC().fit(X, np.repeat([0, 1], 20))
    with pytest.raises(ValueError, match=f"X has {n_features} features"):
        draw(model, X)


def test_one_dimensional_rows_are_refused(xor):
    with pytest.raises(ValueError, match="X has 1D data"):
        draw(SVC().fit(*xor), xor[0][0])


def test_unfitted_classifier_is_refused_before_the_rows_are_looked_at():
    with pytest.raises(NotFittedError):
        draw(ClusteredSVC(), np.zeros((5, 3)))


def test_other_than_classifier_is_refused(xor):
    with pytest.raises(TypeError, match="classifier; got KMeans"):
        draw(KMeans(2).fit(xor[0]), xor[0])


def test_unknown_labels_are_refused(xor):
    with pytest.raises(ValueError, match=r"does not know: \[7\]; expected .*\[0, 1\]"):
        draw(SVC().fit(*xor), xor[0], np.full(200, 7))


def test_labels_of_other_length_are_refused(xor):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        draw(SVC().fit(*xor), xor[0], xor[1][:5])


def test_grid_of_one_point_is_refused(xor):
    with pytest.raises(ValueError, match="grid_resolution=1 should be >= 2"):
        RegionMapDisplay.from_estimator(SVC().fit(*xor), xor[0], grid_resolution=1)


def test_missing_matplotlib_gives_the_install_command(xor, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'localsvm\[plot\]'"):
        draw(SVC().fit(*xor), *xor)


def test_import_does_not_load_matplotlib():
    code = "import sys, localsvm.inspect; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

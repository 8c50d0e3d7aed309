import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from localsvm import ClusteredSVC, SupportClusterSVC
from localsvm.data import TableEncoder, make_three_gaussians, make_xor
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


@pytest.mark.parametrize("n_nearest", [8, 1])
def test_display_draws_every_part(xor, n_nearest):
    X, y = xor
    model = ClusteredSVC(4, n_nearest=n_nearest, random_state=0).fit(X, y)
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
    model = ClusteredSVC(4, n_nearest=1, random_state=0).fit(*xor)
    display = draw(model, xor[0])
    step = np.diff(display.xx0[0]).max() + np.diff(display.xx1[:, 0]).max()
    centers = model.clusterer_.cluster_centers_
    for x in np.concatenate(display.borders_.get_segments()):
        nearest = np.sort(np.linalg.norm(centers - x, axis=1))[:2]
        assert nearest[1] - nearest[0] < 2 * step


def test_borders_are_drawn_once():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = ClusteredSVC(
        clusterer=KMeans(2, init=[[0.0, 0.5], [1.0, 0.5]], n_init=1), n_nearest=1
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
        ClusteredSVC(3, n_nearest=1, random_state=0),
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

    model = ClusteredSVC(n_nearest=1, clusterer=Halves()).fit(*xor)
    display = draw(model, *xor)
    assert display.centers_ is None
    (segment,) = display.borders_.get_segments()
    step = np.diff(display.xx0[0]).max()
    np.testing.assert_allclose(segment[:, 0], 0, atol=step)


def many_features(n_classes=2):
    return make_classification(
        200, 6, n_informative=4, n_classes=n_classes, random_state=0
    )


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_many_features_are_projected_on_two_principal_components(storage):
    X, y = many_features()
    X = X * (np.abs(X) > 0.3)
    rows = storage(X)
    model = ClusteredSVC(4, random_state=0).fit(rows, y)
    display = draw(model, rows, y)
    centred = X - X.mean(axis=0)
    _, size, axes = np.linalg.svd(centred, full_matrices=False)
    plane = np.concatenate([rows.get_offsets() for rows in display.rows_])
    order = np.argsort(y, kind="stable")
    expected = (centred @ axes[:2].T)[order]
    signs = np.sign((plane * expected).sum(axis=0))
    np.testing.assert_allclose(plane, signs * expected, atol=1e-6)
    centers = (model.clusterer_.cluster_centers_ - X.mean(axis=0)) @ axes[:2].T
    np.testing.assert_allclose(
        display.centers_.get_offsets(), signs * centers, atol=1e-6
    )
    share = size[0] ** 2 / (size**2).sum()
    assert f"{share:.0%} of the variance" in display.ax_.get_xlabel()
    assert "6 features" in display.ax_.get_title()
    assert display.boundary_ == display.surface_ == []
    assert display.borders_ is None


def test_projected_rows_without_labels_have_the_colours_of_their_regions():
    X, y = many_features()
    model = ClusteredSVC(4, random_state=0).fit(X, y)
    for display in (draw(model, X), draw(model, X, y, color_by="region")):
        regions = model.region(X)
        assert [rows.get_label() for rows in display.rows_] == [
            f"region {region}" for region in range(4)
        ]
        for region, rows in enumerate(display.rows_):
            assert len(rows.get_offsets()) == np.sum(regions == region)
        assert len({tuple(rows.get_facecolor()[0]) for rows in display.rows_}) == 4


def test_projected_classifier_without_regions():
    X, y = many_features()
    display = draw(SVC().fit(X, y), X)
    (rows,) = display.rows_
    assert len(rows.get_offsets()) == 200
    assert display.centers_ is None


def test_many_regions_have_no_legend():
    X, y = many_features()
    display = draw(ClusteredSVC(15, random_state=0).fit(X, y), X)
    assert len(display.rows_) == 15
    assert display.ax_.get_legend_handles_labels()[1] == ["region centre"]


def test_cluster_machine_has_its_means_as_centres(xor):
    model = SupportClusterSVC(5, random_state=0).fit(*xor)
    centers = draw(model, *xor).centers_.get_offsets()
    np.testing.assert_allclose(centers, model.summary_.mean)


def test_pipeline_of_two_columns_is_drawn_in_them(xor):
    X = pd.DataFrame(100 + 50 * xor[0], columns=["width", "height"])
    model = make_pipeline(StandardScaler(), ClusteredSVC(4, random_state=0))
    display = draw(model.fit(X, xor[1]), X, xor[1])
    assert display.ax_.get_xlabel() == "width"
    np.testing.assert_allclose(
        display.centers_.get_offsets(),
        model[0].inverse_transform(model[1].clusterer_.cluster_centers_),
    )
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    frame = pd.DataFrame(grid, columns=X.columns)
    winner = display.margins.argmax(axis=0).ravel()
    np.testing.assert_array_equal(model.classes_[winner], model.predict(frame))
    regions = model[1].region(model[0].transform(frame))
    np.testing.assert_array_equal(display.regions.ravel(), regions)


def test_table_of_words_is_drawn_by_its_features(xor):
    X = pd.DataFrame({"width": xor[0][:, 0], "side": np.where(xor[0][:, 1] > 0, *"NS")})
    model = make_pipeline(TableEncoder(), ClusteredSVC(4, random_state=0))
    display = draw(model.fit(X, xor[1]), X, xor[1])
    assert "3 features" in display.note
    assert display.centers_ is not None


def test_of_many_rows_a_part_is_drawn(xor):
    model = ClusteredSVC(4, random_state=0).fit(*xor)
    first, second = (draw(model, *xor, max_rows=50) for _ in range(2))
    assert sum(len(rows.get_offsets()) for rows in first.rows_) == 50
    np.testing.assert_array_equal(first.X, second.X)
    assert len(draw(model, *xor, max_rows=None).X) == 200


def test_colours_that_are_not_known_are_refused(xor):
    with pytest.raises(ValueError, match="color_by='size' is not known"):
        draw(SVC().fit(*xor), *xor, color_by="size")
    with pytest.raises(ValueError, match="color_by='class' needs labels y"):
        draw(SVC().fit(*xor), xor[0], color_by="class")
    with pytest.raises(ValueError, match="color_by='region' needs a classifier with"):
        draw(SVC().fit(*xor), *xor, color_by="region")


def test_one_feature_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 1))
    model = SVC().fit(X, np.repeat([0, 1], 20))
    with pytest.raises(ValueError, match="X has 1 features"):
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

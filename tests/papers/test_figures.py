import numpy as np
import pytest
from papers._execute import execute
from papers._figures import Curve, draw_curves, draw_planes
from papers._plane import plane, read_plane
from papers._rows import synthetic

from localsvm import ClusteredSVC
from localsvm.data import make_xor
from papers import Data, Method, Part, Run

XOR = Data(synthetic, {"make": make_xor, "n_train": 200, "n_test": 50})
PARTS = {
    "regions": Part("localsvm.ClusteredSVC", {"n_regions": 2, "n_nearest": 1}),
    "decision": Part("sklearn.svm.SVC"),
    "labels": Part("sklearn.neighbors.KNeighborsClassifier"),
}


@pytest.fixture(params=PARTS)
def drawn(request):
    part = PARTS[request.param]
    record = execute(Run("g", XOR, Method("m", part), measures=(plane,)))
    return part, read_plane(record)


def test_plane_is_what_the_model_says(drawn):
    part, measured = drawn
    X, y = make_xor(200, random_state=0)
    model = part.make(0).fit(X, y)
    left, right, bottom, top = measured.extent
    x0, x1 = np.meshgrid(np.linspace(left, right, 100), np.linspace(bottom, top, 100))
    points = np.stack([x0.ravel(), x1.ravel()], axis=1)
    np.testing.assert_array_equal(measured.labels.ravel(), model.predict(points))
    np.testing.assert_allclose(measured.X, X, atol=5e-4)
    np.testing.assert_array_equal(measured.y, y)
    if measured.decision is not None:
        signs = np.sign(measured.decision.ravel().astype(int))
        assert np.all(signs * np.sign(model.decision_function(points)) >= 0)
    assert (measured.regions is not None) == isinstance(model, ClusteredSVC)


def test_plane_is_drawn_with_boundary_and_legend(drawn):
    _, measured = drawn
    figure = draw_planes({"title": measured})
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels[:3] == ["class 1", "class 2", "decision boundary"]
    assert ("border of regions" in labels) == (measured.regions is not None)
    assert figure.axes[0].get_title() == "title"


def test_curves_have_axes_and_one_legend():
    curves = [
        Curve("ours", {2.0: [1.0, 3.0], 4.0: [5.0]}),
        Curve("line", {0.0: [2.0]}),
    ]
    figure = draw_curves({"A": curves, "B": curves[:1]}, xlabel="k", ylabel="%")
    assert [ax.get_xlabel() for ax in figure.axes] == ["k", "k"]
    assert figure.axes[0].get_ylabel() == "%"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "ours",
        "line",
    ]
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["2", "4"]
    (line,) = figure.axes[1].containers[0][:1]
    np.testing.assert_array_equal(line.get_ydata(), [2.0, 5.0])


def test_curves_can_have_logarithmic_axes():
    curve = Curve("ours", {1.0: [1.0], 10.0: [10.0]})
    figure = draw_curves({"A": [curve]}, xlabel="x", ylabel="y", log="y")
    from_zero = draw_curves({"A": [curve]}, xlabel="x", ylabel="y", from_zero=True)
    assert from_zero.axes[0].get_ylim()[0] == 0
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_xscale() == "linear"

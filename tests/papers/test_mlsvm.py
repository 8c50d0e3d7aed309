"""What the experiments of the MLSVM paper measure and draw."""

import numpy as np
import pytest
from papers._execute import execute
from papers._results import Result
from papers._rows import synthetic
from papers.mlsvm import image
from papers.mlsvm.drawing import Model, Steps, draw_panels
from papers.mlsvm.figure5 import FIGURE5
from papers.mlsvm.measures import boosting_errors, complexity, em_steps
from papers.mlsvm.runs import digit_runs, forest_runs

from localsvm import MixtureSVC
from localsvm.data import make_circle_in_square
from papers import Data, Method, Part, Run, Size

DISC = Data(synthetic, {"make": make_circle_in_square, "n_train": 100, "n_test": 200})
MIXTURE = Part("localsvm.MixtureSVC", {"n_regions": 3, "em_max_iter": 4, "em_tol": 0.0})


def run(part, *measures):
    return execute(Run("g", DISC, Method("m", part), measures=measures))


def fit_mixture():
    X, y = make_circle_in_square(100, random_state=0)
    return MixtureSVC(3, em_max_iter=4, em_tol=0.0, random_state=0).fit(X, y), X, y


def test_em_steps_are_the_history():
    model, X, y = fit_mixture()
    record = run(MIXTURE, em_steps, complexity)
    assert record["scores"]["n_steps"] == 4
    assert record["scores"]["complexity"] == model.n_regions_
    history = record["arrays"]["log_likelihood"]
    np.testing.assert_allclose(history, model.history_["log_likelihood"], atol=1e-3)
    start, *_, last = record["arrays"]["train_accuracies"]
    assert start == pytest.approx(record["scores"]["start_train_accuracy"])
    assert last == pytest.approx(100 * model.score(X, y))


def test_complexity_counts_support_vectors():
    part = Part("sklearn.svm.SVC", {"C": 10.0})
    X, y = make_circle_in_square(100, random_state=0)
    expected = len(part.make(0).fit(X, y).support_)
    assert run(part, complexity)["scores"]["complexity"] == expected


def test_boosting_errors_end_with_the_error_of_the_whole():
    weak = Part("sklearn.tree.DecisionTreeClassifier", {"max_depth": 1})
    params = {"estimator": weak, "n_estimators": 7}
    boosted = Part("sklearn.ensemble.AdaBoostClassifier", params)
    record = run(boosted, boosting_errors, complexity)
    errors = record["arrays"]["test_errors"]
    assert len(errors) == record["scores"]["complexity"] == 7
    assert errors[-1] == pytest.approx(record["scores"]["error"])


def test_panels_draw_what_was_recorded_and_leave_out_what_was_not():
    definition = Run("g", DISC, Method("m", MIXTURE), measures=(em_steps,))
    results = [Result(definition, execute(definition))]
    panel = Steps("rise", "log_likelihood", {"ours": "g", "none": "?"}, is_rise=True)
    figure = draw_panels(results, [panel, Model("no record", "?")])
    (line,) = figure.axes[0].lines
    y = line.get_ydata()
    assert y[0] == 0
    assert len(y) == 5
    assert not figure.axes[1].lines


def test_maps_come_back_from_records(monkeypatch):
    labels = np.random.default_rng(0).integers(0, 2, 145 * 145)
    fake = labels[:, None].astype(np.float32), labels.astype(np.uint8)
    monkeypatch.setattr(image, "_image", lambda: fake)

    class Echo:
        def predict(self, X):
            return X[:, 0].astype(int)

    class Fitted:
        model = Echo()

    measured = image.image_map(Fitted)
    record = {"arrays": {"predicted": measured["predicted"]}}
    np.testing.assert_array_equal(image.read_map(record).ravel(), labels)
    assert image.read_image(record) is None
    definition = FIGURE5.runs(Size.SMOKE)[0]
    assert len(FIGURE5.draw([Result(definition, record)]).axes) == 1


@pytest.mark.parametrize("runs", [digit_runs, forest_runs])
def test_full_size_is_as_printed(runs):
    full = runs(Size.FULL)
    groups = {}
    for each in full:
        groups.setdefault(each.group, []).append(each)
        assert each.selection.n_folds == 5
        assert each.selection.max_rows is None
    assert {len(group) for name, group in groups.items() if "All" not in name} == {10}
    assert all(not run.data.prepare for run in full) or runs is forest_runs


def test_full_size_of_the_forest_tests_on_all_other_rows():
    for each in forest_runs(Size.FULL):
        assert each.split.n_train + each.split.n_test == 581_012

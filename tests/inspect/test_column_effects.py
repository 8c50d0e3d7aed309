"""Pictures of the tables of additive models."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from additive_data import mixed_table
from localsvm import AdditiveSVC, ClusteredSVC
from localsvm.inspect import ColumnEffectsDisplay

mpl.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def fitted(n_classes=2):
    X, y, categorical = mixed_table(n_classes=n_classes)
    return AdditiveSVC(C=1.0, categorical_features=categorical).fit(X, y)


def test_most_important_columns_are_drawn_as_they_are():
    model = fitted()
    display = ColumnEffectsDisplay.from_estimator(model, n_columns=3)
    order = np.argsort(-model.importances_)[:3]
    assert [ax.get_title() for ax in display.axes_] == [f"x{k}" for k in order]
    assert display.axes_[0].get_ylabel() == "for 1"
    for k, ax, rows in zip(order, display.axes_, display.row_axes_, strict=True):
        own = model.column_effects_[k]
        if own.kind == "category":
            continue
        (steps,), (shares,) = ax.patches, rows.patches
        np.testing.assert_array_equal(steps.get_data().values, own.effect)
        np.testing.assert_array_equal(steps.get_data().edges[1:-1], own.edges)
        np.testing.assert_allclose(shares.get_data().values, own.weight / 600)
    texts = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
    assert texts == [f"missing ({model.column_effects_[0].missing_weight / 600:.0%})"]


def test_levels_rare_and_missing_ones_have_places():
    model = fitted()
    display = ColumnEffectsDisplay.from_estimator(model, n_columns=4)
    (place,) = (i for i, each in enumerate(display.effects) if each.name == "x2")
    ax, own = display.axes_[place], model.column_effects_[2]
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == [*(f"{level:g}" for level in own.levels), "rare", "missing"]
    heights = [path.vertices[0, 1] for path in ax.collections[0].get_paths()]
    np.testing.assert_allclose(
        heights, [*own.effect, own.rare_effect, own.missing_effect]
    )


def test_class_is_chosen_by_its_label():
    model = fitted(3)
    for label in (0, 2):
        display = ColumnEffectsDisplay.from_estimator(model, label=label)
        own = {each.name: each for each in display.effects}["x0"]
        table = model.column_effects_[0].effect[:, label]
        np.testing.assert_array_equal(own.effect, table)
    assert ColumnEffectsDisplay.from_estimator(model).label in (0, 1, 2)
    with pytest.raises(ValueError, match="label=7 is not known"):
        ColumnEffectsDisplay.from_estimator(model, label=7)
    with pytest.raises(ValueError, match="label=0 is the first of two classes"):
        ColumnEffectsDisplay.from_estimator(fitted(), label=0)


def test_pipelines_and_given_axes():
    X, y, _ = mixed_table()
    model = make_pipeline(StandardScaler(), AdditiveSVC(C=1.0)).fit(X, y)
    _, axes = plt.subplots(1, 2)
    display = ColumnEffectsDisplay.from_estimator(
        model, n_columns=2, axes=axes, feature_names=list("abcd")
    )
    assert display.axes_ == list(axes)
    assert {ax.get_title() for ax in axes} < set("abcd")
    with pytest.raises(ValueError, match="axes has 2 entries; expected 4"):
        ColumnEffectsDisplay.from_estimator(model, axes=axes)


def test_other_models_have_no_tables():
    X, y, _ = mixed_table()
    model = ClusteredSVC(2).fit(np.nan_to_num(X), y)
    with pytest.raises(TypeError, match=r"needs an AdditiveSVC.*got ClusteredSVC"):
        ColumnEffectsDisplay.from_estimator(model)

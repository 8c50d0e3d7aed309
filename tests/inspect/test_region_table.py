"""Tables of regions, of every estimator that has some."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from inspect_models import (
    STAGED,
    WITH_REGIONS,
    WITHOUT_REGIONS,
    fitted,
    held_out,
    make_rows,
)
from localsvm import ClusteredSVC, GradientMetric, LocalSVC, StagedSVC
from localsvm.inspect import region_table


@pytest.fixture(params=WITH_REGIONS)
def name(request):
    return request.param


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


def test_every_region_has_a_row(name, n_classes):
    model = fitted(name, n_classes)
    table = region_table(model)
    assert [row.region for row in table] == list(range(model.n_regions_))
    assert table.classes == tuple(model.classes_.tolist())
    np.testing.assert_array_equal([row.size for row in table], model.region_sizes_)
    counts = [[row.class_counts[k] for k in table.classes] for row in table]
    np.testing.assert_array_equal(counts, model.region_class_counts_)
    for row in table:
        assert sum(row.class_mix.values()) == pytest.approx(1 if row.size else 0)
        assert row.n_rows is row.accuracy is row.mean_margin is None


def test_shares_are_those_of_all_training_rows(name):
    table = region_table(fitted(name))
    once = [row.share for row in table if row.stage in (None, 1)]
    assert sum(once) == pytest.approx(1)
    assert sum(row.share for row in table) <= 2


def test_kind_is_that_of_the_svm(name):
    kinds = {(row.kind, row.stage) for row in region_table(fitted(name))}
    linear, kernel = {("linear", None)}, {("kernel", None)}
    expected = {
        "local": kernel,
        "local searched": kernel,
        "clusters": kernel,
        "clusters against the rest": kernel,
        "staged": {("linear", 1), ("kernel", 2)},
        "staged, quantiles": {("linear", 1), ("kernel", 2)},
        "first stage": {("linear", 1)},
    }
    assert kinds == expected.get(name, linear)


def test_rows_are_scored_in_the_region_that_answers_them(name, n_classes):
    model = fitted(name, n_classes)
    X, y = held_out(n_classes)
    regions, hit = model.region(X), model.predict(X) == y
    scores = model.decision_function(X)
    if n_classes == 2:
        margin = np.abs(scores)
    else:
        margin = np.diff(np.sort(scores, axis=1)[:, -2:], axis=1).ravel()
    for row in region_table(model, X, y):
        own = regions == row.region
        assert row.n_rows == own.sum()
        if own.any():
            assert row.accuracy == pytest.approx(hit[own].mean())
            assert row.mean_margin == pytest.approx(margin[own].mean(), rel=1e-5)
        else:
            assert row.accuracy is row.mean_margin is None


@pytest.mark.parametrize("name", ["hard", "soft", "anchors", "mixture"])
def test_top_features_are_the_largest_weights(name, n_classes):
    model = fitted(name, n_classes)
    for row in region_table(model, feature_names=list("abcde"), n_top=2):
        weights = model.coef_[row.region]
        best = np.argsort(-np.abs(weights).max(axis=0))[:2]
        assert [top.name for top in row.top_features] == ["abcde"[j] for j in best]
        for top, column in zip(row.top_features, best, strict=True):
            task = np.abs(weights[:, column]).argmax()
            assert top.weight == pytest.approx(weights[task, column])
            assert top.label == model.classes_[1 if n_classes == 2 else task]


@pytest.mark.parametrize("metric", [None, "full", "diagonal"])
@pytest.mark.parametrize("scaling", ["none", "standard"])
def test_top_features_of_a_staged_model_are_by_the_columns(scaling, metric, n_classes):
    X, y = make_rows(n_classes)
    changes = {"scaling": scaling, "gradient_metric": metric, "n_regions": 1}
    model = StagedSVC(threshold=0.0, **STAGED | changes).fit(X, y)
    coef, _ = model.local_coef(X[:1])
    np.testing.assert_allclose(model.scaled_coef_, coef, rtol=1e-6)
    (row,) = region_table(model, n_top=1)
    assert abs(row.top_features[0].weight) == pytest.approx(np.abs(coef).max())


@pytest.mark.parametrize("name", ["local", "staged, quantiles"])
def test_kernel_regions_have_top_features_by_their_rows(name):
    model = fitted(name)
    X, _ = held_out()
    assert not any(
        row.top_features for row in region_table(model) if row.kind == "kernel"
    )
    table = region_table(model, X, n_top=5)
    regions = model.region(X)
    for row in table:
        own = np.flatnonzero(regions == row.region)[:20]
        if len(own):
            mean = model.local_coef(X[own])[0].mean(axis=0)[0]
            found = {top.name: top.weight for top in row.top_features}
            for column, weight in enumerate(mean):
                assert found.get(f"x{column}", 0.0) == pytest.approx(weight)
        elif row.kind == "kernel":
            assert row.top_features == ()


def test_clusters_have_the_gradient_at_their_middle():
    model = fitted("clusters")
    coef, _ = model.local_coef(model.summary_.mean)
    for row in region_table(model, n_top=1):
        assert abs(row.top_features[0].weight) == pytest.approx(
            np.abs(coef[row.region]).max()
        )


def test_pipeline_gives_names_and_takes_raw_rows():
    X, y = make_rows()
    frame = pd.DataFrame(X, columns=list("abcde"))
    pipeline = make_pipeline(StandardScaler(), ClusteredSVC(4, random_state=0))
    table = region_table(pipeline.fit(frame, y), frame, y)
    assert table.feature_names == tuple("abcde")
    right = sum(row.accuracy * row.n_rows for row in table)
    assert right == pytest.approx((pipeline.predict(frame) == y).sum())


def test_steps_without_names_leave_numbers():
    X, y = make_rows()
    pipeline = make_pipeline(FunctionTransformer(), ClusteredSVC(4, random_state=0))
    assert region_table(pipeline.fit(X, y)).feature_names[:2] == ("x0", "x1")


def test_sparse_and_narrow_rows():
    X, y = held_out()
    model = fitted("local")
    expected = region_table(model, X, y)
    for rows in (sparse.csr_array(X), X.astype(np.float32)):
        found = region_table(model, rows, y)
        assert [row.n_rows for row in found] == [row.n_rows for row in expected]


def test_metric_that_is_no_matrix_leaves_no_top_features():
    X, y = make_rows()
    squares = FunctionTransformer(np.square)
    table = region_table(ClusteredSVC(4, metric=squares, random_state=0).fit(X, y))
    assert not any(row.top_features for row in table)
    linear = GradientMetric(random_state=0)
    table = region_table(ClusteredSVC(4, metric=linear, random_state=0).fit(X, y))
    assert all(row.top_features for row in table)


def test_region_that_had_no_training_row_is_not_in_the_table():
    class Halves:
        def fit(self, X):
            return self

        def predict(self, X):
            return np.where(X[:, 0] > 50, 2, (X[:, 0] > 0).astype(int))

        def get_params(self, deep=True):
            return {}

    X, y = make_rows()
    model = ClusteredSVC(n_nearest=1, clusterer=Halves()).fit(X, y)
    table = region_table(model, np.vstack([X, np.full((3, 5), 100.0)]))
    assert sum(row.n_rows for row in table) == len(X)


def test_labels_not_known_to_the_model_are_errors():
    X, y = held_out()
    y = y.copy()
    y[:10] = "wasp"
    model = fitted("hard")
    table = region_table(model, X, y)
    right = sum(row.accuracy * row.n_rows for row in table if row.n_rows)
    assert right == pytest.approx((model.predict(X) == y).sum())


@pytest.mark.parametrize("column", ["size", "accuracy", "mean_margin", "n_rows"])
def test_sorted_table_has_the_same_rows_and_unknown_ones_last(column):
    table = region_table(fitted("clusters"), *held_out())
    for descending in (True, False):
        found = table.sorted_by(column, descending=descending)
        values = [getattr(row, column) for row in found]
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=descending)
        assert values[len(known) :] == [None] * (len(values) - len(known))
        assert {row.region for row in found} == set(range(len(table)))


def test_sorting_by_what_is_no_column_is_refused():
    with pytest.raises(ValueError, match=r"column='mix'.*'accuracy'"):
        region_table(fitted("hard")).sorted_by("mix")


def test_table_is_plain_data(name):
    table = region_table(fitted(name, 3), *held_out(3))
    back = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert back["classes"] == ["ant", "bee", "cat"]
    for row, plain in zip(table, back["regions"], strict=True):
        assert plain["size"] == row.size
        assert plain["class_counts"] == row.class_counts
        assert [top["name"] for top in plain["top_features"]] == [
            top.name for top in row.top_features
        ]


def test_integer_labels_stay_integers_in_plain_data():
    X, y = make_rows(3)
    model = ClusteredSVC(3, random_state=0).fit(X, np.searchsorted(np.unique(y), y))
    plain = json.loads(json.dumps(region_table(model).to_dict()))
    assert plain["classes"] == [0, 1, 2]
    assert plain["regions"][0]["top_features"][0]["class"] in (0, 1, 2)


def test_data_frame():
    table = region_table(fitted("hard"), *held_out())
    frame = table.to_pandas()
    assert frame.index.name == "region"
    assert "stage" not in frame
    np.testing.assert_allclose(frame["share of ant"] + frame["share of bee"], 1)
    assert frame["accuracy"].tolist() == [row.accuracy for row in table]
    assert set(region_table(fitted("staged")).to_pandas()["stage"]) == {1, 2}


def test_text_is_aligned_and_says_what_is_known():
    table = region_table(fitted("staged"), *held_out())
    first, *lines = str(table).splitlines()
    assert first.split()[:5] == ["region", "kind", "size", "share", "classes"]
    assert "accuracy" in first
    assert "linear, stage 1" in lines[0]
    column = first.index("classes")
    for line, row in zip(lines, table.rows[:20], strict=False):
        assert line[:column].split()[0] == str(row.region)
        assert line[column:].startswith(row.mix_words())
    assert lines[-1] == f"... and {len(table) - 20} more regions"


def test_text_without_rows_and_weights_has_no_columns_for_them():
    first = str(region_table(fitted("local"))).splitlines()[0]
    assert first.split() == ["region", "kind", "size", "share", "classes"]


@pytest.mark.parametrize("name", WITHOUT_REGIONS)
def test_estimator_without_regions_is_refused(name):
    found = type(WITHOUT_REGIONS[name]).__name__
    with pytest.raises(TypeError, match=f"with regions.*got {found}"):
        region_table(fitted(name))


def test_bad_arguments_are_refused():
    X, y = held_out()
    model = fitted("hard")
    with pytest.raises(NotFittedError):
        region_table(LocalSVC())
    with pytest.raises(TypeError, match="got SVC"):
        region_table(SVC().fit(X, y))
    with pytest.raises(ValueError, match="found y without X"):
        region_table(model, y=y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        region_table(model, X, y[:5])
    with pytest.raises(ValueError, match="X has 4 features"):
        region_table(model, X[:, :4])
    with pytest.raises(ValueError, match="feature_names has 2 entries, expected 5"):
        region_table(model, feature_names=["a", "b"])

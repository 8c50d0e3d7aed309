"""ClusteredSVC on rows in blocks."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from engine_data import (
    ROWS,
    local_client,
    make_rows,
    same_bits,
    uneven_batches,
    write_parquet,
)
from localsvm import ClusteredSVC, GradientMetric, load, save
from localsvm.cluster import PDDP, ParallelKMeans
from localsvm.engine import Batches, NotEnoughMemoryError, options
from localsvm.estimators._regional import solve as _regional_solve
from localsvm.passes import _linear_solver as _part_solver

MODEL = {"n_regions": 5, "C": 0.3, "tol": 1e-5, "random_state": 0}
FORMS = [
    {},
    {"n_nearest": 1},
    {"n_nearest": 1, "global_reg": np.inf, "fit_intercept": False},
    {"loss": "squared_hinge", "n_nearest": 2},
    {"multi_class": "crammer_singer"},
    {"class_weight": "balanced", "C": "scale", "tol": 1e-3},
]


@pytest.fixture
def small_solves(monkeypatch):
    """Solves of so few rows that a pass makes several."""
    monkeypatch.setattr(_part_solver, "_WORKING_BYTES", 12000.0)


def fit(*arguments, parameters=None, **settings):
    settings.setdefault("block_rows", ROWS)
    with options(**settings):
        return ClusteredSVC(**MODEL | (parameters or {})).fit(*arguments)


def primal(model, X, y, weight):
    """Objective of a fitted two-class model without class weights, in float64."""
    coef, intercept = (
        np.asarray(part[:, 0], dtype=np.float64)
        for part in (model._model.coef, model._model.intercept)
    )
    vectors = np.c_[coef, intercept / model.intercept_scaling_]
    own, common = vectors[:-1] - vectors[-1], vectors[-1]
    margin = np.where(y == model.classes_[1], 1, -1) * model.decision_function(X)
    loss = model.C_ * weight @ np.maximum(0, 1 - margin.astype(np.float64))
    return 0.5 * (model.global_reg * common @ common + (own**2).sum()) + loss


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_same_model_as_in_memory(n_classes, form, small_solves):
    X, y, weight = make_rows(600, n_classes=n_classes)
    whole = ClusteredSVC(**MODEL | form).fit(X, y, weight)
    parts = fit(Batches.of(X, y, weight, rows=ROWS), parameters=form)
    np.testing.assert_array_equal(
        parts.clusterer_.cluster_centers_, whole.clusterer_.cluster_centers_
    )
    assert parts.duality_gap_ <= parts.tol
    np.testing.assert_allclose(parts.C_, whole.C_)
    scores = whole.decision_function(X)
    atol = (0.05 if parts.tol > 1e-5 else 0.01) * np.abs(scores).max()
    np.testing.assert_allclose(parts.decision_function(X), scores, atol=atol)
    np.testing.assert_array_equal(parts.region_sizes_, whole.region_sizes_)
    np.testing.assert_allclose(parts.region_class_counts_, whole.region_class_counts_)
    assert parts.n_support_.shape == whole.n_support_.shape
    assert parts.coef_.shape == whole.coef_.shape


@pytest.mark.parametrize("n_nearest", [8, 1])
def test_certificate_bounds_the_objective(n_nearest, small_solves):
    X, y, weight = make_rows(600, n_classes=2)
    tight = {"n_nearest": n_nearest, "tol": 1e-8, "max_iter": 100_000}
    best = primal(ClusteredSVC(**MODEL | tight).fit(X, y, weight), X, y, weight)
    loose = {"n_nearest": n_nearest, "tol": 3e-2}
    model = fit(Batches.of(X, y, weight, rows=ROWS), parameters=loose)
    found = primal(model, X, y, weight)
    assert 1e-9 < model.duality_gap_ <= 3e-2
    assert best <= found * (1 + 1e-7)
    assert found * (1 - model.duality_gap_) <= best * (1 + 1e-7)


def test_same_bits_from_every_source_and_driver(tmp_path, small_solves):
    data = make_rows(dtype=np.float32)
    X, y, weight = data
    path = write_parquet(tmp_path / "rows.parquet", *data)
    coarse = {"parameters": {"tol": 1e-3}}
    expected = fit(Batches.of(*data, rows=ROWS), **coarse)
    assert expected.n_iter_ > 1
    assert expected.coef_.dtype == np.float32
    rows = da.from_array(X, chunks=(ROWS, 2))
    frame = dd.read_parquet(path, split_row_groups=True)
    batches = (
        (X[i : i + ROWS], y[i : i + ROWS], weight[i : i + ROWS])
        for i in range(0, len(y), ROWS)
    )
    assert same_bits(fit(batches, **coarse), expected)
    assert same_bits(fit(path, "label", "weight", **coarse), expected)
    assert same_bits(fit(rows, y, weight, **coarse), expected)
    assert same_bits(
        fit(rows, y, weight, parameters={"tol": 1e-3, "n_jobs": 3}), expected
    )
    for n_workers in (1, 2, 4):
        with local_client(n_workers) as client:
            assert same_bits(fit(frame, "label", "weight", **coarse), expected)
            found = fit(path, "label", "weight", client=client, **coarse)
            assert same_bits(found, expected)


def test_files_are_removed(tmp_path):
    X, y, weight = make_rows()
    fit(Batches.of(X, y, weight, rows=ROWS), folder=tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="metric must be None"):
        fit(
            Batches.of(X, y, rows=ROWS),
            folder=tmp_path,
            parameters={"metric": GradientMetric()},
        )
    assert not list(tmp_path.iterdir())


def test_blocks_of_unknown_size():
    X, y, weight = make_rows()
    rows = da.from_array(X, chunks=(ROWS, 4))
    rows, labels, weights = (
        part[da.ones(len(y), chunks=ROWS, dtype=bool)]
        for part in (rows, da.from_array(y, ROWS), da.from_array(weight, ROWS))
    )
    expected = fit(Batches.of(X, y, weight, rows=ROWS))
    assert same_bits(fit(rows, labels, weights), expected)


def test_automatic_number_of_regions_is_that_in_memory():
    X, y, _ = make_rows(900)
    auto = {"n_regions": "auto", "tol": 1e-2}
    whole = ClusteredSVC(**MODEL | auto).fit(X, y)
    assert fit(Batches.of(X, y, rows=ROWS), parameters=auto).n_regions_ == 30
    assert whole.n_regions_ == 30


def test_blocks_without_rows_weight_or_a_class(small_solves):
    batches, X, y, weight = uneven_batches(*make_rows())
    parts = fit(batches)
    whole = ClusteredSVC(**MODEL).fit(X, y, weight)
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), atol=0.03
    )
    with pytest.raises(ValueError, match="at least one non-zero"):
        fit(Batches.of(X, y, 0 * weight, rows=ROWS))


@pytest.mark.parametrize("form", [{}, {"multi_class": "crammer_singer"}], ids=str)
def test_blocks_of_a_few_rows(form):
    X, y, weight = make_rows(120, n_classes=4)
    few = {"n_regions": 3, "tol": 1e-4} | form
    parts = fit(Batches.of(X, y, weight, rows=2), parameters=few)
    whole = ClusteredSVC(**MODEL | few).fit(X, y, weight)
    assert parts.duality_gap_ <= 1e-4
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), atol=0.06
    )


def test_weight_two_is_the_row_twice(small_solves):
    X, y, weight = make_rows(300, n_classes=2)
    weighted = fit(Batches.of(X, y, weight, rows=ROWS))
    count = weight.astype(int)
    repeated = fit(
        Batches.of(np.repeat(X, count, axis=0), np.repeat(y, count), rows=ROWS)
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=0.02
    )


def test_sparse_rows(small_solves):
    X, y, weight = make_rows()
    X *= np.abs(X) > 0.5
    coarse = {"parameters": {"tol": 1e-4}}
    dense = fit(Batches.of(X, y, weight, rows=ROWS), **coarse)
    csr = fit(Batches.of(sparse.csr_array(X), y, weight, rows=ROWS), **coarse)
    np.testing.assert_allclose(
        csr.decision_function(X), dense.decision_function(X), atol=0.02
    )


def test_other_clusterers():
    X, y, _ = make_rows(n_classes=2)
    batches = Batches.of(X, y, rows=ROWS)
    for n_nearest in (8, 1):
        kmeans = {"clusterer": KMeans(n_init=1), "n_nearest": n_nearest}
        model = fit(batches, parameters=kmeans)
        assert model.n_regions_ == 5
        assert model.score(X, y) > 0.75
    pddp = {"clusterer": PDDP(4), "n_regions": "auto"}
    for n_nearest in (8, 1):
        model = fit(batches, parameters=pddp | {"n_nearest": n_nearest})
        assert model.score(X, y) > 0.75


def test_k_means_by_passes(tmp_path):
    X, y, weight = make_rows()
    parameters = {"clusterer": ParallelKMeans(random_state=3), "n_regions": 4}
    expected = ParallelKMeans(4, random_state=3).fit(X, sample_weight=weight)
    path = write_parquet(tmp_path / "rows.parquet", X, y, weight)
    model = fit(path, "label", "weight", parameters=parameters)
    np.testing.assert_allclose(
        model.clusterer_.cluster_centers_, expected.cluster_centers_
    )
    with local_client(2) as client:
        again = fit(path, "label", "weight", parameters=parameters, client=client)
    assert same_bits(again, model)


def test_limits_are_told_of(small_solves):
    X, y, _ = make_rows()
    batches = Batches.of(X, y, rows=ROWS)
    with pytest.warns(ConvergenceWarning, match="3 of 3 problems stopped at max_iter"):
        model = fit(batches, parameters={"max_iter": 1, "tol": 0.0})
    assert model.n_iter_ == 1
    assert 0 < model.duality_gap_ < 1
    with pytest.warns(ConvergenceWarning, match="stopped at max_time=1e-06"):
        fit(batches, parameters={"max_time": 1e-6, "tol": 0.0})


def test_what_is_wrong_is_said():
    X, y, _ = make_rows(100)
    with pytest.raises(ValueError, match=r"n_samples=100 should be >= n_regions=101"):
        fit(Batches.of(X, y), parameters={"n_regions": 101})
    with pytest.raises(ValueError, match="number of classes has to be greater"):
        fit(Batches.of(X, np.ones(100)))
    with pytest.raises(ValueError, match="Sums of squares are not finite"):
        fit(Batches.of(X * 1e200, y))


def test_memory_is_checked(tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *make_rows())
    message = r"4 columns x 8 bytes x 4 copies \+ 608 bytes\) \+ 736 kB"
    with pytest.raises(NotEnoughMemoryError, match=message):
        fit(path, "label", "weight", memory_limit="1MB")


def test_memory_of_many_weights_is_checked(monkeypatch):
    X, y, weight = make_rows()
    batches = Batches.of(X, y, weight, rows=ROWS)
    monkeypatch.setattr(_regional_solve, "_VECTOR_COPIES", 10**12)
    with pytest.raises(NotEnoughMemoryError, match=r"A pass over .*fewer regions"):
        fit(batches, memory_limit="100GB")


def test_model_file_of_a_fit_to_blocks(tmp_path):
    X, y, weight = make_rows()
    model = fit(Batches.of(X, y, weight, rows=ROWS))
    save(model, tmp_path / "model")
    assert same_bits(load(tmp_path / "model"), model)


def test_predictions_are_lazy():
    X, y, _ = make_rows(dtype=np.float32)
    model = ClusteredSVC(**MODEL).fit(X, y)
    rows = da.from_array(X, chunks=(ROWS, 4))
    np.testing.assert_array_equal(model.predict(rows).compute(), model.predict(X))
    assert model.decision_function(rows).chunks == ((96,) * 5 + (20,), (3,))

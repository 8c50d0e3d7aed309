"""LocallyLinearSVC on rows in blocks."""

import numpy as np
import pytest
from scipy import sparse

from engine_data import ROWS, local_client, make_rows, same_bits, write_parquet
from localsvm.engine import Batches, options
from localsvm.estimators import LocallyLinearSVC
from localsvm.passes import _linear_solver

MODEL = {"n_regions": 6, "tol": 1e-5, "random_state": 0}


@pytest.fixture(autouse=True)
def small_solves(monkeypatch):
    """Solves of so few rows that a pass makes several."""
    monkeypatch.setattr(_linear_solver, "_WORKING_BYTES", 12000.0)


def fit(*arguments, parameters=None, **settings):
    settings.setdefault("block_rows", ROWS)
    with options(**settings):
        return LocallyLinearSVC(**MODEL | (parameters or {})).fit(*arguments)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "form",
    [
        {},
        {"coding": "local_coordinates", "C": 0.3},
        {"loss": "squared_hinge", "n_nearest": 2, "class_weight": "balanced"},
    ],
    ids=str,
)
def test_same_model_as_in_memory(n_classes, form):
    X, y, weight = make_rows(600, n_classes=n_classes)
    whole = LocallyLinearSVC(**MODEL | form).fit(X, y, weight)
    blocks = fit(Batches.of(X, y, weight, rows=ROWS), parameters=form)
    np.testing.assert_array_equal(blocks.regions_.centers, whole.regions_.centers)
    assert blocks.duality_gap_ <= blocks.tol
    np.testing.assert_allclose(blocks.C_, whole.C_)
    scores = whole.decision_function(X)
    np.testing.assert_allclose(
        blocks.decision_function(X), scores, atol=0.01 * np.abs(scores).max()
    )
    np.testing.assert_array_equal(blocks.region_sizes_, whole.region_sizes_)
    np.testing.assert_allclose(blocks.region_class_counts_, whole.region_class_counts_)
    assert blocks.n_support_.shape == whole.n_support_.shape


def test_same_bits_from_every_source_and_driver(tmp_path):
    data = make_rows(dtype=np.float32)
    path = write_parquet(tmp_path / "rows.parquet", *data)
    coarse = {"parameters": {"tol": 1e-3}}
    expected = fit(Batches.of(*data, rows=ROWS), **coarse)
    assert same_bits(fit(path, "label", "weight", **coarse), expected)
    with local_client(2) as client:
        found = fit(path, "label", "weight", client=client, **coarse)
    assert same_bits(found, expected)


def test_an_interrupted_fit_is_resumed(tmp_path, monkeypatch):
    X, y, weight = make_rows()
    batches = Batches.of(X, y, weight, rows=ROWS)
    expected = fit(batches)
    settings = {"checkpoint": tmp_path / "state", "checkpoint_seconds": 0.0}
    remove, calls = _linear_solver._remove_older, []

    def interrupt(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        remove(*arguments)

    monkeypatch.setattr(_linear_solver, "_remove_older", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit(batches, **settings)
    monkeypatch.setattr(_linear_solver, "_remove_older", remove)
    resumed = fit(batches, **settings)
    assert same_bits(resumed, expected)
    assert resumed.n_iter_ == expected.n_iter_


def test_anchors_are_at_most_the_distinct_rows():
    X, y, _ = make_rows(8, n_classes=2)
    y[:2] = np.unique(y)
    many = {"n_regions": 20, "tol": 1e-2}
    blocks = fit(Batches.of(np.tile(X, (5, 1)), np.tile(y, 5)), parameters=many)
    assert blocks.n_regions_ == 8


def test_sparse_rows():
    X, y, weight = make_rows()
    X *= np.abs(X) > 0.5
    dense = fit(Batches.of(X, y, weight, rows=ROWS))
    csr = fit(Batches.of(sparse.csr_array(X), y, weight, rows=ROWS))
    scores = dense.decision_function(X)
    np.testing.assert_allclose(
        csr.decision_function(X), scores, atol=0.01 * np.abs(scores).max()
    )

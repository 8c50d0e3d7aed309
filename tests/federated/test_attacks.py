"""What somebody who holds the file can learn of a single row, at each level."""

import numpy as np
import pytest

from federated_data import blobs
from localsvm.federated import Ledger, Party, SharedSummary, min_size, none


def sent(tmp_path, X, y, privacy, **parameters):
    """What the receiver reads."""
    Party("a", **parameters).summarize(X, y, privacy).save(tmp_path / "sent")
    return SharedSummary.load(tmp_path / "sent").summary


@pytest.fixture
def outlier():
    """Rows near each other, but for one; its place."""
    X, y = blobs(400)
    X[7] = [40.0, -30.0, 20.0]
    return X, y, 7


@pytest.mark.parametrize("covariance", ["diag", "full", "none"])
def test_without_protection_a_lonely_row_is_read_from_the_file(
    tmp_path, outlier, covariance
):
    X, y, row = outlier
    summary = sent(tmp_path, X, y, none(), n_clusters=20, covariance=covariance)
    (found,) = np.flatnonzero((summary.mean == X[row]).all(axis=1))
    assert summary.weight[found] == 1
    assert summary.label[found] == y[row]


@pytest.mark.parametrize("covariance", ["diag", "full", "none"])
def test_min_size_shows_no_cluster_of_a_lonely_row(tmp_path, outlier, covariance):
    X, y, row = outlier
    level = min_size(10, 5)
    summary = sent(tmp_path, X, y, level, n_clusters=20, covariance=covariance)
    assert summary.weight.min() >= 10
    assert np.linalg.norm(summary.mean - X[row], axis=1).min() > 20


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_min_size_shows_no_small_group(tmp_path, size):
    X, y = blobs(400)
    X[:size] = 9.0
    y[:size] = "ash"
    private = sent(tmp_path, X, y, min_size(10, 1), n_clusters=20)
    assert private.weight.min() >= 10
    assert np.linalg.norm(private.mean - 9.0, axis=1).min() > 1
    open_ = sent(tmp_path, X, y, none(), n_clusters=20)
    assert np.linalg.norm(open_.mean - 9.0, axis=1).min() < 1e-12


def test_min_size_does_not_hide_how_far_a_lonely_row_is(tmp_path, outlier):
    """The promise says so: such a row shows in the mean of its cluster."""
    X, y, row = outlier
    summary = sent(tmp_path, X, y, min_size(10, 1), n_clusters=20)
    moved = summary.mean[np.linalg.norm(summary.mean - 0.5, axis=1).argmax()]
    typical = np.median(X, axis=0)
    direction = (X[row] - typical) / np.linalg.norm(X[row] - typical)
    assert (moved - typical) @ direction > 0.98 * np.linalg.norm(moved - typical)


def difference(first, second):
    """The row by which two releases of one cluster differ."""
    total = first.weight[0] * first.mean[0] - second.weight[0] * second.mean[0]
    return total / (first.weight[0] - second.weight[0])


def test_two_releases_differ_by_a_row_and_the_ledger_refuses_the_second(tmp_path):
    X, _ = blobs(50)
    y = np.zeros(50, dtype=int)
    level = min_size(10, 1)
    both = [
        sent(tmp_path, X[rows], y[rows], level, n_clusters=1)
        for rows in (slice(0, 50), slice(1, 50))
    ]
    np.testing.assert_allclose(difference(*both), X[0], atol=1e-9)
    party = Party("a", n_clusters=1, ledger=Ledger())
    party.summarize(X, y, level)
    with pytest.raises(ValueError, match="the difference of two releases"):
        party.summarize(X[1:], y[1:], level)

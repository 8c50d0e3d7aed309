"""What somebody who holds the file can learn of a single row, at each level."""

from collections import Counter, defaultdict
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest

from federated_data import blobs
from localsvm.data import TableEncoder, read_table, sample_path
from localsvm.federated import (
    Ledger,
    Party,
    SharedSummary,
    min_size,
    none,
    random_centers,
)


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
    """The promise says so: such a row shows in mean and spread, to a factor of two."""
    X, y, row = outlier
    summary = sent(tmp_path, X, y, min_size(10, 1), n_clusters=20)
    widest = summary.covariance.sum(axis=1).argmax()
    distance = np.sqrt(summary.covariance[widest] * summary.weight[widest])
    true = np.abs(X[row] - np.median(X, axis=0))
    assert (np.abs(np.log2(distance / true)) < 1).all()
    assert (np.abs(distance / true - 1) > 0.01).all()


@pytest.fixture(scope="module")
def people():
    """A thousand rows of Adult, as `federated share` encodes them."""
    public = read_table(sample_path(), target="income", where="split=test")
    own = read_table(sample_path(), target="income", where="split=train")
    encoder = TableEncoder(sparse_output=False).fit(public.X)
    rows = encoder.transform(own.X.head(1000))
    frame = pd.DataFrame(rows, columns=encoder.get_feature_names_out())
    return frame, own.y[:1000]


def claims(summary, X, y):
    """Values that one row carries, if the others carry the most frequent value.

    A claim is made where the number of rows comes out whole and near the weight, and is
    true if a row of that class has the value.
    """
    answers = []
    for column, values in enumerate(X.to_numpy().T):
        kinds, counts = np.unique(values, return_counts=True)
        usual = kinds[counts.argmax()]
        for weight, mean, variance, label in zip(
            summary.weight,
            summary.mean[:, column] - usual,
            summary.covariance[:, column],
            summary.label,
            strict=True,
        ):
            if abs(mean) < 1e-9 or variance < 1e-12:
                continue
            away = (variance + mean**2) / mean
            rows = away / mean
            if abs(rows - round(rows)) < 1e-6 and abs(rows - weight) <= 2.5:
                found = np.abs(values[y == label] - usual - away) < 1e-6
                answers.append(bool(found.any()))
    return answers


def test_without_protection_values_of_single_people_are_computed(tmp_path, people):
    summary = sent(tmp_path, *people, none())
    answers = claims(summary.take(summary.weight >= 10), *people)
    assert len(answers) > 100
    assert all(answers)


@pytest.mark.parametrize("k", [2, 5, 10, 20])
def test_min_size_gives_no_value_of_a_single_person(tmp_path, people, k):
    assert claims(sent(tmp_path, *people, min_size(k)), *people) == []


@pytest.mark.parametrize("covariance", ["diag", "full", "none"])
@pytest.mark.parametrize("centers", [None, random_centers((0.0, 1.0), 4, n_features=3)])
@pytest.mark.parametrize("usual", [0.0, -0.145])
@pytest.mark.parametrize("n_others", [1, 2, 9])
def test_values_of_few_rows_leave_no_trace(
    tmp_path, covariance, centers, usual, n_others
):
    X, y = blobs(300)
    X[:, 1] = usual
    X[: 2 * n_others, 1] = usual + np.linspace(1e-3, 2, 2 * n_others)
    summary = sent(
        tmp_path, X, y, min_size(), n_clusters=5, covariance=covariance, centers=centers
    )
    assert (summary.mean[:, 1] == usual).all()
    if covariance != "none":
        assert (summary.covariance[:, 1] == 0).all()


def one_hot(*counts):
    return np.repeat(np.eye(len(counts)), counts, axis=0)


@pytest.mark.parametrize("rare", [1, 5, 9])
def test_a_rare_category_does_not_show_in_the_others(tmp_path, rare):
    """The shares of a column's categories add up to one, with it and without it."""
    sex, town = one_hot(20, 26 + rare), one_hot(26, 20, rare)
    X = np.hstack([np.linspace(0, 1, 46 + rare)[:, np.newaxis], sex, town])
    y = np.zeros(46 + rare, dtype=int)
    summary = sent(tmp_path, X, y, min_size(10), n_clusters=1)
    X[46:, 3:] = [1.0, 0.0, 0.0]
    without = sent(tmp_path, X, y, min_size(10), n_clusters=1)
    np.testing.assert_array_equal(summary.mean, without.mean)
    assert summary.mean[0, 5] == 0


@pytest.mark.parametrize("k", [2, 3])
def test_no_whole_number_of_few_rows_follows_from_a_release(tmp_path, k):
    """Whoever tries all columns finds for every value one without it, or with more."""
    largest, sizes = 3, range(2 * k, 2 * k + 4)
    columns = defaultdict(list)
    for size in sizes:
        for values in combinations_with_replacement(range(largest + 1), size):
            X, y = np.array(values, dtype=float)[:, np.newaxis], np.zeros(size)
            summary = Party("a", n_clusters=1).summarize(X, y, min_size(k)).summary
            key = (*summary.weight, *summary.mean[0], *summary.covariance[0])
            columns[key].append(Counter(values))
    for found in columns.values():
        for value in range(largest + 1):
            assert not all(1 <= column[value] < k for column in found)


def difference(first, second):
    """The row by which two releases of one cluster differ."""
    total = first.weight[0] * first.mean[0] - second.weight[0] * second.mean[0]
    return total / (first.weight[0] - second.weight[0])


def test_the_difference_of_two_releases_is_not_a_row(tmp_path):
    """Rounding hides this one, not all: the ledger refuses the second release."""
    X, _ = blobs(50)
    y = np.zeros(50, dtype=int)
    level = min_size(10, 1)
    both = [
        sent(tmp_path, X[rows], y[rows], level, n_clusters=1)
        for rows in (slice(0, 50), slice(1, 50))
    ]
    assert np.abs(difference(*both) - X[0]).min() > 0.01
    party = Party("a", n_clusters=1, ledger=Ledger())
    party.summarize(X, y, level)
    with pytest.raises(ValueError, match="the difference of two releases"):
        party.summarize(X[1:], y[1:], level)

import numpy as np
import pytest
from papers._rows import rows_of, synthetic

from localsvm.data import load_task, make_xor
from papers import Data, Part, Split
from papers_data import blobs


def numbered(n_rows=50, n_test=None):
    """Rows that are their own numbers; labels are their parity."""
    X = np.arange(n_rows, dtype=float).reshape(-1, 1)
    y = np.arange(n_rows) % 2
    return X, y


NUMBERED = Data(numbered)


def numbers(X):
    return set(X[:, 0].astype(int))


def test_given_split_is_that_of_the_data_set():
    rows = rows_of(Data(blobs, {"test_offset": 5.0}), Split(), 0)
    np.testing.assert_array_equal(rows.X_test, rows.X_train + 5)


def test_given_split_of_data_without_one_is_refused():
    with pytest.raises(ValueError, match="has no split of its own"):
        rows_of(NUMBERED, Split(), 0)


def test_drawn_rows_are_the_first_of_a_permutation():
    rows = rows_of(Data(blobs), Split(n_train=7, n_test=5), 3)
    order = np.random.default_rng(3).permutation(40)
    everything = blobs()
    np.testing.assert_array_equal(rows.X_train, everything.X_train[order[:7]])
    np.testing.assert_array_equal(rows.y_test, everything.y_test[order[:5]])


def test_random_split_is_disjoint_and_depends_on_the_seed():
    split = Split("random", n_train=20, n_test=10)
    rows, other = rows_of(NUMBERED, split, 0), rows_of(NUMBERED, split, 1)
    assert len(numbers(rows.X_train)) == 20
    assert len(numbers(rows.X_test)) == 10
    assert not numbers(rows.X_train) & numbers(rows.X_test)
    assert numbers(rows.X_test) != numbers(other.X_test)


def test_random_split_takes_the_rest_for_training():
    rows = rows_of(NUMBERED, Split("random", n_test=10), 0)
    assert len(rows.y_train) == 40


def test_folds_test_every_row_once():
    tested = [rows_of(NUMBERED, Split("folds", n_folds=5), s).X_test for s in range(5)]
    assert sorted(np.concatenate(tested)[:, 0]) == list(range(50))


def test_folds_beyond_the_last_are_of_another_shuffle():
    split = Split("folds", n_folds=5)
    first, again = rows_of(NUMBERED, split, 0), rows_of(NUMBERED, split, 5)
    assert numbers(first.X_test) != numbers(again.X_test)


def test_too_many_rows_are_refused():
    with pytest.raises(ValueError, match="60 rows are wanted, but there are 50"):
        rows_of(NUMBERED, Split("random", n_train=40, n_test=20), 0)


def test_preparation_is_fitted_to_training_rows():
    scale = Part("sklearn.preprocessing.StandardScaler")
    data = Data(blobs, {"test_offset": 100.0}, (scale,))
    rows = rows_of(data, Split(), 0)
    assert abs(rows.X_train.mean()) < 1e-12
    assert rows.X_test.mean() > 100


def test_the_last_rows_are_kept_until_others_are_asked_for():
    split = Split("random", n_test=10)
    rows = rows_of(NUMBERED, split, 0)
    assert rows_of(NUMBERED, split, 0) is rows
    assert rows_of(NUMBERED, split, 1) is not rows


def test_synthetic_rows_differ_between_training_and_test():
    data = synthetic(make_xor, 80, 40, seed=1, sd=0.1)
    assert data.X_train.shape == (80, 2)
    assert data.X_test.shape == (40, 2)
    assert not np.isin(data.X_test[:, 0], data.X_train[:, 0]).any()


def test_tasks_of_the_papers_are_data():
    with pytest.raises(ValueError, match="Unknown task"):
        rows_of(Data(load_task, {"name": "nothing"}), Split(), 0)

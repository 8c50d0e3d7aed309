"""Folds and rows that are set aside."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit

from localsvm.rows import (
    Fold,
    Rows,
    held_out_by_content,
    held_out_first,
    out_of_fold,
    split_folds,
    split_weighted,
    stratified_folds,
)


def shuffled_classes(counts):
    labels = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    return np.random.default_rng(0).permutation(labels)


def numbered_rows(weight):
    n_rows = len(weight)
    X = np.arange(n_rows, dtype=float)[:, np.newaxis]
    labels = (np.arange(n_rows) % 2).astype(np.int32)
    return Rows.weighted(X, labels, np.asarray(weight, dtype=float), 2)


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("counts", [(50, 30, 20), (40, 6, 5), (5, 5)])
def test_folds_share_out_every_class(counts, n_folds):
    labels = shuffled_classes(counts)
    folds = stratified_folds(labels, n_folds)
    assert len(folds) == n_folds
    seen = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort(seen), np.arange(len(labels)))
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(labels)
        for label, count in enumerate(counts):
            assert abs((labels[test] == label).sum() - count / n_folds) < 1


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_the_only_row_of_a_class_is_always_trained_on(n_folds):
    labels = shuffled_classes((100, 1, 3))
    (single,) = np.flatnonzero(labels == 1)
    for train, test in stratified_folds(labels, n_folds):
        assert single in train
        assert single not in test
        np.testing.assert_array_equal(train, np.sort(train))
        assert len(train) + len(test) == len(labels)


def test_classes_of_one_row_leave_nothing_to_test():
    assert stratified_folds(np.arange(4, dtype=np.int32), 3) == []


def test_first_rows_are_held_out():
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 1], dtype=np.int32)
    ((train, test),) = held_out_first(labels, 6, 2)
    assert test.tolist() == [0, 1]
    assert train.tolist() == [2, 3, 4, 5]


def test_a_class_that_only_the_held_out_rows_have_is_trained_on():
    labels = np.array([2, 0, 0, 1, 0, 1], dtype=np.int32)
    ((train, test),) = held_out_first(labels, 6, 3)
    assert train.tolist() == [0, 3, 4, 5]
    assert test.tolist() == [1, 2]
    assert held_out_first(labels, 6, 1) == []
    assert held_out_first(labels, 6, 0) == []


def test_copies_share_their_side():
    X = np.random.default_rng(0).standard_normal((4000, 3))
    aside = held_out_by_content(X, 0.2, seed=3)
    assert abs(aside.mean() - 0.2) < 0.03
    order = np.random.default_rng(1).integers(0, 4000, 5000)
    np.testing.assert_array_equal(held_out_by_content(X[order], 0.2, 3), aside[order])
    assert not held_out_by_content(X, 0.0, 3).any()


def test_splitters_are_read_as_by_scikit_learn():
    rows = numbered_rows(np.ones(12))
    expected = KFold(3).split(rows.X)
    for fold, (train, test) in zip(
        split_folds(KFold(3), rows.X, rows.class_index), expected, strict=True
    ):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.test, test)


def test_splitters_see_weighted_rows_only():
    weight = np.ones(12)
    weight[[0, 5]] = 0
    kept, folds = split_weighted(
        PredefinedSplit([0, 1] * 5), numbered_rows(weight), np.arange(2)
    )
    assert kept.X[:, 0].tolist() == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]
    assert [fold.test.tolist() for fold in folds] == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]


def test_given_splits_count_all_rows():
    weight = np.ones(6)
    weight[1] = 0
    cv = [([0, 1, 2], [3, 4, 5]), (np.array([3, 4, 5]), np.array([0, 1, 2]))]
    kept, folds = split_weighted(cv, numbered_rows(weight), np.array([0, 1]))
    values = kept.X[:, 0]
    assert [values[fold.train].tolist() for fold in folds] == [[0, 2], [3, 4, 5]]
    assert [values[fold.test].tolist() for fold in folds] == [[3, 4, 5], [0, 2]]


def test_rows_that_no_fold_tests_keep_their_decision():
    seen = np.arange(5.0)[:, np.newaxis]
    folds = [Fold(np.array([2, 3, 4]), np.array([0, 1])), Fold(np.arange(3), [4])]
    unseen = out_of_fold(seen, folds, lambda fold: -np.ones((len(fold.test), 1)))
    assert unseen.ravel().tolist() == [-1, -1, 2, 3, -1]
    assert seen.ravel().tolist() == [0, 1, 2, 3, 4]

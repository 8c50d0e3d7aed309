"""Gaussian summaries: what they hold, how they merge, what they refuse."""

import numpy as np
import pytest

from localsvm.cluster import GaussianSummary, summarize_rows

KINDS = ["diag", "full", "none"]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def rows(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.arange(1, d + 1) + 5, rng


def assert_equal_summaries(one, two, rtol=1e-12):
    np.testing.assert_allclose(one.weight, two.weight, rtol=rtol)
    np.testing.assert_allclose(one.mean, two.mean, rtol=rtol)
    assert one.covariance_type == two.covariance_type
    if one.covariance is not None:
        scale = np.abs(two.covariance).max()
        np.testing.assert_allclose(
            one.covariance, two.covariance, rtol=rtol, atol=rtol * scale
        )


def test_merged_parts_are_the_summary_of_all_rows(kind):
    X, rng = rows()
    clusters, part = rng.integers(0, 5, len(X)), rng.integers(0, 3, len(X))
    weight = rng.uniform(0.5, 3, len(X))
    whole = summarize_rows(X, clusters, sample_weight=weight, covariance=kind)
    parts = [
        summarize_rows(
            X[part == p],
            clusters[part == p],
            sample_weight=weight[part == p],
            covariance=kind,
        )
        for p in range(3)
    ]
    groups = [np.unique(clusters[part == p]) for p in range(3)]
    joined = GaussianSummary.concatenated(parts)
    assert joined.n_clusters == sum(map(len, groups))
    assert_equal_summaries(joined.merged(np.concatenate(groups)), whole)


def test_order_of_clusters_does_not_change_a_bit(kind):
    X, rng = rows()
    summary = summarize_rows(X, np.arange(len(X)) // 4, covariance=kind, label="a")
    order = rng.permutation(summary.n_clusters)
    groups = rng.integers(0, 6, summary.n_clusters)
    for change in (lambda s, g: s.ordered(), lambda s, g: s.merged(g)):
        one, two = change(summary, groups), change(summary.take(order), groups[order])
        for name in ("weight", "mean", "covariance", "label"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_order_puts_labels_first():
    summary = GaussianSummary([1, 2, 3], [[2.0], [1.0], [0.0]], label=["b", "a", "b"])
    assert summary.ordered().label.tolist() == ["a", "b", "b"]
    assert summary.ordered().weight.tolist() == [2, 3, 1]


def test_far_from_the_origin_the_spread_survives(kind):
    X, rng = rows()
    clusters = rng.integers(0, 3, len(X))
    near = summarize_rows(X, clusters, covariance=kind)
    far = summarize_rows(X + 1e7, clusters, covariance=kind)
    if kind != "none":
        np.testing.assert_allclose(
            far.covariance, near.covariance, rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(
            far.merged([0, 0, 0]).covariance,
            near.merged([0, 0, 0]).covariance,
            rtol=1e-6,
            atol=1e-6,
        )


def test_one_row_is_itself(kind):
    X, _ = rows(3)
    summary = summarize_rows(X, [0, 1, 2], covariance=kind)
    np.testing.assert_array_equal(summary.mean, X)
    if kind != "none":
        assert not summary.covariance.any()


def test_covariance_can_be_reduced_and_not_invented():
    X, _ = rows()
    full = summarize_rows(X, np.arange(len(X)) % 3, covariance="full")
    diag = summarize_rows(X, np.arange(len(X)) % 3, covariance="diag")
    assert_equal_summaries(full.with_covariance("diag"), diag)
    assert full.with_covariance("none").covariance is None
    assert diag.with_covariance("diag") is diag
    with pytest.raises(ValueError, match=r"'full' asks for more .* expected 'diag' at"):
        diag.with_covariance("full")


def test_label_and_names_are_kept():
    summary = GaussianSummary([1, 2], [[0, 1], [2, 3]], None, [3, 3], ["age", "pay"])
    for changed in (
        summary.take([0]),
        summary.ordered(),
        summary.merged([0, 0]),
        GaussianSummary.concatenated([summary, summary]),
    ):
        assert changed.feature_names == ("age", "pay")
        assert set(changed.label.tolist()) == {3}


NAN = float("nan")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], np.empty((0, 2))), r"weight has shape \(0,\).* at least one cluster"),
        (([[1]], [[1]]), r"weight has shape \(1, 1\)"),
        (([1], [1]), r"mean has shape \(1,\); expected \(1, n_features\)"),
        (([1, 2], [[1]]), r"mean has shape \(1, 1\); expected \(2, n_features\)"),
        (([1], [[1, 2]], [[1]]), r"covariance has shape \(1, 1\); expected \(1, 2\)"),
        (([1], [[1, 2]], [[[1, 2]]]), r"covariance has shape \(1, 1, 2\)"),
        (([1], [[1]], None, ["a", "b"]), r"label has shape \(2,\); expected \(1,\)"),
        (
            ([1], [[1]], None, None, ["a", "b"]),
            "feature_names has 2 entries; expected 1",
        ),
        (([NAN], [[1]]), "weight contains NaN or infinity"),
        (([1], [[np.inf]]), "mean contains NaN or infinity"),
        (([1], [[1]], [[NAN]]), "covariance contains NaN or infinity"),
        (([-2], [[1]]), "weight contains -2; expected values above 0"),
        (([0], [[1]]), "weight contains 0; expected values above 0"),
        (([1], [[1]], [[-0.5]]), "the variance -0.5; expected values >= 0"),
        (([1], [[1]], [[[-0.5]]]), "the variance -0.5; expected values >= 0"),
        ((["a"], [[1]]), "weight must be an array of numbers"),
    ],
)
def test_bad_summaries_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        GaussianSummary(*arguments)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "cluster 1 has the eigenvalue -1; expected none"),
        ([[1.0, 0.5], [0.0, 1.0]], "covariance of cluster 1 is not symmetric"),
    ],
)
def test_matrices_that_are_no_covariances_are_refused(matrix, message):
    summary = GaussianSummary([1, 1], np.zeros((2, 2)), [np.eye(2), matrix])
    with pytest.raises(ValueError, match=message):
        summary.check_covariance()


def test_true_covariances_pass_the_check(kind):
    X, _ = rows(60, 20)
    summary = summarize_rows(X, np.arange(60) // 10, covariance=kind)
    summary.check_covariance()  # of rank 9, rounding included


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mean": [[1.0, 2.0]]}, "their columns: found 1 and 2"),
        ({"covariance": [[1.0]]}, "their covariances: found 'none' and 'diag'"),
        ({"feature_names": ["a"]}, r"names of the columns: found None and \('a',\)"),
        ({"label": ["a"]}, "all summaries have labels or none"),
    ],
)
def test_different_summaries_do_not_concatenate(change, message):
    plain = {"weight": [1.0], "mean": [[1.0]]}
    with pytest.raises(ValueError, match=message):
        GaussianSummary.concatenated(
            [GaussianSummary(**plain), GaussianSummary(**(plain | change))]
        )


def test_nothing_does_not_concatenate():
    with pytest.raises(ValueError, match="Got no summary; expected at least one"):
        GaussianSummary.concatenated([])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0], r"groups has shape \(1,\); expected \(2,\)"),
        ([0, 2], "numbers from 0 with none left out"),
        ([-1, 0], "numbers from 0 with none left out"),
        ([0, 0], "different labels cannot be merged"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    summary = GaussianSummary([1, 1], [[0], [1]], label=["a", "b"])
    with pytest.raises(ValueError, match=message):
        summary.merged(groups)

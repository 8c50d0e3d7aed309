import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from examples import examples
from federated_data import assert_same, blobs, share
from localsvm.federated import merge, min_size, none, random_centers
from localsvm.federated._sharing._merge import share_factors

CENTERS = random_centers((0.0, 1.0), 7, n_features=3)
PARTS = {"a": slice(0, 50), "b": slice(50, 130), "c": slice(130, 300)}


@pytest.fixture(params=["diag", "full", "none"])
def covariance(request):
    return request.param


def shares(X, y, **parameters):
    return [share(name, X[i], y[i], **parameters) for name, i in PARTS.items()]


def test_parties_with_the_same_centres_make_the_summary_of_all_rows(covariance):
    X, y = blobs(300)
    parameters = {"centers": CENTERS, "covariance": covariance}
    merged = merge(shares(X, y, **parameters))
    pooled = share("all", X, y, **parameters)
    np.testing.assert_array_equal(merged.cells, pooled.cells)
    np.testing.assert_array_equal(merged.summary.label, pooled.summary.label)
    assert merged.partition == pooled.partition
    for name in ("weight", "mean", "covariance"):
        ours, theirs = getattr(merged.summary, name), getattr(pooled.summary, name)
        if theirs is None:
            assert ours is None
        else:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("centers", [CENTERS, None])
@pytest.mark.parametrize("max_share", [None, 0.4])
def test_the_order_of_the_parties_changes_no_bit(covariance, centers, max_share):
    X, y = blobs(300)
    parts = shares(X, y, centers=centers, covariance=covariance, n_clusters=6)
    first = merge(parts, max_share=max_share)
    for order in itertools.permutations(parts):
        assert_same(merge(order, max_share=max_share), first)


def test_clusters_of_different_partitions_stand_side_by_side():
    X, y = blobs(300)
    parts = shares(X, y, n_clusters=6)
    parts[0] = share("a", X[PARTS["a"]], y[PARTS["a"]], centers=CENTERS)
    parts[1] = share("b", X[PARTS["b"]], y[PARTS["b"]], centers=CENTERS[:-1])
    merged = merge(parts)
    assert merged.partition is None
    assert merged.cells is None
    np.testing.assert_array_equal(
        np.sort(merged.summary.weight),
        np.sort(np.concatenate([part.summary.weight for part in parts])),
    )
    assert merged.summary.weight.sum() == 300
    assert [record.name for record in merged.parties] == ["a", "b", "c"]
    np.testing.assert_array_equal(merged.summary.mean, merged.summary.ordered().mean)


def test_not_even_the_sign_of_zero_depends_on_the_order():
    y = np.zeros(20, dtype=int)
    parts = [share("a", np.zeros((20, 1)), y), share("b", np.zeros((20, 1)), y)]
    parts[1].summary.mean[:] = -0.0
    means = [merge(order).summary.mean.tobytes() for order in (parts, parts[::-1])]
    assert means[0] == means[1]


def test_the_prior_of_a_cluster_is_that_of_equation_15():
    X, y = blobs(300)
    parts = shares(X, y, n_clusters=4)
    merged = merge(parts).summary
    prior = merged.weight / merged.weight.sum()
    rows = np.array([part.summary.weight.sum() for part in parts])
    for part, count in zip(parts, rows, strict=True):
        own = part.summary.weight / part.summary.weight.sum()
        for mean, share_of_cluster in zip(part.summary.mean, own, strict=True):
            here = np.flatnonzero((merged.mean == mean).all(axis=1))
            assert prior[here[0]] == pytest.approx(
                share_of_cluster * count / rows.sum(), rel=1e-12
            )


def test_merging_in_two_steps_is_merging_at_once():
    X, y = blobs(300)
    a, b, c = shares(X, y, centers=CENTERS)
    steps, once = merge([merge([c, a]), b]), merge([a, b, c])
    assert steps.parties == once.parties
    np.testing.assert_allclose(steps.summary.mean, once.summary.mean, atol=1e-12)


def test_levels_of_privacy_stay_with_their_parties():
    X, y = blobs(300)
    a = share("a", X, y, min_size(30), n_clusters=5)
    b = share("b", X, y, none(), n_clusters=5)
    records = merge([b, a]).parties
    assert [record.privacy for record in records] == [min_size(30), none()]


def test_a_party_cannot_come_twice():
    X, y = blobs(300)
    a, b, _ = shares(X, y, centers=CENTERS)
    with pytest.raises(ValueError, match="'a' is in two"):
        merge([a, b, a])
    with pytest.raises(ValueError, match="'b' is in two"):
        merge([merge([a, b]), b])


def test_nothing_cannot_be_merged():
    with pytest.raises(ValueError, match="no summary"):
        merge([])


def test_parties_that_do_not_fit_are_named():
    X, y = blobs(100)
    a = share("a", X, y, n_clusters=3)
    others = {
        "numbers of columns": share("b", X[:, :2], y, n_clusters=3),
        "kinds of covariance": share("b", X, y, n_clusters=3, covariance="full"),
        "types of class labels": share("b", X, y == "ash", n_clusters=3),
        "names of columns": share(
            "b", pd.DataFrame(X, columns=["u", "v", "w"]), y, n_clusters=3
        ),
    }
    for words, other in others.items():
        with pytest.raises(ValueError, match=f"'a' and 'b' have different {words}"):
            merge([other, a])


@given(
    rows=st.lists(st.floats(1, 1e6), min_size=1, max_size=8),
    excess=st.floats(0, 1),
)
@examples(300)
def test_no_party_has_more_than_its_share(rows, excess):
    rows = np.array(rows)
    least = 1 / len(rows)
    max_share = min(1.0, least + excess * (1 - least))
    factors = share_factors(rows, max_share)
    shares = rows * factors / (rows * factors).sum()
    assert (factors <= 1).all()
    assert (factors > 0).all()
    assert (shares <= max_share * (1 + 1e-9)).all()
    lowered = factors < 1 - 1e-9
    np.testing.assert_allclose(shares[lowered], max_share, rtol=1e-8)


def test_a_party_that_claims_to_be_huge_is_held_down():
    X, y = blobs(300)
    a, b, c = shares(X, y, n_clusters=4)
    fair = merge([a, b, c], max_share=0.45)
    factors = {record.name: record.weight_factor for record in fair.parties}
    assert factors["a"] == factors["b"] == 1
    assert factors["c"] * 170 == pytest.approx(0.45 * fair.summary.weight.sum())
    assert "weights times" in str(fair)


@pytest.mark.parametrize("max_share", [0.0, -1, 1.5, "half", 0.3])
def test_an_impossible_share_is_refused(max_share):
    X, y = blobs(300)
    with pytest.raises(ValueError, match="max_share"):
        merge(shares(X, y, n_clusters=4), max_share=max_share)


def test_shares_are_limited_when_all_parties_are_merged_at_once():
    X, y = blobs(300)
    a, b, c = shares(X, y, n_clusters=4)
    with pytest.raises(ValueError, match="'a', 'b' are in one already"):
        merge([merge([a, b]), c], max_share=0.9)

"""Prediction sets and familiarity keep their promises on fresh rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom
from sklearn.base import clone

import localsvm
from calibration_data import MODELS, draw, fitted
from localsvm import ClusteredSVC, StagedSVC
from localsvm.estimators._held_out.calibration import Conformity
from localsvm.estimators._held_out.groups import Groups

KEEPING = sorted(set(MODELS) - {"support-cluster"})
# What held-out rows are too few to tell.
DOUBT = 1e-4


def covers(model, X, y, coverage):
    sets = model.predict_set(X, coverage)
    own = sets[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    winner = np.searchsorted(model.classes_, model.predict(X))
    assert sets[np.arange(len(y)), winner].all()
    return own


@pytest.mark.parametrize("coverage", [0.8, 0.95])
@pytest.mark.parametrize("name", MODELS)
def test_sets_cover_fresh_rows(name, coverage):
    model = fitted(name, 2)
    X, y = draw(3000, seed=11)
    n_kept = model._calibration.conformity.weight.sum()
    # Coverage is that of the held-out rows, whose number is small, and of these.
    spread = np.sqrt(coverage * (1 - coverage) * (1 / n_kept + 1 / 3000))
    found = covers(model, X, y, coverage).mean()
    assert found > coverage - 3.9 * spread - 0.01


def test_sets_cover_each_region():
    X, y = draw(6000, seed=1)
    model = ClusteredSVC(4, random_state=0).fit(X, y)
    fresh, labels = draw(20_000, seed=2)
    own = covers(model, fresh, labels, 0.9)
    region, kept = model.region(fresh), model._calibration.conformity
    for number in range(4):
        n_kept = kept.weight[kept.region == number].sum()
        assert n_kept >= 50
        assert own[region == number].mean() > 0.9 - 4 * np.sqrt(0.09 / n_kept)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    coverage=st.sampled_from([0.5, 0.8, 0.9]),
    n_regions=st.integers(1, 4),
)
def test_thresholds_cover_exchangeable_rows(seed, coverage, n_regions):
    """On average over held-out rows, in each region and in all."""
    rng = np.random.default_rng(seed)
    n_rows, n_draws = 400, 60
    n_covered = np.zeros(n_regions)
    n_asked = np.zeros(n_regions)
    for _ in range(n_draws):
        region = rng.integers(n_regions, size=n_rows)
        # Regions differ: one threshold for all would not cover each.
        score = rng.beta(1 + region, 2.0)
        held_out = Conformity(score[50:], region[50:], np.ones(n_rows - 50))
        least = held_out.thresholds(region[:50], coverage)
        n_covered += np.bincount(region[:50], score[:50] >= least, n_regions)
        n_asked += np.bincount(region[:50], minlength=n_regions)
    # Rows of a draw share their thresholds: count draws, not rows.
    worst = binom.ppf(DOUBT, n_draws * 10, coverage) / (n_draws * 10)
    assert (n_covered / n_asked > worst - 0.02).all()


def test_weight_two_is_the_row_twice():
    score = np.array([0.1, 0.4, 0.7, 0.9])
    region, weight = np.zeros(4, np.int64), np.array([3, 1, 2, 10])
    one = Conformity(score, region, weight.astype(float))
    twice = np.repeat(np.arange(4), weight)
    other = Conformity(score[twice], region[twice], np.ones(16))
    for coverage in (0.3, 0.5, 0.7, 0.9):
        found, expected = (e.thresholds(region[:1], coverage) for e in (one, other))
        np.testing.assert_array_equal(found, expected)


def test_small_regions_share_their_rows():
    region = np.repeat([0, 1, 2, 3], [100, 30, 30, 5])
    groups = Groups.of(region, np.ones(165), 50)
    assert groups.large.tolist() == [0]
    pairs = {
        tuple(own.tolist()): len(members)
        for own, members in groups.pairs(np.array([0, 1, 3, 7]))
    }
    assert pairs == {(0,): 100, (1, 2, 3): 65}
    few = Groups.of(region, np.ones(165), 90)
    assert [len(members) for members in few.members] == [100, 165]


@pytest.mark.parametrize("coverage", [0, 1, -0.5, "x", True])
def test_bad_coverage(coverage):
    with pytest.raises(ValueError, match=r"coverage=.* above 0 and below 1"):
        fitted("clustered").predict_set([[0.0, 0.0]], coverage)


@pytest.mark.parametrize("name", KEEPING)
def test_false_alarms_are_as_stated(name):
    model = fitted(name)
    found = model.familiarity(draw(4000, seed=12)[0])
    n_known = model._familiarity.weight.sum()
    for level in (0.05, 0.2):
        spread = np.sqrt(level * (1 - level) * (1 / n_known + 1 / 4000))
        assert (found <= level).mean() < level + 4 * spread


@pytest.mark.parametrize("name", KEEPING)
def test_rows_like_no_other_are_unfamiliar(name):
    model = fitted(name)
    far = model.familiarity([[50.0, 50.0], [0.0, -40.0], [1e6, 0.0]])
    assert (far < 0.01).all()


def test_a_row_of_fifties_among_pixels():
    rng = np.random.default_rng(0)
    X = rng.random((1500, 64)).astype(np.float32)
    X[:, 5] = 0.0  # a pixel that is never set
    y = X[:, 0] > 0.5
    model = ClusteredSVC(10, random_state=0).fit(X, y)
    odd = np.stack([np.full(64, 50.0), X[0], X[1]]).astype(np.float32)
    odd[1, 5] = 30.0
    p = model.familiarity(odd)
    assert p[0] < 1e-3
    assert p[1] < 1e-3
    assert p[2] > 0.01


def test_missing_values_and_sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    X[rng.random((600, 3)) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) > 0
    model = localsvm.AdditiveSVC(random_state=0).fit(X, y)
    assert np.isfinite(model.familiarity(X)).all()
    assert model.familiarity([[np.nan, 90.0, 0.0]]) < 0.01
    from scipy import sparse

    dense = np.where(rng.random((600, 30)) < 0.1, 1.0, 0.0)
    y = dense[:, 0] > 0
    one = ClusteredSVC(3, random_state=0).fit(dense, y)
    other = ClusteredSVC(3, random_state=0).fit(sparse.csr_array(dense), y)
    rows = dense[:40]
    np.testing.assert_allclose(
        one.familiarity(rows), other.familiarity(sparse.csr_array(rows)), atol=0.03
    )


def test_clusters_keep_no_row():
    model = fitted("support-cluster")
    assert not hasattr(model, "familiarity")
    assert (
        clone(model)
        .fit(*draw(400))
        .calibrate(*draw(300, seed=4))
        .familiarity([[50.0, 0.0]])
        < 0.01
    )


def test_a_class_that_is_never_predicted_is_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = np.where(rng.random(1500) < 0.02, "fraud", "good")
    with pytest.warns(UserWarning, match=r"predicted as 'fraud'.*class_weight"):
        ClusteredSVC(3, C=0.01, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ClusteredSVC(5, random_state=0).fit(*draw(400))


def test_held_out_state_is_saved(tmp_path):
    X, y = draw(400, 3)
    X[:3, 0] = np.nan
    model = StagedSVC(join="sum", random_state=0).fit(X, y)
    localsvm.save(model, tmp_path / "model.lsvm")
    back = localsvm.load(tmp_path / "model.lsvm")
    for name in ("predict_proba", "predict_set", "familiarity"):
        found, expected = (getattr(each, name)(X) for each in (back, model))
        np.testing.assert_array_equal(found, expected)

"""Differential privacy: the bound holds, and nothing but noisy totals leaves."""

import math
import sys

import numpy as np
import pytest

from federated_data import assert_same, blobs, share
from localsvm.federated import (
    Ledger,
    Party,
    _party as party_module,
    dp,
    none,
    random_centers,
)
from localsvm.federated._protection._encoding import (
    UNIT,
    Lattice,
    sensitivity,
    totals_by_cell,
)
from localsvm.federated._protection._noise import (
    NoisePlan,
    add_noise,
    epsilon_of,
    plan_noise,
)

opendp = pytest.importorskip("opendp.prelude")

BOUNDS = (0.0, 1.0)
CENTERS = random_centers(BOUNDS, 6, n_features=3)
CLASSES = ["ash", "birch"]


def party(**parameters):
    return Party("a", **{"centers": CENTERS, "classes": CLASSES} | parameters)


def totals_of(X):
    """Totals of rows in one cell of one column, the smallest release there is."""
    lattice = Lattice(np.zeros(1), np.ones(1), 0.5)
    zero = np.zeros(len(X), dtype=int)
    return totals_by_cell(X, zero, 1, np.array([[0.5]]), lattice, True)[0]


def attack(release, n_releases=10_000):
    """Rates at which a row is seen where it is and where it is not, per threshold.

    The attacker knows all other rows and looks in the direction in which the last row
    moved the totals, which is the best test there is for Gaussian noise.
    """
    without, extreme = np.full((20, 1), 0.5), np.ones((1, 1))
    absent, present = totals_of(without), totals_of(np.r_[without, extreme])
    direction = (present - absent) / np.linalg.norm(present - absent)
    score = [
        (release(np.tile(totals, (n_releases, 1))) - absent) @ direction
        for totals in (absent, present)
    ]
    thresholds = np.linspace(-3, 6, 60) * np.linalg.norm(present - absent)
    return [(each[:, np.newaxis] > thresholds).mean(axis=0) for each in score]


def excess(epsilon, delta, false_rate, true_rate, n_releases=10_000):
    """Standard errors by which an attack beats (epsilon, delta), at most."""
    gain = true_rate - (math.exp(epsilon) * false_rate + delta)
    variance = true_rate * (1 - true_rate)
    variance += math.exp(2 * epsilon) * false_rate * (1 - false_rate)
    return (gain / np.sqrt((variance + 1 / n_releases) / n_releases)).max()


def test_nobody_can_tell_whether_a_row_is_there_beyond_the_bound():
    epsilon, delta = 1.0, 0.01
    plan = plan_noise(epsilon, delta, sensitivity(True))
    rates = attack(lambda totals: add_noise(totals, plan))
    assert excess(epsilon, delta, *rates) < 4
    assert rates[1].max() > 0.9  # the attack is one


def test_the_attack_would_notice_half_of_the_noise():
    epsilon, delta = 1.0, 0.01
    plan = plan_noise(epsilon, delta, sensitivity(True))
    half = NoisePlan(plan.scale / 2, plan.rho)
    assert excess(epsilon, delta, *attack(lambda totals: add_noise(totals, half))) > 8
    plan = plan_noise(epsilon, delta, sensitivity(True) / 2)
    assert excess(epsilon, delta, *attack(lambda totals: add_noise(totals, plan))) > 8


def test_without_noise_the_attack_always_succeeds():
    false_rate, true_rate = attack(lambda totals: totals, n_releases=5)
    assert ((false_rate == 0) & (true_rate == 1)).any()


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.01, 1e-9), (1.0, 1e-6), (30.0, 1e-5), (1000.0, 1e-3)]
)
def test_the_noise_is_what_opendp_asks_for(epsilon, delta):
    distance = sensitivity(True)
    plan = plan_noise(epsilon, delta, distance)

    def measured(scale):
        domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
        metric = opendp.l2_distance(T="f64")
        gaussian = opendp.m.make_gaussian(domain, metric, scale)
        approximate = opendp.c.make_zCDP_to_approxDP(gaussian)
        fixed = opendp.c.make_fix_delta(approximate, delta)
        return fixed.map(distance)[0], gaussian.map(distance)

    asked, rho = measured(plan.scale)
    assert epsilon * (1 - 1e-6) < asked <= epsilon
    assert plan.rho == rho
    assert epsilon_of(plan.rho, delta) <= epsilon
    assert epsilon_of(plan.rho, delta) == pytest.approx(epsilon, rel=1e-6)


def test_the_noise_has_the_planned_size():
    plan = plan_noise(1.0, 1e-6, sensitivity(True))
    noise = add_noise(np.zeros((5000, 3), dtype=np.int64), plan)
    assert noise.shape == (5000, 3)
    assert noise.std() == pytest.approx(plan.scale, rel=0.05)
    assert abs(noise.mean()) < 5 * plan.scale / math.sqrt(noise.size)
    assert not np.array_equal(noise, add_noise(np.zeros_like(noise), plan))


def test_impossible_demands_are_refused():
    with pytest.raises(ValueError, match="No amount of noise"):
        plan_noise(1e-12, 1e-300, sensitivity(True))


def test_squares_that_are_not_shared_cost_nothing():
    assert sensitivity(False) < sensitivity(True)
    X, y = blobs(2000)
    shared = [
        party(covariance=each).summarize(X, y, dp(1.0, 1e-6, BOUNDS))
        for each in ("diag", "none")
    ]
    deviation = [each.parties[0].accounting["count_deviation"] for each in shared]
    assert deviation[1] == pytest.approx(deviation[0] * math.sqrt(2 / 3))
    assert shared[1].summary.covariance is None


def test_many_rows_and_little_noise_give_the_exact_summary():
    X, y = blobs(40_000)
    noisy = party().summarize(X, y, dp(100.0, 1e-3, BOUNDS))
    exact = share("a", X, y, none(), centers=CENTERS)
    pairs = zip(exact.summary.label, exact.cells, strict=True)
    place = {pair: i for i, pair in enumerate(pairs)}
    large = exact.summary.weight > 500
    assert large.sum() >= 4
    found = 0
    for i, pair in enumerate(zip(noisy.summary.label, noisy.cells, strict=True)):
        if pair in place and large[place[pair]]:
            j, found = place[pair], found + 1
            # A few rows on the border of two cells may be rounded to the other.
            assert abs(noisy.summary.weight[i] - exact.summary.weight[j]) < 10
            for name in ("mean", "covariance"):
                ours, theirs = (
                    getattr(noisy.summary, name),
                    getattr(exact.summary, name),
                )
                np.testing.assert_allclose(ours[i], theirs[j], atol=5e-3)
    assert found == large.sum()


def fixed_noise(monkeypatch, make):
    """Replace the noise; returns the exact totals and plans that were given to it."""
    seen = []

    def replacement(totals, plan):
        seen.append((totals.copy(), plan))
        return make(totals, plan)

    monkeypatch.setattr(party_module, "add_noise", replacement)
    return seen


def test_every_cell_gets_noise_empty_ones_too(monkeypatch):
    X, y = blobs(200)
    X[:] = CENTERS[2]  # all in one cell, all of one class
    y[:] = "ash"
    seen = fixed_noise(monkeypatch, lambda totals, plan: totals)
    party().summarize(X, y, dp(1.0, 1e-6, BOUNDS))
    ((totals, plan),) = seen
    assert plan == plan_noise(1.0, 1e-6, sensitivity(True))
    assert totals.shape == (2 * 6, 1 + 3 + 3)
    assert np.flatnonzero(totals[:, 0]).tolist() == [2]


def test_nothing_but_the_noisy_totals_shows_in_the_file(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    noisy = rng.integers(0, 200 * UNIT, (12, 7))
    fixed_noise(monkeypatch, lambda totals, plan: noisy)
    files = []
    for seed, n in ((0, 100), (1, 37)):
        X, y = blobs(n, seed=seed)
        X *= 3 * seed + 1  # out of bounds
        if seed:
            y[:] = "birch"
        shared = party().summarize(X, y, dp(1.0, 1e-6, BOUNDS))
        shared.save(tmp_path / str(seed))
        files.append((tmp_path / str(seed)).read_bytes())
    assert files[0] == files[1]


def test_noisy_moments_are_possible_ones(monkeypatch):
    rng = np.random.default_rng(0)
    wild = rng.integers(-(10**9), 10**9, (12, 7))
    wild[:, 0] = rng.integers(-50, 100, 12) * UNIT
    fixed_noise(monkeypatch, lambda totals, plan: wild)
    X, y = blobs(100)
    shared = party().summarize(X, y, dp(1.0, 1e-6, BOUNDS))
    summary, deviation = shared.summary, shared.parties[0].accounting["count_deviation"]
    assert (summary.weight >= 2 * deviation).all()
    assert summary.n_clusters == (wild[:, 0] / UNIT >= 2 * deviation).sum() > 0
    assert (summary.mean >= 0).all()
    assert (summary.mean <= 1).all()
    assert (summary.covariance >= 0).all()
    assert (summary.covariance <= 0.25).all()
    entry = np.flatnonzero(wild[:, 0] / UNIT >= 2 * deviation)
    np.testing.assert_array_equal(shared.cells, entry % 6)
    np.testing.assert_array_equal(summary.label, np.array(CLASSES)[entry // 6])


def test_if_all_is_noise_nothing_is_shared(monkeypatch):
    fixed_noise(monkeypatch, lambda totals, plan: -np.abs(totals))
    X, y = blobs(20)
    with pytest.raises(ValueError, match="stands out of the noise"):
        party().summarize(X, y, dp(1.0, 1e-6, BOUNDS))


def test_rows_out_of_bounds_count_as_rows_on_the_border(monkeypatch):
    fixed_noise(monkeypatch, lambda totals, plan: totals)
    X, y = blobs(300)
    X[::7] += 50.0
    X[::11] -= 1e200
    level = dp(1.0, 1e-6, BOUNDS)
    assert_same(
        party().summarize(X, y, level), party().summarize(np.clip(X, 0, 1), y, level)
    )


def test_a_radius_above_the_box_adds_no_noise(monkeypatch):
    fixed_noise(monkeypatch, lambda totals, plan: totals)
    X, y = blobs(300)
    wide = party().summarize(X, y, dp(1.0, 1e-6, BOUNDS, radius=100.0)).summary
    default = party().summarize(X, y, dp(1.0, 1e-6, BOUNDS)).summary
    np.testing.assert_array_equal(wide.mean, default.mean)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"centers": None}, r"centers that are public.*random_centers"),
        ({"classes": None}, "classes that are public"),
        ({"covariance": "full"}, "'diag' or 'none'"),
        ({"classes": ["ash"]}, "'birch'.*not among"),
        ({"classes": [0, 1]}, "labels of type str"),
        ({"centers": CENTERS[:, :2]}, "2 columns"),
    ],
)
def test_what_is_not_public_is_asked_for(parameters, words):
    X, y = blobs(100)
    somebody = party(**parameters)
    with pytest.raises(ValueError, match=words):
        somebody.summarize(X, y, dp(1.0, 1e-6, BOUNDS))
    assert somebody.ledger.entries == ()


def test_bounds_must_fit_the_columns():
    X, y = blobs(100)
    with pytest.raises(ValueError, match="2 columns; expected 3"):
        party().summarize(X, y, dp(1.0, 1e-6, (0.0, [1.0, 1.0])))


def test_missing_values_are_refused_before_anything_is_spent():
    X, y = blobs(100)
    X[3, 1] = np.nan
    somebody = party()
    with pytest.raises(ValueError, match="NaN"):
        somebody.summarize(X, y, dp(1.0, 1e-6, BOUNDS))
    assert somebody.ledger.entries == ()


def test_a_refused_release_draws_no_noise(monkeypatch):
    X, y = blobs(2000)
    somebody = party()
    somebody.summarize(X, y, dp(1.0, 1e-6, BOUNDS))
    seen = fixed_noise(monkeypatch, lambda totals, plan: totals)
    with pytest.raises(ValueError, match="Nothing was released"):
        somebody.summarize(X, y, dp(0.1, 1e-6, BOUNDS))
    assert seen == []


def test_the_entry_is_written_before_noise_is_drawn(monkeypatch, tmp_path):
    X, y = blobs(2000)
    ledger = Ledger()
    ledger.save(tmp_path / "ledger")

    def look(totals, plan):
        (entry,) = Ledger.load(tmp_path / "ledger").entries
        assert entry.rho == plan.rho
        raise KeyboardInterrupt

    fixed_noise(monkeypatch, look)
    with pytest.raises(KeyboardInterrupt):
        party(ledger=ledger).summarize(X, y, dp(1.0, 1e-6, BOUNDS))
    assert len(Ledger.load(tmp_path / "ledger").entries) == 1


def test_without_opendp_the_command_to_install_it_is_given(monkeypatch):
    X, y = blobs(100)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ImportError, match=r'pip install "localsvm\[privacy\]"'):
        party().summarize(X, y, dp(1.0, 1e-6, BOUNDS))

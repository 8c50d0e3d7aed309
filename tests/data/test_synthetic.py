import numpy as np
import pytest
from sklearn.neighbors import KDTree

from localsvm.data import (
    bayes_2spiral,
    make_2spiral,
    make_circle_in_square,
    make_three_gaussians,
    make_two_spirals,
    make_xor,
)

MAKERS = [
    make_xor,
    make_three_gaussians,
    make_circle_in_square,
    make_two_spirals,
    make_2spiral,
]


def spiral_2spiral(tau):
    return np.column_stack([np.sin(tau), np.cos(tau)]) * (tau**2.5 / 500)[:, None]


@pytest.mark.parametrize("make", MAKERS)
def test_same_seed_gives_same_rows(make):
    X, y = make(50, random_state=3)
    again, y_again = make(50, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, y_again)


@pytest.mark.parametrize("make", MAKERS)
def test_other_seed_gives_other_rows(make):
    assert not np.array_equal(make(50, random_state=0)[0], make(50, random_state=1)[0])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n_samples", [5, 101])
def test_rows_are_divided_evenly_among_classes(make, n_samples):
    X, y = make(n_samples, random_state=0)
    assert X.shape == (n_samples, 2)
    assert X.dtype == np.float64
    assert y.shape == (n_samples,)
    assert y.dtype == np.int64
    assert np.ptp(np.bincount(y)) <= 1


@pytest.mark.parametrize("make", MAKERS)
def test_classes_come_in_random_order(make):
    _, y = make(200, random_state=0)
    assert np.count_nonzero(np.diff(y)) > 50


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n_samples", [0, 1, -5, 10.0, "10"])
def test_bad_n_samples_is_refused(make, n_samples):
    with pytest.raises(
        ValueError, match=rf"n_samples={n_samples!r} should be an integer >= [234]\."
    ):
        make(n_samples)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (make_xor, {"sd": -1}, "sd=-1 should be >= 0"),
        (make_three_gaussians, {"sd": float("nan")}, "sd=nan should be >= 0"),
        (make_two_spirals, {"width": -0.1}, "width=-0.1 should be >= 0"),
        (make_2spiral, {"noise_scale": -1}, "noise_scale=-1 should be >= 0"),
        (make_2spiral, {"noise": "sd"}, "noise='sd' should be 'variance' or 'std'"),
        (make_circle_in_square, {"side": 0}, "side=0 should be > 0"),
        (make_circle_in_square, {"radius": 1.5}, r"radius=1.5 .* <= side/2=1.0"),
        (make_circle_in_square, {"radius": 0}, "radius=0 should be > 0"),
    ],
)
def test_bad_option_is_refused(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(20, **options)


def test_xor_without_noise_is_its_four_centres():
    X, y = make_xor(8, sd=0, random_state=0)
    assert {tuple(row) for row in X[y == 0]} == {(0, 2), (0, -2)}
    assert {tuple(row) for row in X[y == 1]} == {(2, 0), (-2, 0)}


def test_xor_classes_have_same_mean_and_crossed_axes():
    X, y = make_xor(40_000, random_state=0)
    for label, long_axis in ((0, 1), (1, 0)):
        rows = X[y == label]
        np.testing.assert_allclose(rows.mean(axis=0), 0, atol=0.05)
        spread = rows.std(axis=0)
        assert spread[long_axis] == pytest.approx(np.hypot(2, 0.6), abs=0.02)
        assert spread[1 - long_axis] == pytest.approx(0.6, abs=0.02)


def test_three_gaussians_have_paper_centres_and_identity_covariance():
    X, y = make_three_gaussians(60_000, random_state=0)
    for label, centre in enumerate([(0, np.sqrt(3)), (-1, 0), (1, 0)]):
        rows = X[y == label]
        np.testing.assert_allclose(rows.mean(axis=0), centre, atol=0.04)
        np.testing.assert_allclose(np.cov(rows.T), np.eye(2), atol=0.05)


@pytest.mark.parametrize(("side", "radius"), [(2.0, None), (2.0, 0.5), (10.0, 5.0)])
def test_circle_is_border_of_classes_in_square(side, radius):
    X, y = make_circle_in_square(4000, side=side, radius=radius, random_state=0)
    border = side / np.sqrt(2 * np.pi) if radius is None else radius
    distance = np.linalg.norm(X, axis=1)
    np.testing.assert_array_equal(y, distance <= border)
    assert 0.99 * side / 2 < np.abs(X).max() <= side / 2


def test_circle_rows_are_uniform_within_each_class():
    X, y = make_circle_in_square(40_000, radius=0.5, random_state=0)
    squared = (X**2).sum(axis=1)
    assert squared[y == 1].mean() == pytest.approx(0.5**2 / 2, rel=0.02)
    # Second moments of the square and of the disc, by area: 4 * 2/3 - pi r^4 / 2.
    outside = (4 * 2 / 3 - np.pi * 0.5**4 / 2) / (4 - np.pi * 0.5**2)
    assert squared[y == 0].mean() == pytest.approx(outside, rel=0.02)


@pytest.mark.parametrize("width", [0.0, 0.6])
def test_two_spirals_stay_within_width_of_their_curve(width):
    X, y = make_two_spirals(4000, width=width, random_state=0)
    turned = X * (2 * y - 1)[:, None]
    radius = np.linalg.norm(turned, axis=1)
    angle = np.arctan2(turned[:, 1], turned[:, 0])
    deviation = (radius - 1.3 * angle + 1.3 * np.pi) % (2.6 * np.pi) - 1.3 * np.pi
    assert np.abs(deviation).max() <= width + 1e-9
    assert np.abs(deviation).max() >= 0.95 * width
    assert radius.min() == pytest.approx(1.3 * 0.5 * np.pi - width, abs=0.3)
    assert radius.max() == pytest.approx(1.3 * 5.5 * np.pi + width, abs=0.3)


def test_2spiral_without_noise_lies_on_opposite_spirals():
    X, y = make_2spiral(1000, noise_scale=0, random_state=0)
    expected = spiral_2spiral(np.pi / 50 * np.arange(1, 501))
    for label, sign in ((1, 1), (0, -1)):
        rows = X[y == label]
        by_radius = rows[np.argsort(np.linalg.norm(rows, axis=1))]
        np.testing.assert_allclose(by_radius, sign * expected, atol=1e-12)


@pytest.mark.parametrize(("noise", "power"), [("variance", 0.5), ("std", 1.0)])
def test_2spiral_noise_follows_distance_to_inner_twist(noise, power):
    exact, _ = make_2spiral(40_000, noise_scale=0, noise=noise, random_state=0)
    noisy, _ = make_2spiral(40_000, noise_scale=0.1, noise=noise, random_state=0)
    tau = (500 * np.linalg.norm(exact, axis=1)) ** 0.4
    distance = (tau**2.5 - np.maximum(tau - np.pi, 0) ** 2.5) / 500
    standardised = (noisy - exact) / ((0.1 * distance) ** power)[:, None]
    for turn in (tau < np.pi, tau > 9 * np.pi):
        assert standardised[turn].std() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(("noise", "noise_scale"), [("variance", 0.065), ("std", 0.4)])
def test_bayes_rule_reaches_known_rate_of_2spiral(noise, noise_scale):
    options = {"noise": noise, "noise_scale": noise_scale}
    X, y = make_2spiral(8000, random_state=1, **options)
    predicted = bayes_2spiral(X, **options)
    assert predicted.dtype == np.int64
    assert (predicted == y).mean() == pytest.approx(0.888, abs=0.012)


def test_bayes_rule_beats_nearest_spiral():
    # The nearest spiral ignores that the outer twist has more noise than the inner.
    X, y = make_2spiral(4000, noise="std", noise_scale=0.7, random_state=0)
    curve = KDTree(spiral_2spiral(np.linspace(0, 10 * np.pi, 2000)))
    nearest = (curve.query(X)[0] < curve.query(-X)[0]).ravel()
    bayes = bayes_2spiral(X, noise="std", noise_scale=0.7)
    assert (bayes == y).mean() > (nearest == y).mean() + 0.005


def test_bayes_rule_follows_noiseless_curve_and_its_opposite():
    curve = spiral_2spiral(np.linspace(0.5, 10 * np.pi, 1000))
    assert bayes_2spiral(curve).all()
    assert not bayes_2spiral(-curve).any()


def test_bayes_rule_refuses_points_of_other_dimension():
    with pytest.raises(ValueError, match="X has 3 features, expected 2"):
        bayes_2spiral(np.ones((4, 3)))


def test_bayes_rule_needs_noise():
    with pytest.raises(ValueError, match="noise_scale=0 should be > 0"):
        bayes_2spiral(np.ones((4, 2)), noise_scale=0)

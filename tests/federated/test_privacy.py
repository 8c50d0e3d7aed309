import numpy as np
import pytest

from localsvm.federated import dp, min_size, none, random_centers
from localsvm.federated._protection._levels import level_from_plain

LEVELS = [none(), min_size(), min_size(7, 3), dp(1, 1e-6, (0, [1.0, 2.0]), radius=1)]


def test_only_differential_privacy_is_called_a_guarantee():
    assert [level.is_guarantee for level in LEVELS] == [False, False, False, True]


def test_promises_say_what_is_not_given():
    assert "No protection" in none().promise
    assert "a cluster of one row is that row" in none().promise
    for words in ("not a formal guarantee", "differencing", "constant", "least 24"):
        assert words in min_size(12).promise
    for words in ("epsilon = 0.5", "delta = 1e-06", "this release", "one row"):
        assert words in dp(0.5, 1e-6, (0, 1)).promise


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_levels_are_plain_data_and_back(level):
    assert level_from_plain(level.name, level.parameters()) == level


def test_levels_cannot_be_changed():
    with pytest.raises(AttributeError):
        min_size().k = 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: min_size(1), "'k'"),
        (lambda: min_size(2.5), "'k'"),
        (lambda: min_size(True), "'k'"),
        (lambda: min_size(round_to=0), "'round_to'"),
        (lambda: dp(0, 1e-6, (0, 1)), "'epsilon'"),
        (lambda: dp(np.inf, 1e-6, (0, 1)), "'epsilon'"),
        (lambda: dp(1, 0, (0, 1)), "'delta'"),
        (lambda: dp(1, 1, (0, 1)), "'delta'"),
        (lambda: dp(1, 1e-6, (0, 1), radius=0), "'radius'"),
        (lambda: dp(1, 1e-6, (0, 1), radius=np.nan), "'radius'"),
        (lambda: dp(1, 1e-6, None), "bounds"),
        (lambda: dp(1, 1e-6, 1.0), "bounds"),
        (lambda: dp(1, 1e-6, (0, 1, 2)), "bounds"),
        (lambda: dp(1, 1e-6, (1, 1)), "lower below the higher"),
        (lambda: dp(1, 1e-6, (0, np.inf)), "finite"),
        (lambda: dp(1, 1e-6, (0, np.nan)), "finite"),
        (lambda: dp(1, 1e-6, ([0, 0], [1, 1, 1])), "bounds"),
        (lambda: dp(1, 1e-6, ([0], [1, 1, 1])), "bounds"),
        (lambda: dp(1, 1e-6, ([], [])), "bounds"),
        (lambda: dp(1, 1e-6, ("low", "high")), "bounds"),
        (lambda: dp(1, 1e-6, (-1e200, 1e200)), "too far apart"),
    ],
)
def test_parameters_that_make_no_sense_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_random_centres_are_the_same_everywhere():
    bounds = (-1.0, [1.0, 3.0])
    centers = random_centers(bounds, 50, seed=3)
    np.testing.assert_array_equal(centers, random_centers(bounds, 50, seed=3))
    assert centers.shape == (50, 2)
    assert (centers >= -1).all()
    assert (centers <= [1, 3]).all()
    assert (np.ptp(centers, axis=0) > [1.5, 3]).all()
    assert not np.array_equal(centers, random_centers(bounds, 50, seed=4))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((0, 1), 5, None), "n_features"),
        (((0, [1, 1]), 5, 3), "2 columns; expected 3"),
        (((0, 1), 0, 3), "n_centers"),
        (((0, 1), 5, 1.5), "n_features"),
    ],
)
def test_random_centres_need_a_box(arguments, words):
    bounds, n_centers, n_features = arguments
    with pytest.raises(ValueError, match=words):
        random_centers(bounds, n_centers, n_features=n_features)

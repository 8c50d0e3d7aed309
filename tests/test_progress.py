"""Stages that a listener hears of."""

from threading import Thread

import pytest

from localsvm import ClusteredSVC, StagedSVC
from localsvm._progress import listening, stage


def test_stages_are_told_from_the_outermost_and_when_they_end():
    heard = []
    with listening(heard.append), stage("choose"), stage("solve"):
        assert heard == [("choose",), ("choose", "solve")]
    assert heard[2:] == [("choose",), ()]


def test_a_stage_that_fails_has_ended():
    heard = []
    with listening(heard.append):
        with pytest.raises(ZeroDivisionError), stage("solve"):
            1 / 0  # noqa: B018
        with stage("next"):
            pass
    assert heard == [("solve",), (), ("next",), ()]


def test_nobody_hears_afterwards_or_on_other_threads():
    heard = []

    def work():
        with stage("elsewhere"):
            pass

    with listening(heard.append):
        thread = Thread(target=work)
        thread.start()
        thread.join()
    work()
    assert heard == []


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (ClusteredSVC(n_regions=3, random_state=0), ("cluster",)),
        (StagedSVC(random_state=0), ("choose",)),
    ],
)
def test_fits_tell_their_stages(two_moons, model, expected):
    heard = []
    with listening(heard.append):
        model.fit(*two_moons)
    assert expected in heard
    assert heard[-1] == ()

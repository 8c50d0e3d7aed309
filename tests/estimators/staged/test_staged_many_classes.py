"""StagedSVC with hundreds of classes: what it costs and how well it does."""

import numpy as np
import pytest

from localsvm import ClusteredSVC, StagedSVC
from localsvm.estimators._staged.setting import MOST_PAIRED_CLASSES
from localsvm.estimators._staged.switch import fit as _fit, trial as _trial
from localsvm.estimators._staged.switch.fit import fit_first


def make_classes(n_classes, n_samples):
    """Three round clusters per class, most of them overlapping with another's."""
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.standard_normal((n_classes, 3, 20))
    y = np.arange(n_samples) % n_classes
    X = centers[y, rng.integers(0, 3, n_samples)]
    return X + 0.9 * rng.standard_normal(X.shape), y


def test_many_classes_take_a_dozen_first_stages_and_no_pairs(monkeypatch):
    X, y = make_classes(200, 4000)
    train, test = slice(2000), slice(2000, None)
    n_stages = []

    def counted(rows, Cs, options):
        n_stages.append(len(Cs))
        return fit_first(rows, Cs, options)

    for module in (_fit, _trial):
        monkeypatch.setattr(module, "fit_first", counted)
    model = StagedSVC(random_state=0).fit(X[train], y[train])
    assert sum(n_stages) <= 12
    assert model.second_stage_ is None
    clustered = ClusteredSVC(random_state=0).fit(X[train], y[train])
    assert model.score(X[test], y[test]) > clustered.score(X[test], y[test]) - 0.01


@pytest.mark.parametrize("n_more", [0, 1])
def test_second_stage_is_offered_up_to_a_number_of_classes(n_more):
    X, y = make_classes(MOST_PAIRED_CLASSES + n_more, 300)
    tried = (
        StagedSVC(join="switch", random_state=0, scaling="none", gradient_metric=None)
        .fit(X, y)
        .selection_
    )
    assert (tried["threshold"].max() == 0) == bool(n_more)


def test_second_stage_of_many_classes_may_be_asked_for():
    X, y = make_classes(MOST_PAIRED_CLASSES + 1, 300)
    given = {"scaling": "none", "gradient_metric": None, "C": 1.0}
    model = StagedSVC(random_state=0, threshold=1.0, **given).fit(X, y)
    assert model.second_stage_ is not None

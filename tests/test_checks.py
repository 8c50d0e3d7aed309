"""What the checks of parameters and failed fits promise for every estimator."""

import numpy as np
import pytest
from sklearn.base import clone

from localsvm import (
    AdditiveSVC,
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.cluster import NeighborhoodCover, ParallelKMeans, SampledKMeans
from localsvm.estimators import (
    ClusteredSVCCV,
    LocallyLinearSVC,
    LocalSVCCV,
    NeighborSVC,
)

ESTIMATORS = [
    AdditiveSVC(),
    ClusteredSVC(2),
    ClusteredSVCCV(),
    LocallyLinearSVC(2),
    LocalSVC(5),
    LocalSVCCV(n_neighbors=5),
    MixtureSVC(2),
    NeighborSVC(5),
    ReducedSVC(),
    StagedSVC(),
    SupportClusterSVC(2),
    NeighborhoodCover(5),
    ParallelKMeans(2),
    SampledKMeans(2),
]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 3)), np.arange(60) % 2


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("n_jobs", [1.5, "2", 0, True])
def test_n_jobs_is_named_with_what_was_found(estimator, n_jobs, rows):
    model = clone(estimator).set_params(n_jobs=n_jobs)
    name = type(estimator).__name__
    expected = f"'n_jobs' parameter of {name} must be an int .*Got {n_jobs!r} instead"
    with pytest.raises(ValueError, match=expected):
        model.fit(*rows)


@pytest.mark.parametrize(
    "estimator",
    [each for each in ESTIMATORS if "random_state" in each.get_params()],
    ids=lambda e: type(e).__name__,
)
def test_failed_fit_leaves_the_random_state_where_it_was(estimator, rows, monkeypatch):
    def draw_and_fail(random_state):
        random_state.randint(10)
        raise LookupError("after a draw")

    module = type(estimator).__module__
    base = "localsvm.estimators._base"
    place = module if module.startswith("localsvm.cluster") else base
    monkeypatch.setattr(f"{place}.draw_seed", draw_and_fail)
    random_state = np.random.RandomState(0)
    model = clone(estimator)
    model.random_state = random_state
    with pytest.raises(LookupError, match="after a draw"):
        model.fit(*rows)
    assert random_state.randint(2**31) == np.random.RandomState(0).randint(2**31)


@pytest.mark.parametrize("estimator", [ClusteredSVC(2), LocalSVC(5), ReducedSVC()])
def test_rows_too_small_for_their_squares_are_not_called_too_large(estimator, rows):
    X, y = rows
    with pytest.raises(ValueError, match="too large or too small for their squares"):
        clone(estimator).fit(X * 1e-160, y)

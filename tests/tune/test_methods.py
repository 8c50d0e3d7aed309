"""Candidates of every method."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.pipeline import Pipeline

import localsvm
from localsvm.estimators import METHODS as ALL
from localsvm.tune._candidates import (
    Candidate,
    first_candidates,
    make_estimator,
    make_model,
    make_scaler,
)
from localsvm.tune._methods import METHODS, RowFacts


def _rows(n=40, classes=3):
    X, y = make_blobs(n, n_features=3, centers=classes, random_state=0)
    return X, y


def test_every_method_of_the_library_takes_part():
    candidates = {each.name: each.estimator for each in ALL if each.is_candidate}
    assert {name: method.estimator for name, method in METHODS.items()} == candidates


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("classes", [2, 3])
def test_defaults_variants_and_neighbors_can_be_fitted_to_few_rows(name, classes):
    X, y = _rows(classes=classes)
    facts = RowFacts.of(X, classes)
    default = Candidate(name, "none")
    variants, neighbors = default.variants(facts), default.neighbors(facts)
    for several in (variants, neighbors):
        assert len({default, *several}) == 1 + len(several)
    for candidate in [default, *variants, *neighbors]:
        model = make_estimator(candidate, 0, 1, 10.0).fit(X, y)
        assert set(candidate.params) <= set(model.get_params())
        assert model.predict(X).shape == y.shape


def test_facts_are_those_of_scikit_learn():
    X, _ = _rows()
    facts = RowFacts.of(X, 3)
    assert facts.gamma == pytest.approx(1 / (3 * X.var()))
    assert facts.mean_square == pytest.approx((X**2).sum(axis=1).mean())
    other = RowFacts.of(sparse.csr_array(X), 3)
    assert other.gamma == pytest.approx(facts.gamma)
    assert RowFacts.of(np.zeros((5, 2)), 2) == RowFacts(5, 2, 1.0, 1.0)


@pytest.mark.parametrize("name", [n for n in METHODS if METHODS[n].axes])
def test_a_step_there_and_back_is_the_same_candidate(name):
    facts = RowFacts(5000, 2, 7.3, 0.0137)
    start = Candidate(name, "standard")
    for there in start.neighbors(facts):
        backs = there.neighbors(facts)
        axis = next(iter(there.params))
        default = (
            METHODS[name]
            .axes[axis]
            .value(METHODS[name].axes[axis].default(facts), facts)
        )
        assert any(back.params[axis] == default for back in backs)
        # Both steps on an axis, from wherever: the grid does not drift.
        again = {n for back in backs for n in back.neighbors(facts)}
        assert there in again


def test_counts_do_not_exceed_the_rows():
    facts = RowFacts(30, 2, 1.0, 1.0)
    for name in METHODS:
        start = Candidate(name, "none")
        for candidate in [*start.variants(facts), *start.neighbors(facts)]:
            for param, value in candidate.params.items():
                if param.startswith("n_"):
                    assert 2 <= value <= 30


def test_a_linear_kernel_has_no_width_to_step():
    facts = RowFacts(500, 2, 1.0, 1.0)
    linear = Candidate("reduced", "none", (("kernel", "linear"),))
    assert all("gamma" not in n.params for n in linear.neighbors(facts))


def test_every_scaling_is_tried_and_the_defaults_of_all_methods_first():
    names = ["reduced", "clustered", "staged"]
    first = first_candidates(names, scaled=False)
    assert [c.name for c in first[:3]] == names
    assert {c.scaling for c in first if c.name == "reduced"} == {
        "none",
        "standard",
        "minmax",
    }
    assert [c.scaling for c in first if c.name == "staged"] == ["none"]
    encoded = first_candidates(names, scaled=True)
    assert [(c.name, c.scaling) for c in encoded] == [(n, "none") for n in names]


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_sparse_rows_stay_sparse(scaling):
    X = sparse.random_array((20, 4), density=0.3, rng=0, format="csr")
    scaled = make_scaler(scaling, X).fit_transform(X)
    assert sparse.issparse(scaled)
    assert scaled.nnz == X.nnz
    assert make_scaler("none", X) is None


def test_models_have_only_the_steps_they_need():
    estimator = localsvm.StagedSVC()
    scaler = make_scaler("minmax", np.ones((2, 2)))
    assert make_model(None, None, estimator) is estimator
    model = make_model("encoder", None, estimator)
    assert isinstance(model, Pipeline)
    assert [name for name, _ in model.steps] == ["table", "model"]
    model = make_model(None, scaler, estimator)
    assert [name for name, _ in model.steps] == ["scale", "model"]

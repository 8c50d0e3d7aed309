"""The mixture of linear SVMs as users meet it: storage, weights, limits, bad input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from conftest import store
from localsvm import GradientMetric, MixtureSVC
from localsvm.estimators import PaperGate, SoftmaxGate
from localsvm.inspect import explain
from mixture_models import MODELS, TIGHT


def blobs(n, seed, n_features=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("parameters", MODELS)
def test_sparse_rows_give_the_same_model(parameters, storage, two_moons):
    X, y = two_moons
    X = X * (np.random.default_rng(0).random(X.shape) < 0.6)
    options = {"em_max_iter": 4, "random_state": 0, "tol": 1e-8, "max_iter": 9999}
    dense = MixtureSVC(4, **parameters, **options).fit(X, y)
    other = MixtureSVC(4, **parameters, **options).fit(store(X, storage), y)
    np.testing.assert_allclose(
        other.decision_function(store(X, storage)),
        dense.decision_function(X),
        atol=1e-4,
    )


@pytest.mark.parametrize("parameters", MODELS)
def test_float32_is_kept_and_close(parameters, two_moons):
    X, y = two_moons
    wide = MixtureSVC(4, em_max_iter=3, random_state=0, **parameters).fit(X, y)
    single = MixtureSVC(4, em_max_iter=3, random_state=0, **parameters)
    single.fit(X.astype(np.float32), y)
    scores = single.decision_function(X.astype(np.float32))
    assert scores.dtype == np.float32
    assert np.mean(single.predict(X.astype(np.float32)) == wide.predict(X)) > 0.97


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_do_not_matter(n_classes):
    X, y = blobs(9000, 0)
    y = y + (X[:, 2] > 0.5) * (n_classes - 2)
    models = [
        MixtureSVC(5, em_max_iter=3, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 3)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.gate_coef_, models[0].gate_coef_)
        np.testing.assert_array_equal(
            model.predict_proba(X), models[0].predict_proba(X)
        )


@pytest.mark.parametrize("parameters", MODELS)
def test_weight_two_is_the_row_twice_and_zero_its_absence(parameters, two_moons):
    X, y = two_moons
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    options = TIGHT | parameters | {"em_max_iter": 3}
    weighted = MixtureSVC(4, **options).fit(X, y, sample_weight=weight)
    times = weight.astype(int)
    repeated = MixtureSVC(4, **options).fit(np.repeat(X, times, 0), np.repeat(y, times))
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4
    )


def test_class_weight_is_a_sample_weight_without_the_clusters():
    X, y = blobs(300, 0)
    y ^= np.random.default_rng(1).random(300) < 0.2
    options = TIGHT | {"em_max_iter": 3}
    options["clusterer"] = KMeans(4, n_init=1, random_state=0)
    by_class = MixtureSVC(4, class_weight={0: 5.0, 1: 1.0}, **options).fit(X, y)
    plain = MixtureSVC(4, **options).fit(X, y)
    assert (by_class.predict(X) == 0).sum() > (plain.predict(X) == 0).sum()
    np.testing.assert_array_equal(
        by_class.clusterer_.cluster_centers_, plain.clusterer_.cluster_centers_
    )


def test_early_stopping_keeps_the_best_step():
    X, y = blobs(3000, 1)
    flip = np.random.default_rng(0).random(3000) < 0.25
    model = MixtureSVC(
        30,
        early_stopping=True,
        n_iter_no_change=3,
        random_state=0,
        em_max_iter=40,
        em_tol=0,
    ).fit(X, y ^ flip)
    scores = model.history_["validation_accuracy"]
    assert scores[model.em_step_] == scores.max()
    assert model.em_step_ == scores.argmax()
    assert len(scores) == model.em_step_ + 4 == model.n_em_steps_ + 1
    assert len(model.coef_) == model.history_["n_regions"][model.em_step_]


def test_validation_rows_are_chosen_by_content(two_moons):
    X, y = two_moons
    order = np.random.default_rng(0).permutation(len(X))
    options = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 0}
    first = MixtureSVC(4, **options).fit(X, y)
    shuffled = MixtureSVC(4, **options).fit(X[order], y[order])
    assert first.region_sizes_.sum() == shuffled.region_sizes_.sum() < len(X)
    assert first.history_["validation_accuracy"][0] == pytest.approx(
        shuffled.history_["validation_accuracy"][0], abs=0.05
    )


def test_history_has_an_entry_per_step(two_moons):
    model = MixtureSVC(4, em_max_iter=6, em_tol=0, random_state=0).fit(*two_moons)
    assert {len(course) for course in model.history_.values()} == {7}
    assert model.em_step_ == model.n_em_steps_ == 6
    assert not model.converged_
    spent = sum(
        model.history_[f"{stage}_seconds"].sum()
        for stage in ("expect", "gate", "solve")
    )
    assert spent <= sum(model.fit_report_.values()) + 1e-9
    assert {"cluster", "expect", "gate", "solve"} <= set(model.fit_report_)


def test_tolerance_ends_the_steps(two_moons):
    model = MixtureSVC(4, em_max_iter=500, em_tol=1e-3, random_state=0).fit(*two_moons)
    course = model.history_["log_likelihood"]
    assert model.converged_
    assert model.n_em_steps_ < 500
    assert course[-1] - course[-2] <= 1e-3 * len(two_moons[0])


@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1), MiniBatchKMeans(5)])
def test_any_clusterer_can_give_the_start(clusterer, two_moons):
    X, y = two_moons
    model = MixtureSVC(4, clusterer=clusterer, prior=0.0, random_state=0).fit(X, y)
    assert model.n_regions_ == 4
    assert model.score(X, y) > 0.9


def test_metric_maps_the_rows(three_classes):
    X, y = three_classes
    model = MixtureSVC(3, metric=GradientMetric(), random_state=0).fit(X, y)
    assert model.coef_.shape[2] == X.shape[1]
    values = np.einsum("jtd,id->ijt", model.coef_, X) + model.intercept_
    mapped = model._model.evaluate(model.metric_.transform(X))[1]
    np.testing.assert_allclose(values, mapped, atol=1e-8)


def test_frame_names_reach_the_explanation(two_moons):
    X, y = two_moons
    frame = pd.DataFrame(X, columns=["east", "north"])
    model = MixtureSVC(4, random_state=0).fit(frame, y)
    found = explain(model, frame.iloc[3])
    assert found.feature_names == ("east", "north")
    assert found.is_gradient
    total = found.contributions.sum() + found.intercept
    assert total == pytest.approx(model.decision_function(frame.iloc[[3]])[0])
    assert found.regions[0] == model.region(frame.iloc[[3]])[0]
    assert "not linear" in str(found)


def test_pickle_predicts_the_same(two_moons):
    X, y = two_moons
    model = MixtureSVC(4, gate=SoftmaxGate(levels=2), random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_time_limit_leaves_a_usable_model_and_warns():
    X, y = blobs(20_000, 0, 40)
    model = MixtureSVC(
        20, max_time=0.3, em_max_iter=10_000, em_tol=0, early_stopping=False
    )
    with pytest.warns(ConvergenceWarning, match=r"EM stopped after max_time=0\.3"):
        model.fit(X, y)
    assert model.history_["seconds"].sum() < 10
    assert model.predict(X).shape == (20_000,)


def test_few_passes_warn_of_the_last_svms(two_moons):
    with pytest.warns(ConvergenceWarning, match="linear SVMs of the last EM step"):
        MixtureSVC(2, max_iter=1, tol=1e-9, em_max_iter=2).fit(*two_moons)


def test_default_fit_is_silent(two_moons):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MixtureSVC(random_state=0).fit(*two_moons)


def test_rows_that_are_all_equal_or_fewer_than_components():
    X = np.ones((8, 2))
    y = np.array([0, 1] * 4)
    with pytest.warns(ConvergenceWarning, match="Only 1 distinct rows"):
        model = MixtureSVC(2, random_state=0).fit(X, y)
    assert model.n_regions_ == 1
    with pytest.raises(ValueError, match=r"n_samples=8 should be >= n_regions=10"):
        MixtureSVC().fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_regions": 0}, r"'n_regions' parameter of MixtureSVC .* Got 0"),
        ({"gate": "rbf"}, r"'softmax' or 'paper' or a SoftmaxGate or PaperGate\. Got"),
        (
            {"gate": SoftmaxGate(3)},
            r"'levels' .* SoftmaxGate .* 1 or 2\. Got 3",
        ),
        (
            {"gate": PaperGate(n_groups=1)},
            r"'n_groups' .* PaperGate .* Got 1",
        ),
        ({"gate": PaperGate(0)}, r"'tau' parameter .* Got 0"),
        ({"gate": SoftmaxGate(reg=-1)}, r"'reg' parameter .* Got -1"),
        ({"gate": SoftmaxGate(steps=0)}, r"'steps' parameter .* Got 0"),
        ({"C": "large"}, r"'C' parameter .* or 'scale'\. Got 'large'"),
        ({"prior": 1.0}, r"'prior' parameter .*\[0, 1\)\. Got 1.0"),
        ({"min_responsibility": 1}, r"'min_responsibility' parameter .* Got 1"),
        ({"early_stopping": "yes"}, r"a bool or 'auto'\. Got 'yes'"),
        ({"validation_fraction": 1.5}, r"'validation_fraction' .* Got 1.5"),
        ({"n_iter_no_change": 0}, r"'n_iter_no_change' .* Got 0"),
        ({"clusterer": DBSCAN()}, r"an object with 'fit' and 'predict'\. Got DBSCAN"),
        ({"em_tol": -1}, r"'em_tol' parameter .* Got -1"),
        ({"em_max_iter": 0}, r"'em_max_iter' parameter .* Got 0"),
        ({"tol": 0}, r"'tol' parameter .* Got 0"),
        ({"max_iter": 0}, r"'max_iter' parameter .* Got 0"),
        ({"max_time": 0}, r"'max_time' parameter .* Got 0"),
        ({"class_weight": "even"}, r"'balanced' or a dict, .*\. Got 'even'"),
    ],
)
def test_parameter_errors_name_found_and_expected(parameters, message, two_moons):
    with pytest.raises(ValueError, match=message):
        MixtureSVC(**parameters).fit(*two_moons)


def test_labels_for_responsibilities_are_checked(two_moons):
    X, y = two_moons
    model = MixtureSVC(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"label .*7.*; expected labels of the fitted"):
        model.responsibilities(X, np.where(np.arange(len(X)) == 4, 7, y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.responsibilities(X, y[:-1])
    with pytest.raises(NotFittedError):
        MixtureSVC().gates(X)


def test_huge_numbers_are_refused_and_nothing_changes(two_moons):
    X, y = two_moons
    model = MixtureSVC(2, random_state=0).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="Scale the features"):
        model.fit(1e200 * X, y)
    assert vars(model) == before


def test_validation_that_takes_a_class_away_is_refused(two_moons):
    X, y = two_moons
    rare = np.where(np.arange(len(X)) == 0, 2, y)
    options = {"early_stopping": True, "validation_fraction": 0.99}
    with pytest.raises(ValueError, match="expected rows of every class"):
        MixtureSVC(2, random_state=0, **options).fit(X, rare)


def test_sparse_model_of_many_columns():
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 20_000), density=1e-3, rng=rng, format="csr")
    y = np.asarray(X[:, :10_000].sum(axis=1) > X[:, 10_000:].sum(axis=1)).astype(int)
    model = MixtureSVC(3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_parameters_of_the_gate_are_those_of_the_model(two_moons):
    X, y = two_moons
    model = MixtureSVC(4, gate=SoftmaxGate(), em_max_iter=2, random_state=0)
    assert model.get_params()["gate__reg"] == 0.0
    copy = clone(model).set_params(gate__reg=1e-2)
    assert model.gate.reg == 0.0
    named = MixtureSVC(4, em_max_iter=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).coef_, named.coef_)
    assert (copy.fit(X, y).gate_coef_ != model.gate_coef_).any()
    search = GridSearchCV(model, {"gate__levels": [1, 2], "gate__tau": [0.5]}, cv=2)
    assert search.fit(X, y).best_estimator_.tau_ == 0.5
    printed = MixtureSVC(4, gate=PaperGate(), em_max_iter=2, random_state=0)
    named.set_params(gate="paper")
    np.testing.assert_array_equal(printed.fit(X, y).coef_, named.fit(X, y).coef_)


def test_support_vectors_are_counted_by_class(two_moons):
    X, y = two_moons
    model = MixtureSVC(1, prior=0.0, tol=1e-8, max_iter=10_000).fit(X, y)
    # One component is one linear SVM: duals are zero beyond the margin only.
    decision = X @ model.coef_[0, 0] + model.intercept_[0, 0]
    margin = np.where(y == 1, 1, -1) * decision
    for label in (0, 1):
        own = margin[y == label]
        assert (own < 1 - 1e-3).sum() <= model.n_support_[label]
        assert model.n_support_[label] <= (own < 1 + 1e-3).sum()
    assert 1 <= model.n_iter_ <= 10_000
    assert model.duality_gap_ <= 1e-8

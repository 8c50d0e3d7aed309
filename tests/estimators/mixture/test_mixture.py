"""The mixture of linear SVMs against its paper's equations, written out slowly."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from localsvm import ClusteredSVC, MixtureSVC
from localsvm.data import make_xor
from localsvm.engine import Block
from localsvm.estimators import SoftmaxGate
from localsvm.estimators._mixture import survey as _mixture_survey
from localsvm.estimators._mixture.em.loop import surviving
from localsvm.estimators._mixture.survey import HoldOut, survey_mixture
from mixture_models import MODELS, TIGHT
from oracles import linear_svm, mixture


def decisions_of(model, X):
    return X @ model.coef_[:, 0].T + model.intercept_[:, 0]


@pytest.mark.parametrize("parameters", MODELS)
@pytest.mark.parametrize("data", ["two_moons", "three_classes"])
def test_likelihood_never_falls(parameters, data, request):
    X, y = request.getfixturevalue(data)
    model = MixtureSVC(6, em_max_iter=12, **parameters, **TIGHT).fit(X, y)
    course = model.history_["log_likelihood"]
    same_size = np.diff(model.history_["n_regions"]) == 0
    # The printed model loses components even without a prior.
    assert same_size.all() or "paper" in str(parameters["gate"]).lower()
    assert len(course) == 13
    assert same_size.sum() >= 10
    rise = np.diff(course) / np.abs(course[:-1])
    assert rise[same_size].min() >= -1e-8
    assert course[-1] > course[0] + 1


def test_likelihood_never_falls_with_loose_svms_either(two_moons):
    loose = TIGHT | {"tol": 0.5, "max_iter": 1}
    course = MixtureSVC(6, em_max_iter=15, **loose).fit(*two_moons).history_
    assert np.diff(course["log_likelihood"]).min() >= -1e-8


@pytest.mark.parametrize("gate", ["softmax", "paper"])
def test_last_entry_of_the_history_is_eq_8(gate, two_moons):
    X, y = two_moons
    model = MixtureSVC(4, gate=gate, em_max_iter=3, **TIGHT).fit(X, y)
    shares = mixture.shares(X, model.gate_coef_, model.gate_intercept_)
    if gate == "paper":
        shares = shares * model._model.gate.prior
    q, likelihood = mixture.responsibilities(shares, decisions_of(model, X), y)
    scaled = model.intercept_ / model.intercept_scaling_
    penalty = ((model.coef_**2).sum() + (scaled**2).sum()) / (2 * model.C_)
    assert model.history_["log_likelihood"][-1] == pytest.approx(likelihood - penalty)
    np.testing.assert_allclose(model.responsibilities(X, y), q, atol=1e-9)
    np.testing.assert_allclose(model.component_mass_, q.sum(axis=0), rtol=1e-9)
    right = model.predict(X) == y
    assert model.history_["accuracy"][-1] == pytest.approx(right.mean())


def test_step_is_the_optimum_of_both_parts(two_moons):
    """One M-step from the start: Eq. 15 for the SVMs, the convex Eq. 13."""
    X, y = two_moons
    options = TIGHT | {"gate": SoftmaxGate(steps=2000)}
    model = MixtureSVC(3, em_max_iter=1, **options).fit(X, y)
    # The start: soft gates at the centres, an SVM per cluster.
    centers = model.clusterer_.cluster_centers_
    gate = mixture.center_shares(X, centers, model.tau_, 1.0)
    label = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    member = (label[:, None] == np.arange(3)).astype(float)
    bias = model.intercept_scaling_
    rows = linear_svm.with_bias(X, bias)
    start = mixture.best_experts(X, y, member, model.C_, bias)
    decisions = np.stack([rows @ w for w, _ in start], axis=1)
    q, _ = mixture.responsibilities(gate, decisions, y)
    # Rows of nearly no share stop the optimiser of the oracle early: it may be beaten.
    sign = np.where(y == 1, 1.0, -1.0)
    for j, (w, least) in enumerate(mixture.best_experts(X, y, q, model.C_, bias)):
        found = np.append(model.coef_[j, 0], model.intercept_[j, 0] / bias)
        bounds = model.C_ * q[:, j]
        primal = linear_svm.objective(found, rows, sign, bounds, "hinge")
        assert primal <= least * (1 + 1e-5)
        np.testing.assert_allclose(found, w, atol=0.05)
    shares = mixture.shares(X, model.gate_coef_, model.gate_intercept_)
    found_loss = -(q * np.log(shares)).sum()
    assert found_loss == pytest.approx(mixture.best_gate(X, q), rel=1e-5)


def test_one_component_is_the_linear_svm(two_moons):
    X, y = two_moons
    model = MixtureSVC(1, **TIGHT).fit(X, y)
    linear = ClusteredSVC(
        1, n_nearest=1, global_reg=float("inf"), tol=1e-10, max_iter=200_000
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, linear.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, linear.intercept_, atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), linear.predict(X))
    assert model.converged_
    f = linear.decision_function(X)
    order = np.argsort(f)
    assert (np.diff(model.decision_function(X)[order]) >= -1e-9).all()


def test_decision_has_the_sign_of_eq_21_with_negative_exponents(two_moons):
    X, y = two_moons
    model = MixtureSVC(5, random_state=0).fit(X, y)
    shares = mixture.shares(X, model.gate_coef_, model.gate_intercept_)
    expected = mixture.decision(shares, decisions_of(model, X))
    np.testing.assert_array_equal(model.decision_function(X) > 0, expected > 0)
    assert model.score(X, y) > 0.95
    # As printed, with positive exponents, the labels are inverted where SVMs agree.
    values = 1 / mixture.class_values(decisions_of(model, X))
    printed = (shares * (values[1] - values[0])).sum(axis=1)
    assert np.mean((printed > 0) == y) < 0.3


@pytest.mark.parametrize("parameters", MODELS)
@pytest.mark.parametrize("data", ["two_moons", "three_classes"])
def test_probabilities_agree_with_predictions(parameters, data, request):
    X, y = request.getfixturevalue(data)
    model = MixtureSVC(5, em_max_iter=5, random_state=0, **parameters).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    winner = model.classes_[probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(winner, model.predict(X))
    for shares in (
        model.gates(X),
        model.responsibilities(X),
        model.responsibilities(X, y),
    ):
        assert shares.shape == (len(X), model.n_regions_)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert (shares >= 0).all()


def test_probabilities_of_several_classes_follow_the_definition(three_classes):
    X, y = three_classes
    model = MixtureSVC(3, random_state=0).fit(X, y)
    shares = mixture.shares(X, model.gate_coef_, model.gate_intercept_)
    sums = np.zeros((len(X), 3))
    for c in range(3):
        sign = np.where(np.arange(3) == c, 1, -1)
        for j in range(model.n_regions_):
            f = X @ model.coef_[j].T + model.intercept_[j]
            loss = np.maximum(0, 1 - sign * f).sum(axis=1)
            sums[:, c] += shares[:, j] * np.exp(-loss)
    expected = sums / sums.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)


def test_responsibilities_without_labels_are_their_average(two_moons):
    X, y = two_moons
    model = MixtureSVC(4, random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    expected = sum(
        probabilities[:, [c]] * model.responsibilities(X, np.full(len(X), c))
        for c in (0, 1)
    )
    np.testing.assert_allclose(model.responsibilities(X), expected, atol=1e-12)


@pytest.mark.parametrize("parameters", MODELS)
@pytest.mark.parametrize("data", ["two_moons", "three_classes"])
def test_local_coef_is_the_gradient_of_the_decision(parameters, data, request):
    X, y = request.getfixturevalue(data)
    model = MixtureSVC(5, em_max_iter=4, random_state=0, **parameters).fit(X, y)
    # Training rows lie on the kinks of the hinge, these do not.
    queries = np.random.default_rng(5).standard_normal((8, X.shape[1]))
    coef, intercept = model.local_coef(queries)
    scores = model.decision_function(queries).reshape(8, -1)
    np.testing.assert_allclose(
        np.einsum("ipj,ij->ip", coef, queries) + intercept, scores, atol=1e-9
    )
    for i, task in np.ndindex(scores.shape):

        def decide(x, task=task):
            return model.decision_function(x[None]).reshape(1, -1)[0, task]

        expected = approx_fprime(queries[i], decide, 1e-7)
        np.testing.assert_allclose(coef[i, task], expected, rtol=1e-4, atol=1e-4)


def test_prior_prunes_and_guard_keeps_the_heaviest(two_moons):
    X, y = two_moons
    sizes = [
        MixtureSVC(12, prior=prior, random_state=0).fit(X, y).n_regions_
        for prior in (0.0, 0.06, 0.12, 0.3, 0.9)
    ]
    assert sizes[0] == 12
    assert sizes == sorted(sizes, reverse=True)
    assert 12 > sizes[2] > sizes[3] > sizes[4] == 1
    # No more components than can each have the mass that the prior takes.
    assert sizes[2] <= 8
    assert sizes[3] <= 3


@pytest.mark.parametrize(
    ("mass", "prior", "at_once", "one_by_one"),
    [
        ([5.0, 3.0, 2.5], 2.0, [1, 1, 1], [1, 1, 1]),
        ([5.0, 3.0, 2.0], 2.0, [1, 1, 0], [1, 1, 0]),
        ([5.0, 3.0, 2.0], 9.0, [1, 0, 0], [1, 1, 0]),
        ([5.0, 0.0, 1e-12], 0.0, [1, 0, 0], [1, 0, 1]),
        ([1.0], 2.0, [1], [1]),
    ],
)
def test_survivors_follow_eq_20(mass, prior, at_once, one_by_one):
    for expected, rule in ((at_once, True), (one_by_one, False)):
        found = surviving(np.array(mass), prior, rule)
        assert found.tolist() == [bool(each) for each in expected]


def test_components_of_equal_mass_vanish_together_only_as_printed(two_moons):
    parameters = {"prior": 0.12, "random_state": 0}
    printed = MixtureSVC(12, gate="paper", **parameters).fit(*two_moons)
    assert printed.n_regions_ == 1
    assert MixtureSVC(12, **parameters).fit(*two_moons).n_regions_ > 2


def test_printed_priors_follow_eq_20(two_moons):
    X, y = two_moons
    model = MixtureSVC(4, gate="paper", em_max_iter=1, **(TIGHT | {"prior": 0.05}))
    model.fit(X, y)
    assert model._model.gate.prior.sum() == pytest.approx(1)
    # An E-step at the start, whose priors are equal, gives the masses of Eq. 20.
    centers = model.clusterer_.cluster_centers_
    gate = mixture.center_shares(X, centers, model.tau_, 0.25)
    label = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    member = (label[:, None] == np.arange(4)).astype(float)
    bias = model.intercept_scaling_
    start = mixture.best_experts(X, y, member, model.C_, bias)
    decisions = linear_svm.with_bias(X, bias) @ np.stack([w for w, _ in start]).T
    q, _ = mixture.responsibilities(gate, decisions, y)
    rest = q.sum(axis=0) - 0.05 * len(X)
    np.testing.assert_allclose(model._model.gate.prior, rest / rest.sum(), atol=1e-4)


def test_hierarchy_prunes_components_and_groups(two_moons):
    X, y = two_moons
    parameters = {"gate": SoftmaxGate(2, n_groups=4), "random_state": 0}
    whole = MixtureSVC(12, prior=0.0, **parameters).fit(X, y)
    pruned = MixtureSVC(12, prior=0.3, **parameters).fit(X, y)
    assert len(whole._model.gate.groups) == 4
    assert pruned.n_regions_ < 12
    assert len(pruned._model.gate.groups) < 4
    assert pruned.gate_coef_.shape[0] == (
        len(pruned._model.gate.groups) + pruned.n_regions_
    )
    np.testing.assert_allclose(pruned.gates(X).sum(axis=1), 1)


def test_gates_of_two_levels_multiply(two_moons):
    X, y = two_moons
    model = MixtureSVC(
        6, gate=SoftmaxGate(2, n_groups=2), random_state=0, prior=0.0
    ).fit(X, y)
    coef, intercept = model.gate_coef_, model.gate_intercept_
    top = mixture.shares(X, coef[:2], intercept[:2])
    first = model._model.gate.groups[0].n_components
    within = [slice(2, 2 + first), slice(2 + first, None)]
    expected = [
        top[:, [g]] * mixture.shares(X, coef[part], intercept[part])
        for g, part in enumerate(within)
    ]
    np.testing.assert_allclose(model.gates(X), np.hstack(expected), atol=1e-12)


def test_clusters_of_one_class_start_as_constants():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.standard_normal((200, 2)) + 20 * y[:, None]
    model = MixtureSVC(2, em_max_iter=1, **TIGHT).fit(X, y)
    assert model.score(X, y) == 1
    # Constant f = +-1 is at the margin: no loss, and nothing in doubt.
    assert model.history_["accuracy"][0] == 1
    start = model.history_["log_likelihood"][0]
    assert start == pytest.approx(-2 / model.intercept_scaling_**2 / (2 * model.C_))


def test_warm_and_cold_svms_lead_to_the_same_mixture(two_moons):
    class Cold(MixtureSVC):
        def _fit_options(self, blocks):
            return replace(super()._fit_options(blocks), warm_start=False)

    X, y = two_moons
    warm = MixtureSVC(4, em_max_iter=4, **TIGHT).fit(X, y)
    cold = Cold(4, em_max_iter=4, **TIGHT).fit(X, y)
    np.testing.assert_allclose(
        warm.history_["log_likelihood"], cold.history_["log_likelihood"], rtol=1e-6
    )


def test_unit_of_measurement_does_not_matter(two_moons):
    X, y = two_moons
    # SampledKMeans hashes the numbers, and so would choose other seeds.
    options = TIGHT | {"clusterer": KMeans(4, n_init=1, random_state=0)}
    small, large = (
        MixtureSVC(4, em_max_iter=5, **options).fit(scale * X, y)
        for scale in (1, 2**10)
    )
    np.testing.assert_allclose(
        small.decision_function(X), large.decision_function(2**10 * X), rtol=1e-6
    )


def test_accuracy_is_that_of_a_kernel_svm_on_xor():
    X, y = make_xor(400, random_state=0)
    test = make_xor(4000, random_state=1)
    assert MixtureSVC(4, random_state=0).fit(X, y).score(*test) > 0.97


def test_multi_feature_recipe():
    """Scores of one mixture per feature set, joined by a mixture on top."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    color = rng.standard_normal((600, 2))
    color[:, 0] *= color[:, 1] * np.where(y == 1, 1, -1)
    X = np.hstack([color, 100 * rng.standard_normal((600, 3)) + 60 * y[:, None]])

    def of_columns(columns):
        return make_pipeline(
            ColumnTransformer([("own", StandardScaler(), columns)]),
            MixtureSVC(4, random_state=0),
        )

    sets = {"color": [0, 1], "texture": [2, 3, 4]}
    stack = StackingClassifier(
        [(name, of_columns(columns)) for name, columns in sets.items()],
        MixtureSVC(2, random_state=0),
        stack_method="decision_function",
        cv=3,
    )
    alone = max(
        of_columns(columns).fit(X[:400], y[:400]).score(X[400:], y[400:])
        for columns in sets.values()
    )
    assert stack.fit(X[:400], y[:400]).score(X[400:], y[400:]) > alone


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_rows_far_from_the_origin_have_a_scale(seed, storage):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 2))
    y = (X[:, 0] > 0).astype(int)
    far = MixtureSVC(3, random_state=0, em_max_iter=5).fit(storage(X + 1e9), y)
    scales = [
        survey_mixture(
            Block(storage(rows), y, np.ones(200)), HoldOut(0.0, 0, 200), 0, 0
        ).scale
        for rows in (X, X + 1e9)
    ]
    assert scales[1] == pytest.approx(scales[0], rel=1e-5)
    assert np.isfinite(far.decision_function(storage(X + 1e9))).all()


def test_few_kinds_of_rows_need_no_rows_to_stop_by(monkeypatch):
    monkeypatch.setattr(_mixture_survey, "_EARLY_STOPPING_ROWS", 100)
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], 100, axis=0)
    y = np.repeat([0, 1, 1], 100)
    for seed in range(10):
        model = MixtureSVC(2, random_state=seed).fit(X, y)
        assert model.score(X, y) == 1
    # Of this seed, no kind of rows is set aside.
    asked = MixtureSVC(2, random_state=0, early_stopping=True)
    with pytest.raises(ValueError, match="Set early_stopping=False"):
        asked.fit(X, y)

"""ClusteredSVC.update: the model of the rows that are present, and its proof."""

import copy
import pickle
import signal
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.decomposition import PCA

import localsvm
from examples import examples
from localsvm import ClusteredSVC
from localsvm.estimators._regional.solve import solve_rows
from localsvm.estimators._regional.updates import measured, with_vectors
from localsvm.estimators._regional.updates.repair import _move
from localsvm.exceptions import DataError
from localsvm.solvers import SolverOptions

KINDS = {
    "soft": {},
    "hard": {"n_nearest": 1},
    "independent": {"n_nearest": 1, "global_reg": np.inf},
    "no global": {"global_reg": np.inf},
    "joint": {"multi_class": "crammer_singer"},
    "squared": {"loss": "squared_hinge"},
    "no intercept": {"fit_intercept": False, "n_nearest": 1},
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def make_rows(n=240, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    score = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n)
    y = (score > 0).astype(int)
    if n_classes == 3:
        y[X[:, 2] > 0.8] = 2
    return X, np.array(["a", "b", "c"])[y]


def fitted(kind="soft", n_classes=3, **more):
    X, y = make_rows(n_classes=n_classes)
    params = KINDS[kind] | more
    model = ClusteredSVC(6, random_state=0, updatable=True, **params)
    return model.fit(X, y), X, y


def refitted(kept, tol=1e-9):
    """The same rows, codes and settings, solved from nothing."""
    solution, _ = solve_rows(
        kept.problem(),
        kept.codes,
        kept.regions,
        kept.settings,
        SolverOptions(loss=kept.settings.loss, tol=tol, max_iter=100_000),
        None,
    )
    return measured(with_vectors(replace(kept, duals=solution.duals)))


def absolute_gaps(kept):
    return np.maximum(kept.primal - kept.dual, 0)


def squared_distance(kept, other):
    """Of the weights, problem by problem, in the norm of the penalty."""
    difference = np.square(kept.vectors - other.vectors).sum(axis=2)
    if kept.is_independent:
        return difference.ravel()
    if kept.regions.is_hard:
        difference[:, -1] *= kept.settings.global_reg
    return difference.sum(keepdims=True) if kept.settings.joint else difference.sum(1)


def check_proven(model):
    """The certificate is true, and the weights are those of a refit within it."""
    kept = model._kept
    true = measured(with_vectors(kept))
    np.testing.assert_allclose(kept.vectors, true.vectors, atol=1e-9)
    np.testing.assert_allclose(kept.primal, true.primal, rtol=1e-9)
    np.testing.assert_allclose(kept.dual, true.dual, rtol=1e-9)
    assert model.duality_gap_ == kept.gaps.max() <= model.tol
    other = refitted(kept)
    reach = np.sqrt(absolute_gaps(kept)) + np.sqrt(absolute_gaps(other))
    assert (np.sqrt(np.atleast_1d(squared_distance(kept, other))) <= reach + 1e-9).all()


@each_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_updates_are_refits_within_the_certificate(kind, n_classes):
    model, X, y = fitted(kind, n_classes)
    rng = np.random.default_rng(1)
    check_proven(model)
    for n_rows in (1, 3, 40):
        rows = rng.choice(len(X), n_rows, replace=False)
        report = model.update(remove=(X[rows], y[rows]))
        assert (report.n_removed, report.n_rows) == (n_rows, len(X) - n_rows)
        check_proven(model)
        model.update(add=(X[rows], y[rows]))
        check_proven(model)
    new, labels = make_rows(20, n_classes, seed=5)
    report = model.update(add=(new, labels), remove=(X[:5], y[:5]))
    assert report.n_rows == len(X) + 15
    check_proven(model)


@each_kind
def test_vectors_follow_the_duals_before_anything_is_solved(kind):
    model, _, _ = fitted(kind)
    kept = model._kept
    weight = kept.rows.weight.copy()
    places = np.arange(0, 240, 7)
    weight[places] = np.where(places % 2, 0.0, 0.5)
    after = replace(kept, rows=replace(kept.rows, weight=weight))
    moved = _move(after, places, kept.bounds(places)).kept
    assert (moved.duals != kept.duals).any()
    np.testing.assert_allclose(moved.vectors, with_vectors(moved).vectors, atol=1e-9)


def test_counts_are_those_of_the_rows_present():
    model, X, y = fitted("hard")
    model.update(remove=(X[:30], y[:30]), add=(X[30:32] + 0.01, y[30:32]))
    present = np.concatenate([X[30:], X[30:32] + 0.01])
    labels = np.concatenate([y[30:], y[30:32]])
    region = model.region(present)
    assert model.region_sizes_.tolist() == np.bincount(region, minlength=6).tolist()
    counts = np.zeros((6, 3))
    np.add.at(counts, (region, np.searchsorted(model.classes_, labels)), 1)
    np.testing.assert_allclose(model.region_class_counts_, counts)
    support = (model._kept.duals != 0).any(axis=0)
    classes = model._kept.rows.class_index[support]
    assert model.n_support_.tolist() == np.bincount(classes, minlength=3).tolist()


@each_kind
def test_rows_without_duals_change_no_bit(kind):
    model, _, _ = fitted(kind, 2)
    kept = model._kept
    idle = np.flatnonzero((kept.duals == 0).all(axis=0))[:5]
    rows = kept.rows.X.values[idle].copy()
    labels = model.classes_[kept.rows.class_index[idle]]
    coef, intercept = model._model.coef.tobytes(), model._model.intercept.tobytes()
    report = model.update(remove=(rows, labels))
    assert (report.n_duals, report.n_iter) == (0, 0)
    assert model._model.coef.tobytes() == coef
    assert model._model.intercept.tobytes() == intercept
    check_proven(model)
    report = model.update(add=(rows, labels))
    assert report.n_iter == 0
    assert model._model.coef.tobytes() == coef


def test_relabelling_equals_a_fit_of_the_new_labels():
    model, X, y = fitted("soft", 2)
    flipped = np.where(y[:8] == "a", "b", "a")
    model.update(remove=(X[:8], y[:8]), add=(X[:8], flipped))
    check_proven(model)
    place = model._kept.rows.index.find(
        localsvm.rows.identify_rows(X[:8], np.searchsorted(["a", "b"], flipped))
    )
    assert (model._kept.rows.weight[place] == 1).all()


@pytest.mark.parametrize("kind", ["soft", "hard", "independent"])
@examples(15)
@given(data=st.data())
def test_the_way_to_the_rows_does_not_matter(kind, data):
    model, X, y = fitted(kind, 2)
    rows = st.lists(st.integers(0, 59), unique=True, min_size=1, max_size=8)
    present = np.ones(60, dtype=bool)
    for chosen in data.draw(st.lists(rows, min_size=1, max_size=5)):
        chosen = np.array(chosen)
        out, into = chosen[present[chosen]], chosen[~present[chosen]]
        model.update(
            remove=(X[out], y[out]) if len(out) else None,
            add=(X[into], y[into]) if len(into) else None,
        )
        present[chosen] ^= True
    at_once, _, _ = fitted(kind, 2)
    gone = np.flatnonzero(~present)
    if len(gone):
        at_once.update(remove=(X[gone], y[gone]))
    first, second = model._kept, at_once._kept
    assert sorted(first.compacted().rows.identity.hashes) == sorted(
        second.compacted().rows.identity.hashes
    )
    reach = np.sqrt(absolute_gaps(first)) + np.sqrt(absolute_gaps(second))
    assert (np.sqrt(squared_distance(first, second)) <= reach + 1e-9).all()


def test_copies_and_weights_are_the_same():
    X, y = make_rows()
    twice, heavy = (
        ClusteredSVC(6, random_state=0, updatable=True).fit(
            X[rows], y[rows], np.ones(len(rows)) * weight
        )
        for rows, weight in ((np.r_[0:240, 0:240], 1), (np.arange(240), 2))
    )
    assert twice._kept.rows.n_rows == heavy._kept.rows.n_rows == 240
    for model in (twice, heavy):
        model.update(remove=(X[:3], y[:3]))
        check_proven(model)
        assert sorted(np.unique(model._kept.rows.weight)) == [1, 2]
        model.update(remove=(X[:3], y[:3], [1, 1, 1]))
        assert model.update_report_.n_rows == 237
        check_proven(model)


def test_class_weights_stay_as_they_were():
    model, X, y = fitted("soft", class_weight="balanced")
    before = model._kept.class_weight.copy()
    assert len(np.unique(before)) == 3
    model.update(remove=(X[:60], y[:60]))
    assert (model._kept.class_weight == before).all()
    check_proven(model)


def state_of(model):
    return pickle.dumps({k: v for k, v in vars(model).items() if k != "fit_report_"})


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda X, y: {"remove": (X + 1, y)}, DataError, "not in the model"),
        (lambda X, y: {"remove": (X[:2], y[:2], [1, 2])}, DataError, "weight"),
        (lambda X, y: {"add": (X[:1], ["d"])}, DataError, "does not know"),
        (lambda X, y: {"remove": (X[y == "a"], y[y == "a"])}, DataError, "last rows"),
        (lambda X, y: {"add": (X[:, :2], y)}, ValueError, "features"),
        (lambda X, y: {"add": (X, y[:4])}, DataError, "one label per row"),
        (lambda X, y: {"add": X}, TypeError, "tuple"),
        (lambda X, y: {"add": (X[:1] * np.nan, y[:1])}, ValueError, "NaN"),
    ],
)
def test_what_cannot_be_done_changes_nothing(change, error, words):
    model, X, y = fitted()
    before = state_of(model)
    with pytest.raises(error, match=words):
        model.update(**change(X, y))
    assert state_of(model) == before


def test_an_interrupt_changes_nothing(monkeypatch):
    model, _X, _y = fitted("soft", 2)
    before = state_of(model)

    def interrupted(*args):
        signal.raise_signal(signal.SIGINT)
        return _core_update(*args)

    from localsvm import _core

    _core_update = _core.update_codes
    monkeypatch.setattr(_core, "update_codes", interrupted)
    support = (model._kept.duals[0] == model._kept.bounds()).nonzero()[0][:1]
    row = model._kept.rows.X.values[support].copy()
    label = model.classes_[model._kept.rows.class_index[support]]
    with pytest.raises(KeyboardInterrupt):
        model.update(remove=(row, label))
    assert state_of(model) == before
    monkeypatch.undo()
    model.update(remove=(row, label))
    check_proven(model)


def test_a_copy_goes_its_own_way():
    model, X, y = fitted("soft", 2)
    other = copy.copy(model)
    model.update(add=(X[:3] + 0.1, y[:3]))
    other.update(add=(X[3:6] + 0.1, y[3:6]))
    check_proven(model)
    check_proven(other)
    assert not (
        model._kept.rows.identity.hashes == other._kept.rows.identity.hashes
    ).all()


def test_only_models_that_keep_rows_are_updated():
    X, y = make_rows()
    model = ClusteredSVC(6, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"updatable=True.*state=True"):
        model.update(remove=(X[:1], y[:1]))
    again = ClusteredSVC(6, random_state=0, updatable=True).fit(X, y)
    again.set_params(updatable=False).fit(X, y)
    assert not hasattr(again, "_kept")


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_and_type_are_those_of_the_fit(make, dtype):
    X, y = make_rows()
    X[X < -1] = 0
    model = ClusteredSVC(6, random_state=0, updatable=True)
    model.fit(make(X.astype(dtype)), y)
    # As a user may have them at hand: dense, and in double.
    model.update(remove=(X.astype(dtype).astype(float)[:5], y[:5]))
    model.update(add=(sparse.csr_matrix(X[:5].astype(dtype)), y[:5]))
    assert model.update_report_.n_rows == 240
    true = measured(with_vectors(model._kept))
    assert true.gaps.max() <= model.tol


def test_rows_are_found_before_a_metric():
    X, y = make_rows()
    model = ClusteredSVC(6, metric=PCA(2), random_state=0, updatable=True).fit(X, y)
    for row in range(0, 240, 40):
        model.update(remove=(X[row : row + 1], y[row : row + 1]))
    check_proven(model)
    assert model.update_report_.n_rows == 234


@each_kind
def test_files_keep_what_updates_need_if_asked(kind, tmp_path):
    model, X, y = fitted(kind)
    model.update(remove=(X[:4], y[:4]))
    small, large = tmp_path / "small.lsvm", tmp_path / "large.lsvm"
    localsvm.save(model, small)
    localsvm.save(model, large, state=True)
    assert not hasattr(localsvm.load(small), "_kept")
    loaded = localsvm.load(large)
    assert (loaded.decision_function(X) == model.decision_function(X)).all()
    assert loaded._kept.rows.n_places == len(X) - 4  # no trace of the removed
    np.testing.assert_allclose(loaded._kept.primal, model._kept.primal, rtol=1e-9)
    np.testing.assert_allclose(loaded._kept.dual, model._kept.dual, rtol=1e-9)
    loaded.update(add=(X[:4], y[:4]), remove=(X[4:8], y[4:8]))
    check_proven(loaded)


def test_the_users_rows_are_not_the_kept_ones():
    model, X, _y = fitted()
    kept = model._kept.rows.X.values.copy()
    X[:] = 0
    assert (model._kept.rows.X.values == kept).all()


@each_kind
def test_decisions_without_a_row_are_those_of_its_removal(kind):
    model, X, y = fitted(kind, 3, tol=1e-6)
    rows = np.arange(0, 240, 24)
    exact = model.leave_one_out(X[rows], y[rows], exact=True)
    for row, scores in zip(rows, exact, strict=True):
        other = copy.copy(model)
        other.update(remove=(X[row : row + 1], y[row : row + 1]))
        removed = other.decision_function(X[row : row + 1])[0]
        np.testing.assert_allclose(scores, removed, atol=1e-8)
    # What has no dual is not estimated but known.
    idle = (model._kept.duals == 0).all(axis=0)
    assert idle.any()
    X, classes = model._kept.rows.X.values[idle], model._kept.rows.class_index[idle]
    np.testing.assert_allclose(
        model.leave_one_out(X, model.classes_[classes]),
        model.decision_function(X),
        atol=1e-8,
    )


def test_the_span_rule_is_near_the_exact_margins():
    model, X, y = fitted("soft", 2, tol=1e-6, C=0.1)
    rows = np.arange(0, 240, 6)
    exact = model.leave_one_out(X[rows], y[rows], exact=True)
    estimated = model.leave_one_out(X[rows], y[rows])
    assert np.median(np.abs(exact - estimated)) < 0.05
    predicted = np.where(model.loo_decisions_ > 0, "b", "a")
    labels = model.classes_[model._kept.rows.class_index]
    assert model.loo_score_ == np.mean(predicted == labels)


def test_leave_one_out_is_of_rows_of_the_model():
    model, X, y = fitted("soft", 2)
    with pytest.raises(DataError, match="row 1"):
        model.leave_one_out(np.stack([X[0], X[1] + 1]), y[:2])


def test_drift_is_the_share_of_the_rows_that_moved():
    model, X, y = fitted("hard", 2)
    assert model.regions_drift_ == 0
    region = model.region(X)
    gone = np.flatnonzero(region == region[0])
    before = np.bincount(region, minlength=6) / len(X)
    if len(set(y[region != region[0]])) == 2:
        model.update(remove=(X[gone], y[gone]))
        left = np.bincount(region[region != region[0]], minlength=6)
        expected = 0.5 * np.abs(left / left.sum() - before).sum()
        assert model.regions_drift_ == pytest.approx(expected)

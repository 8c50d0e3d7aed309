"""AdditiveSVC.update: the model of the rows that are present, and its proof."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import localsvm
from examples import examples
from localsvm import AdditiveSVC
from localsvm.estimators._additive.fit import AdditiveFit, fit_additive
from localsvm.exceptions import DataError
from localsvm.solvers import RunLimits

LOSSES = ("squared_hinge", "logistic")
each_loss = pytest.mark.parametrize("loss", LOSSES)


def make_rows(n=300, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X[:, 2] = rng.integers(0, 4, n)
    X[rng.random(n) < 0.05, 0] = np.nan
    score = np.nan_to_num(np.abs(X[:, 0])) + 0.3 * rng.standard_normal(n)
    y = (score > 0.6).astype(int)
    if n_classes == 3:
        y[X[:, 1] > 0.8] = 2
    return X, np.array(["a", "b", "c"])[y]


def fitted(loss="squared_hinge", n_classes=3, **more):
    X, y = make_rows(n_classes=n_classes)
    model = AdditiveSVC(
        C=1.0, loss=loss, categorical_features=[2], updatable=True, **more
    )
    return model.fit(X, y), X, y


def refitted(kept):
    """The same rows and bins, solved from nothing."""
    weight = kept.class_weight[kept.rows.class_index] * kept.rows.weight
    fit = fit_additive(
        np.ascontiguousarray(kept.rows.X.values.T),
        kept.bins,
        kept.rows.class_index,
        weight,
        len(kept.class_weight),
        kept.settings,
        RunLimits(tol=1e-12, max_iter=200),
    )
    return replace(kept, coef=fit.coef, model=fit.model).measured(), fit


def check_proven(model):
    kept = model._kept
    true = kept.measured()
    np.testing.assert_allclose(kept.primal, true.primal, rtol=1e-10)
    np.testing.assert_allclose(kept.dual, true.dual, rtol=1e-10)
    assert kept.sums.support.tolist() == true.sums.support.tolist()
    assert model.n_support_.tolist() == true.sums.support.tolist()
    assert model.duality_gap_ == pytest.approx(true.gaps.max(), abs=1e-10)
    assert true.gaps.max() <= model.tol
    other, fit = refitted(kept)
    # The core's own certificate is the one that is kept in sums.
    for task, certificate in enumerate(fit.certificates):
        assert certificate.primal == pytest.approx(other.primal[task], rel=1e-10)
        assert certificate.dual == pytest.approx(other.dual[task], rel=1e-10)
    difference = kept.coef - other.coef
    difference[:, -1] *= np.sqrt(1e-3)
    # The duals are those of the primal weights, not these of the duals: sqrt(2 G).
    reach = np.sqrt(2 * (kept.primal - kept.dual)) + 1e-5
    assert (np.linalg.norm(difference, axis=1) <= reach).all()


@each_loss
@pytest.mark.parametrize("n_classes", [2, 3])
def test_updates_are_refits_within_the_certificate(loss, n_classes):
    model, X, y = fitted(loss, n_classes)
    rng = np.random.default_rng(1)
    check_proven(model)
    for n_rows in (1, 3, 40):
        rows = rng.choice(len(X), n_rows, replace=False)
        report = model.update(remove=(X[rows], y[rows]))
        assert report.n_rows == len(X) - n_rows
        check_proven(model)
        model.update(add=(X[rows], y[rows]))
        check_proven(model)
    new, labels = make_rows(20, n_classes, seed=5)
    model.update(add=(new, labels), remove=(X[:5], y[:5]))
    assert model.update_report_.n_rows == len(X) + 15
    check_proven(model)


def test_rows_beyond_the_margin_change_no_bit():
    model, X, y = fitted(n_classes=2)
    sign = np.where(y == "b", 1, -1)
    beyond = np.flatnonzero(sign * model.decision_function(X) >= 1)[:4]
    tables, bias = model._model.tables.tobytes(), model._model.bias.tobytes()
    report = model.update(remove=(X[beyond], y[beyond]))
    assert (report.n_duals, report.n_iter) == (0, 0)
    assert model._model.tables.tobytes() == tables
    assert model._model.bias.tobytes() == bias
    check_proven(model)


def test_a_column_that_becomes_constant_is_seen():
    X, y = make_rows()
    X = np.column_stack([X, np.zeros(len(X))])
    X[7, 3] = 1
    model = AdditiveSVC(C=1.0, updatable=True, max_bins=400).fit(X, y)
    # Eight rows make a bin: one alone does not.
    model.update(remove=(X[7:8], y[7:8]))
    check_proven(model)
    X[:20, 3] = 1
    model = AdditiveSVC(C=1.0, updatable=True).fit(X, y)
    model.update(remove=(X[:20], y[:20]))
    check_proven(model)
    model.update(add=(X[:20], y[:20]))
    check_proven(model)


def test_the_code_is_scaled_by_the_columns_that_vary_now():
    X, y = make_rows(n_classes=2)
    X = np.column_stack([X, np.zeros(len(X))])
    X[:20, 3] = 1
    model = AdditiveSVC(C=1.0, tol=0.9, updatable=True).fit(X, y)
    model.update(remove=(X[:20], y[:20]))
    kept = model._kept
    # Tables of the weights that are kept, for the rows that are present.
    start = AdditiveFit(kept.settings, kept.model, kept.coef, [])
    rows = kept.rows
    fit = fit_additive(
        np.ascontiguousarray(rows.X.values.T),
        kept.bins,
        rows.class_index,
        rows.weight,
        2,
        kept.settings,
        RunLimits(tol=1.0, max_iter=0),
        start,
    )
    np.testing.assert_allclose(fit.model.tables, kept.model.tables, atol=1e-12)


@examples(15)
@given(data=st.data())
def test_the_way_to_the_rows_does_not_matter(data):
    model, X, y = fitted(n_classes=2)
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
    check_proven(model)
    assert model._kept.rows.n_rows == len(X) - 60 + present.sum()


def test_unknown_rows_change_nothing():
    model, X, y = fitted()
    before = model._kept
    with pytest.raises(DataError, match="not in the model"):
        model.update(remove=(X[:1] + 1, y[:1]))
    assert model._kept is before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_loss
def test_files_keep_what_updates_need_if_asked(loss, dtype, tmp_path):
    X, y = make_rows()
    X = X.astype(dtype)
    model = AdditiveSVC(C=1.0, loss=loss, updatable=True).fit(X, y)
    model.update(remove=(X[:4], y[:4]))
    small, large = tmp_path / "small.lsvm", tmp_path / "large.lsvm"
    localsvm.save(model, small)
    localsvm.save(model, large, state=True)
    assert not hasattr(localsvm.load(small), "_kept")
    loaded = localsvm.load(large)
    assert (loaded.decision_function(X) == model.decision_function(X)).all()
    assert loaded._kept.rows.n_places == len(X) - 4
    loaded.update(add=(X[:4].astype(float), y[:4]), remove=(X[4:8], y[4:8]))
    check_proven(loaded)

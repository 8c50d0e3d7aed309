import numpy as np
import pytest
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from localsvm import ClusteredSVC
from localsvm.data import make_xor
from localsvm.estimators import ClusteredSVCCV

GRID = {"Cs": [0.1, 1.0, 10.0], "global_regs": [1.0, 10.0], "n_regions": [1, 4]}


@pytest.fixture
def xor():
    return make_xor(400, random_state=0)


def test_search_equals_fitting_every_setting(xor):
    X, y = xor
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    exact = {"tol": 1e-9, "max_iter": 100_000, "random_state": 5}
    search = ClusteredSVCCV(**GRID, cv=cv, search_tol=1e-9, **exact).fit(X, y)
    results = search.cv_results_
    assert len(results["mean_test_score"]) == 12
    for index in range(12):
        setting = {
            name: results[f"param_{name}"][index].item()
            for name in ("C", "global_reg", "n_regions")
        }
        scores = [
            ClusteredSVC(
                **setting,
                intercept_scaling=search.intercept_scaling_,
                **exact,
            )
            .fit(X[train], y[train])
            .score(X[test], y[test])
            for train, test in cv.split(X, y)
        ]
        found = [results[f"split{fold}_test_score"][index] for fold in range(3)]
        np.testing.assert_allclose(found, scores, atol=0.01)
        assert results["mean_test_score"][index] == pytest.approx(np.mean(found))
    best = np.argmax(results["mean_test_score"])
    assert search.best_score_ == results["mean_test_score"][best]
    assert results["rank_test_score"][best] == 1
    assert search.best_params_["n_regions"] == 4


def test_final_model_is_the_chosen_setting_on_all_rows(xor):
    X, y = xor
    search = ClusteredSVCCV(**GRID, random_state=0).fit(X, y)
    model = ClusteredSVC(**search.best_params_, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        search.decision_function(X), model.decision_function(X)
    )
    assert search.best_params_ == {
        "C": search.C_,
        "global_reg": search.global_reg_,
        "n_regions": search.best_params_["n_regions"],
    }
    assert set(search.fit_report_) == {
        *("search", "cluster", "assign", "solve"),
        *("calibrate", "familiarity"),
    }


@pytest.mark.parametrize("n_nearest", [8, 1])
def test_n_jobs_does_not_change_a_bit(n_nearest, three_classes):
    X, y = three_classes
    one, two = (
        ClusteredSVCCV(**GRID, n_nearest=n_nearest, random_state=0, n_jobs=n_jobs).fit(
            X, y
        )
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_any_scorer_serves(xor):
    X, y = xor
    for scoring in ("roc_auc", make_scorer(roc_auc_score), "f1"):
        search = ClusteredSVCCV(n_regions=[1, 4], scoring=scoring, random_state=0)
        assert search.fit(X, y).best_params_["n_regions"] == 4


def test_folds_are_those_given(xor):
    X, y = xor
    folds = list(KFold(4).split(X))
    search = ClusteredSVCCV(n_regions=4, cv=folds, random_state=0).fit(X, y)
    assert search.n_splits_ == 4
    assert "split3_test_score" in search.cv_results_
    assert "split4_test_score" not in search.cv_results_


def test_default_score_counts_rows_by_weight(xor):
    X, y = xor
    noise = np.random.default_rng(0).random(len(y)) < 0.3
    flipped = np.where(noise, 1 - y, y)
    plain = ClusteredSVCCV(n_regions=4, random_state=0).fit(X, flipped)
    weighted = ClusteredSVCCV(n_regions=4, random_state=0).fit(
        X, flipped, sample_weight=np.where(noise, 1e-3, 1.0)
    )
    assert plain.best_score_ < 0.8
    assert weighted.best_score_ > 0.95


def test_ties_go_to_the_simplest_model():
    X = np.r_[np.full((50, 1), -1.0), np.full((50, 1), 1.0)]
    X = X + np.linspace(-0.1, 0.1, 100)[:, None]
    y = (X[:, 0] > 0).astype(int)
    search = ClusteredSVCCV(**GRID, random_state=0).fit(X, y)
    assert (search.best_params_["n_regions"], search.global_reg_) == (1, 10.0)
    assert (
        min(
            C
            for C, score in zip(
                search.cv_results_["param_C"],
                search.cv_results_["mean_test_score"],
                strict=True,
            )
            if score == search.best_score_
        )
        == search.C_
    )


def test_default_candidates_fit_the_number_of_rows():
    rng = np.random.default_rng(0)
    for n, expected in ((60, {1}), (400, {8}), (2000, {8, 50})):
        X = rng.standard_normal((n, 2))
        search = ClusteredSVCCV(cv=3, random_state=0).fit(X, X[:, 0] > X[:, 1] ** 2)
        assert set(search.cv_results_["param_n_regions"]) == expected

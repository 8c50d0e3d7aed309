"""Compiled models: the estimator's answers for rows of NumPy, or a clear refusal."""

import pickle
import threading

import numpy as np
import pytest
from onnx_borders import border_rows
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import localsvm
from localsvm.estimators import METHODS
from localsvm.exceptions import DataError
from model_file_data import CASES, fitted

# Decisions that take the same steps in the same order, bit for bit.
SAME_BITS = (
    *("additive", "additive-categories"),
    *("local", "local-center", "local-single", "local-grid", "local-cv"),
)
ROUNDED = (
    *("soft", "soft-classes", "soft-bool", "soft-bytes", "soft-floats"),
    *("soft-single", "soft-csr", "soft-named", "joint"),
    *("hard", "hard-kmeans", "hard-sampled", "hard-parallel", "hard-threshold"),
    *("clustered-cv", "clustered-cv-hard", "anchors", "coordinates"),
    *("mixture", "mixture-paper", "mixture-levels", "mixture-paper-levels"),
    *("reduced", "reduced-laplace", "reduced-linear"),
    *("staged", "staged-quantile", "staged-ranks", "staged-cells", "staged-sum"),
    *("staged-sum-codes", "staged-first"),
)
REFUSED = {
    "neighbor": "NeighborSVC cannot be compiled",
    "clusters": "SupportClusterSVC cannot be compiled",
    "hard-pddp": "clusterer=PDDP cannot be compiled",
    "mapped": "metric=Pipeline cannot be compiled",
    "local-csr": "A model of sparse rows cannot be compiled",
    "reduced-csr": "A model of sparse rows cannot be compiled",
    "local-shrink": "LocalSVC with a global_model cannot be compiled",
    "local-poly": "(?s)neighbors=KernelNeighbors.* cannot be compiled",
    "pipeline": "A Pipeline cannot be compiled",
    "sigmoid": "CalibratedClassifierCV cannot be compiled",
}


def queries_for(model, dtype, n_rows=400):
    rng = np.random.default_rng(1)
    X = 1.5 * rng.standard_normal((n_rows, model.n_features_in_))
    X[::3] = np.rint(X[::3])
    if model._allows_nan:
        X[::7, 0] = np.nan
    return X.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", [*SAME_BITS, *ROUNDED])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_answers_are_those_of_the_estimator(case, dtype):
    model = fitted(case)
    if (case, dtype) == ("hard-kmeans", np.float32):
        pytest.skip("KMeans of float64 rows takes no others")
    fast, X = localsvm.compile(model), queries_for(model, dtype)
    found, expected = fast.decision_function(X), model.decision_function(X)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    tolerance = 1e-11 if expected.dtype == np.float64 == dtype else 2e-5
    np.testing.assert_allclose(found, expected, tolerance, tolerance)
    label, own = fast.predict(X), model.predict(X)
    assert label.dtype == own.dtype
    np.testing.assert_array_equal(label, own)
    rows = [X[i : i + 1] for i in range(20)]
    if case in SAME_BITS:
        alone = np.concatenate([model.decision_function(row) for row in rows])
        np.testing.assert_array_equal(found[:20], alone)
    again = np.concatenate([fast.decision_function(row) for row in rows])
    np.testing.assert_array_equal(found[:20], again)


@pytest.mark.parametrize("case", [*SAME_BITS, *ROUNDED])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_labels_are_the_same_beside_borders(case):
    model = fitted(case)
    fast = localsvm.compile(model)
    X = np.nan_to_num(queries_for(model, np.float64))
    is_narrow = CASES[case][0] == "single"
    distances = (1e-3, 1e-4, 1e-5) if is_narrow else (1e-3, 1e-6, 1e-9)
    rows = border_rows(model.predict, X, 40, distances)
    assert len(rows) > 50
    np.testing.assert_array_equal(fast.predict(rows), model.predict(rows))


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compiled_is_named(case):
    with pytest.raises(TypeError, match=REFUSED[case]):
        localsvm.compile(fitted(case))


def test_every_family_is_known():
    known = {type(fitted(case)) for case in (*SAME_BITS, *ROUNDED)}
    refused = {type(fitted(case)) for case in REFUSED}
    assert {method.estimator for method in METHODS} <= known | refused
    assert set(CASES) >= {*SAME_BITS, *ROUNDED, *REFUSED}


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="StandardScaler cannot be compiled"):
        localsvm.compile(StandardScaler().fit([[0.0], [1.0]]))
    with pytest.raises(NotFittedError):
        localsvm.compile(localsvm.AdditiveSVC())


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[0.0, 0.0, 0.0]], TypeError, "X=list is no array"),
        (np.zeros(3), DataError, r"X has shape \(3,\); expected \(n_samples, 3\)"),
        (np.zeros((2, 4)), DataError, r"X has shape \(2, 4\)"),
        (np.zeros((1, 3), int), TypeError, "X has dtype int64; expected float64"),
        (np.zeros((1, 3), object), TypeError, "X has dtype object"),
        (np.zeros((1, 3), ">f8"), TypeError, "X has dtype >f8"),
        (np.array([[0, np.nan, 0]]), DataError, "NaN: found 1 .* row 0, column 1"),
        (np.array([[0, 0, -np.inf]]), DataError, "infinity: found 1 .* column 2"),
    ],
)
def test_wrong_rows_are_refused(X, error, message):
    fast = localsvm.compile(fitted("soft"))
    for answer in (fast.predict, fast.decision_function):
        with pytest.raises(error, match=message):
            answer(X)


def test_missing_values_are_taken_where_the_model_takes_them():
    fast = localsvm.compile(fitted("additive"))
    assert len(fast.predict(np.full((1, 3), np.nan))) == 1
    with pytest.raises(DataError, match="infinity"):
        fast.predict(np.array([[np.nan, np.inf, 0.0]]))


def test_rows_of_any_layout_and_number_are_taken():
    model = fitted("soft")
    fast, X = localsvm.compile(model), queries_for(model, np.float64)
    expected = fast.predict(X)
    np.testing.assert_array_equal(fast.predict(np.asfortranarray(X)), expected)
    np.testing.assert_array_equal(fast.predict(X[::2]), expected[::2])
    assert fast.predict(X[:0]).shape == (0,)
    frozen = X.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(fast.predict(frozen), expected)


@pytest.mark.parametrize("case", ["mixture", "mixture-levels"])
def test_mixtures_give_probabilities(case):
    model = fitted(case)
    fast, X = localsvm.compile(model), queries_for(model, np.float64)
    np.testing.assert_allclose(
        fast.predict_proba(X), model.predict_proba(X), 1e-11, 1e-12
    )
    assert not hasattr(localsvm.compile(fitted("soft")), "predict_proba")


def test_a_compiled_model_stays_as_it_is():
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = localsvm.ClusteredSVC(3, random_state=0).fit(X, X[:, 0] > 0)
    fast = localsvm.compile(model)
    before = fast.decision_function(X)
    model._model.coef[:] = 0
    model.classes_[:] = [1, 1]
    np.testing.assert_array_equal(fast.decision_function(X), before)
    assert fast.classes_.tolist() == [False, True]
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(fast)


def test_threads_share_a_compiled_model():
    model = fitted("staged-sum")
    fast, X = localsvm.compile(model), queries_for(model, np.float64, 3000)
    expected, wrong = fast.decision_function(X), []

    def ask():
        for _ in range(5):
            if not np.array_equal(fast.decision_function(X), expected):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

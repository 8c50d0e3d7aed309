import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from localsvm import ClusteredSVC
from localsvm.estimators import ClusteredSVCCV
from localsvm.inspect import explain

N_FEATURES = 9


def make_rows(n_classes):
    return make_classification(
        300,
        N_FEATURES,
        n_informative=5,
        n_classes=n_classes,
        class_sep=1.5,
        random_state=0,
    )


def fit(n_classes=2, *, n_nearest=8, names=None):
    X, y = make_rows(n_classes)
    labels = np.array(["ant", "bee", "cat", "dog"])[y]
    rows = X if names is None else pd.DataFrame(X, columns=names)
    model = ClusteredSVC(6, n_nearest=n_nearest, random_state=0).fit(rows, labels)
    return model, X


def decision_value(model, x):
    """Value of the predicted class; of the second class if there are two."""
    scores = model.decision_function([x])
    return scores[0] if scores.ndim == 1 else scores.max()


@pytest.mark.parametrize("n_nearest", [8, 1])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_contributions_and_intercept_sum_to_decision_value(n_classes, n_nearest):
    model, X = fit(n_classes, n_nearest=n_nearest)
    for x in X[:20]:
        found = explain(model, x, border=False)
        expected = decision_value(model, x)
        total = found.contributions.sum() + found.intercept
        assert total == pytest.approx(expected, abs=1e-6)
        assert found.decision_value == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(found.contributions, found.coef * x)
        assert found.predicted_class == model.predict([x])[0]


@pytest.mark.parametrize("label", ["ant", "bee"])
def test_two_classes_positive_value_speaks_for_second(label):
    model, X = fit()
    x = X[model.predict(X) == label][0]
    found = explain(model, x, border=False)
    assert found.positive_class == "bee"
    assert (found.decision_value > 0) == (label == "bee")
    assert "positive speaks for class bee, negative for class ant" in str(found)


def test_several_classes_use_task_of_predicted_class():
    model, X = fit(4)
    x = X[model.predict(X) == "cat"][0]
    found = explain(model, x, border=False)
    np.testing.assert_allclose(found.coef, model.local_coef([x])[0][0, 2])
    assert found.positive_class == "cat"
    assert "positive speaks for class cat, negative for the others" in str(found)


def test_hard_assignment_is_the_one_region():
    model, X = fit(n_nearest=1)
    found = explain(model, X[3])
    (region,) = found.regions
    assert region == model.region(X[3:4])[0]
    np.testing.assert_array_equal(found.region_weights, [1.0])
    assert found.n_region_rows == np.count_nonzero(model.region(X) == region)
    np.testing.assert_allclose(found.coef, model.coef_[region, 0])


def test_soft_assignment_gives_all_regions_nearest_first():
    model, X = fit()
    found = explain(model, X[3])
    regions, weights = model.region(X[3:4], return_weights=True)
    n_kept = np.count_nonzero(weights[0])
    assert n_kept > 1
    np.testing.assert_array_equal(found.regions, regions[0, :n_kept])
    np.testing.assert_array_equal(found.region_weights, weights[0, :n_kept])
    assert found.n_region_rows == model.region_sizes_[regions[0, 0]]


@pytest.mark.parametrize("as_row", [list, np.array, pl.Series])
def test_row_may_come_in_any_container(as_row):
    model, X = fit(4)
    found, expected = explain(model, as_row(X[5])), explain(model, X[5])
    np.testing.assert_allclose(found.contributions, expected.contributions)
    np.testing.assert_array_equal(found.values, X[5])
    assert found.decision_value == pytest.approx(expected.decision_value)


@pytest.mark.parametrize(
    "as_rows", [np.array, np.ndarray.tolist, sparse.csr_array, sparse.csr_matrix]
)
def test_rows_may_come_in_any_container(as_rows):
    model, X = fit(4)
    several = explain(model, as_rows(X[:3]))
    (one,) = explain(model, as_rows(X[:1]))
    assert len(several) == 3
    for found, row in zip([*several, one], [0, 1, 2, 0], strict=True):
        expected = explain(model, X[row])
        np.testing.assert_allclose(found.contributions, expected.contributions)
        assert found.decision_value == pytest.approx(expected.decision_value)
        assert found.border.distance == pytest.approx(expected.border.distance)


@pytest.mark.filterwarnings("error")
def test_names_come_from_the_frame_of_the_fit():
    names = [f"petal {j}" for j in range(N_FEATURES)]
    model, X = fit(names=names)
    frame = pd.DataFrame(X, columns=names)
    rows = frame.iloc[5:7]
    for found in (
        explain(model, frame.iloc[5]),
        explain(model, rows)[0],
        explain(model, pl.DataFrame(rows.to_dict("list")))[0],
    ):
        assert found.feature_names == tuple(names)
        np.testing.assert_array_equal(found.values, X[5])
        assert found.border.shifts[0].name in names
    assert hasattr(model, "feature_names_in_")


def test_columns_in_another_order_than_at_fit_are_refused():
    names = [f"petal {j}" for j in range(N_FEATURES)]
    model, X = fit(names=names)
    with pytest.raises(ValueError, match="same order as they were in fit"):
        explain(model, pd.DataFrame(X, columns=names)[names[::-1]])


def test_names_argument_comes_before_those_of_the_fit():
    model, X = fit(names=[f"petal {j}" for j in range(N_FEATURES)])
    names = [f"leaf {j}" for j in range(N_FEATURES)]
    rows = pd.DataFrame(X[:1], columns=model.feature_names_in_)
    assert explain(model, rows, feature_names=names)[0].feature_names == tuple(names)


def test_names_default_to_numbers():
    model, X = fit()
    assert explain(model, X[0]).feature_names[:2] == ("x0", "x1")


def test_float32_model_is_explained_to_its_precision():
    X, y = make_rows(4)
    model = ClusteredSVC(6, random_state=0).fit(X.astype(np.float32), y)
    found = explain(model, X[0].astype(np.float32))
    total = found.contributions.sum() + found.intercept
    assert total == pytest.approx(found.decision_value, abs=1e-4)
    assert found.coef.dtype == np.float64


def test_search_can_be_explained():
    X, y = make_rows(2)
    model = ClusteredSVCCV(n_regions=[2, 4], cv=3, random_state=0).fit(X, y)
    found = explain(model, X[0])
    total = found.contributions.sum() + found.intercept
    assert total == pytest.approx(decision_value(model, X[0]), abs=1e-6)


def test_region_without_training_rows_has_size_zero():
    class Halves:
        """Clusterer that predicts a third label for rows far away."""

        def fit(self, X):
            return self

        def predict(self, X):
            return np.where(X[:, 0] > 50, 2, (X[:, 0] > 0).astype(int))

        def get_params(self, deep=True):
            return {}

    X, y = make_rows(2)
    model = ClusteredSVC(n_nearest=1, clusterer=Halves()).fit(X, y)
    far = np.full(N_FEATURES, 100.0)
    found = explain(model, far)
    assert found.regions.tolist() == [2]
    assert found.n_region_rows == 0
    np.testing.assert_allclose(found.coef, model.global_coef_[0])


def test_top_is_sorted_by_absolute_contribution():
    model, X = fit()
    found = explain(model, X[0])
    records = found.top(N_FEATURES + 5)
    sizes = [abs(record.contribution) for record in records]
    assert len(records) == N_FEATURES
    assert sizes == sorted(sizes, reverse=True)
    assert found.top(2) == records[:2]
    for name, value, weight, contribution in records:
        column = int(name[1:])
        assert value == X[0, column]
        assert weight == found.coef[column]
        assert contribution == found.contributions[column]


@pytest.mark.parametrize("n_nearest", [8, 1])
def test_text_adds_up_and_names_what_matters(n_nearest):
    model, X = fit(4, n_nearest=n_nearest)
    found = explain(model, X[0])
    text = str(found)
    assert text.startswith(f"Predicted class: {found.predicted_class}\n")
    share = found.region_weights[0] / found.region_weights.sum()
    assert (
        f"region {found.regions[0]} (share {share:.2f}, "
        f"{found.n_region_rows} training rows)"
    ) in text
    table = text.split("contribution\n")[1].splitlines()
    assert [line.split()[0] for line in table[:5]] == [r.name for r in found.top(5)]
    assert table[5].startswith("4 other features ")
    assert table[6].startswith("intercept ")
    *parts, total = (float(re.search(r"[+-][\d.]+$", line)[0]) for line in table)
    assert total == pytest.approx(found.decision_value, abs=1e-4)
    assert sum(parts) == pytest.approx(total, abs=1e-3)


def test_text_of_few_features_has_no_rest():
    X, y = make_rows(2)
    model = ClusteredSVC(4, random_state=0).fit(X[:, :3], y)
    assert "other feature" not in str(explain(model, X[0, :3]))


@pytest.mark.parametrize("shape", [(0, 9), (1, 2, 9)])
def test_other_than_rows_is_refused(shape):
    model, _ = fit()
    with pytest.raises(ValueError, match=f"found X of shape {re.escape(str(shape))}"):
        explain(model, np.zeros(shape))


def test_wrong_number_of_names_is_refused():
    model, X = fit()
    with pytest.raises(ValueError, match="feature_names has 2 entries, expected 9"):
        explain(model, X[0], feature_names=["a", "b"])


def test_unfitted_estimator_is_refused_before_the_row_is_looked_at():
    with pytest.raises(NotFittedError):
        explain(ClusteredSVC(), np.zeros((2, N_FEATURES)))


def test_estimator_without_local_function_is_refused():
    X, y = make_rows(2)
    with pytest.raises(TypeError, match=r"'local_coef'.*got SVC\.$"):
        explain(SVC().fit(X, y), X[0])
    with pytest.raises(TypeError, match=r"end of a pipeline; got SVC\.$"):
        explain(make_pipeline(StandardScaler(), SVC()).fit(X, y), X[0])

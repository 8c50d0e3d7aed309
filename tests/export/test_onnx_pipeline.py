"""ONNX graphs of pipelines and tables."""

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from localsvm import ClusteredSVC, GradientMetric, LocalSVC, MixtureSVC, StagedSVC
from localsvm.data import TableEncoder, read_table, sample_path
from localsvm.estimators import LocallyLinearSVC
from localsvm.export import onnx_inputs, register_converters, to_onnx
from onnx_data import assert_same, run

pandas = pytest.importorskip("pandas")

STEPS = {
    "standard": [StandardScaler()],
    "mean_alone": [StandardScaler(with_std=False)],
    "min_max": [MinMaxScaler((-1, 1), clip=True)],
    "max_abs": [MaxAbsScaler()],
    "robust": [RobustScaler(), "passthrough"],
    "pca": [StandardScaler(), PCA(3)],
    "whitened": [PCA(3, whiten=True)],
    "svd": [TruncatedSVD(3, random_state=0)],
    "l2": [Normalizer()],
    "l1": [Normalizer("l1")],
    "max": [Normalizer("max")],
    "metric": [StandardScaler(), GradientMetric(random_state=0)],
    "nested": [make_pipeline(StandardScaler(), PCA(3)), MinMaxScaler()],
}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_scikit_learn(name, iris):
    X, y = iris
    model = make_pipeline(*STEPS[name], ClusteredSVC(4, random_state=0)).fit(X, y)
    assert_same(model, 1.1 * X, "float64")
    assert_same(model, 1.1 * X, "float32", 1e-4)


@pytest.mark.parametrize("step", [StandardScaler(), MaxAbsScaler(), TableEncoder()])
def test_a_single_column_is_not_rounded(step):
    """onnxruntime merges factors and matrix products, in float32."""
    X = np.random.default_rng(0).uniform(0, 10, (300, 1))
    y = np.sin(X[:, 0]) > 0
    rows = pandas.DataFrame(X, columns=["x"]) if isinstance(step, TableEncoder) else X
    for estimator in (
        ClusteredSVC(5, n_nearest=1, random_state=0),
        MixtureSVC(3, em_max_iter=3, random_state=0),
        LocallyLinearSVC(5, metric=MaxAbsScaler(), random_state=0),
    ):
        model = make_pipeline(step, estimator).fit(rows, y)
        proto = to_onnx(model, dtype="float64")
        found = run(proto, onnx_inputs(proto, rows))["scores"]
        np.testing.assert_allclose(found, model.decision_function(rows), 1e-11, 1e-11)


def test_steps_that_skl2onnx_converts(iris):
    X, y = iris
    steps = QuantileTransformer(n_quantiles=50), StandardScaler()
    model = make_pipeline(*steps, ClusteredSVC(4, random_state=0)).fit(X, y)
    found = run(to_onnx(model, dtype="float64"), 1.1 * X)
    np.testing.assert_array_equal(found["label"], model.predict(1.1 * X))
    np.testing.assert_allclose(found["scores"], model.decision_function(1.1 * X), 1e-11)


@pytest.mark.parametrize("indicator", [False, True])
@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
def test_missing_values(strategy, indicator, iris):
    X, y = iris
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    imputer = SimpleImputer(strategy=strategy, add_indicator=indicator)
    model = make_pipeline(imputer, ClusteredSVC(4, random_state=0)).fit(X, y)
    assert_same(model, X, "float64")


def test_missing_values_that_are_numbers_and_empty_columns(iris):
    X, y = iris[0].copy(), iris[1]
    X[::5, 1] = -1
    X[:, 2] = -1
    imputer = SimpleImputer(missing_values=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(imputer, ClusteredSVC(4, random_state=0)).fit(X, y)
        assert_same(model, X, "float64")


@pytest.fixture(scope="module")
def table(iris):
    """Numbers, some missing, and strings."""
    X, y = iris
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(X[:, :2], columns=["length", "width"])
    frame.loc[::7, "width"] = np.nan
    frame["colour"] = np.array(["red", "green", "blue"])[
        (y + (rng.random(150) < 0.2)) % 3
    ]
    frame["size"] = rng.choice(["S", "M"], 150)
    return frame, y


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_by_name(dtype, table):
    X, y = table
    columns = ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
                ["length", "width"],
            ),
            ("strings", OneHotEncoder(handle_unknown="ignore"), ["colour", "size"]),
        ]
    )
    model = make_pipeline(columns, PCA(4), LocalSVC(20, random_state=0)).fit(X, y)
    proto = to_onnx(model, dtype=dtype, X=X[:3])
    found = run(proto, onnx_inputs(proto, X))
    assert (found["label"] == model.predict(X)).all()
    tolerance = 1e-5 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(found["scores"], model.decision_function(X), tolerance)
    with pytest.raises(ValueError, match=r"columns length, width, .* needs some"):
        to_onnx(model)


def test_steps_that_skl2onnx_cannot_convert(iris):
    X, y = iris
    for step, dtype in (
        (FunctionTransformer(np.log1p), "float32"),
        (PolynomialFeatures(2), "float64"),
    ):
        model = make_pipeline(step, ClusteredSVC(4)).fit(X, y)
        with pytest.raises(TypeError, match=rf"{type(step).__name__} .*{dtype}"):
            to_onnx(model, dtype=dtype)


def test_missing_strings_are_refused(table):
    X, y = table
    strings = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = ColumnTransformer([("strings", strings, ["colour", "size"])])
    model = make_pipeline(columns, ClusteredSVC(2)).fit(X, y)
    with pytest.raises(TypeError, match="SimpleImputer of strings"):
        to_onnx(model, X=X)


@pytest.mark.parametrize(
    "estimator",
    [
        ClusteredSVC(4, random_state=0),
        MixtureSVC(3, em_max_iter=3, random_state=0),
        LocallyLinearSVC(6, coding="local_coordinates", random_state=0),
        LocalSVC(20, metric=GradientMetric(random_state=0), random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_converters_for_skl2onnx(estimator, iris):
    skl2onnx = pytest.importorskip("skl2onnx")
    X, y = iris
    register_converters()
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    model = make_pipeline(StandardScaler(), estimator).fit(X, labels)
    found = run(skl2onnx.to_onnx(model, X[:1]), X)
    assert (found["label"] == model.predict(X)).all()
    np.testing.assert_allclose(found["scores"], model.decision_function(X), 1e-9, 1e-9)
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    with pytest.raises(RuntimeError, match="needs target_opset=18"):
        skl2onnx.to_onnx(model, X[:1], target_opset=15)


def mixed_table():
    """All kinds of columns but text, with missing and rare values."""
    rng, n = np.random.default_rng(0), 300
    shares = [0.5, 0.3, 0.1, 0.09, 0.005, 0.005]
    minutes = pandas.to_timedelta(rng.integers(0, 800 * 24 * 60, n), "min")
    frame = pandas.DataFrame(
        {
            "when": pandas.Timestamp("2020-01-01") + minutes,
            "label": rng.standard_normal(n),
            "width": rng.integers(0, 1000, n),
            "flag": rng.random(n) < 0.5,
            "word": rng.choice(["yes", "no", None], n),
            "code": rng.choice([1.0, 2.5, np.nan], n),
            "letter": rng.choice(list("abcdef"), n, p=shares),
            "same": 1,
        }
    )
    y = frame["when"].dt.day_of_week + 7 * frame["flag"] > 6
    frame.loc[::7, "label"] = np.nan
    frame.loc[::11, "when"] = pandas.NaT
    return frame, y.astype(int)


@pytest.mark.parametrize("output", ["float32", "float64"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tables(dtype, output):
    X, y = mixed_table()
    encoder = TableEncoder(kinds={"code": "category", "word": "boolean"}, dtype=output)
    model = make_pipeline(encoder, StandardScaler(), ClusteredSVC(6, random_state=0))
    model.fit(X[:200], y[:200])
    new = X.copy()
    new.loc[::5, "letter"] = "new"
    new.loc[::9, "letter"] = None
    new.loc[::13, "width"] = np.nan
    proto = to_onnx(model, dtype=dtype)
    inputs = onnx_inputs(proto, new)
    # "label" is the name of an output, and a constant column gives no feature.
    assert list(inputs) == ["when", "label_", "width", "flag", "word", "code", "letter"]
    assert inputs["when"].dtype == np.float64
    assert inputs["label_"].dtype == dtype
    assert inputs["letter"].dtype == object
    found = run(proto, inputs)
    assert (found["label"] == model.predict(new)).all()
    exact = dtype == output == "float64"
    tolerance = 1e-11 if exact else 1e-4
    np.testing.assert_allclose(
        found["scores"], model.decision_function(new), tolerance, tolerance
    )


def test_the_encoder_decides_in_which_type_the_model_is_asked():
    X, y = mixed_table()
    X = X[["width", "flag", "letter"]]
    estimator = ClusteredSVC(6, C=0.1, random_state=0)
    model = make_pipeline(TableEncoder(), estimator).fit(X, y)
    protos = [to_onnx(model, dtype=dtype) for dtype in ("float32", "float64")]
    narrow, wide = (run(proto, onnx_inputs(proto, X))["scores"] for proto in protos)
    np.testing.assert_array_equal(narrow, wide.astype(np.float32))


def test_dates_are_fed_in_the_format_of_the_fit():
    days = [f"{day % 28 + 1:02}/{day % 12 + 1:02}/2024" for day in range(60)]
    X = pandas.DataFrame({"d": days, "e": np.arange(60) % 5 / 2})
    y = np.arange(60) % 12 > 5
    encoder = TableEncoder(kinds={"d": "date"})
    model = make_pipeline(encoder, ClusteredSVC(2, random_state=0)).fit(X, y)
    proto = to_onnx(model, dtype="float64")
    new = X[:9]  # none of these shows the order of day and month
    found = run(proto, onnx_inputs(proto, new))
    np.testing.assert_allclose(found["scores"], model.decision_function(new), 1e-9)


def test_an_empty_string_may_be_a_category():
    X = pandas.DataFrame({"c": ["", "a", "b"] * 20, "d": [1.0, 2.0, 3.0] * 20})
    y = (X["c"] == "").astype(int)
    model = make_pipeline(TableEncoder(), ClusteredSVC(2, random_state=0)).fit(X, y)
    proto = to_onnx(model)
    assert (run(proto, onnx_inputs(proto, X))["label"] == y).all()


@pytest.mark.parametrize("estimator", [StagedSVC(random_state=0), LocalSVC(60)])
def test_sample_of_adult(estimator):
    table = read_table(sample_path(), target="income")
    model = make_pipeline(TableEncoder(), estimator.set_params(random_state=0))
    model.fit(table.X[:500], table.y[:500])
    for dtype in ("float32", "float64"):
        proto = to_onnx(model, dtype=dtype)
        found = run(proto, onnx_inputs(proto, table.X))["label"]
        assert (found == model.predict(table.X)).all()


def test_text_is_refused_by_name():
    X, y = mixed_table()
    X["remark"] = [f"note {i} of {i % 17} words" for i in range(len(X))]
    encoder = TableEncoder(kinds={"remark": "text"})
    model = make_pipeline(encoder, ClusteredSVC(4)).fit(X, y)
    with pytest.raises(TypeError, match=r"Column 'remark' is text.*'drop'"):
        to_onnx(model)
    model = make_pipeline(TableEncoder(), PolynomialFeatures(), ClusteredSVC(4))
    with pytest.raises(TypeError, match=r"PolynomialFeatures .*after a TableEncoder"):
        to_onnx(model.fit(X.drop(columns="remark"), y))


def test_inputs_name_what_is_wrong(iris):
    X, y = mixed_table()
    model = make_pipeline(TableEncoder(), ClusteredSVC(4)).fit(X, y)
    proto = to_onnx(model)
    with pytest.raises(ValueError, match="has no column 'width'"):
        onnx_inputs(proto, X.drop(columns="width"))
    with pytest.raises(TypeError, match=r"columns 'when', .*expected a table, got nd"):
        onnx_inputs(proto, X.to_numpy())
    plain = to_onnx(ClusteredSVC(4).fit(*iris))
    assert onnx_inputs(plain, iris[0])["X"].dtype == np.float32
    assert onnx_inputs(plain, pandas.DataFrame(iris[0]))["X"].shape == (150, 4)

"""Small fitted models of every kind that a file can hold."""

import functools
import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from localsvm import (
    AdditiveSVC,
    ClusteredSVC,
    GradientMetric,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.cluster import (
    PDDP,
    KernelNeighbors,
    ParallelKMeans,
    SampledKMeans,
    ShortListNeighbors,
    ThresholdClustering,
)
from localsvm.data import TableEncoder
from localsvm.estimators import (
    ClusteredSVCCV,
    LocallyLinearSVC,
    LocalSVCCV,
    NeighborSVC,
    PaperGate,
    Reduction,
    SoftmaxGate,
)
from localsvm.kernels import Kernel

# Golden files hold models of these rows: they stay as they are.
_RNG = np.random.default_rng(0)
_X = _RNG.standard_normal((90, 3))
_SIDE = (_X[:, 0] * _X[:, 1] > 0).astype(np.int64)
_CLASS = _SIDE + (_X[:, 2] > 0.7)
_SPARSE = _X * (_RNG.random(_X.shape) < 0.6)


def _table():
    days = pd.date_range("2024-01-01", periods=90, freq="31h")
    return pd.DataFrame(
        {
            "größe": np.where(_X[:, 0] > 1.5, np.nan, _X[:, 0]),
            "kind": np.array(["red", "green", "blue"])[_CLASS % 3],
            "when": days,
            "words": [f"text number {i} of {i % 7}" for i in range(90)],
            "open": _X[:, 1] > 0,
            "same": 1,
        }
    )


DATA = {
    "two": (_X, _SIDE),
    "three": (_X, np.array(["a", "bc", "def"])[_CLASS]),
    "objects": (_X, np.array(["a", "bc", "def"], dtype=object)[_CLASS]),
    "bool": (_X, _SIDE == 1),
    "bytes": (_X, _CLASS.astype(np.uint8)),
    "floats": (_X, _CLASS.astype(np.float64)),
    "single": (_X.astype(np.float32), _CLASS),
    "csr": (sparse.csr_array(_SPARSE), _SIDE),
    "csr_matrix": (sparse.csr_matrix(_SPARSE.astype(np.float32)), _CLASS),
    "named": (pd.DataFrame(_X, columns=["a", "b\n", "ç"]), _CLASS),
    "codes": (np.column_stack([_CLASS % 2, _X[:, 1], np.rint(_X[:, 2])]), _CLASS),
    "holes": (np.where(_X > 2, np.nan, _X), _SIDE),
    "table": (_table(), np.array(["no", "yes"])[_SIDE]),
    "ordered": (
        _table().assign(share=np.array(["0%", "1 - 10%", "11% up"])[_CLASS]),
        np.array(["no", "yes"])[_SIDE],
    ),
}
STAGED = {
    "scaling": "none",
    "gradient_metric": None,
    "C": 1.0,
    "cell_size": None,
    "gamma_factor": 2.0,
    "kernel_C": 10.0,
    "threshold": 1.0,
    "random_state": 0,
}
_SUM = {"additive": 0.5, "regions": 0.4, "rbf": 0.3, "laplace": 0.2}
STAGED_SUM = STAGED | {
    "additive_C": 1.0,
    "laplace_C": 3.0,
    "join": _SUM | {"bias": [0.1]},
}


def _long_stream(X, y):
    model = SupportClusterSVC(4, random_state=0)
    return model.partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])


def _learned_stream(X, y):
    model = _long_stream(X, y)
    model.predict(X[:1])
    return model


def _one_class_stream(X, y):
    return SupportClusterSVC(4).partial_fit(X[y == 0], y[y == 0])


def _from_summaries(X, y):
    summary = SupportClusterSVC(4, random_state=0).fit(X, y).summary_
    return SupportClusterSVC().fit_summaries([summary])


def _frozen(X, y):
    inner = make_pipeline(StandardScaler(), ReducedSVC()).fit(X, y)
    return CalibratedClassifierCV(FrozenEstimator(inner), method="isotonic").fit(X, y)


def _clustered(**parameters):
    return ClusteredSVC(**{"n_regions": 4, "random_state": 0} | parameters)


def _local(**parameters):
    return LocalSVC(**{"n_neighbors": 20, "random_state": 0} | parameters)


def _mixture(**parameters):
    return MixtureSVC(**{"n_regions": 3, "random_state": 0} | parameters)


def _clusters(**parameters):
    return SupportClusterSVC(**{"n_clusters": 4, "random_state": 0} | parameters)


def _calibrated(**parameters):
    return CalibratedClassifierCV(_clustered(), **{"cv": 2} | parameters)


def _columns(**parameters):
    encoder = OneHotEncoder(drop="first", dtype=np.float32, sparse_output=False)
    if parameters:
        encoder = OneHotEncoder(handle_unknown="ignore")
    return ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(SimpleImputer(), StandardScaler()),
                ["größe"],
            ),
            ("kinds", encoder, ["kind"]),
            (
                "order",
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                np.array(["kind"], dtype=object),
            ),
            (
                "filled",
                make_pipeline(SimpleImputer(strategy="most_frequent"), _ordinal()),
                ["kind"],
            ),
            ("when", "drop", "when"),
            ("open", "passthrough", ["open"]),
        ],
        **{"transformer_weights": {"numbers": 2.0}} | parameters,
    )


def _ordinal():
    return OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, dtype=np.float64
    )


_SPLITTER = StratifiedKFold(2, shuffle=True, random_state=0)
_REPEATED = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
# Data, and an unfitted model or a function that gives a fitted one.
CASES = {
    "additive": ("holes", AdditiveSVC(random_state=0)),
    "additive-categories": (
        "codes",
        AdditiveSVC(loss="logistic", categorical_features=[0, 2], random_state=0),
    ),
    "calibrated-signs": ("two", _clustered()),
    "calibrated-classes": ("three", _clustered()),
    "calibrated-missing": ("holes", AdditiveSVC(random_state=0)),
    "soft": ("two", _clustered()),
    "soft-classes": ("three", _clustered(class_weight={"a": 2.0, "bc": 1, "def": 1})),
    "soft-objects": ("objects", _clustered(class_weight="balanced")),
    "soft-bool": ("bool", _clustered(clusterer=KMeans(3, random_state=0))),
    "soft-bytes": ("bytes", _clustered(loss="squared_hinge", fit_intercept=False)),
    "soft-floats": ("floats", _clustered(global_reg=np.inf)),
    "soft-single": ("single", _clustered(random_state=np.random.RandomState(3))),
    "soft-csr": ("csr", _clustered()),
    "soft-csr-matrix": ("csr_matrix", _clustered(C=np.float32(2))),
    "soft-named": ("named", _clustered(metric=GradientMetric(random_state=0))),
    "joint": ("three", _clustered(multi_class="crammer_singer")),
    "hard": ("three", _clustered(n_nearest=1)),
    "hard-kmeans": ("two", _clustered(n_nearest=1, clusterer=KMeans(3))),
    "hard-batches": ("csr", _clustered(n_nearest=1, clusterer=MiniBatchKMeans())),
    "hard-pddp": ("csr", _clustered(n_nearest=1, clusterer=PDDP())),
    "hard-sampled": (
        "single",
        _clustered(n_nearest=1, clusterer=SampledKMeans()),
    ),
    "hard-parallel": ("two", _clustered(n_nearest=1, clusterer=ParallelKMeans())),
    "hard-threshold": (
        "two",
        _clustered(n_nearest=1, clusterer=ThresholdClustering(4)),
    ),
    "mapped": ("two", _clustered(metric=make_pipeline(MinMaxScaler(), PCA(2)))),
    "clustered-cv": ("three", ClusteredSVCCV(n_regions=[2, 3], cv=_SPLITTER)),
    "clustered-cv-hard": (
        "two",
        ClusteredSVCCV(
            Cs=np.array([1.0, 2.0]), n_regions=(2,), n_nearest=1, cv=_REPEATED
        ),
    ),
    "anchors": ("three", LocallyLinearSVC(8, random_state=0)),
    "coordinates": ("csr", LocallyLinearSVC(8, coding="local_coordinates")),
    "local": ("three", _local()),
    "local-center": ("two", _local(route="center", neighbors="kd_tree")),
    "local-single": (
        "single",
        _local(kernel="linear", neighbors="brute", n_jobs=np.int64(1)),
    ),
    "local-csr": ("csr", _local(route="center")),
    "local-csr-matrix": ("csr_matrix", _local()),
    "local-poly": ("two", _local(kernel="poly", degree=2, coef0=1.0)),
    "local-laplace": ("csr", _local(kernel="laplace", route="center")),
    "local-poly-center": ("three", _local(kernel="poly", route="center")),
    "local-shrink": ("three", _local(shrink=1.0)),
    "local-linear": (
        "two",
        _local(shrink=0.5, global_model=LinearSVC(fit_intercept=False)),
    ),
    "local-logistic": (
        "single",
        _local(
            shrink=0.5,
            global_model=make_pipeline(StandardScaler(), LogisticRegression()),
        ),
    ),
    "local-grid": ("two", _local(local_grid={"C": [0.1, 1.0], "gamma": [1.0, 2.0]})),
    "local-mapped": ("named", _local(metric=PCA(2), neighbors=NearestNeighbors())),
    "local-cv": ("two", LocalSVCCV(n_neighbors=[20], Cs=(1.0, 10.0), cv=2)),
    "neighbor": ("three", NeighborSVC(15)),
    "neighbor-csr": ("csr", NeighborSVC(15, kernel="linear")),
    "neighbor-poly": ("two", NeighborSVC(15, kernel="poly", degree=2)),
    "neighbor-wide": (
        "two",
        NeighborSVC(15, neighbors=KernelNeighbors(Kernel("poly"), max_features=2)),
    ),
    "neighbor-list": (
        "single",
        NeighborSVC(
            15, neighbors=ShortListNeighbors(PCA(2, random_state=0), n_candidates=30)
        ),
    ),
    "mixture": ("three", _mixture()),
    "mixture-paper": ("single", _mixture(gate="paper")),
    "mixture-levels": ("two", _mixture(gate=SoftmaxGate(2, n_groups=2))),
    "mixture-paper-levels": (
        "csr",
        _mixture(gate=PaperGate(levels=2, n_groups=2), prior=0.0),
    ),
    "reduced": ("three", ReducedSVC()),
    "reduced-laplace": ("three", ReducedSVC(kernel="laplace")),
    "reduced-linear": ("two", ReducedSVC(kernel="linear", reduction=Reduction())),
    "reduced-csr": ("csr", ReducedSVC(kernel="poly", clusterer=PDDP(5))),
    "clusters": ("three", _clusters()),
    "clusters-full": ("two", _clusters(covariance="full", kernel_form="paper")),
    "clusters-rest": ("named", _clusters(covariance="none", multi_class="ovr")),
    "clusters-pairs": (
        "single",
        _clusters(clusterer=GaussianMixture(2)),
    ),
    "summaries": ("three", _from_summaries),
    "stream": ("three", _long_stream),
    "stream-learned": ("bool", _learned_stream),
    "staged": ("three", StagedSVC(random_state=0)),
    "staged-quantile": (
        "named",
        StagedSVC(**STAGED | {"scaling": "quantile", "gradient_metric": "full"}),
    ),
    "staged-ranks": ("named", StagedSVC(**STAGED | {"scaling": "ranks"})),
    "staged-cells": (
        "two",
        StagedSVC(**STAGED | {"cell_size": 20, "n_components": 2, "threshold": np.inf}),
    ),
    "staged-sum": ("two", StagedSVC(**STAGED_SUM)),
    "staged-sum-codes": (
        "codes",
        StagedSVC(
            **STAGED_SUM
            | {
                "cell_size": 30,
                "gradient_metric": "full",
                "join": {**_SUM, "bias": [0.1, 0.0, -0.1]},
            },
            categorical_features=[0, 2],
        ),
    ),
    "staged-first": ("single", StagedSVC(**STAGED | {"threshold": 0.0})),
    "staged-csr": ("csr", StagedSVC(**STAGED | {"scaling": "unit"})),
    "metric": ("three", GradientMetric(random_state=0)),
    "metric-diagonal": ("csr", GradientMetric(diagonal=True, estimator=_clustered())),
    "pipeline": ("named", make_pipeline(StandardScaler(), _clustered())),
    "pipeline-scalers": (
        "holes",
        make_pipeline(
            SimpleImputer(strategy="median"),
            *(MinMaxScaler(), MaxAbsScaler(), RobustScaler(), Normalizer()),
            _local(),
        ),
    ),
    "pipeline-csr": (
        "csr",
        Pipeline(
            [
                ("scale", StandardScaler(with_mean=False)),
                ("nothing", "passthrough"),
                ("project", TruncatedSVD(2, random_state=0)),
                ("model", ReducedSVC()),
            ]
        ),
    ),
    "pipeline-frames": (
        "named",
        make_pipeline(StandardScaler(), _mixture()).set_output(transform="pandas"),
    ),
    "table": (
        "table",
        Pipeline([("table", TableEncoder(text_components=1)), ("model", _clustered())]),
    ),
    "columns": ("table", make_pipeline(_columns(), _clustered(n_regions=2))),
    "columns-only": ("table", _columns(sparse_threshold=1.0, n_jobs=1)),
    "columns-frames": (
        "table",
        make_pipeline(_columns(), _clustered()).set_output(transform="pandas"),
    ),
    "columns-numbers": (
        "three",
        make_pipeline(
            ColumnTransformer(
                [
                    ("scale", StandardScaler(), [0, 1]),
                    ("again", MinMaxScaler(), np.array([True, False, True])),
                    ("none", StandardScaler(), []),
                    ("last", "passthrough", [-1]),
                ]
            ),
            _local(),
        ),
    ),
    "columns-rest": (
        "named",
        make_pipeline(
            ColumnTransformer(
                [("a", "passthrough", ["a"])], remainder=StandardScaler()
            ),
            _local(),
        ),
    ),
    "table-codes": (
        "ordered",
        make_pipeline(
            TableEncoder(text_components=1, encoding="codes"),
            SimpleImputer(),
            _clustered(),
        ),
    ),
    "table-only": ("table", TableEncoder(dtype="float32", kinds={"open": "drop"})),
    "sigmoid": ("three", _calibrated(cv=_SPLITTER)),
    "isotonic": ("two", _calibrated(method="isotonic", ensemble=False)),
    "frozen": ("two", _frozen),
}
# One of each class and storage: for tests that cost more.
FEW = (
    *("soft", "hard-kmeans", "hard-pddp", "mapped", "coordinates", "clustered-cv"),
    *("local", "local-csr", "local-poly", "local-shrink", "local-cv", "neighbor-list"),
    *("mixture-levels", "mixture-paper", "reduced-csr", "clusters-full"),
    *("stream-learned", "staged-quantile", "metric", "table", "isotonic", "columns"),
)


@functools.cache
def fitted(case):
    """Fitted model of a case, which tests must leave as it is."""
    data, model = CASES[case]
    X, y = DATA[data]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y) if isinstance(model, BaseEstimator) else model(X, y)


def rows_of(case):
    """Rows to ask the model of a case about."""
    return DATA[CASES[case][0]][0]


def answers(model, X):
    """All that a model says of rows."""
    found = {}
    for name in (
        *("transform", "decision_function", "predict_proba", "predict"),
        *("region", "local_coef", "gates", "stage", "parts"),
    ):
        method = getattr(model, name, None)
        if method is None or (name == "transform" and hasattr(model, "predict")):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = method(X)
            except AttributeError as error:
                found[name] = str(error)
    return found

"""ONNX graphs against the models that they come from, on real data.

Each estimator is fitted to at most 2000 standardised rows, of float32 for graphs of
float32 and of float64 for those of float64. Counted are the rows with another label:
among the test rows, at most 20,000, and among rows within 1e-3 to 1e-6 (float64: 1e-10)
of where the region or the label changes, relative to the distance of two test rows.
"in doubt" are those border rows to which the model itself gives another label when they
come as float64. Times are CPU times of one thread; the runtime is onnxruntime. Fails if
a test row, or a border row in float64, has another label.

``python benchmarks/onnx_parity.py [NAME ...]`` runs only the named data sets and then
writes no file.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx_borders import border_rows
from records import save, show
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from localsvm import (
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.data import load_benchmark
from localsvm.estimators import LocallyLinearSVC
from localsvm.export import to_onnx

DATA = ("svmguide1", "ijcnn1", "usps", "adult", "covtype", "mnist")
N_TRAIN, N_TEST, N_PAIRS = 2000, 20_000, 20
DISTANCES = {"float32": (1e-3, 1e-4, 1e-5, 1e-6), "float64": (1e-3, 1e-5, 1e-7, 1e-10)}
STAGED = StagedSVC(
    scaling="none",
    n_components=None,
    gradient_metric=None,
    C=1.0,
    cell_size=200,
    gamma_factor=1.0,
    kernel_C=10.0,
    threshold=1.0,
)
MODELS = {
    "ClusteredSVC()": ClusteredSVC(),
    "ClusteredSVC(n_nearest=1)": ClusteredSVC(n_nearest=1),
    "LocallyLinearSVC()": LocallyLinearSVC(),
    "LocallyLinearSVC(coding='local_coordinates')": LocallyLinearSVC(
        coding="local_coordinates"
    ),
    "MixtureSVC(5)": MixtureSVC(5, em_max_iter=10),
    "SupportClusterSVC()": SupportClusterSVC(),
    "LocalSVC()": LocalSVC(),
    "LocalSVC(route='center')": LocalSVC(route="center"),
    "ReducedSVC()": ReducedSVC(),
    "StagedSVC(...)": STAGED,
}


# Pixels have one scale.
IMAGES = ("usps", "mnist")


def load(name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Training rows, their labels, and test rows, all in float64 and scaled."""
    data = load_benchmark(name)
    chosen = np.random.default_rng(0).permutation(len(data.y_train))
    X_test = data.X_train[chosen[N_TRAIN:]] if data.X_test is None else data.X_test
    chosen = chosen[:N_TRAIN]
    train, test = (
        X.astype(np.float64) for X in (data.X_train[chosen], X_test[:N_TEST])
    )
    if name in IMAGES:
        return train / train.std(), data.y_train[chosen], test / train.std()
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), data.y_train[chosen], scaler.transform(test)


def open_session(proto: Any) -> Any:
    """Session of one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(proto.SerializeToString(), options)


def microseconds(function: Callable[[], Any], repeats: int = 1) -> float:
    """Time of the processor per call; others may share the machine."""
    start = time.process_time()
    for _ in range(repeats):
        function()
    return round(1e6 * (time.process_time() - start) / repeats, 1)


def beside_borders(model: Any, X: NDArray[Any]) -> NDArray[Any]:
    """Rows beside borders of regions, if the model has any, and of labels."""
    kinds = [model.predict]
    if hasattr(model, "region"):
        kinds.append(model.region)
    distances = DISTANCES[str(X.dtype)]
    return np.concatenate(
        [border_rows(kind, X[:2000], N_PAIRS, distances) for kind in kinds]
    )


def compare(model: Any, X: NDArray[Any]) -> dict[str, Any]:
    """Count rows on which graph and model differ, and take times of both."""
    proto = to_onnx(model, dtype=str(X.dtype))
    session = open_session(proto)

    def run(rows: NDArray[Any]) -> list[Any]:
        return list(session.run(["label", "scores"], {"X": rows}))

    labels, scores = run(X)
    expected = model.decision_function(X)
    apart = np.abs(scores - expected).reshape(len(X), -1).max(axis=1)
    scale = np.abs(expected).max()
    border = beside_borders(model, X)
    answer = model.predict(border)
    doubtful = answer != model.predict(border.astype(np.float64))
    differs = run(border)[0] != answer
    one = X[:1]
    return {
        "test_rows": len(X),
        "test_differences": int((labels != model.predict(X)).sum()),
        "border_rows": len(border),
        "border_differences": int(differs.sum()),
        "border_in_doubt": int(doubtful.sum()),
        "largest_score_difference": float(apart.max() / scale),
        "median_score_difference": float(np.median(apart) / scale),
        "bytes": proto.ByteSize(),
        "one_row_microseconds": microseconds(lambda: run(one), 200),
        "model_one_row_microseconds": microseconds(lambda: model.predict(one), 20),
        "batch_milliseconds": microseconds(lambda: run(X)) / 1000,
        "model_batch_milliseconds": microseconds(lambda: model.predict(X)) / 1000,
    }


def run_data(name: str) -> list[dict[str, Any]]:
    """Fit and compare all models on one data set."""
    X_train, y_train, X_test = load(name)
    rows = []
    for label, model in MODELS.items():
        for dtype in ("float32", "float64"):
            fitted = clone(model).set_params(random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                fitted.fit(X_train.astype(dtype), y_train)
            result = compare(fitted, X_test.astype(dtype))
            rows.append({"data": name, "model": label, "dtype": dtype} | result)
    return rows


def main(chosen: list[str]) -> int:
    """Run the data sets; 1 if a row has another label that should not."""
    rows = []
    for name in chosen or DATA:
        of_data = run_data(name)
        show(of_data)
        rows += of_data
    if not chosen:
        save(
            "onnx_parity",
            "python benchmarks/onnx_parity.py",
            rows,
            data=DATA,
            threads=1,
            onnxruntime=onnxruntime.__version__,
        )
    wrong = [
        row
        for row in rows
        if row["test_differences"]
        or (row["dtype"] == "float64" and row["border_differences"])
    ]
    return 1 if wrong else 0


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main(sys.argv[1:]))

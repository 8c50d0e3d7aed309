"""The runs behind Tables 2 and 3 and Figures 2 and 3: methods on the six tasks."""

from typing import Any

from localsvm.data import load_task
from papers import _methods
from papers._definition import Data, Method, Part, Run, Selection, Split
from papers._experiment import Size
from papers._measures import clustered_solution, mixture_size

TASKS = {
    "SVMGUIDE1": "svmguide1",
    "IJCNN1": "ijcnn1",
    "USPS OvE": "usps_odd_even",
    "MNIST 3v8": "mnist_3v8",
    "MNIST 4v9": "mnist_4v9",
    "MNIST OvE": "mnist_odd_even",
}
SOFTMAX_MSVM = "MSVM, softmax gate"
NUMBERS_OF_CLUSTERS = (2, 5, 8, 11, 14, 17, 20)
_SMALL_TASKS = ("SVMGUIDE1", "USPS OvE")
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
_WIDTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
GLOBAL_REGS = (1.0, 5.0, 10.0, 20.0, 50.0, 100.0)

_LINEAR = _methods.linear_svm(PENALTIES)
_KERNEL = _methods.rbf_svm(PENALTIES, _WIDTHS)
_NEIGHBOR = _methods.svm_knn(PENALTIES, n_neighbors=(20, 50, 100))
_KMEANS = _methods.kmeans_svm(PENALTIES, n_clusters=8)
_MIXTURE = _methods.msvm(
    PENALTIES,
    n_regions=20,
    gate=Part("localsvm.estimators.PaperGate", {"tau": 1.0}),
    early_stopping=False,
    intercept_scaling=1.0,
)
_SOFTMAX_MIXTURE = _methods.msvm(
    PENALTIES, n_regions=20, name=SOFTMAX_MSVM, intercept_scaling=1.0
)
_LOCALLY_LINEAR = _methods.llsvm(
    PENALTIES,
    n_anchors=100,
    n_nearest=8,
    coding="local_coordinates",
    intercept_scaling=1.0,
)
_CSVM = _methods.csvm(PENALTIES, GLOBAL_REGS, n_clusters=8)
_METHODS = (
    _LINEAR,
    _KERNEL,
    _NEIGHBOR,
    _KMEANS,
    _MIXTURE,
    _SOFTMAX_MIXTURE,
    _LOCALLY_LINEAR,
    _CSVM,
)

_MEASURES = {
    "localsvm.ClusteredSVC": (clustered_solution,),
    "localsvm.MixtureSVC": (mixture_size,),
}
_PCA = Part(
    "sklearn.decomposition.PCA", {"n_components": 60, "svd_solver": "covariance_eigh"}
)
# Methods whose search at size standard sees only some training rows.
_SLOW_SEARCH = ("Kernel SVM", "SVM-KNN", "MSVM", SOFTMAX_MSVM)
_ROWS_OF_SEARCH, _ROWS_OF_MNIST_SEARCH = 2000, 5000
_REPETITIONS = {"K-means+SVM": 10, "MSVM": 3, SOFTMAX_MSVM: 3, "LLSVM": 3, "CSVM": 10}
_SLOW = ("MSVM", SOFTMAX_MSVM)
_REPETITIONS_OF_FIGURES = {Size.SMOKE: 2, Size.STANDARD: 5, Size.FULL: 10}

STANDARD_CUTS = (
    "settings are chosen by one held-out fifth on the MNIST tasks instead of 5 folds; "
    "Kernel SVM, SVM-KNN and MSVM choose theirs on 2000 training rows, 5000 of the MNIST "
    "tasks; of these Kernel SVM sees 60 principal components; MSVM and LLSVM are "
    "repeated 3 times instead of 10, MSVM once on MNIST OvE. "
    "Fits and tests are on all rows."
)
SMOKE_CUTS = "two tasks, 300 rows each, two repetitions, k = 2 and 8 alone"


def compared_runs(size: Size) -> list[Run]:
    """Every method on every task, with 8 clusters (Tables 2 and 3)."""
    return [
        _run(method, method.name, task, size, seed)
        for task in _tasks(size)
        for method in _METHODS
        for seed in range(_repetitions(method, task, size))
    ]


def cluster_runs(size: Size) -> list[Run]:
    """CSVM with few and many clusters, and one linear SVM (Figures 2 and 3)."""
    numbers = (2, 8) if size == Size.SMOKE else NUMBERS_OF_CLUSTERS
    methods = {cluster_label(k): _with_clusters(k) for k in numbers}
    return [
        _run(method, label, task, size, seed)
        for task in _tasks(size)
        for label, method in {_LINEAR.name: _LINEAR, **methods}.items()
        for seed in range(1 if method is _LINEAR else _REPETITIONS_OF_FIGURES[size])
    ]


def fixed_csvm(C: float, global_reg: float, **changes: Any) -> Method:
    """CSVM with 8 clusters and one setting, perhaps with other parameters changed."""
    part = _with_clusters(8).estimator
    setting = {"C": C, "global_reg": global_reg, **changes}
    return Method("CSVM", Part(part.path, {**part.params, **setting}))


def cluster_label(n_clusters: int) -> str:
    """Name a number of clusters in groups and columns."""
    return f"k = {n_clusters}"


def _with_clusters(n_clusters: int) -> Method:
    return _methods.csvm(PENALTIES, GLOBAL_REGS, n_clusters)


def _tasks(size: Size) -> list[str]:
    return list(_SMALL_TASKS if size == Size.SMOKE else TASKS)


def _repetitions(method: Method, task: str, size: Size) -> int:
    if method.name not in _REPETITIONS:
        return 1  # the same model for every seed
    if size == Size.STANDARD and task == "MNIST OvE" and method.name in _SLOW:
        return 1
    return {Size.SMOKE: 2, Size.STANDARD: _REPETITIONS[method.name], Size.FULL: 10}[
        size
    ]


def _run(method: Method, label: str, task: str, size: Size, seed: int) -> Run:
    reduced = size == Size.STANDARD and method is _KERNEL and _is_mnist(task)
    return Run(
        group=f"{label} | {task}",
        data=Data(load_task, {"name": TASKS[task]}, (_PCA,) if reduced else ()),
        method=method,
        split=Split(n_train=300, n_test=300) if size == Size.SMOKE else Split(),
        selection=_selection(method, task, size),
        seed=seed,
        measures=_MEASURES.get(method.estimator.path, ()),
    )


def _selection(method: Method, task: str, size: Size) -> Selection:
    if size == Size.FULL:
        return Selection()
    max_rows = None
    if method.name in _SLOW_SEARCH:
        max_rows = _ROWS_OF_MNIST_SEARCH if _is_mnist(task) else _ROWS_OF_SEARCH
    one_part = size == Size.SMOKE or _is_mnist(task)
    return Selection(n_folds=1 if one_part else 5, max_rows=max_rows)


def _is_mnist(task: str) -> bool:
    return task.startswith("MNIST")

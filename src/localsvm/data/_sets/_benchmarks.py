"""Benchmark data sets, read from npz files or downloaded from OpenML."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from localsvm.data._sets._npz import load_arrays
from localsvm.data._sets._openml import COUNTERPARTS, fetch_bunch, rows_and_labels
from localsvm.exceptions import DataError

_NAMES = (
    "adult",
    "breast",
    "covtype",
    "fourclass",
    "glass",
    "heart",
    "ijcnn1",
    "indian_pines",
    "ionosphere",
    "iris",
    "isolet",
    "leukemia",
    "liver",
    "mnist",
    "sonar",
    "svmguide1",
    "svmguide2",
    "usps",
    "vehicle",
    "vowel",
    "wine",
)

_SPLIT_ARRAYS = ("X_train", "y_train", "X_test", "y_test")


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark:
    """A data set with its canonical split, if it has one.

    Parameters
    ----------
    name : str
        Name of the data set or of the task.
    X_train, y_train : ndarray
        Training rows and labels; all rows where there is no canonical split.
    X_test, y_test : ndarray or None
        Test rows and labels; None where there is no canonical split.
    feature_names : tuple of str or None
        Names of the columns, None if they are not known.
    source : {"npz", "openml"}
        Where the data came from.
    """

    name: str
    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any] | None
    y_test: NDArray[Any] | None
    feature_names: tuple[str, ...] | None
    source: str

    def __repr__(self) -> str:
        test = None if self.X_test is None else self.X_test.shape
        return (
            f"Benchmark(name={self.name!r}, train={self.X_train.shape}, "
            f"test={test}, source={self.source!r})"
        )


def benchmark_names() -> list[str]:
    """List the names that :func:`load_benchmark` knows.

    Returns
    -------
    list of str
        The names in alphabetical order.
    """
    return list(_NAMES)


def load_benchmark(
    name: str, *, data_home: str | os.PathLike[str] | None = None
) -> Benchmark:
    """Load a benchmark data set as it was published.

    Parameters
    ----------
    name : str
        One of :func:`benchmark_names`.
    data_home : path-like, default=None
        Folder in which scikit-learn keeps what it downloads from OpenML. None is
        scikit-learn's own default.

    Returns
    -------
    Benchmark
        The rows and labels as stored, unscaled. A label that stands for "no label"
        (0 in ``indian_pines``) is kept.

    Raises
    ------
    ValueError
        If the name is unknown, or a file was found whose content is not as expected.
    FileNotFoundError
        If there is no ``NAME.npz`` and OpenML cannot give the data set.

    Notes
    -----
    ``NAME.npz`` is looked for in the folder that the environment variable
    ``LOCALSVM_DATA`` names. It holds ``X_train, y_train, X_test, y_test``, or
    ``X, y`` where there is no canonical split, and perhaps ``feature_names``; pickled
    arrays are refused. If there is no such file, the data set is downloaded from
    OpenML, provided that an exact counterpart is known there; its shape and class
    names are checked.
    """
    if name not in _NAMES:
        raise ValueError(
            f"Unknown benchmark {name!r}. Known names: {', '.join(_NAMES)}."
        )
    path = npz_file(name)
    return _download(name, data_home) if path is None else _read_npz(name, path)


def npz_file(name: str) -> Path | None:
    """File of a data set in the folder that ``LOCALSVM_DATA`` names, if it is there."""
    configured = os.environ.get("LOCALSVM_DATA")
    if not configured:
        return None
    path = Path(configured) / f"{name}.npz"
    return path if path.is_file() else None


def _read_npz(name: str, path: Path) -> Benchmark:
    arrays = _load_arrays(path)
    split = any(array in arrays for array in _SPLIT_ARRAYS)
    expected = _SPLIT_ARRAYS if split else ("X", "y")
    missing = [array for array in expected if array not in arrays]
    if missing:
        raise ValueError(
            f"{path.name} has no array {', '.join(missing)}; found "
            f"{', '.join(arrays) or 'none'}, expected {', '.join(expected)}."
        )
    for X, y in zip(expected[::2], expected[1::2], strict=True):
        if arrays[X].ndim != 2 or arrays[X].shape[:1] != arrays[y].shape:
            raise ValueError(
                f"{path.name}: {X} has shape {arrays[X].shape} and {y} has shape "
                f"{arrays[y].shape}; expected a matrix and one label per row."
            )
    names = arrays.get("feature_names")
    return Benchmark(
        name=name,
        X_train=arrays[expected[0]],
        y_train=arrays[expected[1]],
        X_test=arrays["X_test"] if split else None,
        y_test=arrays["y_test"] if split else None,
        feature_names=None if names is None else tuple(map(str, names)),
        source="npz",
    )


def _load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        return load_arrays(path)
    except DataError as error:
        raise error.about(path.name) from error


def _download(name: str, data_home: str | os.PathLike[str] | None) -> Benchmark:
    if name not in COUNTERPARTS:
        raise _not_found(name, "It is not available on OpenML.")
    counterpart = COUNTERPARTS[name]
    try:
        bunch = fetch_bunch(counterpart, data_home)
    # scikit-learn answers an unknown data set or a wrong checksum with ValueError.
    except (OSError, ValueError) as error:
        failure = f"{type(error).__name__}: {error}"
        raise _not_found(
            name,
            "Or have network access to OpenML, whose download of "
            f"{counterpart.name!r} failed with {failure}",
        ) from error
    X, y = rows_and_labels(counterpart, bunch)
    n_train = counterpart.n_train
    return Benchmark(
        name=name,
        X_train=X[:n_train],
        y_train=y[:n_train],
        X_test=None if n_train is None else X[n_train:],
        y_test=None if n_train is None else y[n_train:],
        feature_names=tuple(map(str, bunch.feature_names)),
        source="openml",
    )


def _not_found(name: str, about_openml: str) -> FileNotFoundError:
    configured = os.environ.get("LOCALSVM_DATA")
    found = f"now {configured!r}, without that file" if configured else "now not set"
    return FileNotFoundError(
        f"Benchmark {name!r} was not found. Set LOCALSVM_DATA to a folder with "
        f"{name}.npz ({found}). {about_openml}"
    )

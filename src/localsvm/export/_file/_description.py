"""What a model file says of itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from localsvm._plain_file import (
    describe_plain_file,
    prefix_errors,
    refusing_depth,
)
from localsvm.export._file._model_file import FORMAT, VERSION, check_header
from localsvm.state import Source, read_value


@dataclass(frozen=True)
class FileDescription:
    """What a model file says of itself, without the model.

    Attributes
    ----------
    class_name : str
        Class of the model.
    params : dict
        Its parameters; those of the steps of a pipeline as ``step__parameter``. Objects
        and arrays are told in words.
    steps : dict of str to str
        Names and classes of the steps of a pipeline, else empty.
    version : int
        Of the format.
    written_by : str
        Name and version of the library.
    scikit_learn : str
        Version of scikit-learn at hand when it was saved.
    notes : any JSON
        What was given to :func:`save`.
    arrays : dict of str to (str, tuple of int)
        Data type and shape of each array.
    n_bytes : int
        Length of the file.
    """

    class_name: str
    params: dict[str, Any]
    steps: dict[str, str]
    version: int
    written_by: str
    scikit_learn: str
    notes: Any
    arrays: dict[str, tuple[str, tuple[int, ...]]]
    n_bytes: int


def describe_file(path: str | os.PathLike[str]) -> FileDescription:
    """Tell what a model file holds, without building the model.

    Parameters
    ----------
    path : path
        File that :func:`save` has written.

    Returns
    -------
    FileDescription

    Notes
    -----
    The checksum is compared: O(bytes) of time, in little memory. The content is not
    checked as :func:`load` does it.
    """
    whole = describe_plain_file(path, FORMAT, VERSION)
    with prefix_errors(path), refusing_depth():
        check_header(whole.header)
        model = whole.header["model"]
        steps = _steps_of(model)
        words = _InWords(whole.n_bytes)
        params = words.params_of(model)
        for name, step in steps.items():
            own = words.params_of(step).items()
            params |= {f"{name}__{each}": value for each, value in own}
        return FileDescription(
            _name_of(model),
            params,
            {
                name: _name_of(step) if isinstance(step, dict) else str(step)
                for name, step in steps.items()
            },
            whole.version,
            whole.written_by,
            whole.header["scikit_learn"],
            whole.header["notes"],
            whole.arrays,
            whole.n_bytes,
        )


class _InWords(Source):
    """Stands in for the arrays, which are not read."""

    def __init__(self, file_bytes: int) -> None:
        super().__init__({}, file_bytes)

    def take(self, reference: Any, place: str) -> Any:
        """Tell of an array."""
        return f"array {reference.get('array')}"

    def params_of(self, plain: Any) -> dict[str, Any]:
        """Tell of the parameters of an object."""
        if not isinstance(plain, dict):
            return {}
        params = plain.get("params")
        if not isinstance(params, dict):
            raise ValueError(f"a {_name_of(plain)} has the parameters {params!r:.60}.")
        return {
            name: read_value(value, name, self, self._tell)
            for name, value in params.items()
        }

    def _tell(self, plain: dict[str, Any], place: str) -> str:
        if "class" not in plain:
            return _Words(f"a {', '.join(plain)}")
        params = self.params_of(plain).items()
        return _Words(
            f"{_name_of(plain)}({', '.join(f'{n}={v!r}' for n, v in params)})"
        )


class _Words(str):
    """What is told of an object; quotes of quotes would double at each level."""

    __slots__ = ()
    __repr__ = str.__str__


def _name_of(plain: Any) -> str:
    name = plain.get("class") if isinstance(plain, dict) else None
    if not isinstance(name, str):
        raise ValueError(f"it holds {plain!r:.60}; expected a model.")
    return name


def _steps_of(plain: Any) -> dict[str, Any]:
    fitted = plain.get("fitted") if isinstance(plain, dict) else None
    steps = fitted.get("steps") if isinstance(fitted, dict) else None
    if not isinstance(steps, list):
        return {}
    if not all(
        isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)
        for entry in steps
    ):
        raise ValueError(f"its steps are {steps!r:.60}; expected names and steps.")
    return dict(steps)

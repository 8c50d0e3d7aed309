"""A model as the server knows it: what it takes, gives and explains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from localsvm.inspect import explain
from localsvm.serve._content import dump, field, parse, shown
from localsvm.serve._errors import RequestError, wrong
from localsvm.serve._rows import MATRIX, RowBuilder
from localsvm.serve._tensors import datatype_of, read_tensors, write_tensor

VERSION = "1"

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_OUTPUTS = {
    "label": "predict",
    "scores": "decision_function",
    "probabilities": "predict_proba",
}
_EXPLAINED_ROWS = 100


class ServedModel:
    """Answers requests; may be called from several threads at once.

    Parameters
    ----------
    model : fitted classifier or Pipeline
    name : str
        Its name in addresses.
    max_rows : int
        Rows of a request.
    """

    def __init__(self, model: Any, name: str, max_rows: int) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"name={name!r} should be 1 to 100 letters, digits, '.', '_' or '-'."
            )
        if not hasattr(model, "predict") or not hasattr(model, "fit"):
            raise TypeError(
                "create_app needs a fitted classifier or pipeline; got "
                f"{type(model).__name__}."
            )
        check_is_fitted(model)
        self.name = name
        self.max_rows = max_rows
        self.builder = RowBuilder(model)
        self._model = self._last = model
        self._steps: Pipeline | None = None
        if isinstance(model, Pipeline) and len(model.steps) > 1:
            self._steps, self._last = model[:-1], model[-1]

    @property
    def output_names(self) -> list[str]:
        """Outputs that the model has."""
        return [
            name for name, method in _OUTPUTS.items() if hasattr(self._model, method)
        ]

    @property
    def classes(self) -> list[Any]:
        """Labels, in the order of scores and probabilities."""
        return list(_as_output(np.asarray(self._model.classes_)).tolist())

    def metadata(self) -> dict[str, Any]:
        """Describe inputs and outputs as the protocol has it."""
        columns = self.builder.columns
        matrix = {"name": MATRIX, "datatype": "FP64", "shape": [-1, len(columns)]}
        inputs = [
            {"name": column.name, "datatype": column.datatype, "shape": [-1]}
            for column in columns
        ]
        if all(column.kind == "number" for column in columns):
            inputs = [matrix]
        return {
            "name": self.name,
            "versions": [VERSION],
            "platform": "localsvm",
            "inputs": inputs,
            "outputs": [self._output_metadata(name) for name in self.output_names],
        }

    def infer(self, body: bytes) -> bytes:
        """Answer a request for predictions."""
        content = parse(body)
        request_id = content.get("id")
        if request_id is not None and not isinstance(request_id, str):
            raise wrong(f"id is {shown(request_id)}; expected a string.")
        wanted = self._wanted(content)
        X = self._prepare(self.builder.of_tensors(read_tensors(content, self.max_rows)))
        answer = {
            "model_name": self.name,
            "model_version": VERSION,
            **({} if request_id is None else {"id": request_id}),
            "outputs": [write_tensor(name, self._output(name, X)) for name in wanted],
        }
        return dump(answer)

    def explain(self, body: bytes) -> bytes:
        """Answer a request for explanations."""
        content = parse(body)
        border = content.get("border", True)
        if not isinstance(border, bool):
            raise wrong(f"border is {shown(border)}; expected true or false.")
        X = self.builder.of_json(content, min(self.max_rows, _EXPLAINED_ROWS))
        try:
            with _input_errors():
                explanations = explain(self._model, X, border=border)
        except TypeError as error:  # a model that has no weights to show
            raise RequestError(501, str(error)) from error
        answer = {
            "model_name": self.name,
            "model_version": VERSION,
            "explanations": [each.to_dict() for each in explanations],
        }
        try:
            return dump(answer)
        except ValueError as error:
            raise wrong("The rows have values too large: not all is finite.") from error

    def _wanted(self, content: dict[str, Any]) -> list[str]:
        """Names of the outputs that a request asks for; all if it does not say."""
        if content.get("outputs") is None:
            return self.output_names
        wanted = []
        for number, raw in enumerate(field(content, "outputs", list)):
            place = f"outputs[{number}]"
            if not isinstance(raw, dict):
                raise wrong(f"{place} is {shown(raw)}; expected an object.")
            name = field(raw, "name", str, place)
            if name not in self.output_names:
                raise wrong(
                    f"{place}.name is {shown(name)}; expected one of "
                    f"{', '.join(self.output_names)}."
                )
            wanted.append(name)
        return wanted or self.output_names

    def _prepare(self, X: Any) -> Any:
        """Take the steps of a pipeline before the last, once for all outputs."""
        if self._steps is None:
            return X
        with _input_errors():
            return self._steps.transform(X)

    def _output(self, name: str, X: Any) -> NDArray[Any]:
        with _input_errors():
            values = np.asarray(getattr(self._last, _OUTPUTS[name])(X))
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0, 0])
            raise wrong(f"Row {row} has values too large: its {name} are not finite.")
        return _as_output(values)

    def _output_metadata(self, name: str) -> dict[str, Any]:
        n_classes = len(self._model.classes_)
        if name == "label":
            labels = _as_output(np.asarray(self._model.classes_))
            return {"name": name, "datatype": datatype_of(labels.dtype), "shape": [-1]}
        one = name == "scores" and n_classes == 2
        shape = [-1] if one else [-1, n_classes]
        return {"name": name, "datatype": "FP64", "shape": shape}


@contextmanager
def _input_errors() -> Iterator[None]:
    """Turn what a model says of its rows into an answer to the client."""
    try:
        yield
    except ValueError as error:
        raise wrong(f"The model refuses the rows: {error}") from error


def _as_output(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers in a type of the protocol; labels of other types as strings."""
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    if values.dtype.kind in "biu":
        return values
    return np.array([str(value) for value in values], dtype=object)

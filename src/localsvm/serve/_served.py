"""A model as the server knows it: what it takes, gives and explains."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from localsvm.estimators import BaseLocalClassifier, winning_labels
from localsvm.inspect import explain
from localsvm.serve._answers import (
    NUMBER_BYTES,
    AnswerWriter,
    blocks_of,
    check_length,
    with_list,
)
from localsvm.serve._content import dump, field, parse, shown
from localsvm.serve._errors import RequestError, wrong
from localsvm.serve._rows import (
    MATRIX,
    RowBuilder,
    form_of,
    joined,
    n_rows_of,
    take,
)
from localsvm.serve._tensors import datatype_of, read_tensors
from localsvm.serve._workers import Check, RequestEndedError

VERSION = "1"

Read = TypeVar("Read")

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_OUTPUTS = {
    "label": "predict",
    "scores": "decision_function",
    "probabilities": "predict_proba",
    "familiarity": "familiarity",
}
_NO_STEPS = (None, "passthrough")
_EXPLAINED_ROWS = 100
_LONGEST_ID = 1000
_SMALL_BODY = 2**17
_JOINED_BODY = 2**13  # of at most sixteen, which together are a small one


class ServedModel:
    """Answers requests; may be called from several threads at once.

    Parameters
    ----------
    model : fitted classifier or Pipeline
    name : str
        Its name in addresses.
    max_rows : int
        Rows of a request.
    max_answer : int
        Bytes of an answer.

    Notes
    -----
    One large body at a time becomes rows. JSON keeps the interpreter to itself in any
    case, and what a body becomes on the way may take forty times its memory.
    """

    def __init__(self, model: Any, name: str, max_rows: int, max_answer: int) -> None:
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
        self.max_answer = max_answer
        self._reading = threading.Lock()
        self.builder = RowBuilder(model)
        self._model = self._last = model
        self._steps: list[Any] = []
        if isinstance(model, Pipeline):
            steps = [step for _, step in model.steps]
            self._steps = [each for each in steps[:-1] if each not in _NO_STEPS]
            self._last = steps[-1]
        # Models of this library decide a row once for both outputs.
        self._labels_follow = isinstance(self._last, BaseLocalClassifier)

    @cached_property
    def output_names(self) -> list[str]:
        """Outputs that the model has."""
        return [
            name for name, method in _OUTPUTS.items() if hasattr(self._last, method)
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

    def infer(self, body: bytearray, check: Check) -> bytes:
        """Answer a request for predictions; ``check`` is called between blocks."""
        query = self._in_turn(body, check, lambda: self._read_query(body))
        return self._answer(query, check)

    def infer_together(
        self, bodies: Sequence[bytearray], check: Check
    ) -> list[bytes | BaseException]:
        """Answer several small requests, those of one form by the same predictions.

        What goes wrong for a joined request is found out by answering it alone.
        """
        results: list[bytes | BaseException] = [RequestEndedError()] * len(bodies)
        forms: dict[Any, list[tuple[int, _Query]]] = {}
        for place, body in enumerate(bodies):
            try:
                query = self._read_query(body)
            except RequestError as error:
                results[place] = error.with_traceback(None)
                continue
            form = form_of(query.X)
            alone = place if form is None else None
            key = (alone, form, *query.wanted)
            forms.setdefault(key, []).append((place, query))
        for group in forms.values():
            places, queries = zip(*group, strict=True)
            for place, result in zip(
                places, self._answer_group(queries, check), strict=True
            ):
                results[place] = result
        return results

    def _answer_group(
        self, queries: Sequence[_Query], check: Check
    ) -> list[bytes | BaseException]:
        if len(queries) > 1:
            try:
                return self._answer_joined(queries, check)
            except RequestEndedError:
                raise
            except Exception:  # of one of them: the others have an answer
                pass
        return [self._answer_alone(query, check) for query in queries]

    def _answer_alone(self, query: _Query, check: Check) -> bytes | BaseException:
        try:
            return self._answer(query, check)
        except RequestEndedError:
            raise
        except RequestError as error:
            return error.with_traceback(None)
        except Exception as error:
            return error

    def _answer_joined(
        self, queries: Sequence[_Query], check: Check
    ) -> list[bytes | BaseException]:
        """Predict all rows at once, and write the answer of each query."""
        X = joined([query.X for query in queries])
        blocks = [
            self._outputs(queries[0].wanted, take(X, rows), rows.start, check)
            for rows in blocks_of(n_rows_of(X))
        ]
        values = {
            name: np.concatenate([block[name] for block in blocks])
            for name in queries[0].wanted
        }
        answers: list[bytes | BaseException] = []
        start = 0
        for query in queries:
            end = start + n_rows_of(query.X)
            writer = AnswerWriter(self.max_answer)
            outputs = [_Output(name, writer) for name in query.wanted]
            for output in outputs:
                output.add(values[output.name][start:end])
            answers.append(self._written(query, outputs))
            start = end
        return answers

    def _answer(self, query: _Query, check: Check) -> bytes:
        writer = AnswerWriter(self.max_answer)
        outputs = [_Output(name, writer) for name in query.wanted]
        for rows in blocks_of(n_rows_of(query.X)):
            part = take(query.X, rows)
            found = self._outputs(query.wanted, part, rows.start, check)
            for output in outputs:
                output.add(found[output.name])
        return self._written(query, outputs)

    def _outputs(
        self, wanted: Sequence[str], X: Any, start: int, check: Check
    ) -> dict[str, NDArray[Any]]:
        """Compute the outputs of a block of rows, by name."""
        check()
        prepared = self._prepare(X, start)
        raw: dict[str, NDArray[Any]] = {}
        if self._labels_follow and "scores" in wanted:
            raw["scores"] = self._call("scores", prepared, start)
            raw["label"] = winning_labels(self._last.classes_, raw["scores"])
        return {
            name: self._checked(
                name,
                raw[name] if name in raw else self._call(name, prepared, start),
                start,
            )
            for name in wanted
        }

    def _written(self, query: _Query, outputs: Sequence[_Output]) -> bytes:
        return with_list(query.head, "outputs", [each.write() for each in outputs])

    def explain(self, body: bytearray, check: Check) -> bytes:
        """Answer a request for explanations; ``check`` is called between rows."""
        X, border = self._in_turn(body, check, lambda: self._read_rows(body))
        writer, explanations = AnswerWriter(self.max_answer), []
        for rows in blocks_of(len(X), 1):
            check()
            found = self._explain(take(X, rows), rows.start, border)
            try:
                explanations.append(writer.write(found))
            except ValueError as error:
                raise wrong(
                    f"rows[{rows.start}] has values too large: not all is finite."
                ) from error
        return with_list(self._head(), "explanations", explanations)

    def _head(self) -> dict[str, Any]:
        return {"model_name": self.name, "model_version": VERSION}

    def is_joined(self, body: bytearray) -> bool:
        """Whether a request is so small that it is worth to join it with others."""
        return len(body) <= _JOINED_BODY

    def is_large(self, body: bytearray) -> bool:
        """Whether it takes long, or much memory, to read a body."""
        return len(body) > _SMALL_BODY

    def _in_turn(self, body: bytearray, check: Check, read: Callable[[], Read]) -> Read:
        """Read a large body while no other is read, and leave nothing but the result.

        An error would keep what the body has become, which is in the frames of its
        trace.
        """
        with self._reading if self.is_large(body) else nullcontext():
            check()
            try:
                return read()
            except RequestError as error:
                refused = RequestError(error.status, error.message)
            raise refused

    def _read_rows(self, body: bytearray) -> tuple[Any, bool]:
        """Rows to explain, and whether with their borders."""
        content = parse(body)
        border = content.get("border", True)
        if not isinstance(border, bool):
            raise wrong(f"border is {shown(border)}; expected true or false.")
        rows = self.builder.of_json(content, min(self.max_rows, _EXPLAINED_ROWS))
        return rows, border

    def _read_query(self, body: bytearray) -> _Query:
        content = parse(body)
        request_id = content.get("id")
        if request_id is not None and not isinstance(request_id, str):
            raise wrong(f"id is {shown(request_id)}; expected a string.")
        if request_id is not None and len(request_id) > _LONGEST_ID:
            raise wrong(
                f"id has {len(request_id)} characters; expected at most {_LONGEST_ID}."
            )
        wanted = self._wanted(content)
        tensors = read_tensors(content, self.max_rows)
        row_bytes = sum(self._row_bytes[name] for name in wanted)
        check_length(tensors[0].n_rows, row_bytes, self.max_answer)
        head = (
            self._head() if request_id is None else {**self._head(), "id": request_id}
        )
        return _Query(head, wanted, self.builder.of_tensors(tensors))

    @cached_property
    def _row_bytes(self) -> dict[str, int]:
        """Bytes of one row of each output, at most."""
        found = {"label": max(len(dump(each)) for each in self.classes) + len(", ")}
        for name in self.output_names:
            shape = self._output_metadata(name)["shape"]
            n_numbers = shape[1] if len(shape) == 2 else 1
            found.setdefault(name, NUMBER_BYTES * n_numbers)
        return found

    def _explain(self, X: Any, start: int, border: bool) -> Any:
        try:
            with _input_errors(start):
                (found,) = explain(self._model, X, border=border)
        except TypeError as error:  # a model that has no weights to show
            raise RequestError(501, str(error)) from error
        return found.to_dict()

    def _wanted(self, content: dict[str, Any]) -> list[str]:
        """Names of the outputs that a request selects; the usual ones by default."""
        # What takes a search among the training rows is given if it is asked for.
        usual = [name for name in self.output_names if name != "familiarity"]
        if content.get("outputs") is None:
            return usual
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
            if name in wanted:
                raise wrong(f"{place}.name is {shown(name)} once more.")
            wanted.append(name)
        return wanted or usual

    def _prepare(self, X: Any, start: int) -> Any:
        """Take the steps of a pipeline before the last, once for all outputs."""
        with _input_errors(start):
            for step in self._steps:
                X = step.transform(X)
        return X

    def _call(self, name: str, X: Any, start: int) -> NDArray[Any]:
        with _input_errors(start):
            return np.asarray(getattr(self._last, _OUTPUTS[name])(X))

    def _checked(self, name: str, values: NDArray[Any], start: int) -> NDArray[Any]:
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = start + int(np.argwhere(~np.isfinite(values))[0, 0])
            raise wrong(f"Row {row} has values too large: its {name} are not finite.")
        return _as_output(values)

    def _output_metadata(self, name: str) -> dict[str, Any]:
        n_classes = len(self._model.classes_)
        if name == "label":
            labels = _as_output(np.asarray(self._model.classes_))
            return {"name": name, "datatype": datatype_of(labels.dtype), "shape": [-1]}
        one = name == "familiarity" or (name == "scores" and n_classes == 2)
        shape = [-1] if one else [-1, n_classes]
        return {"name": name, "datatype": "FP64", "shape": shape}


@dataclass(frozen=True, eq=False)
class _Query:
    """A request for predictions that has been read.

    Parameters
    ----------
    head : dict
        First fields of the answer.
    wanted : list of str
        Names of the outputs.
    X : array, table or dict of arrays
        Rows.
    """

    head: dict[str, Any]
    wanted: list[str]
    X: Any


class _Output:
    """One output, written block by block and flat, as the protocol has it."""

    def __init__(self, name: str, writer: AnswerWriter) -> None:
        self.name = name
        self._writer = writer
        self._blocks: list[bytes] = []
        self._n_rows = 0

    def add(self, values: NDArray[Any]) -> None:
        """Write the values of further rows."""
        self._blocks.append(self._writer.write_items(values.ravel().tolist()))
        self._n_rows += len(values)
        self._row_shape, self._dtype = values.shape[1:], values.dtype

    def write(self) -> bytes:
        """Write the tensor."""
        head = {
            "name": self.name,
            "shape": [self._n_rows, *self._row_shape],
            "datatype": datatype_of(self._dtype),
        }
        return with_list(head, "data", self._blocks)


@contextmanager
def _input_errors(start: int) -> Iterator[None]:
    """Turn the output of a model into a response."""
    try:
        yield
    except ValueError as error:
        place = f", counted from row {start}" if start else ""
        raise wrong(f"The model refuses the rows{place}: {error}") from error


def _as_output(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers in a type of the protocol; labels of other types as strings."""
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    if values.dtype.kind in "biu":
        return values
    return np.array([str(value) for value in values], dtype=object)

"""Plain data of any shape to JSON and arrays, and back.

JSON's own types stand for themselves; all else is an object with one telling key.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.state._store import Sink, Source

Writer = Callable[[Any, str], Any]
Reader = Callable[[dict[str, Any], str], Any]

_DEEPEST = 20
_MOST_DIMENSIONS = 8
_BYTES_OF_CHARACTER = 4
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def _refuse(value: Any, place: str) -> Any:
    raise TypeError(
        f"{place} is a {type(value).__name__}, which a model file cannot hold; use "
        "joblib or skops."
    )


def _refuse_plain(plain: dict[str, Any], place: str) -> Any:
    raise ValueError(f"{place} is {plain!r:.60}, which stands for nothing.")


def write_value(value: Any, place: str, sink: Sink, other: Writer = _refuse) -> Any:
    """Turn numbers, texts, arrays and nested lists, tuples and dicts into JSON.

    What is none of these is given to ``other``.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{place} is {value:.3e}; expected at most 64 bits.")
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        return _write_array(value, place, sink)
    if isinstance(value, (list, tuple)):
        entries = [
            write_value(entry, f"{place}[{i}]", sink, other)
            for i, entry in enumerate(value)
        ]
        return {"tuple": entries} if isinstance(value, tuple) else entries
    if isinstance(value, dict):
        return {
            "dict": [
                [
                    write_value(key, place, sink),
                    write_value(entry, f"{place}[{key!r:.60}]", sink, other),
                ]
                for key, entry in value.items()
            ]
        }
    return other(value, place)


def read_value(
    plain: Any, place: str, source: Source, other: Reader = _refuse_plain
) -> Any:
    """Rebuild what :func:`write_value` was given."""
    return _ValueReader(source, other).read(plain, place, 0)


class _ValueReader:
    """Reads nested values, not too deep."""

    def __init__(self, source: Source, other: Reader) -> None:
        self._source, self._other = source, other
        self._nested = {"tuple": self._read_tuple, "dict": self._read_dict}

    def read(self, plain: Any, place: str, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError(f"{place:.60} is nested too deeply.")
        if plain is None or isinstance(plain, (bool, int, float, str)):
            return plain
        if isinstance(plain, list):
            return self._read_list(plain, place, depth)
        if "array" in plain:
            return self._source.take(plain, place)
        if len(plain) == 1:
            ((kind, content),) = plain.items()
            if kind == "float" and isinstance(content, str) and content in _FLOATS:
                return _FLOATS[content]
            if kind in self._nested and isinstance(content, list):
                return self._nested[kind](content, place, depth)
            if kind in ("texts", "objects"):
                return self._read_texts(kind, content, place, depth)
        return self._other(plain, place)

    def _read_list(self, plain: list[Any], place: str, depth: int) -> list[Any]:
        return [
            self.read(entry, f"{place}[{i}]", depth + 1)
            for i, entry in enumerate(plain)
        ]

    def _read_tuple(self, plain: list[Any], place: str, depth: int) -> tuple[Any, ...]:
        return tuple(self._read_list(plain, place, depth))

    def _read_dict(self, plain: list[Any], place: str, depth: int) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for entry in plain:
            if not isinstance(entry, list) or len(entry) != 2:
                raise ValueError(f"{place} has the entry {entry!r:.60}, not a pair.")
            key = self.read(entry[0], place, depth + 1)
            if not isinstance(key, (bool, int, float, str)) or key in result:
                raise ValueError(f"{place} has the key {key!r:.60}; expected another.")
            result[key] = self.read(entry[1], f"{place}[{key!r:.60}]", depth + 1)
        return result

    def _read_texts(
        self, kind: str, content: Any, place: str, depth: int
    ) -> NDArray[Any]:
        if not isinstance(content, dict) or set(content) != {"shape", "entries"}:
            raise ValueError(f"{place} is {content!r:.60}; expected shape and entries.")
        shape, plain = content["shape"], content["entries"]
        if (
            not isinstance(shape, list)
            or not isinstance(plain, list)
            or len(shape) > _MOST_DIMENSIONS
            or not all(type(length) is int and length >= 0 for length in shape)
            or math.prod(shape) != len(plain)
        ):
            raise ValueError(f"{place} has the shape {shape!r:.60}; expected another.")
        entries = self._read_list(plain, place, depth)
        if kind == "texts":
            return self._texts(entries, place).reshape(shape)
        flat = np.empty(len(entries), dtype=object)
        for i, entry in enumerate(entries):
            flat[i] = entry
        return flat.reshape(shape)

    def _texts(self, entries: list[Any], place: str) -> NDArray[np.str_]:
        """Array of strings, each of which takes the space of the longest."""
        if not all(isinstance(entry, str) for entry in entries):
            raise ValueError(f"{place} is {entries!r:.60}; expected texts.")
        longest = max(map(len, entries), default=0)
        self._source.budget.charge(_BYTES_OF_CHARACTER * longest * len(entries), place)
        return np.array(entries, dtype=np.str_)


def _write_array(array: NDArray[Any], place: str, sink: Sink) -> Any:
    if array.dtype.kind not in "UO":
        return sink.put(array, place)
    kind = "texts" if array.dtype.kind == "U" else "objects"
    if kind == "texts":
        sink.budget.charge(array.nbytes, place)
    entries = [
        write_value(entry, f"{place}[{i}]", sink)
        for i, entry in enumerate(array.ravel().tolist())
    ]
    return {kind: {"shape": list(array.shape), "entries": entries}}

"""Where a model's arrays go, where they come from, and what their shapes agree on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.state._budget import Budget

# Types of a file, and the types that are kept in a wider one of them.
_STORED: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.float64): np.dtype(np.float64),
    np.dtype(np.float32): np.dtype(np.float32),
    np.dtype(np.float16): np.dtype(np.float32),
    np.dtype(np.int64): np.dtype(np.int64),
    np.dtype(np.int32): np.dtype(np.int32),
    np.dtype(np.int16): np.dtype(np.int32),
    np.dtype(np.int8): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.int64),
    np.dtype(np.uint32): np.dtype(np.int64),
    np.dtype(np.uint16): np.dtype(np.int32),
    np.dtype(np.uint8): np.dtype(np.uint8),
    np.dtype(np.bool_): np.dtype(np.uint8),
}
_BY_NAME = {dtype.name: dtype for dtype in _STORED}


class Sink:
    """Takes the arrays of a model that is written, each once.

    Attributes
    ----------
    arrays : dict of ndarray
        By the place where each was found first.
    budget : Budget
        What loading will take besides.
    keeps_rows : bool
        Whether to write what updates of a model need.
    """

    def __init__(self, *, keeps_rows: bool = False) -> None:
        self.keeps_rows = keeps_rows
        self.arrays: dict[str, NDArray[Any]] = {}
        self.budget = Budget(None)
        # The arrays that were put are kept, so that no other gets their id.
        self._known: dict[int, tuple[NDArray[Any], str]] = {}

    def put(self, array: NDArray[Any], place: str) -> dict[str, str]:
        """Keep an array; return what stands for it in the header."""
        native = array.dtype.newbyteorder("=")
        if native not in _STORED:
            raise TypeError(
                f"{place} is an array of dtype {array.dtype}, which a model file "
                "cannot hold; expected numbers or booleans."
            )
        stored = _STORED[native]
        if native == np.uint64 and array.size and array.max() >= 2**63:
            raise ValueError(f"{place} has numbers of 2**63 and more.")
        # Products of matrices depend, in their last bits, on the order in memory.
        transposed = array.ndim == 2 and abs(array.strides[0]) < abs(array.strides[1])
        if id(array) not in self._known:
            name = place if place not in self.arrays else f"{place}#{len(self.arrays)}"
            self._known[id(array)] = array, name
            by_rows = array.T if transposed else array
            self.arrays[name] = by_rows.astype(stored, copy=False)
        else:
            self.budget.charge(array.nbytes, place)
        reference = {"array": self._known[id(array)][1]}
        if transposed:
            reference["order"] = "F"
        if stored != native:
            reference["dtype"] = native.name
        return reference


class Source:
    """Gives the arrays of a file back; what nobody asks for has no place in it.

    Parameters
    ----------
    arrays : dict of ndarray
    file_bytes : int, default=0
        Length of the file, which bounds what may be made of them.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], file_bytes: int = 0) -> None:
        self._arrays = arrays
        self._unused = set(arrays)
        # Arrays of other types than those in the file: what shares one still does.
        self._converted: dict[tuple[str, bool, str], NDArray[Any]] = {}
        self.budget = Budget(file_bytes)

    def take(self, reference: Any, place: str) -> NDArray[Any]:
        """Array that a part of the header stands for."""
        if (
            not isinstance(reference, dict)
            or not {"array"} <= set(reference) <= {"array", "order", "dtype"}
            or not all(isinstance(value, str) for value in reference.values())
        ):
            raise ValueError(f"{place} is {reference!r:.60}; expected an array.")
        name = reference["array"]
        if name not in self._arrays:
            raise ValueError(f"{place} is the array {name!r:.60}, which is missing.")
        array = self._arrays[name]
        # Whoever is given an array again may copy it, and takes time to check it.
        if name not in self._unused:
            self.budget.charge(array.nbytes, place)
        self._unused.discard(name)
        if "order" in reference:
            if reference["order"] != "F" or array.ndim != 2:
                raise ValueError(f"{place} is in the order {reference['order']!r:.60}.")
            array = array.T
        if "dtype" not in reference:
            return array
        key = name, "order" in reference, reference["dtype"]
        if key not in self._converted:
            dtype = _BY_NAME.get(reference["dtype"])
            self._converted[key] = _converted(array, dtype, place)
        return self._converted[key]

    def check_all_used(self) -> None:
        """Raise a ValueError if there are arrays that no part refers to."""
        if self._unused:
            raise ValueError(
                f"has the array {min(self._unused)!r:.60}, which no part refers to."
            )


class Dims:
    """Lengths of axes by name: the first array with a name sets it, others agree."""

    def __init__(self, **known: int) -> None:
        self._known = dict(known)

    def bind(self, name: str, length: int, place: str) -> None:
        """Set a length, or compare it with the one that is known."""
        if length < 0:
            raise ValueError(f"{place} is empty.")
        known = self._known.setdefault(name, length)
        if known != length:
            raise ValueError(
                f"{place} has {length} {name.replace('_', ' ')}; expected {known} as "
                "elsewhere in the model."
            )

    def __getitem__(self, name: str) -> int:
        """Length of an axis, which is known by now."""
        return self._known[name]

    def __contains__(self, name: str) -> bool:
        """Whether the length is known."""
        return name in self._known

    def check_shape(
        self, shape: tuple[int, ...], axes: tuple[int | str, ...], place: str
    ) -> None:
        """Compare a shape with axes: lengths, names, or "name+1"."""
        if len(shape) != len(axes):
            raise ValueError(
                f"{place} has {len(shape)} dimensions; expected {len(axes)}."
            )
        for length, axis in zip(shape, axes, strict=True):
            if isinstance(axis, str):
                name, _, more = axis.partition("+")
                self.bind(name, length - int(more or 0), place)
            elif length != axis:
                raise ValueError(f"{place} has shape {shape}; expected {axes}.")


def _converted(array: NDArray[Any], dtype: Any, place: str) -> NDArray[Any]:
    if dtype is None or _STORED[dtype] != array.dtype or dtype == array.dtype:
        raise ValueError(f"{place} is stored as {array.dtype}, which does not fit.")
    if dtype.kind == "u" and array.size and array.min() < 0:
        raise ValueError(f"{place} has negative numbers.")
    converted = array.astype(dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        if not np.array_equal(converted, array, equal_nan=dtype.kind == "f"):
            raise ValueError(f"{place} has numbers that are no {dtype.name}.")
    return converted

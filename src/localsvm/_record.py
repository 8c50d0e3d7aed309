"""What a function of some rows returns: a small record that is merged and saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# What a checkpoint saves and workers exchange.
Arrays = dict[str, NDArray[Any]]

_CSR_PIECES = ("data", "indices", "indptr", "shape")


@dataclass(frozen=True)
class Record:
    """Base of the frozen dataclasses that functions of blocks return.

    Fields are arrays, CSR matrices, numbers, booleans, other records, or None where a
    default is None. A subclass implements :meth:`merge`; how it is written to a
    checkpoint follows from its fields.
    """

    def merge(self, other: Self) -> Self:
        """Record of the rows of both; those of ``self`` come first."""
        raise NotImplementedError(f"{type(self).__name__} cannot be merged.")

    def as_arrays(self) -> Arrays:
        """Write the fields as named arrays; a field that is None is left out."""
        arrays: Arrays = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Record):
                own = value.as_arrays()
                arrays |= {f"{field.name}.{name}": each for name, each in own.items()}
            elif sparse.issparse(value):
                pieces = pack_csr(value)
                arrays |= {f"{field.name}.{name}": pieces[name] for name in _CSR_PIECES}
            elif value is not None:
                arrays[field.name] = np.asarray(value)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Read what :meth:`as_arrays` wrote."""
        hints = get_type_hints(cls)
        return cls(
            **{
                field.name: _read_field(arrays, field.name, hints[field.name])
                for field in fields(cls)
                if _is_there(arrays, field.name) or field.default is MISSING
            }
        )


def _is_there(arrays: Mapping[str, Any], name: str) -> bool:
    return name in arrays or any(key.startswith(f"{name}.") for key in arrays)


def _read_field(arrays: Mapping[str, NDArray[Any]], name: str, kind: Any) -> Any:
    if name in arrays:
        array = arrays[name]
        return array if kind not in (int, float, bool, str) else kind(array.item())
    prefix = f"{name}."
    own = {
        key.removeprefix(prefix): array
        for key, array in arrays.items()
        if key.startswith(prefix)
    }
    if set(own) == set(_CSR_PIECES):
        return unpack_csr(own)
    for option in getattr(kind, "__args__", (kind,)):
        if isinstance(option, type) and issubclass(option, Record):
            return option.from_arrays(own)
    raise TypeError(f"No array of the field {name!r}: found {sorted(arrays)}.")


def pack_csr(X: Any) -> Arrays:
    """Arrays of a CSR matrix."""
    return {
        "data": X.data,
        "indices": X.indices,
        "indptr": X.indptr,
        "shape": np.array(X.shape),
    }


def unpack_csr(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Build a CSR matrix from what :func:`pack_csr` gave."""
    shape = tuple(arrays["shape"].tolist())
    pieces = arrays["data"], arrays["indices"], arrays["indptr"]
    return sparse.csr_array(pieces, shape=shape)

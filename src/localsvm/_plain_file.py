"""Files of a JSON header and raw arrays: plain data, checked before it is believed.

A file is a first line for people and for recognition, a header in JSON, and arrays::

    localsvm <format> version <v>, header <n> bytes, sha256 <of all but itself>
    {"written_by": ..., "header": {...}, "arrays": {name: {dtype, shape, offset}}}
    <little-endian arrays, one after another>

Nothing in it is code or names code. Reading takes no more memory than the file is long,
but for the objects of the header, and its length is bounded.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

# Also for the ledger.
from localsvm._replaced_file import replace_file as replace_file
from localsvm._text import check_containers, parse_json as parse_json, printable
from localsvm.exceptions import DataError

LONGEST_HEADER = 2**24
_LONGEST_FIRST_LINE = 200
_DTYPES = ("<f8", "<f4", "<i8", "<i4", "|u1")
_MOST_DIMENSIONS = 8
_BLOCK_BYTES = 2**20
_FIRST_LINE = re.compile(
    rb"(localsvm ([a-z-]+) version (\d{1,9}), header (\d{1,9}) bytes), "
    rb"sha256 ([0-9a-f]{64})\n"
)


def write_plain_file(
    path: str | os.PathLike[str],
    format_name: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write a header and arrays; a file of that name is replaced at once or not at all.

    Parameters
    ----------
    path : path
    format_name : str
        Small letters and hyphens.
    version : int
        Of the format.
    header : dict
        What JSON can hold, without NaN or infinity.
    arrays : dict of ndarray
        float64, float32, int64, int32 or uint8.

    Notes
    -----
    O(bytes), with a copy of those arrays alone that are not contiguous.
    """
    replace_file(path, plain_parts(format_name, version, header, arrays))


def plain_parts(
    format_name: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> list[bytes | memoryview]:
    """Give the bytes of a file in pieces; arguments as in :func:`write_plain_file`."""
    stored = {name: _little_endian(name, array) for name, array in arrays.items()}
    text = _header_text(header, stored)
    start = f"localsvm {format_name} version {version}, header {len(text)} bytes"
    parts: list[bytes | memoryview] = [text]
    parts += [_bytes_of(array) for array in stored.values()]
    digest = hashlib.sha256(start.encode())
    for part in parts:
        digest.update(part)
    return [f"{start}, sha256 {digest.hexdigest()}\n".encode(), *parts]


def read_plain_file(
    path: str | os.PathLike[str], format_name: str, newest_version: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what :func:`write_plain_file` wrote.

    Parameters
    ----------
    path : path
    format_name : str
        The format that is expected.
    newest_version : int
        Newest version of it that the caller understands.

    Returns
    -------
    header : dict
        Its content is JSON of any shape: the caller checks it.
    arrays : dict of ndarray
        Of native byte order; their numbers may be NaN or infinite.

    Raises
    ------
    ValueError
        Whatever is wrong with the content, with the name of the file.

    Notes
    -----
    O(bytes). Every size is compared with the length of the file before anything of that
    size is made.
    """
    whole = load_plain_file(path, format_name, newest_version)
    return whole.header, whole.arrays


@dataclass(frozen=True)
class PlainContent:
    """Header and arrays of a file, its length and its checksum."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    n_bytes: int
    digest: str


def load_plain_file(
    path: str | os.PathLike[str], format_name: str, newest_version: int
) -> PlainContent:
    """Read as :func:`read_plain_file` does, and tell how long the file is."""
    with open(path, "rb") as file, prefix_errors(path):
        return _load(file, _size_of(file), format_name, newest_version)


def parse_plain(content: bytes, format_name: str, newest_version: int) -> PlainContent:
    """Read what :func:`plain_parts` gave, as :func:`load_plain_file` reads a file."""
    return _load(io.BytesIO(content), len(content), format_name, newest_version)


def read_digest(
    path: str | os.PathLike[str], format_name: str, newest_version: int
) -> str:
    """Read the checksum that a file begins with."""
    with open(path, "rb") as file, prefix_errors(path):
        return _read_first_line(file, format_name, newest_version).digest


def _load(
    file: BinaryIO, size: int, format_name: str, newest_version: int
) -> PlainContent:
    first = _read_first_line(file, format_name, newest_version)
    _, digest, header, specs = _read_header(file, first, size)
    arrays = {name: _read_array(file, spec) for name, spec in specs.items()}
    for array in arrays.values():
        digest.update(_bytes_of(array))
    _check_digest(digest.hexdigest(), first.digest)
    native = {name: _native(array) for name, array in arrays.items()}
    return PlainContent(header, native, size, first.digest)


@dataclass(frozen=True)
class PlainDescription:
    """Header of a file and the types and shapes of its arrays."""

    version: int
    written_by: str
    header: dict[str, Any]
    arrays: dict[str, tuple[str, tuple[int, ...]]]
    n_bytes: int


def describe_plain_file(
    path: str | os.PathLike[str], format_name: str, newest_version: int
) -> PlainDescription:
    """Read all but the arrays, whose checksum is compared, too.

    O(bytes) of time; memory for the header alone. Arguments and errors are those of
    :func:`read_plain_file`.
    """
    with open(path, "rb") as file, prefix_errors(path):
        size = _size_of(file)
        first = _read_first_line(file, format_name, newest_version)
        text, digest, header, specs = _read_header(file, first, size)
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
        _check_digest(digest.hexdigest(), first.digest)
        written_by = parse_json(text).get("written_by")
        shapes = {name: (spec.dtype, spec.shape) for name, spec in specs.items()}
    return PlainDescription(first.version, str(written_by), header, shapes, size)


@contextlib.contextmanager
def refusing_depth() -> Iterator[None]:
    """Turn a RecursionError, which only nested content leads to, into a ValueError."""
    try:
        yield
    except RecursionError:
        raise ValueError("its content is nested too deeply.") from None


@contextlib.contextmanager
def prefix_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise a DataError that begins with the name of the file for a ValueError.

    The content of a file may be anybody's, so that whatever it leads to, such as a
    shape that NumPy refuses, is a problem of the file.
    """
    try:
        yield
    except ValueError as error:
        # It may repeat what a stranger has put into the file.
        raise DataError(f"{os.fspath(path)}: {printable(str(error))}") from error


@dataclass(frozen=True)
class _FirstLine:
    start: bytes
    version: int
    header_length: int
    digest: str


@dataclass(frozen=True)
class _ArraySpec:
    dtype: str
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def _header_text(header: Mapping[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    from localsvm import __version__

    places, offset = {}, 0
    for name, array in arrays.items():
        places[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "offset": offset,
        }
        offset += array.nbytes
    whole = {
        "written_by": f"localsvm {__version__}",
        "header": dict(header),
        "arrays": places,
    }
    text = json.dumps(whole, indent=1, allow_nan=False).encode() + b"\n"
    check_containers(text)
    if len(text) > LONGEST_HEADER:
        raise DataError(
            f"The header takes {len(text)} bytes; expected at most {LONGEST_HEADER}."
        )
    return text


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    stored = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if stored.dtype.str not in _DTYPES:
        raise ValueError(
            f"Array {name!r} has dtype {array.dtype}; expected one of "
            f"{', '.join(_DTYPES)}."
        )
    return stored


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _native(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _size_of(file: BinaryIO) -> int:
    """Length that everything else is compared with."""
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(
            "is not a regular file: its length is unknown. Copy it to a file first."
        )
    return found.st_size


def _read_first_line(
    file: BinaryIO, format_name: str, newest_version: int
) -> _FirstLine:
    line = file.readline(_LONGEST_FIRST_LINE)
    match = _FIRST_LINE.fullmatch(line)
    if match is None:
        raise ValueError(
            f"not a localsvm {format_name} file, or only the start of one: its first "
            f"line is {line[:60]!r}."
        )
    start, name, version, header_length, digest = match.groups()
    if name.decode() != format_name:
        raise ValueError(
            f"is a localsvm {name.decode()} file; expected a {format_name} file."
        )
    if not 1 <= int(version) <= newest_version:
        raise ValueError(
            f"was written in version {int(version)} of the {format_name} format; this "
            f"localsvm reads versions 1 to {newest_version}. Update localsvm."
        )
    return _FirstLine(start, int(version), int(header_length), digest.decode())


def _read_header(
    file: BinaryIO, first: _FirstLine, size: int
) -> tuple[bytes, Any, dict[str, Any], dict[str, _ArraySpec]]:
    """Read the text of the header, the checksum up to it, and what it says."""
    digest = hashlib.sha256(first.start)
    text = _read_header_text(file, first.header_length, size)
    digest.update(text)
    header, specs = _parse_header(text)
    _check_length(sum(spec.n_bytes for spec in specs.values()), file.tell(), size)
    return text, digest, header, specs


def _read_header_text(file: BinaryIO, length: int, size: int) -> bytes:
    if length > LONGEST_HEADER:
        raise ValueError(
            f"declares a header of {length} bytes; expected at most {LONGEST_HEADER}."
        )
    if length > size - file.tell():
        raise ValueError(
            f"is truncated: its header should take {length} bytes, but only "
            f"{size - file.tell()} are there."
        )
    return file.read(length)


def _parse_header(text: bytes) -> tuple[dict[str, Any], dict[str, _ArraySpec]]:
    whole = parse_json(text)
    if not isinstance(whole, dict):
        raise ValueError(f"its header is {whole!r:.40}; expected an object.")
    for name in ("header", "arrays"):
        if not isinstance(whole.get(name), dict):
            raise ValueError(
                f"its header has {name} = {whole.get(name)!r:.40}; expected an object."
            )
    specs, offset = {}, 0
    for name, place in whole["arrays"].items():
        specs[name] = _array_spec(name, place, offset)
        offset += specs[name].n_bytes
    return whole["header"], specs


def _array_spec(name: str, place: Any, offset: int) -> _ArraySpec:
    if not isinstance(place, dict) or set(place) != {"dtype", "shape", "offset"}:
        raise ValueError(
            f"array {name!r:.40} is described by {place!r:.60}; expected dtype, shape "
            "and offset."
        )
    dtype, shape = place["dtype"], place["shape"]
    if dtype not in _DTYPES:
        raise ValueError(
            f"array {name!r:.40} has dtype {dtype!r:.40}; expected one of "
            f"{', '.join(_DTYPES)}."
        )
    if (
        not isinstance(shape, list)
        or len(shape) > _MOST_DIMENSIONS
        or not all(type(length) is int and length >= 0 for length in shape)
    ):
        raise ValueError(
            f"array {name!r:.40} has shape {shape!r:.60}; expected a list of at most "
            f"{_MOST_DIMENSIONS} integers >= 0."
        )
    if type(place["offset"]) is not int or place["offset"] != offset:
        raise ValueError(
            f"array {name!r:.40} starts at {place['offset']!r:.40}; expected {offset}, "
            "the end of the array before it."
        )
    return _ArraySpec(dtype, tuple(shape))


def _check_length(expected: int, start: int, size: int) -> None:
    found = size - start
    if found < expected:
        raise ValueError(
            f"is truncated, or has arrays of wrong shapes: they take {expected} bytes, "
            f"but only {found} are there."
        )
    if found > expected:
        raise ValueError(
            f"has {found - expected} bytes more than its arrays, which take {expected}."
        )


def _check_digest(found: str, expected: str) -> None:
    if found != expected:
        raise ValueError(
            f"its content has the SHA-256 {found[:12]}..., but its first line says "
            f"{expected[:12]}...: the file was changed or damaged."
        )


def _read_array(file: BinaryIO, spec: _ArraySpec) -> NDArray[Any]:
    try:
        array = np.empty(spec.shape, dtype=spec.dtype)
    except ValueError as error:  # without elements, but with too long an axis
        raise ValueError(f"has an array of shape {spec.shape}: {error}") from error
    if file.readinto(_bytes_of(array)) != spec.n_bytes:  # type: ignore[attr-defined]
        raise ValueError("was truncated while it was read.")
    return array

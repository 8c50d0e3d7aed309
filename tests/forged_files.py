"""Model files of strangers: changed at random, with the right checksum."""

import copy
import hashlib
import json

import numpy as np

from localsvm._plain_file import read_plain_file, write_plain_file

_VALUES = (
    *(None, True, False, 0, 1, -1, 3, 2**31, 2**62, -(2**63), 0.0, -1.5, 1e-300, 1e300),
    *("", "text", "auto", "inf", [], [[]], [1], {}, {"a": 1}, {"float": "inf"}),
    *({"float": "nan"}, {"array": "nothing"}, {"tuple": [1]}, {"dict": [[1, 2]]}),
    *({"class": "KMeans", "params": {}}, {"class": "os.system", "params": {}}),
    *(2**31 - 1, -2, 5e-324, 1e308, -1e300, 10**6, "a" * 5000, "\x1b[2J", {"dict": []}),
    *({"texts": {"shape": [2], "entries": ["a", "b"]}}, {"float": "-inf"}, "paper"),
)
_NUMBERS = (
    *(np.nan, np.inf, -np.inf, 0, -1, 1, 7, 2**31 - 1, 2**62, 1e-300, 1e300, -0.5),
    *(5e-324, 1.7e308, -1.7e308, 2**53, -(2**62), 1e-30, 1e30),
)
_TYPES = (np.float64, np.float32, np.int64, np.int32, np.uint8)


def forge(path, change):
    """Change the content of a model file so that its checksum is right."""
    header, arrays = read_plain_file(path, "model", 1)
    change(header, arrays)
    write_plain_file(path, "model", 1, header, arrays)


def forge_at_random(source, target, rng):
    """Write a file that differs from another in a few places."""
    header, arrays = read_plain_file(source, "model", 1)
    for _ in range(1 if rng.random() < 0.7 else 3):  # few files survive three
        if rng.random() < 0.5 or not arrays:
            _change_header(header["model"], rng)
        else:
            _change_arrays(arrays, rng)
    write_plain_file(target, "model", 1, header, arrays)


def forge_raw(whole, rng):
    """Bytes of a file that differs in its bits, shapes or references from another.

    Unlike :func:`forge_at_random` it also makes what ``write_plain_file`` would not.
    """
    first, rest = whole.split(b"\n", 1)
    length = int(first.split(b"header ")[1].split(b" ")[0])
    text, payload = rest[:length], bytearray(rest[length:])
    kind = rng.integers(4)
    if kind == 0 and payload:
        for place in rng.integers(8 * len(payload), size=rng.integers(1, 9)):
            payload[place // 8] ^= 1 << (place % 8)
    elif kind == 1:
        text = _flipped_text(text, rng)
    else:
        plain = json.loads(text)
        for _ in range(rng.integers(1, 4)):
            change = _RAW_CHANGES[rng.integers(len(_RAW_CHANGES))]
            payload = change(plain, payload, rng)
        text = json.dumps(plain).encode()
    return sealed(text, payload)


def sealed(text, payload, format_name="model"):
    """Bytes of a file of any header and any content, with the right checksum."""
    start = f"localsvm {format_name} version 1, header {len(text)} bytes".encode()
    digest = hashlib.sha256(start + text + payload).hexdigest()
    return start + f", sha256 {digest}\n".encode() + text + bytes(payload)


def _flipped_text(text, rng):
    """JSON with other digits, letters or brackets in some places."""
    changed = bytearray(text)
    for place in rng.integers(len(changed), size=rng.integers(1, 4)):
        changed[place] = rng.choice(list(b'0123456789-.eE"[]{},:naxfFT_'))
    return bytes(changed)


def _reshape(plain, payload, rng):
    spec = _any_spec(plain, rng)
    shape = spec["shape"]
    kind = rng.integers(4)
    if kind == 0:
        rng.shuffle(shape)
    elif kind == 1:
        spec["shape"] = [int(np.prod(shape, dtype=object))]
    elif kind == 2:
        spec["shape"] = [*shape, 1]
    else:
        spec["shape"] = [0, *([2**40, 3, 2**31][rng.integers(3)] for _ in range(2))]
    return payload


def _retype(plain, payload, rng):
    """Another type of as many bytes, or of others."""
    spec = _any_spec(plain, rng)
    old = spec["dtype"]
    spec["dtype"] = ("<f8", "<f4", "<i8", "<i4", "|u1")[rng.integers(5)]
    change = {"8": 8, "4": 4, "1": 1}
    ratio = change[old[-1]] / change[spec["dtype"][-1]]
    if spec["shape"]:
        spec["shape"][-1] = int(spec["shape"][-1] * ratio)
    return payload


def _truncate(plain, payload, rng):
    """Leave some of the last array out, where all others still lie as they did."""
    if not plain["arrays"]:
        return payload
    spec = list(plain["arrays"].values())[-1]
    if spec["shape"] and spec["shape"][0]:
        step = len(payload) - spec["offset"]
        kept = rng.integers(spec["shape"][0])
        row = step // spec["shape"][0]
        spec["shape"][0] = int(kept)
        return payload[: spec["offset"] + kept * row]
    return payload


def _refer(plain, payload, rng):
    """Let a reference name another array, another order or another type."""
    references = [
        (owner, key)
        for owner, key in _places(plain["header"])
        if isinstance(owner[key], dict) and "array" in owner[key]
    ]
    if not references:
        return payload
    owner, key = references[rng.integers(len(references))]
    kind = rng.integers(4)
    if kind == 0:
        other, place = references[rng.integers(len(references))]
        owner[key], other[place] = other[place], owner[key]
    elif kind == 1:
        other, place = references[rng.integers(len(references))]
        owner[key] = copy.deepcopy(other[place])
    elif kind == 2:
        owner[key]["order"] = "F"
    else:
        names = ("bool", "int8", "uint16", "int16", "uint32", "uint64", "float16")
        owner[key]["dtype"] = names[rng.integers(len(names))]
    return payload


def _any_spec(plain, rng):
    specs = list(plain["arrays"].values())
    if not specs:
        return {"dtype": "<f8", "shape": []}
    return specs[rng.integers(len(specs))]


_RAW_CHANGES = (_reshape, _retype, _truncate, _refer)


def _change_header(plain, rng):
    owner, key = _places(plain)[rng.integers(len(_places(plain)))]
    kind = rng.integers(5)
    if kind == 0:
        del owner[key]
    elif kind == 1:
        other, place = _places(plain)[rng.integers(len(_places(plain)))]
        owner[key] = copy.deepcopy(other[place])
    elif kind == 2 and type(owner[key]) in (int, float) and abs(owner[key]) < 2**61:
        owner[key] = owner[key] * 2 + rng.integers(-3, 3).item()
    elif kind == 3 and isinstance(owner, dict):
        owner["more"] = owner[key]
    else:
        owner[key] = copy.deepcopy(_VALUES[rng.integers(len(_VALUES))])


def _places(plain):
    entries = plain.items() if isinstance(plain, dict) else enumerate(plain)
    found = [(plain, key) for key, _ in entries]
    for owner, key in list(found):
        if isinstance(owner[key], dict | list):
            found += _places(owner[key])
    return found


def _change_arrays(arrays, rng):
    name = list(arrays)[rng.integers(len(arrays))]
    array = arrays[name]
    kind = rng.integers(6)
    if kind == 0:
        del arrays[name]
    elif kind == 1 and array.ndim:
        axis = rng.integers(array.ndim)
        size = max(0, array.shape[axis] + rng.integers(-2, 3))
        arrays[name] = np.resize(np.moveaxis(array, axis, 0), size)
        shape = list(array.shape)
        shape[axis] = size
        arrays[name] = np.resize(array, shape)
    elif kind == 2:
        with np.errstate(invalid="ignore", over="ignore"):
            arrays[name] = array.astype(_TYPES[rng.integers(len(_TYPES))])
    elif kind == 3:
        other = list(arrays)[rng.integers(len(arrays))]
        arrays[name], arrays[other] = arrays[other], array
    elif array.size and rng.random() < 0.3 and array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            array *= (0, -1, 1e-300, 1e150, 1e300, 1e-30)[rng.integers(6)]
    elif array.size:
        _set_numbers(array, rng)


def _set_numbers(array, rng):
    flat = array.reshape(-1)
    places = rng.integers(flat.size, size=rng.integers(1, 4))
    if rng.random() < 0.3:
        places = slice(None)
    value = _NUMBERS[rng.integers(len(_NUMBERS))]
    if array.dtype.kind != "f":
        limits = np.iinfo(array.dtype)
        low, high = max(limits.min, -(2**62)), min(limits.max, 2**62)
        value = int(np.clip(np.nan_to_num(float(value)), low, high))
    with np.errstate(over="ignore"):
        flat[places] = value

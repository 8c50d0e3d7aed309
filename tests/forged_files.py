"""Model files of strangers: changed at random, with the right checksum."""

import copy

import numpy as np

from localsvm._plain_file import read_plain_file, write_plain_file

_VALUES = (
    *(None, True, False, 0, 1, -1, 3, 2**31, 2**62, -(2**63), 0.0, -1.5, 1e-300, 1e300),
    *("", "text", "auto", "inf", [], [[]], [1], {}, {"a": 1}, {"float": "inf"}),
    *({"float": "nan"}, {"array": "nothing"}, {"tuple": [1]}, {"dict": [[1, 2]]}),
    *({"class": "KMeans", "params": {}}, {"class": "os.system", "params": {}}),
)
_NUMBERS = (np.nan, np.inf, -np.inf, 0, -1, 1, 7, 2**31 - 1, 2**62, 1e-300, 1e300, -0.5)
_TYPES = (np.float64, np.float32, np.int64, np.int32, np.uint8)


def forge(path, change):
    """Change the content of a model file so that its checksum is right."""
    header, arrays = read_plain_file(path, "model", 1)
    change(header, arrays)
    write_plain_file(path, "model", 1, header, arrays)


def forge_at_random(source, target, rng):
    """Write a file that differs from another in a few places."""
    header, arrays = read_plain_file(source, "model", 1)
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.5 or not arrays:
            _change_header(header["model"], rng)
        else:
            _change_arrays(arrays, rng)
    write_plain_file(target, "model", 1, header, arrays)


def _change_header(plain, rng):
    owner, key = _places(plain)[rng.integers(len(_places(plain)))]
    kind = rng.integers(5)
    if kind == 0:
        del owner[key]
    elif kind == 1:
        other, place = _places(plain)[rng.integers(len(_places(plain)))]
        owner[key] = copy.deepcopy(other[place])
    elif kind == 2 and type(owner[key]) in (int, float):
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
    elif array.size:
        _set_numbers(array, rng)


def _set_numbers(array, rng):
    flat = array.reshape(-1)
    places = rng.integers(flat.size, size=rng.integers(1, 4))
    value = _NUMBERS[rng.integers(len(_NUMBERS))]
    if array.dtype.kind != "f":
        limits = np.iinfo(array.dtype)
        low, high = max(limits.min, -(2**62)), min(limits.max, 2**62)
        value = int(np.clip(np.nan_to_num(float(value)), low, high))
    with np.errstate(over="ignore"):
        flat[places] = value

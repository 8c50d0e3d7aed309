"""What a fit is of: rows by their content, parameters by their values."""

from __future__ import annotations

import hashlib
from pickle import PicklingError
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.engine._sources import Block, Source

# What may change between an interruption and the next call: no result depends on it.
_FREE = ("n_jobs", "max_time", "verbose")
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_LONGEST = 300


def digest_block(block: Block) -> bytes:
    """SHA-256 of the rows, labels and weights of a block, 32 bytes.

    O(bytes) of time, no copy.
    """
    digest = hashlib.sha256()
    for array in (*_arrays_of(block.X), block.y, block.sample_weight):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.digest()


def _arrays_of(X: Any) -> tuple[NDArray[Any], ...]:
    if not sparse.issparse(X):
        return (X,)
    return X.data, X.indices, X.indptr, np.array(X.shape)


def describe(
    estimator: Any, source: Source, y: Any, sample_weight: Any
) -> dict[str, str]:
    """Name what a fit depends on, but for the content of its rows.

    Parameters
    ----------
    estimator : estimator
    source : Source
    y, sample_weight : object
        What ``fit`` was given; names of columns are kept.

    Returns
    -------
    dict of str
        Two fits with the same entries, of the same rows, give the same model.
    """
    from localsvm import __version__

    found = {"localsvm version": __version__, "estimator": _class_name(estimator)}
    for name, value in _parameters(estimator).items():
        try:
            # The parameters of an estimator among them are entries of their own.
            found[f"parameter {name}"] = _text_of(value, is_nested=False)
        except (PicklingError, TypeError, AttributeError) as error:
            raise TypeError(
                f"{name}={value!r} cannot be recognised when a fit is resumed: {error} "
                "Give a value that can be pickled, or fit without a checkpoint."
            ) from error
    found["number of blocks"] = str(source.n_blocks)
    found["number of columns"] = str(source.n_features)
    for position, name in enumerate(source.feature_names or ()):
        found[f"column {position}"] = name
    found["column of labels"] = y if isinstance(y, str) else "none"
    found["column of weights"] = (
        sample_weight if isinstance(sample_weight, str) else "none"
    )
    found["type of the rows"] = str(source.dtype)
    return found


def _text_of(value: Any, *, is_nested: bool = True) -> str:
    """Text that is the same for equal values alone, in every process."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _PLAIN):
        return _shortened(repr(value))
    if isinstance(value, (list, tuple)):
        return _shortened(f"[{', '.join(map(_text_of, value))}]")
    if isinstance(value, (set, frozenset)):
        return _shortened(f"{{{', '.join(sorted(map(_text_of, value)))}}}")
    if isinstance(value, dict):
        items = (f"{_text_of(key)}: {_text_of(own)}" for key, own in value.items())
        return _shortened(f"{{{', '.join(sorted(items))}}}")
    if hasattr(value, "get_params") and not isinstance(value, type):
        own = _parameters(value, deep=False) if is_nested else {}
        words = ", ".join(f"{name}={_text_of(each)}" for name, each in own.items())
        return _shortened(f"{_class_name(value)}({words})")
    shape = f" of shape {value.shape}" if hasattr(value, "shape") else ""
    content = joblib.hash(value, hash_name="sha1")
    return f"{type(value).__name__}{shape} with SHA-1 {content}"


def _parameters(estimator: Any, **how: bool) -> dict[str, Any]:
    return {
        name: value
        for name, value in sorted(estimator.get_params(**how).items())
        if name.rpartition("__")[2] not in _FREE
    }


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:60]}... with SHA-1 {hashlib.sha1(text.encode()).hexdigest()}"


def _class_name(value: Any) -> str:
    own = type(value)
    return f"{own.__module__}.{own.__qualname__}"

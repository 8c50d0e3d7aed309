"""ONNX models of fitted estimators, complete with labels and metadata."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._plain_file import replace_file
from localsvm.export._onnx._answer import Answer, answer, check_exportable
from localsvm.export._onnx._graph import OPSET, Graph, Tensor, onnx_module

# The newest that every runtime of the last years reads.
_IR_VERSION = 8
_DTYPES = ("float32", "float64")
# What a file of Protocol Buffers can hold.
_MOST_BYTES = 2**31 - 1


def to_onnx(model: Any, *, dtype: str = "float32", arithmetic: str = "float64") -> Any:
    """Turn a fitted model into an ONNX graph that gives the same labels.

    The graph has standard operators alone, so that it runs wherever there is an ONNX
    runtime: in C++, Java, C# or a browser, without Python and without this library.

    Parameters
    ----------
    model : fitted estimator
    dtype : {"float32", "float64"}, default="float32"
        Type of the rows that the graph takes, and of its scores.
    arithmetic : {"float64", "float32"}, default="float64"
        Type that the graph computes in. float32 is for hardware that has no other
        numbers, and twice as fast on large batches; labels then differ on rows that
        lie within a millionth or so of a border. Needs ``dtype="float32"``.

    Returns
    -------
    proto : onnx.ModelProto
        Checked by ``onnx.checker``. Input ``X`` of shape (N, n_features); outputs
        ``label`` of shape (N,), int64 or string, ``scores`` as ``decision_function``
        gives them, and ``probabilities`` of shape (N, n_classes) where the model has
        ``predict_proba``. Opset 18. Its ``metadata_props`` tell the class, the version
        of this library, classes, names of the features, and ``dtype``.

    Raises
    ------
    TypeError
        If the model, its clusterer or its metric has no counterpart in ONNX.
    ValueError
        If the graph would be larger than the two gigabytes that a file can have.

    Notes
    -----
    *Labels.* Regions and decisions are computed in float64 also for rows of float32.
    So a graph of ``dtype="float64"`` agrees with the model unless a row lies on a
    border to the last digits of float64. One of ``dtype="float32"`` answers rows of
    float32 as the model answers them in exact arithmetic; the model itself rounds to
    float32 in between, and may differ on rows that are within 1e-7 or so of a border,
    relative to the distances of the data.

    *Rows are not checked*: where the model raises an error, for NaN or infinity, the
    graph gives numbers without meaning.

    *Memory.* A graph whose intermediate results take more than 4 kB per row works on
    blocks of rows of about 32 MB, whatever the size of the batch.

    Examples
    --------
    >>> import onnxruntime
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.export import to_onnx
    >>> X, y = make_xor(400, random_state=0)
    >>> model = ClusteredSVC(4, random_state=0).fit(X, y)
    >>> proto = to_onnx(model, dtype="float64")
    >>> session = onnxruntime.InferenceSession(proto.SerializeToString())
    >>> labels, scores = session.run(["label", "scores"], {"X": X})
    >>> bool((labels == model.predict(X)).all())
    True
    """
    check_exportable(model)
    graph = Graph(*_types(dtype, arithmetic))
    rows = graph.input("X", dtype, model.n_features_in_).real()
    _add_outputs(graph, rows, model.n_features_in_, model)
    return _finished(graph, model, dtype)


def write_onnx(
    model: Any,
    path: str | os.PathLike[str],
    *,
    dtype: str = "float32",
    arithmetic: str = "float64",
) -> None:
    """Write the graph of :func:`to_onnx` to a file.

    Parameters
    ----------
    model : fitted estimator
    path : path
        A file of that name is replaced at once or, if anything fails, not at all.
    dtype, arithmetic : {"float32", "float64"}
        As in :func:`to_onnx`.

    See Also
    --------
    to_onnx : The graph itself, and what it promises.
    """
    proto = to_onnx(model, dtype=dtype, arithmetic=arithmetic)
    replace_file(path, [proto.SerializeToString()])


def _types(dtype: str, arithmetic: str) -> tuple[str, str]:
    for name, value in (("dtype", dtype), ("arithmetic", arithmetic)):
        if value not in _DTYPES:
            raise ValueError(f"{name} must be 'float32' or 'float64'. Got {value!r}.")
    if (dtype, arithmetic) == ("float64", "float32"):
        raise ValueError(
            "arithmetic='float32' needs dtype='float32': rows of float64 would be "
            "rounded. Got dtype='float64'."
        )
    return dtype, arithmetic


def _add_outputs(graph: Graph, rows: Tensor, n_columns: int, model: Any) -> None:
    """Name label, scores and, where there are any, probabilities."""
    n_classes = len(model.classes_)

    def decide(block: Tensor) -> list[Tensor]:
        found = answer(graph, block, model)
        decisions = found.scores if found.decisions is None else found.decisions
        results = [_winner(found, n_classes), decisions]
        if found.probabilities is not None:
            results.append(found.probabilities)
        return results

    winner, scores, *probabilities = graph.in_blocks(rows, n_columns, decide)
    labels = _label_table(model.classes_)
    graph.output("label", graph.constant(labels, labels.dtype).take(winner))
    scores = scores.cast(graph.rows_dtype)
    if n_classes == 2:
        graph.output("scores", scores.drop(1))
    else:
        graph.output("scores", scores, "n_scores")
    for each in probabilities:
        graph.output("probabilities", each.cast(graph.rows_dtype), n_classes)


def _winner(found: Answer, n_classes: int) -> Tensor:
    """Position of each row's class, the first at a tie."""
    if n_classes == 2:
        return found.scores.above(0.0).cast(np.int64).drop(1)
    return found.scores.arg_max(1)


def _label_table(classes: NDArray[Any]) -> NDArray[Any]:
    """Classes in a type that ONNX has."""
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise TypeError(
        f"The labels {classes.tolist()[:3]} have no type in ONNX; expected numbers or "
        "strings. Fit the model to such labels."
    )


def _finished(graph: Graph, model: Any, dtype: str) -> Any:
    """Wrap up the graph, with what it was made from, and check it."""
    from localsvm import __version__

    onnx = onnx_module()
    proto = onnx.helper.make_model(
        graph.proto(type(model).__name__),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        producer_name="localsvm",
        producer_version=__version__,
    )
    names = getattr(model, "feature_names_in_", None)
    properties = {
        "class": type(model).__name__,
        "localsvm_version": __version__,
        "classes": json.dumps(_label_table(model.classes_).tolist()),
        "feature_names": json.dumps(None if names is None else list(map(str, names))),
        "dtype": dtype,
    }
    onnx.helper.set_model_props(proto, properties)
    if proto.ByteSize() > _MOST_BYTES:
        raise ValueError(
            f"The ONNX model of this {type(model).__name__} has {proto.ByteSize():,} "
            f"bytes; expected at most {_MOST_BYTES:,}. Fit to fewer rows, or LocalSVC "
            "with route='center', which keeps no rows but the support vectors."
        )
    onnx.checker.check_model(proto, full_check=True)
    return proto

"""ONNX models of fitted estimators, complete with labels and metadata."""

from __future__ import annotations

import json
import os
from typing import Any

from localsvm._replaced_file import replace_file
from localsvm.exceptions import DataError
from localsvm.export._onnx._answer import check_exportable
from localsvm.export._onnx._graph import (
    IR_VERSION,
    OPSETS,
    Graph,
    onnx_module,
)
from localsvm.export._onnx._outputs import add_outputs, label_table
from localsvm.export._onnx._steps._pipeline import Parts
from localsvm.export._onnx._steps._sklearn_steps import (
    convert_steps,
    merge,
    output_type,
)
from localsvm.export._onnx._steps._table import table_rows
from localsvm.export._onnx._steps._transformers import transform

_DTYPES = ("float32", "float64")
# What a file of Protocol Buffers can hold.
_MOST_BYTES = 2**31 - 1


def to_onnx(
    model: Any, *, dtype: str = "float32", arithmetic: str = "float64", X: Any = None
) -> Any:
    """Turn a fitted model into an ONNX graph that gives the same labels.

    The graph has only standard operators, so that it runs wherever there is an ONNX
    runtime: in C++, Java, C# or a browser, without Python and without this library.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        Any estimator of this library but :class:`~localsvm.estimators.NeighborSVC`.
        Steps before it: a :class:`~localsvm.data.TableEncoder` without columns of
        text; scalers, ``Normalizer``, ``PCA``, ``TruncatedSVD``, ``SimpleImputer`` and
        :class:`~localsvm.GradientMetric`; whatever else skl2onnx converts.
    dtype : {"float32", "float64"}, default="float32"
        Type of the numbers that the graph takes, and of its scores.
    arithmetic : {"float64", "float32"}, default="float64"
        Type that the graph computes in. float32 is for hardware that has no other
        numbers, and faster on large batches; labels then differ on rows that lie within
        a millionth or so of a border. Needs ``dtype="float32"``.
    X : table, default=None
        Some rows, where the first step is a ``ColumnTransformer``: they show which of
        the columns are numbers and which strings.

    Returns
    -------
    proto : onnx.ModelProto
        Checked by ``onnx.checker``. Input ``X`` of shape (N, n_features), or one input
        of shape (N, 1) per column of a table; see :func:`onnx_inputs`. Outputs
        ``label`` of shape (N,), int64, string, bool or, where labels are of float,
        float64;
        ``scores`` as ``decision_function`` gives them; and ``probabilities`` of shape
        (N, n_classes) where the model has ``predict_proba``. Opset 18. Its
        ``metadata_props`` tell the class, the version of this library, the classes, the
        names of the features, ``dtype``, and the column and kind of each input of a
        table, in JSON.

    Raises
    ------
    TypeError
        If the model, a step, the clusterer or the metric has no counterpart in ONNX.
    ValueError
        If the graph would be larger than the two gigabytes that a file can have.

    See Also
    --------
    write_onnx : Writes it to a file.
    onnx_inputs : Rows in the form in which a runtime takes them.
    register_converters : Lets skl2onnx convert the estimators.
    localsvm.save : A file that gives the estimator itself back.

    Notes
    -----
    *Labels.* Regions and decisions are computed in float64 also for rows of float32. So
    a graph of ``dtype="float64"`` agrees with a model that was fitted to float64 on
    every row that is not on a border to the last digits: within 1e-10 of the distances
    of the data in our tests. Rows of float32 are answered as in exact arithmetic; the
    model itself rounds to float32 in between and may differ on rows that are within
    1e-5 of a border. Of training rows that are equally near :class:`~localsvm.LocalSVC`
    takes the first here, and with a k-d tree any. The steps that skl2onnx converts are
    as exact as it is.

    *Rows are not checked*: where the model raises an error, for NaN or infinity, the
    graph gives numbers without meaning.

    *Size.* That of the parameters: weights and centres of linear models; support
    vectors of kernel ones; of :class:`~localsvm.LocalSVC` with ``route="row"`` all
    distinct training rows, n_rows x n_features numbers. float64 takes 8 bytes a number;
    fit to rows of float32 for files of half the size.

    *Memory.* A graph whose intermediate results take more than 4 kB per row works on
    blocks of rows of about 32 MB, whatever the size of the batch; only the rows
    themselves, scaled, and the results are there at once.

    *Time.* Where a row needs a few regions or support vectors of many, they are either
    all compared by one matrix product or fetched, whichever is quicker. LocalSVC with
    ``route="row"`` compares each row with all training rows, O(n_rows n_features),
    where the model may use a k-d tree.

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
    real = _arithmetic(dtype, arithmetic)
    parts = Parts.of(model)
    check_exportable(parts.estimator)
    graph = Graph(dtype, real)
    first = None
    if parts.foreign:
        first = convert_steps(parts.foreign, dtype, X)
        next_step = [*parts.steps, parts.estimator][0]
        rows = graph.input("X", output_type(first), next_step.n_features_in_)
    elif parts.encoder is not None:
        rows = table_rows(graph, parts.encoder, dtype)
    else:
        rows = graph.input("X", dtype, model.n_features_in_)
    rows = rows.real()
    for step in parts.steps:
        rows = transform(graph, rows, step)
    # The encoder gives rows of its own type, whatever that of the table is.
    asked = dtype if parts.encoder is None else parts.encoder.dtype
    with graph.asked_about(asked):
        add_outputs(graph, rows, parts.estimator, dtype)
    return _checked(_finished(graph, first, model, parts.estimator, dtype))


def write_onnx(
    model: Any,
    path: str | os.PathLike[str],
    *,
    dtype: str = "float32",
    arithmetic: str = "float64",
    X: Any = None,
) -> None:
    """Write the graph of :func:`to_onnx` to a file.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        As for :func:`to_onnx`.
    path : path
        A file of that name is replaced at once or, if anything fails, not at all.
    dtype, arithmetic : {"float32", "float64"}
    X : table, default=None
        As in :func:`to_onnx`.

    See Also
    --------
    to_onnx : The graph itself, and what it promises.
    """
    proto = to_onnx(model, dtype=dtype, arithmetic=arithmetic, X=X)
    replace_file(path, [proto.SerializeToString()])


def _arithmetic(dtype: str, arithmetic: str) -> str:
    for name, value in (("dtype", dtype), ("arithmetic", arithmetic)):
        if value not in _DTYPES:
            raise ValueError(f"{name} must be 'float32' or 'float64'. Got {value!r}.")
    if (dtype, arithmetic) == ("float64", "float32"):
        raise ValueError(
            "arithmetic='float32' needs dtype='float32': rows of float64 would be "
            "rounded. Got dtype='float64'."
        )
    return arithmetic


def _finished(graph: Graph, first: Any, model: Any, estimator: Any, dtype: str) -> Any:
    """Wrap up the graph, after the first steps if there are any, with metadata."""
    from localsvm import __version__

    helper = onnx_module("onnx.helper")
    proto = helper.make_model(
        graph.proto(type(estimator).__name__),
        opset_imports=[helper.make_opsetid(d, OPSETS[d]) for d in graph.domains],
        ir_version=IR_VERSION,
        producer_name="localsvm",
        producer_version=__version__,
    )
    if first is not None:
        proto = merge(first, proto)
    names = getattr(model, "feature_names_in_", None)
    properties = {
        "class": type(estimator).__name__,
        "localsvm_version": __version__,
        "classes": json.dumps(label_table(estimator.classes_).tolist()),
        "feature_names": json.dumps(None if names is None else list(map(str, names))),
        "dtype": dtype,
        "columns": json.dumps(graph.columns or None),
    }
    helper.set_model_props(proto, properties)
    return proto


def _checked(proto: Any) -> Any:
    if proto.ByteSize() > _MOST_BYTES:
        raise DataError(
            f"The ONNX model of this {proto.graph.name} has {proto.ByteSize():,} "
            f"bytes; expected at most {_MOST_BYTES:,}. Fit to fewer rows, or LocalSVC "
            "with route='center', which keeps no rows but the support vectors."
        )
    onnx_module("onnx.checker").check_model(proto, full_check=True)
    return proto

"""A graph of standard ONNX operators, written as arithmetic on tensors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.export._onnx._tensor import Operand, Tensor

# What onnxruntime reads since 2023.
IR_VERSION = 8
OPSETS = {"": 18, "ai.onnx.ml": 3}
OUTPUTS = ("label", "scores", "probabilities")
# Of the intermediate results of one block of rows.
_BLOCK_BYTES = 1 << 25
# Up to this much per row, all rows of a batch are worked on at once.
_SMALL_ROW_BYTES = 1 << 12
_SMALL_CONSTANT = 64


def onnx_module(name: str = "onnx") -> Any:
    """Import onnx or one of its modules, or say how to install it."""
    return require(name, "onnx", "The export to ONNX")


class Graph:
    """Collects the nodes and constants of a model.

    What is needed twice is there once, nodes and constants alike.

    Parameters
    ----------
    rows_dtype : dtype
        Type of the query rows.
    real : dtype
        Type that the graph computes in.
    prefix : str, default=""
        Of all names, where the graph will be a part of another one.
    """

    def __init__(self, rows_dtype: Any, real: Any, prefix: str = "") -> None:
        self.rows_dtype = np.dtype(rows_dtype)
        self.real = np.dtype(real)
        self._helper = onnx_module("onnx.helper")
        self._numpy_helper = onnx_module("onnx.numpy_helper")
        self._constants: list[Any] = []
        self._known: dict[tuple[Any, ...], Tensor] = {}
        self._first_nodes: list[Any] = []
        self._nodes: list[Any] = []
        self._done: dict[tuple[Any, ...], tuple[Tensor, ...]] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._prefix = prefix
        self._taken = set(OUTPUTS)
        self._row_bytes = 0
        self.domains = {""}
        self.columns: list[dict[str, str]] = []

    @contextmanager
    def asked_about(self, rows_dtype: Any) -> Iterator[None]:
        """Build a part that takes rows of another type."""
        outside, self.rows_dtype = self.rows_dtype, np.dtype(rows_dtype)
        yield
        self.rows_dtype = outside

    def input(self, name: str, dtype: Any, n_columns: int) -> Tensor:
        """Add an input of rows."""
        name = self._prefix + name
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self._inputs.append(self._value_info(name, dtype, ("N", n_columns)))
        return Tensor(self, name, np.dtype(dtype))

    def column(self, name: str, kind: str, dtype: Any) -> Tensor:
        """Add an input for a column of a table."""
        tensor = self.input(name, dtype, 1)
        self.columns.append({"input": tensor.name, "column": name, "kind": kind})
        return tensor

    def output(self, name: str, tensor: Tensor, *columns: int | str) -> None:
        """Name a result."""
        name = self._prefix + name
        node = self._helper.make_node("Identity", [tensor.name], [name], name=name)
        self._nodes.append(node)
        self._outputs.append(self._value_info(name, tensor.dtype, ("N", *columns)))

    def weight(self, values: NDArray[Any], widest: Any = np.float64) -> Tensor:
        """Parameters as the model stores them, in the type that the graph computes in.

        ``widest`` rounds them to float32 where the model does so, too; what fits into
        float32 without loss takes half the room in the file.
        """
        array = np.asarray(values)
        if np.dtype(widest) == np.float32 or self.real == np.float32:
            array = array.astype(np.float32)
        elif array.dtype == np.float64 and array.size > _SMALL_CONSTANT:
            narrow = array.astype(np.float32)
            array = narrow if np.array_equal(narrow, array) else array
        stored = self.constant(array, array.dtype)
        # Blocks of rows need not repeat it.
        outside, self._nodes = self._nodes, self._first_nodes
        widened = stored.real()
        self._nodes = outside
        return widened

    def constant(self, value: Operand, dtype: Any) -> Tensor:
        """Turn an array or number into a tensor; leave tensors as they are."""
        if isinstance(value, Tensor):
            return value
        array = np.asarray(value).astype(dtype, copy=False)
        text = array.dtype.kind == "O"
        content = repr(array.tolist()).encode() if text else array.tobytes()
        key = (array.dtype.str, array.shape, hashlib.sha256(content).digest())
        if key not in self._known:
            self._known[key] = self._tensor("constant", array.dtype)
            proto = self._numpy_helper.from_array(
                np.ascontiguousarray(array).reshape(array.shape), self._known[key].name
            )
            self._constants.append(proto)
        return self._known[key]

    def apply(
        self,
        operator: str,
        first: Tensor,
        *others: Operand,
        dtype: Any = None,
        **attributes: Any,
    ) -> Tensor:
        """Add a node of one result, by default of the type of its first operand."""
        dtypes = (first.dtype if dtype is None else dtype,)
        return self.apply_many(operator, (first, *others), dtypes, **attributes)[0]

    def apply_many(
        self,
        operator: str,
        operands: tuple[Tensor, *tuple[Operand, ...]],
        dtypes: Sequence[Any],
        **attributes: Any,
    ) -> tuple[Tensor, ...]:
        """Add a node of several results."""
        names = [self._operand(each, operands[0]) for each in operands]
        key = (operator, *names, *sorted(attributes.items()))
        if key not in self._done:
            self._done[key] = self._add(operator, names, dtypes, **attributes)
        return self._done[key]

    def concatenate(self, parts: Sequence[Tensor], axis: int = 1) -> Tensor:
        """Concatenate tensors by columns."""
        return self.apply("Concat", *parts, axis=axis) if len(parts) > 1 else parts[0]

    def uses(self, numbers_per_row: int) -> None:
        """Tell of an intermediate result, so that blocks of rows fit the memory."""
        self._row_bytes += numbers_per_row * self.real.itemsize

    def in_blocks(
        self, rows: Tensor, n_columns: int, body: Callable[[Tensor], list[Tensor]]
    ) -> list[Tensor]:
        """Results of ``body`` for all rows; for blocks of rows where it takes room.

        The first result has one axis, that of the rows; the others have columns, too.
        """
        with self._scope() as inside:
            block = self._tensor("rows", rows.dtype)
            results = body(block)
        if self._row_bytes <= _SMALL_ROW_BYTES:
            same = [rows.name], [block.name]
            node = self._helper.make_node("Identity", *same, name=block.name)
            self._nodes.append(node)
            self._nodes += inside
            return results
        subgraph = self._helper.make_graph(
            inside,
            "block_of_rows",
            [self._value_info(block.name, block.dtype, (None, n_columns))],
            [
                self._value_info(each.name, each.dtype, [None] * (1 + (place > 0)))
                for place, each in enumerate(results)
            ],
        )
        return self._scan_blocks(rows, n_columns, subgraph, results)

    def repeat(
        self,
        state: Tensor,
        shape: tuple[int | None, ...],
        steps: Tensor,
        body: Callable[[Tensor, Tensor], Tensor],
    ) -> Tensor:
        """Change ``state`` once per vector of ``steps``, in order."""
        with self._scope() as inside:
            before = self._tensor("state", state.dtype)
            step = self._tensor("step", steps.dtype)
            after = body(before, step)
        subgraph = self._helper.make_graph(
            inside,
            "step",
            [
                self._value_info(before.name, before.dtype, shape),
                self._value_info(step.name, step.dtype, [None]),
            ],
            [self._value_info(after.name, after.dtype, shape)],
        )
        names = [state.name, steps.name]
        return self._add(
            "Scan", names, [state.dtype], body=subgraph, num_scan_inputs=1
        )[0]

    def type_number(self, dtype: Any) -> int:
        """Return the number that ONNX has for a type."""
        return int(self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def proto(self, name: str) -> Any:
        """Give the finished graph."""
        return self._helper.make_graph(
            self._first_nodes + self._nodes,
            name,
            self._inputs,
            self._outputs,
            self._constants,
        )

    @contextmanager
    def _scope(self) -> Iterator[list[Any]]:
        """Collect nodes of a subgraph, which sees the results outside of it."""
        outside = self._nodes, self._done
        self._nodes, self._done = [], dict(self._done)
        yield self._nodes
        self._nodes, self._done = outside

    def _scan_blocks(
        self, rows: Tensor, n_columns: int, subgraph: Any, results: list[Tensor]
    ) -> list[Tensor]:
        """Cut the rows into equal blocks, the last one filled up with zeros."""
        most = max(1, _BLOCK_BYTES // self._row_bytes)
        n_rows = self.apply("Shape", rows, dtype=np.int64, start=0, end=1)
        n_blocks = _divide_up(n_rows, most).at_least(1)
        block_rows = _divide_up(n_rows, n_blocks)
        n_padded = n_blocks * block_rows
        none = self.constant(np.zeros(1), np.int64)
        pads = self.concatenate([none, none, n_padded - n_rows, none], axis=0)
        width = self.constant(np.array([n_columns]), np.int64)
        shape = self.concatenate([n_blocks, block_rows, width], axis=0)
        padded = self.apply("Pad", rows, pads)
        blocks = self.apply("Reshape", padded, shape, allowzero=1)
        stacked = self._add(
            "Scan",
            [blocks.name],
            [each.dtype for each in results],
            body=subgraph,
            num_scan_inputs=1,
        )
        return [self._flattened(each, n_padded).first_rows(n_rows) for each in stacked]

    def _flattened(self, stacked: Tensor, n_rows: Tensor) -> Tensor:
        """Join the first two axes."""
        rest = self.apply("Shape", stacked, dtype=np.int64, start=2)
        shape = self.concatenate([n_rows, rest], axis=0)
        return self.apply("Reshape", stacked, shape, allowzero=1)

    def _add(
        self, operator: str, names: list[str], dtypes: Sequence[Any], **attributes: Any
    ) -> tuple[Tensor, ...]:
        self.domains.add(attributes.get("domain", ""))
        results = tuple(self._tensor(operator, dtype) for dtype in dtypes)
        outputs = [result.name for result in results]
        # Without names, some versions of onnxruntime take nodes for the same one.
        node = self._helper.make_node(
            operator, names, outputs, name=outputs[0], **attributes
        )
        self._nodes.append(node)
        return results

    def _operand(self, value: Operand, first: Tensor) -> str:
        if isinstance(value, np.ndarray) and value.dtype == np.int64:
            return self.constant(value, np.int64).name
        if isinstance(value, np.ndarray) and first.dtype == self.real:
            return self.weight(value).name
        return self.constant(value, first.dtype).name

    def _tensor(self, kind: str, dtype: Any) -> Tensor:
        name = f"{self._prefix}{kind}_{len(self._taken)}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return Tensor(self, name, np.dtype(dtype))

    def _value_info(self, name: str, dtype: Any, shape: Any) -> Any:
        number = self.type_number(dtype)
        return self._helper.make_tensor_value_info(name, number, shape)


def _divide_up(count: Tensor, by: Operand) -> Tensor:
    return (count + by - 1) / by

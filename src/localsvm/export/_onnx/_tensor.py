"""Results inside an ONNX graph, with the arithmetic of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from localsvm.export._onnx._graph import Graph

Operand: TypeAlias = "Tensor | NDArray[Any] | float"


@dataclass(frozen=True)
class Tensor:
    """A result inside a graph; operators on it add nodes.

    Arrays and numbers among the operands become constants of the tensor's own type.
    """

    graph: Graph
    name: str
    dtype: np.dtype[Any]

    __array_ufunc__ = None  # an array on the left leaves the operator to the tensor

    def __add__(self, other: Operand) -> Tensor:
        return self.graph.apply("Add", self, other)

    def __sub__(self, other: Operand) -> Tensor:
        return self.graph.apply("Sub", self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return -self + other

    def __mul__(self, other: Operand) -> Tensor:
        return self.graph.apply("Mul", self, other)

    def __truediv__(self, other: Operand) -> Tensor:
        return self.graph.apply("Div", self, other)

    def __matmul__(self, other: Operand) -> Tensor:
        return self.graph.apply("MatMul", self, other)

    def __neg__(self) -> Tensor:
        return self.graph.apply("Neg", self)

    def exp(self) -> Tensor:
        """Exponential."""
        return self.graph.apply("Exp", self)

    def sqrt(self) -> Tensor:
        """Square root."""
        return self.graph.apply("Sqrt", self)

    def absolute(self) -> Tensor:
        """Absolute value."""
        return self.graph.apply("Abs", self)

    def power(self, exponent: int) -> Tensor:
        """Power of a whole number."""
        return self.graph.apply("Pow", self, float(exponent))

    def at_least(self, bound: float) -> Tensor:
        """Maximum with a number."""
        return self.graph.apply("Max", self, bound)

    def at_most(self, bound: Operand) -> Tensor:
        """Minimum with a number."""
        return self.graph.apply("Min", self, bound)

    def above(self, other: Operand) -> Tensor:
        """Whether it is greater."""
        return self.graph.apply("Greater", self, other, dtype=np.bool_)

    def below(self, other: Operand) -> Tensor:
        """Whether it is less."""
        return self.graph.apply("Less", self, other, dtype=np.bool_)

    def equals(self, other: Operand) -> Tensor:
        """Whether it is equal."""
        return self.graph.apply("Equal", self, other, dtype=np.bool_)

    def cast(self, dtype: Any) -> Tensor:
        """Give another type, rounded as NumPy does."""
        if np.dtype(dtype) == self.dtype:
            return self
        to = self.graph.type_number(dtype)
        return self.graph.apply("Cast", self, dtype=dtype, to=to)

    def real(self) -> Tensor:
        """Numbers of the type that the graph computes in."""
        return self.cast(self.graph.real)

    def sum(self, axis: int, *, keep: bool = False) -> Tensor:
        """Sum along an axis."""
        return self._reduce("ReduceSum", axis, keep)

    def max(self, axis: int, *, keep: bool = False) -> Tensor:
        """Largest along an axis."""
        return self._reduce("ReduceMax", axis, keep)

    def min(self, axis: int, *, keep: bool = False) -> Tensor:
        """Smallest along an axis."""
        return self._reduce("ReduceMin", axis, keep)

    def log_sum_exp(self, axis: int) -> Tensor:
        """Logarithm of the sum of exponentials, safe from overflow."""
        top = self.max(axis, keep=True)
        total = (self - top).exp().sum(axis, keep=True)
        return (self.graph.apply("Log", total) + top).drop(axis)

    def arg_max(self, axis: int) -> Tensor:
        """Index of the largest along an axis, the first at a tie."""
        return self._arg("ArgMax", axis)

    def arg_min(self, axis: int) -> Tensor:
        """Index of the smallest along an axis, the first at a tie."""
        return self._arg("ArgMin", axis)

    def extremes(self, count: int, *, largest: bool) -> tuple[Tensor, Tensor]:
        """Largest or smallest of each row and their columns; the first at a tie."""
        n_rows = self.graph.apply("Shape", self, dtype=np.int64, start=0, end=1)
        values, columns = self.graph.apply_many(
            "TopK",
            (self._with_a_row(n_rows), np.array([count])),
            (self.dtype, np.int64),
            axis=1,
            largest=int(largest),
        )
        return values.first_rows(n_rows), columns.first_rows(n_rows)

    def first_rows(self, n_rows: Tensor) -> Tensor:
        """Leave out the rows from ``n_rows`` on."""
        start = np.zeros(1, dtype=np.int64)
        return self.graph.apply("Slice", self, start, n_rows, start)

    def _with_a_row(self, n_rows: Tensor) -> Tensor:
        """Add a row if there is none: onnxruntime 1.20 divides by their number."""
        none = self.graph.constant(np.zeros(1), np.int64)
        added = (1 - n_rows).at_least(0)
        pads = self.graph.concatenate([none, none, added, none], axis=0)
        return self.graph.apply("Pad", self, pads)

    def reshape(self, *shape: int) -> Tensor:
        """Give another shape; 0 keeps the length of that axis."""
        return self.graph.apply("Reshape", self, np.array(shape, dtype=np.int64))

    def expand(self, *axes: int) -> Tensor:
        """Insert axes of length one."""
        return self.graph.apply("Unsqueeze", self, np.array(axes, dtype=np.int64))

    def drop(self, *axes: int) -> Tensor:
        """Remove axes of length one."""
        return self.graph.apply("Squeeze", self, np.array(axes, dtype=np.int64))

    def columns(self, start: int, stop: int) -> Tensor:
        """Columns from ``start`` to ``stop``."""
        ends = (np.array([at], dtype=np.int64) for at in (start, stop, 1))
        return self.graph.apply("Slice", self, *ends)

    def take(self, index: Operand, axis: int = 0) -> Tensor:
        """Entries at an index along an axis."""
        return self.graph.apply("Gather", self, index, axis=axis)

    def take_along(self, index: Tensor, axis: int = 1) -> Tensor:
        """Entries at an index that each row has of its own."""
        return self.graph.apply("GatherElements", self, index, axis=axis)

    def where(self, yes: Operand, no: Operand) -> Tensor:
        """Choose by this condition; one of the two at least is a tensor."""
        dtype = next(each.dtype for each in (yes, no) if isinstance(each, Tensor))
        choices = (self.graph.constant(each, dtype) for each in (yes, no))
        return self.graph.apply("Where", self, *choices, dtype=dtype)

    def _reduce(self, operator: str, axis: int, keep: bool) -> Tensor:
        axes = np.array([axis], dtype=np.int64)
        return self.graph.apply(operator, self, axes, keepdims=int(keep))

    def _arg(self, operator: str, axis: int) -> Tensor:
        return self.graph.apply(operator, self, dtype=np.int64, axis=axis, keepdims=0)

"""Compiled solvers of localsvm: arrays in, arrays out, no validation."""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class DenseFloat32:
    """Rows of a C-contiguous array, not copied."""

    def __init__(self, values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

class DenseFloat64:
    """Rows of a C-contiguous array, not copied."""

    def __init__(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

class CsrFloat32Int32:
    """Rows of a canonical CSR array, not copied."""

    def __init__(self, data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_cols: int) -> None: ...

class CsrFloat64Int32:
    """Rows of a canonical CSR array, not copied."""

    def __init__(self, data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_cols: int) -> None: ...

class CsrFloat32Int64:
    """Rows of a canonical CSR array, not copied."""

    def __init__(self, data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_cols: int) -> None: ...

class CsrFloat64Int64:
    """Rows of a canonical CSR array, not copied."""

    def __init__(self, data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_cols: int) -> None: ...

@overload
def hash_rows(matrix: DenseFloat32, seed: int, out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def hash_rows(matrix: DenseFloat64, seed: int, out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def hash_rows(matrix: CsrFloat32Int32, seed: int, out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def hash_rows(matrix: CsrFloat64Int32, seed: int, out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def hash_rows(matrix: CsrFloat32Int64, seed: int, out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def hash_rows(matrix: CsrFloat64Int64, seed: int, out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Hash each row by its non-zero entries: equal rows, equal hashes."""

class LinearChange:
    """Where an update of a linear SVM begins."""

    def __init__(self, *, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Loss(enum.Enum):
    """Loss of a margin error."""

    hinge = 0

    squared_hinge = 1

class Status(enum.Enum):
    """How a solve ended."""

    converged = 0

    stalled = 1

    max_iter = 2

    max_time = 3

    not_finite = 4

class Certificate:
    """Primal and dual objective of a solution, in float64."""

    @property
    def primal(self) -> float: ...

    @property
    def dual(self) -> float: ...

    @property
    def n_iter(self) -> int: ...

    @property
    def status(self) -> Status: ...

    @property
    def relative_gap(self) -> float: ...

class RunOptions:
    """How far and how long to iterate."""

    def __init__(self, *, loss: Loss, tol: float, max_iter: int, seed: int, max_time: float, n_threads: int, cancelled: object | None) -> None: ...

class LinearTask:
    """What the problems of a batch share: rows' labels and C."""

    def __init__(self, *, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_positive: int, bias: float, duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], prior: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None) -> None: ...

@overload
def solve_blocks(matrix: DenseFloat32, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, options: RunOptions) -> list[Certificate]: ...

@overload
def solve_blocks(matrix: DenseFloat64, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, options: RunOptions) -> list[Certificate]: ...

@overload
def solve_blocks(matrix: CsrFloat32Int32, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, options: RunOptions) -> list[Certificate]: ...

@overload
def solve_blocks(matrix: CsrFloat64Int32, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, options: RunOptions) -> list[Certificate]: ...

@overload
def solve_blocks(matrix: CsrFloat32Int64, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, options: RunOptions) -> list[Certificate]: ...

@overload
def solve_blocks(matrix: CsrFloat64Int64, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, options: RunOptions) -> list[Certificate]:
    """Linear SVMs of disjoint row blocks, tied together if coupling > 0."""

@overload
def solve_overlapping(matrix: DenseFloat32, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_overlapping(matrix: DenseFloat64, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_overlapping(matrix: CsrFloat32Int32, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_overlapping(matrix: CsrFloat64Int32, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_overlapping(matrix: CsrFloat32Int64, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_overlapping(matrix: CsrFloat64Int64, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]:
    """Linear SVMs of row blocks that may share rows."""

@overload
def solve_codes(matrix: DenseFloat32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_codes(matrix: DenseFloat64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_codes(matrix: CsrFloat32Int32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_codes(matrix: CsrFloat64Int32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_codes(matrix: CsrFloat32Int64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]: ...

@overload
def solve_codes(matrix: CsrFloat64Int64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> list[Certificate]:
    """Linear SVMs whose rows mix several weight vectors."""

@overload
def update_blocks(matrix: DenseFloat32, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_blocks(matrix: DenseFloat64, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_blocks(matrix: CsrFloat32Int32, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_blocks(matrix: CsrFloat64Int32, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_blocks(matrix: CsrFloat32Int64, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_blocks(matrix: CsrFloat64Int64, task: LinearTask, block_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: float, change: LinearChange, options: RunOptions) -> Certificate:
    """Repair one task of solve_blocks after some rows have changed."""

@overload
def update_codes(matrix: DenseFloat32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_codes(matrix: DenseFloat64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_codes(matrix: CsrFloat32Int32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_codes(matrix: CsrFloat64Int32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_codes(matrix: CsrFloat32Int64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], change: LinearChange, options: RunOptions) -> Certificate: ...

@overload
def update_codes(matrix: CsrFloat64Int64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], change: LinearChange, options: RunOptions) -> Certificate:
    """Repair the task of solve_codes after some rows have changed."""

@overload
def solve_codes_jointly(matrix: DenseFloat32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> Certificate: ...

@overload
def solve_codes_jointly(matrix: DenseFloat64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> Certificate: ...

@overload
def solve_codes_jointly(matrix: CsrFloat32Int32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> Certificate: ...

@overload
def solve_codes_jointly(matrix: CsrFloat64Int32, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> Certificate: ...

@overload
def solve_codes_jointly(matrix: CsrFloat32Int64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> Certificate: ...

@overload
def solve_codes_jointly(matrix: CsrFloat64Int64, task: LinearTask, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: RunOptions) -> Certificate:
    """The multi-class SVM of Crammer and Singer on such rows."""

@overload
def weigh_codes(matrix: DenseFloat32, signed_duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: float, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def weigh_codes(matrix: DenseFloat64, signed_duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: float, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def weigh_codes(matrix: CsrFloat32Int32, signed_duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: float, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def weigh_codes(matrix: CsrFloat64Int32, signed_duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: float, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def weigh_codes(matrix: CsrFloat32Int64, signed_duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: float, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def weigh_codes(matrix: CsrFloat64Int64, signed_duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: float, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """Weight vectors that signed duals of such rows define."""

@overload
def decide(matrix: DenseFloat32, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide(matrix: DenseFloat64, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide(matrix: CsrFloat32Int32, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide(matrix: CsrFloat64Int32, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide(matrix: CsrFloat32Int64, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide(matrix: CsrFloat64Int64, code_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Decision values of a piecewise linear model."""

@overload
def smallest_scores(score: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], smallest: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def smallest_scores(score: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], smallest: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Columns of the smallest scores of each row, smallest first, and the scores.
    """

class KernelKind(enum.Enum):
    """Form of a kernel."""

    linear = 0

    polynomial = 1

    rbf = 2

    laplace = 3

class Kernel:
    """A kernel with its parameters."""

    def __init__(self, *, kind: KernelKind, gamma: float, coef0: float, degree: int) -> None: ...

class KernelOptions:
    """How far and how long SMO iterates."""

    def __init__(self, *, tol: float, max_iter: int, cache_bytes: int, max_time: float, n_threads: int, cancelled: object | None) -> None: ...

class BoxTask:
    """Boxes and targets of one problem; beta is start and result."""

    def __init__(self, *, lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class SmoCertificate(Certificate):
    """Certificate of a kernel SVM."""

    @property
    def violation(self) -> float: ...

    @property
    def intercept(self) -> float: ...

@overload
def solve_kernel(matrix: DenseFloat32, kernel: Kernel, task: BoxTask, options: KernelOptions) -> SmoCertificate: ...

@overload
def solve_kernel(matrix: DenseFloat64, kernel: Kernel, task: BoxTask, options: KernelOptions) -> SmoCertificate: ...

@overload
def solve_kernel(matrix: CsrFloat32Int32, kernel: Kernel, task: BoxTask, options: KernelOptions) -> SmoCertificate: ...

@overload
def solve_kernel(matrix: CsrFloat64Int32, kernel: Kernel, task: BoxTask, options: KernelOptions) -> SmoCertificate: ...

@overload
def solve_kernel(matrix: CsrFloat32Int64, kernel: Kernel, task: BoxTask, options: KernelOptions) -> SmoCertificate: ...

@overload
def solve_kernel(matrix: CsrFloat64Int64, kernel: Kernel, task: BoxTask, options: KernelOptions) -> SmoCertificate:
    """Solve one kernel SVM; kernel rows are computed and cached."""

@overload
def kernel_values(queries: DenseFloat32, targets: DenseFloat32, kernel: Kernel, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def kernel_values(queries: DenseFloat64, targets: DenseFloat64, kernel: Kernel, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def kernel_values(queries: CsrFloat32Int32, targets: CsrFloat32Int32, kernel: Kernel, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def kernel_values(queries: CsrFloat64Int32, targets: CsrFloat64Int32, kernel: Kernel, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def kernel_values(queries: CsrFloat32Int64, targets: CsrFloat32Int64, kernel: Kernel, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def kernel_values(queries: CsrFloat64Int64, targets: CsrFloat64Int64, kernel: Kernel, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Kernel values of all queries with all targets."""

@overload
def solve_gram(gram: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], task: BoxTask, options: KernelOptions) -> SmoCertificate: ...

@overload
def solve_gram(gram: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], task: BoxTask, options: KernelOptions) -> SmoCertificate:
    """Solve one kernel SVM on a given kernel matrix."""

class NeighborhoodTask:
    """Classes and weights of rows, and lists of rows."""

    def __init__(self, *, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None) -> None: ...

class LocalKernel:
    """Kernel and penalty of each neighbourhood, or a choice."""

    def __init__(self, *, kernel: Kernel, C: float, local_gamma: bool, C_factors: Sequence[float], gamma_factors: Sequence[float], n_folds: int) -> None: ...

class HeldOutRows:
    """Rows that folds train on, and tests of each row."""

    def __init__(self, *, assigned: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], in_train: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], test_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], test_fold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class FittedModels:
    """Models end to end. The arrays are views that keep the record alive."""

    @property
    def support_start(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def support(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def pair_start(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def pairs(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def intercept(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def coef_start(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def coef(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def only_class(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def gamma(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def C(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def n_iter(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def violation(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def relative_gap(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def status(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

class SupportArrays:
    """Support vectors and duals of models, not copied."""

    def __init__(self, *, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], coef_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class PairArrays:
    """Pairs of classes of models, not copied."""

    def __init__(self, *, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class ModelArrays:
    """Models end to end, not copied."""

    def __init__(self, *, support: SupportArrays, pairs: PairArrays, only_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> None: ...

class Routing:
    """Model of each query, and queries in the order of models."""

    def __init__(self, *, route: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None) -> None: ...

@overload
def fit_neighborhoods(matrix: DenseFloat32, task: NeighborhoodTask, local: LocalKernel, options: KernelOptions) -> FittedModels: ...

@overload
def fit_neighborhoods(matrix: DenseFloat64, task: NeighborhoodTask, local: LocalKernel, options: KernelOptions) -> FittedModels: ...

@overload
def fit_neighborhoods(matrix: CsrFloat32Int32, task: NeighborhoodTask, local: LocalKernel, options: KernelOptions) -> FittedModels: ...

@overload
def fit_neighborhoods(matrix: CsrFloat64Int32, task: NeighborhoodTask, local: LocalKernel, options: KernelOptions) -> FittedModels: ...

@overload
def fit_neighborhoods(matrix: CsrFloat32Int64, task: NeighborhoodTask, local: LocalKernel, options: KernelOptions) -> FittedModels: ...

@overload
def fit_neighborhoods(matrix: CsrFloat64Int64, task: NeighborhoodTask, local: LocalKernel, options: KernelOptions) -> FittedModels:
    """Kernel SVMs of many neighbourhoods."""

@overload
def cross_validate_neighborhoods(matrix: DenseFloat32, task: NeighborhoodTask, local: LocalKernel, held_out: HeldOutRows, scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], options: KernelOptions) -> None: ...

@overload
def cross_validate_neighborhoods(matrix: DenseFloat64, task: NeighborhoodTask, local: LocalKernel, held_out: HeldOutRows, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], options: KernelOptions) -> None: ...

@overload
def cross_validate_neighborhoods(matrix: CsrFloat32Int32, task: NeighborhoodTask, local: LocalKernel, held_out: HeldOutRows, scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], options: KernelOptions) -> None: ...

@overload
def cross_validate_neighborhoods(matrix: CsrFloat64Int32, task: NeighborhoodTask, local: LocalKernel, held_out: HeldOutRows, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], options: KernelOptions) -> None: ...

@overload
def cross_validate_neighborhoods(matrix: CsrFloat32Int64, task: NeighborhoodTask, local: LocalKernel, held_out: HeldOutRows, scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], options: KernelOptions) -> None: ...

@overload
def cross_validate_neighborhoods(matrix: CsrFloat64Int64, task: NeighborhoodTask, local: LocalKernel, held_out: HeldOutRows, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], options: KernelOptions) -> None:
    """Scores of held-out rows for each width and penalty."""

@overload
def decide_by_models(support_rows: DenseFloat32, models: ModelArrays, kernel: Kernel, queries: DenseFloat32, routing: Routing, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide_by_models(support_rows: DenseFloat64, models: ModelArrays, kernel: Kernel, queries: DenseFloat64, routing: Routing, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide_by_models(support_rows: CsrFloat32Int32, models: ModelArrays, kernel: Kernel, queries: CsrFloat32Int32, routing: Routing, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide_by_models(support_rows: CsrFloat64Int32, models: ModelArrays, kernel: Kernel, queries: CsrFloat64Int32, routing: Routing, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide_by_models(support_rows: CsrFloat32Int64, models: ModelArrays, kernel: Kernel, queries: CsrFloat32Int64, routing: Routing, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide_by_models(support_rows: CsrFloat64Int64, models: ModelArrays, kernel: Kernel, queries: CsrFloat64Int64, routing: Routing, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Scores of each query by the model that it is routed to."""

class ThresholdOptions:
    """When a row founds a cluster, and what its centre is."""

    def __init__(self, *, threshold: float, max_clusters: int, follows_mean: bool) -> None: ...

class ThresholdScanFloat32:
    """
    Clusters after a pass. The arrays are views that keep the record alive.
    """

    @property
    def centers(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...

    @property
    def sums(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    @property
    def masses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def threshold(self) -> float: ...

    @property
    def labels(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def moved_to(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

class ThresholdScanFloat64:
    """
    Clusters after a pass. The arrays are views that keep the record alive.
    """

    @property
    def centers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    @property
    def sums(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    @property
    def masses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def threshold(self) -> float: ...

    @property
    def labels(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def moved_to(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

@overload
def scan_threshold(matrix: DenseFloat32, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ThresholdOptions) -> ThresholdScanFloat32: ...

@overload
def scan_threshold(matrix: DenseFloat64, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ThresholdOptions) -> ThresholdScanFloat64: ...

@overload
def scan_threshold(matrix: CsrFloat32Int32, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ThresholdOptions) -> ThresholdScanFloat32: ...

@overload
def scan_threshold(matrix: CsrFloat64Int32, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ThresholdOptions) -> ThresholdScanFloat64: ...

@overload
def scan_threshold(matrix: CsrFloat32Int64, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ThresholdOptions) -> ThresholdScanFloat32: ...

@overload
def scan_threshold(matrix: CsrFloat64Int64, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ThresholdOptions) -> ThresholdScanFloat64:
    """Cluster rows in one pass, going on from given clusters."""

class ColumnCuts:
    """Cuts of columns, not copied."""

    def __init__(self, *, is_category: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cut_bin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class AdditiveLoss(enum.Enum):
    """Loss of the additive SVM."""

    squared_hinge = 0

    logistic = 1

class AdditiveOptions:
    """Loss, and how far and how long to iterate."""

    def __init__(self, *, loss: AdditiveLoss, tol: float, max_iter: int, max_time: float, n_threads: int, cancelled: object | None) -> None: ...

class AdditiveTask:
    """Labels and weights of the rows, start and result."""

    def __init__(self, *, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_positive: int, coef: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def encode_columns(matrix: DenseFloat32, cuts: ColumnCuts, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def encode_columns(matrix: DenseFloat32, cuts: ColumnCuts, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def encode_columns(matrix: DenseFloat64, cuts: ColumnCuts, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def encode_columns(matrix: DenseFloat64, cuts: ColumnCuts, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Bins of rows, column after column."""

@overload
def decide_binned(matrix: DenseFloat32, cuts: ColumnCuts, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def decide_binned(matrix: DenseFloat64, cuts: ColumnCuts, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Bias plus the table entries of each row."""

@overload
def look_up_bins(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], bin_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def look_up_bins(codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], bin_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Bias plus the table entries of each row, from its bins."""

@overload
def solve_additive(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_ordered: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], task: AdditiveTask, options: AdditiveOptions) -> list[Certificate]: ...

@overload
def solve_additive(codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_ordered: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], task: AdditiveTask, options: AdditiveOptions) -> list[Certificate]:
    """Additive SVMs, one class against the rest, by Newton-CG."""

class NearestRowsFloat32:
    """The nearest of rows, not copied."""

    def __init__(self, rows: DenseFloat32, middle: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def find(self, queries: DenseFloat32, nearest: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """The nearest row of each query, the first one at a tie."""

class NearestRowsFloat64:
    """The nearest of rows, not copied."""

    def __init__(self, rows: DenseFloat64, middle: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def find(self, queries: DenseFloat64, nearest: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """The nearest row of each query, the first one at a tie."""

class NumberLists:
    """Lists of numbers end to end."""

    def __init__(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class ColumnMaps:
    """Columns mapped between knots."""

    def __init__(self, *, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], knots: NumberLists, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def apply(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

    @overload
    def apply(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Map the columns; the others of out are left as they are."""

class ColumnCodes:
    """Columns as finite numbers."""

    def __init__(self, *, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], medians: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], flagged: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], categories: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: NumberLists, has_missing: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class RowPreparationFloat32:
    """The way to prepared rows."""

    def __init__(self, *, n_cols: int, codes: ColumnCodes | None, maps: ColumnMaps | None, unit_rows: bool, components: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], is_diagonal: bool) -> None: ...

class RowPreparationFloat64:
    """The way to prepared rows."""

    def __init__(self, *, n_cols: int, codes: ColumnCodes | None, maps: ColumnMaps | None, unit_rows: bool, components: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_diagonal: bool) -> None: ...

class RowModelFloat32:
    """A fitted model as single rows see it."""

    @property
    def n_cols(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    def decide(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], takes_missing: bool) -> int:
        """Decisions; place of the first value that is not taken, or -1."""

    def classify(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], takes_missing: bool) -> int:
        """Classes; place of the first value that is not taken, or -1."""

class RowModelFloat64:
    """A fitted model as single rows see it."""

    @property
    def n_cols(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    def decide(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], takes_missing: bool) -> int:
        """Decisions; place of the first value that is not taken, or -1."""

    def classify(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], takes_missing: bool) -> int:
        """Classes; place of the first value that is not taken, or -1."""

class RegionCoding(enum.Enum):
    """What regions count for a row."""

    hard = 0

    softmax = 1

    inverse_distance = 2

    local_coordinates = 3

class CellModels:
    """SVMs of cells, copied."""

    def __init__(self, *, starts: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], support: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pairs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], only_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> None: ...

def linear_rows_float32(coef: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowModelFloat32:
    """Weights of columns."""

def additive_rows_float32(*, is_category: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cut_bin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowModelFloat32:
    """A table of effects per column."""

def linear_rows_float64(coef: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowModelFloat64:
    """Weights of columns."""

def additive_rows_float64(*, is_category: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cut_bin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowModelFloat64:
    """A table of effects per column."""

def region_rows_float32(*, coding: RegionCoding, n_nearest: int, constants: Sequence[float], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> RowModelFloat32:
    """Linear SVMs in regions; constants are tau, cut, ridge and closeness."""

def kernel_rows_float32(*, support: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], kernel: Kernel, duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowModelFloat32:
    """Kernel SVMs with one set of support vectors."""

def cell_rows_float32(*, cells: CellModels, kernel: Kernel, support: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], points: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], cell_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], middle: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> RowModelFloat32:
    """Kernel SVMs of cells, by the nearest point."""

def mixture_rows_float32(*, sizes: Sequence[int], log_prior: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_tasks: int, slope: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowModelFloat32:
    """A mixture of linear SVMs: the logarithms of the classes' sums."""

def sum_rows_float32(*, n_cols: int, preparations: Sequence[RowPreparationFloat32], models: Sequence[RowModelFloat32], seen: Sequence[int], weights: Sequence[float], bias: Sequence[float]) -> RowModelFloat32:
    """A weighted sum; seen is the preparation of each model, or -1."""

def switch_rows_float32(*, preparation: RowPreparationFloat32, first: RowModelFloat32, second: RowModelFloat32 | None, threshold: float) -> RowModelFloat32:
    """A second model where the first is in doubt."""

def converted_rows_float32(model: RowModelFloat64) -> RowModelFloat32:
    """A model of rows of the other type."""

def region_rows_float64(*, coding: RegionCoding, n_nearest: int, constants: Sequence[float], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coef: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> RowModelFloat64:
    """Linear SVMs in regions; constants are tau, cut, ridge and closeness."""

def kernel_rows_float64(*, support: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], kernel: Kernel, duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowModelFloat64:
    """Kernel SVMs with one set of support vectors."""

def cell_rows_float64(*, cells: CellModels, kernel: Kernel, support: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cell_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], middle: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> RowModelFloat64:
    """Kernel SVMs of cells, by the nearest point."""

def mixture_rows_float64(*, sizes: Sequence[int], log_prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_tasks: int, slope: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowModelFloat64:
    """A mixture of linear SVMs: the logarithms of the classes' sums."""

def sum_rows_float64(*, n_cols: int, preparations: Sequence[RowPreparationFloat64], models: Sequence[RowModelFloat64], seen: Sequence[int], weights: Sequence[float], bias: Sequence[float]) -> RowModelFloat64:
    """A weighted sum; seen is the preparation of each model, or -1."""

def switch_rows_float64(*, preparation: RowPreparationFloat64, first: RowModelFloat64, second: RowModelFloat64 | None, threshold: float) -> RowModelFloat64:
    """A second model where the first is in doubt."""

def converted_rows_float64(model: RowModelFloat32) -> RowModelFloat64:
    """A model of rows of the other type."""

"""Compiled solvers of localsvm: arrays in, arrays out, no validation."""

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

class Loss(enum.Enum):
    """Loss of a margin error."""

    hinge = 0

    squared_hinge = 1

class Status(enum.Enum):
    """How a solve ended."""

    converged = 0

    max_iter = 1

    max_time = 2

    not_finite = 3

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

    def __init__(self, *, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_positive: int, bias: float, duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

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

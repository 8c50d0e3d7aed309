"""Solvers: the Python face of the compiled core."""

from localsvm.solvers._linear import (
    LinearProblem,
    LinearSolution,
    SolverOptions,
    Status,
    solve_blocks,
    solve_codes,
)

__all__ = [
    "LinearProblem",
    "LinearSolution",
    "SolverOptions",
    "Status",
    "solve_blocks",
    "solve_codes",
]

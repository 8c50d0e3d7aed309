"""Solvers: the Python face of the compiled core."""

from localsvm.solvers._gradients import local_gradients
from localsvm.solvers._interior_point import LinearBoxSolution, solve_linear_box
from localsvm.solvers._kernel import (
    BoxProblem,
    KernelOptions,
    KernelSolution,
    solve_gram,
    solve_kernel,
)
from localsvm.solvers._large_models import combine_pairs, decide_in_blocks
from localsvm.solvers._limits import RunLimits
from localsvm.solvers._linear import (
    LinearProblem,
    LinearSolution,
    SolverOptions,
    Status,
    solve_blocks,
    solve_codes,
    solve_codes_jointly,
)
from localsvm.solvers._neighborhoods import (
    Endings,
    LabelledRows,
    LocalKernel,
    LocalModels,
    cross_validate_neighborhoods,
    fit_neighborhoods,
)

__all__ = [
    "BoxProblem",
    "Endings",
    "KernelOptions",
    "KernelSolution",
    "LabelledRows",
    "LinearBoxSolution",
    "LinearProblem",
    "LinearSolution",
    "LocalKernel",
    "LocalModels",
    "RunLimits",
    "SolverOptions",
    "Status",
    "combine_pairs",
    "cross_validate_neighborhoods",
    "decide_in_blocks",
    "fit_neighborhoods",
    "local_gradients",
    "solve_blocks",
    "solve_codes",
    "solve_codes_jointly",
    "solve_gram",
    "solve_kernel",
    "solve_linear_box",
]

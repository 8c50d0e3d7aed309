"""Solvers: the Python face of the compiled core."""

from localsvm.solvers._coded import CodedRows, CodedTask
from localsvm.solvers._gates import (
    GateRows,
    GateTargets,
    RowTargets,
    center_gate_loss,
    center_logits,
    fit_center_gate,
    fit_linear_gate,
    gate_loss,
)
from localsvm.solvers._gradients import local_gradients, pair_shares
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
    Certified as Certified,
    LinearProblem,
    LinearSolution,
    RowSubsets,
    SolverOptions,
    Status,
    solve_blocks,
    solve_codes,
    solve_codes_jointly,
    solve_overlapping,
)
from localsvm.solvers._local_models import Endings, LocalModels
from localsvm.solvers._neighborhoods import (
    LocalKernel,
    cross_validate_neighborhoods,
    fit_neighborhoods,
)
from localsvm.solvers._penalties import score_penalties
from localsvm.solvers._selective import SelectiveDescent

__all__ = [
    "BoxProblem",
    "CodedRows",
    "CodedTask",
    "Endings",
    "GateRows",
    "GateTargets",
    "KernelOptions",
    "KernelSolution",
    "LinearBoxSolution",
    "LinearProblem",
    "LinearSolution",
    "LocalKernel",
    "LocalModels",
    "RowSubsets",
    "RowTargets",
    "RunLimits",
    "SelectiveDescent",
    "SolverOptions",
    "Status",
    "center_gate_loss",
    "center_logits",
    "combine_pairs",
    "cross_validate_neighborhoods",
    "decide_in_blocks",
    "fit_center_gate",
    "fit_linear_gate",
    "fit_neighborhoods",
    "gate_loss",
    "local_gradients",
    "pair_shares",
    "score_penalties",
    "solve_blocks",
    "solve_codes",
    "solve_codes_jointly",
    "solve_gram",
    "solve_kernel",
    "solve_linear_box",
    "solve_overlapping",
]

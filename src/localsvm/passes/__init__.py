"""Algorithms over blocks of rows that several methods use."""

from localsvm.passes._clusterer import (
    BlockClusterer,
    centers_for,
    cluster_centers,
)
from localsvm.passes._content import ClassTotals, Content
from localsvm.passes._linear_problem import BlockDuals, BlockProblem
from localsvm.passes._linear_solution import BlockEndings, BlockSolution, TaskState
from localsvm.passes._linear_solver import (
    BlockSolver,
    rows_of_a_solve,
    solve_together,
    working_bytes,
)
from localsvm.passes._survey import (
    Survey,
    count_rows,
    find_median_gamma,
    survey_block,
)

__all__ = [
    "BlockClusterer",
    "BlockDuals",
    "BlockEndings",
    "BlockProblem",
    "BlockSolution",
    "BlockSolver",
    "ClassTotals",
    "Content",
    "Survey",
    "TaskState",
    "centers_for",
    "cluster_centers",
    "count_rows",
    "find_median_gamma",
    "rows_of_a_solve",
    "solve_together",
    "survey_block",
    "working_bytes",
]

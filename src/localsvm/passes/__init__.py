"""Algorithms over blocks of rows that several methods use."""

from localsvm.passes._block_fit import PartFit
from localsvm.passes._clusterer import (
    BlockClusterer,
    PartClusterer,
    centers_for,
    cluster_centers,
)
from localsvm.passes._clustering import centers_of, fit_clusterer
from localsvm.passes._linear_problem import BlockDuals, BlockProblem
from localsvm.passes._linear_solution import BlockEndings, BlockSolution, TaskState
from localsvm.passes._linear_solver import (
    BlockSolver,
    rows_of_a_solve,
    solve_together,
    working_bytes,
)
from localsvm.passes._survey import (
    Content,
    Sample,
    Survey,
    count_rows,
    merge_moments,
    merge_scans,
    merge_surveys,
    scale_gamma_of,
    scan_part,
    spread,
    survey_block,
    survey_part,
)

# Earlier names, for methods that have not changed to the others.
PartDuals = BlockDuals
PartEndings = BlockEndings
PartProblem = BlockProblem
PartSolution = BlockSolution
PartSolver = BlockSolver

__all__ = [
    "BlockClusterer",
    "BlockDuals",
    "BlockEndings",
    "BlockProblem",
    "BlockSolution",
    "BlockSolver",
    "Content",
    "PartClusterer",
    "PartDuals",
    "PartEndings",
    "PartFit",
    "PartProblem",
    "PartSolution",
    "PartSolver",
    "Sample",
    "Survey",
    "TaskState",
    "centers_for",
    "centers_of",
    "cluster_centers",
    "count_rows",
    "fit_clusterer",
    "merge_moments",
    "merge_scans",
    "merge_surveys",
    "rows_of_a_solve",
    "scale_gamma_of",
    "scan_part",
    "solve_together",
    "spread",
    "survey_block",
    "survey_part",
    "working_bytes",
]

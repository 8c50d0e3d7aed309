"""Algorithms over blocks of rows that several methods use."""

from localsvm.passes._block_fit import PartFit
from localsvm.passes._clusterer import PartClusterer, centers_for
from localsvm.passes._clustering import centers_of, fit_clusterer
from localsvm.passes._linear_problem import PartDuals, PartProblem
from localsvm.passes._linear_solution import PartEndings, PartSolution, TaskState
from localsvm.passes._linear_solver import (
    PartSolver,
    rows_of_a_solve,
    solve_together,
    working_bytes,
)
from localsvm.passes._survey import (
    Survey as Survey,
    merge_moments,
    merge_scans,
    merge_surveys,
    scale_gamma_of,
    scan_part,
    spread,
    survey_block as survey_block,
    survey_part,
)

__all__ = [
    "PartClusterer",
    "PartDuals",
    "PartEndings",
    "PartFit",
    "PartProblem",
    "PartSolution",
    "PartSolver",
    "TaskState",
    "centers_for",
    "centers_of",
    "fit_clusterer",
    "merge_moments",
    "merge_scans",
    "merge_surveys",
    "rows_of_a_solve",
    "scale_gamma_of",
    "scan_part",
    "solve_together",
    "spread",
    "survey_part",
    "working_bytes",
]

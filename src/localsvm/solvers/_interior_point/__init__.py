"""Linear SVMs of few features, to tight tolerances, by an interior point method."""

from localsvm.solvers._interior_point._solve import (
    LinearBoxSolution as LinearBoxSolution,
    solve_linear_box as solve_linear_box,
)

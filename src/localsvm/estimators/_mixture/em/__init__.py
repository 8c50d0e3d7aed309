"""Expectation maximisation: E-step, M-step, the SVMs of a step, the course."""

from localsvm.estimators._mixture.em.course import BestStep, EMWatch, SavedEM, load_em
from localsvm.estimators._mixture.em.expert_passes import PassSolver, row_bytes_of
from localsvm.estimators._mixture.em.experts import (
    Certificate,
    ExpertSolver,
    MemorySolver,
    constant_tasks,
)
from localsvm.estimators._mixture.em.loop import EMProblem, EMState, run_em

__all__ = [
    "BestStep",
    "Certificate",
    "EMProblem",
    "EMState",
    "EMWatch",
    "ExpertSolver",
    "MemorySolver",
    "PassSolver",
    "SavedEM",
    "constant_tasks",
    "load_em",
    "row_bytes_of",
    "run_em",
]

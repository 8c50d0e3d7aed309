"""Decisions on training rows by kernel SVMs that have not seen them."""

from localsvm.estimators._local.unseen.cells import hold_out_of_cells
from localsvm.estimators._local.unseen.queries import hold_out_queries

__all__ = ["hold_out_of_cells", "hold_out_queries"]

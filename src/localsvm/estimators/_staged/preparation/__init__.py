"""How rows are prepared for the terms: coded, scaled, turned, weighted by gradients."""

from localsvm.estimators._staged.preparation.columns import ColumnCode
from localsvm.estimators._staged.preparation.model import (
    SCALINGS,
    Preparation,
    QuantileMap,
    joined_lists,
)

__all__ = ["SCALINGS", "ColumnCode", "Preparation", "QuantileMap", "joined_lists"]

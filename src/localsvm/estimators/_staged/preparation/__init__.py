"""How rows are prepared for the terms: coded, scaled, turned, weighted by gradients."""

from localsvm.estimators._staged.preparation.columns import ColumnCode
from localsvm.estimators._staged.preparation.model import (
    SCALINGS,
    Preparation,
    QuantileMap,
)

__all__ = ["SCALINGS", "ColumnCode", "Preparation", "QuantileMap"]

"""How rows are prepared for the stages: scaled, turned, weighted by gradients."""

from localsvm.estimators._staged.preparation.model import (
    SCALINGS,
    Preparation,
    QuantileMap,
)

__all__ = ["SCALINGS", "Preparation", "QuantileMap"]

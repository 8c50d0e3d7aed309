"""StagedSVC: a sum of terms, or a switch between two stages."""

from localsvm.estimators._staged.estimator import StagedSVC
from localsvm.estimators._staged.preparation import (
    ColumnCode,
    Preparation,
    QuantileMap,
    joined_lists,
)
from localsvm.estimators._staged.sum.model import RegionAnswer, SumModel
from localsvm.estimators._staged.switch.model import SwitchModel

__all__ = [
    "ColumnCode",
    "Preparation",
    "QuantileMap",
    "RegionAnswer",
    "StagedSVC",
    "SumModel",
    "SwitchModel",
    "joined_lists",
]

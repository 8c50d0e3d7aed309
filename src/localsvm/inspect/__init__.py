"""Look inside a fitted model: explain one prediction, draw the regions."""

from localsvm.inspect._displays import RegionDisplay
from localsvm.inspect._explain import Contribution, Explanation, explain

__all__ = ["Contribution", "Explanation", "RegionDisplay", "explain"]

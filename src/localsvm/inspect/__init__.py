"""Look inside a fitted model: explain one prediction, draw the regions."""

from localsvm.inspect._explain import Contribution, Explanation, explain
from localsvm.inspect._region_map import RegionMapDisplay

__all__ = ["Contribution", "Explanation", "RegionMapDisplay", "explain"]

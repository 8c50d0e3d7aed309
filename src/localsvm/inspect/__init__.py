"""Look inside a fitted model: explain one prediction, draw the regions, score it."""

from localsvm.inspect._confusion import ClassScore
from localsvm.inspect._explain import Contribution, Explanation, explain
from localsvm.inspect._intervals import Estimate
from localsvm.inspect._peers import PeerScore, compare_peers
from localsvm.inspect._region_map import RegionMapDisplay
from localsvm.inspect._region_row import RegionRow, TopFeature
from localsvm.inspect._region_table import RegionTable, region_table
from localsvm.inspect._report import write_report
from localsvm.inspect._scores import Scores, score_model

__all__ = [
    "ClassScore",
    "Contribution",
    "Estimate",
    "Explanation",
    "PeerScore",
    "RegionMapDisplay",
    "RegionRow",
    "RegionTable",
    "Scores",
    "TopFeature",
    "compare_peers",
    "explain",
    "region_table",
    "score_model",
    "write_report",
]

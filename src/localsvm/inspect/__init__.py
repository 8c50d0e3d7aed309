"""Look inside a fitted model: explain predictions, describe regions, draw, score."""

from localsvm.inspect._changes._border import Border, Shift
from localsvm.inspect._changes._one_column import Change
from localsvm.inspect._column_effects import ColumnEffectsDisplay
from localsvm.inspect._explanations._contributions import (
    Contributions,
    contributions,
)
from localsvm.inspect._explanations._explain import explain
from localsvm.inspect._explanations._explanation import (
    ColumnContribution,
    Contribution,
    Explanation,
    Margin,
)
from localsvm.inspect._fit_report import FitReportDisplay
from localsvm.inspect._quality._confusion import ClassScore
from localsvm.inspect._quality._intervals import Estimate
from localsvm.inspect._quality._peer_race import cpu_seconds as cpu_seconds
from localsvm.inspect._quality._peers import PeerScore, compare_peers
from localsvm.inspect._quality._reliability import ReliabilityDisplay
from localsvm.inspect._quality._scores import REMEDY as REMEDY, Scores, score_model
from localsvm.inspect._regions._region_map import RegionMapDisplay
from localsvm.inspect._regions._region_row import RegionRow, TopFeature
from localsvm.inspect._regions._region_table import RegionTable, region_table
from localsvm.inspect._regions._region_weights import RegionWeightsDisplay
from localsvm.inspect._report import write_report
from localsvm.inspect._suspicious_labels import SuspiciousLabel, suspicious_labels

__all__ = [
    "Border",
    "Change",
    "ClassScore",
    "ColumnContribution",
    "ColumnEffectsDisplay",
    "Contribution",
    "Contributions",
    "Estimate",
    "Explanation",
    "FitReportDisplay",
    "Margin",
    "PeerScore",
    "RegionMapDisplay",
    "RegionRow",
    "RegionTable",
    "RegionWeightsDisplay",
    "ReliabilityDisplay",
    "Scores",
    "Shift",
    "SuspiciousLabel",
    "TopFeature",
    "compare_peers",
    "contributions",
    "explain",
    "region_table",
    "score_model",
    "suspicious_labels",
    "write_report",
]

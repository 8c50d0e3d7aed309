"""What a model file keeps of a GradientMetric."""

from __future__ import annotations

from localsvm.estimators._regional.gradient_metric.estimator import GradientMetric
from localsvm.state import COLUMNS, Report, Spec, doubles

SPECS = (
    Spec(
        GradientMetric,
        "transformer",
        {
            **COLUMNS,
            "components_": doubles("columns", "columns"),
            "importances_": doubles("columns", low=0),
            "fit_report_": Report(),
        },
    ),
)

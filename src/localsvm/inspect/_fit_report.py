"""Picture of where the time of a fit went, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from textwrap import wrap
from typing import Any, Self

import numpy as np

from localsvm.inspect._drawing import COLORS, take_axes
from localsvm.inspect._opened import OpenedModel

_NAME = "FitReportDisplay"
_TITLE_WIDTH = 60
# Stages of fits, by the keys of ``fit_report_``, for readers of a picture.
_STAGES = {
    "assign": "assign rows to regions",
    "bins": "find the bins",
    "calibrate": "calibrate probabilities",
    "cells": "fit the cells",
    "check": "check all rows",
    "choose": "choose parameters",
    "cluster": "cluster the rows",
    "collect": "collect the model",
    "cover": "cover the rows",
    "expect": "weigh the components",
    "familiarity": "compare the rows",
    "first": "fit the first stage",
    "gate": "fit the gate",
    "global": "fit the global model",
    "index": "index the rows",
    "kernel": "compute the kernel",
    "learn": "learn from clusters",
    "merge": "merge equal rows",
    "metric": "fit the metric",
    "prepare": "prepare the rows",
    "route": "prepare predictions",
    "sample": "draw a sample",
    "scan": "read the rows",
    "search": "search parameters",
    "second": "fit the second stage",
    "solve": "solve the SVMs",
    "write": "write the rows",
}


@dataclass(kw_only=True, eq=False)
class FitReportDisplay:
    """Seconds of each stage of a fit as bars, and what is known of its end.

    Make one with :meth:`from_estimator`; all parameters are kept as attributes.

    Parameters
    ----------
    seconds : dict of str to float
        Time of each stage, in their order.
    facts : dict of str to str
        How the fit ended, and what it found: duality gap, iterations, regions and
        their sizes, support vectors.
    name : str, default=""
        Of the estimator.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : BarContainer

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import FitReportDisplay
    >>> model = ClusteredSVC(4, random_state=0).fit(*make_xor(400, random_state=0))
    >>> display = FitReportDisplay.from_estimator(model)
    >>> list(display.seconds)
    ['familiarity', 'cluster', 'assign', 'solve', 'calibrate']
    >>> plt.show()  # doctest: +SKIP
    """

    seconds: dict[str, float]
    facts: dict[str, str]
    name: str = ""

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, **plot_options: Any
    ) -> Self:
        """Read the report of an estimator on its fit, and draw it.

        Parameters
        ----------
        estimator : fitted estimator with ``fit_report_``, or Pipeline that ends in one
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        FitReportDisplay
        """
        fitted = OpenedModel.of(estimator).estimator
        if not hasattr(fitted, "fit_report_"):
            raise TypeError(
                f"{_NAME} needs an estimator with 'fit_report_', as those of this "
                f"library have; got {type(fitted).__name__}."
            )
        report = fitted.fit_report_
        seconds = {
            name: float(value)
            for name, value in report.items()
            if isinstance(value, Real)
        }
        # Whatever else a report holds, such as losses by penalty, is not drawn.
        words = {
            name: value for name, value in report.items() if isinstance(value, str)
        }
        return cls(
            seconds=seconds, facts=words | _facts(fitted), name=type(fitted).__name__
        ).plot(ax, **plot_options)

    def plot(self, ax: Any = None, *, bar_kw: dict[str, Any] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        bar_kw : dict, default=None
            Options of ``ax.barh``.

        Returns
        -------
        FitReportDisplay
        """
        self.ax_ = take_axes(ax, _NAME)
        self.figure_ = self.ax_.figure
        names = [_STAGES.get(name, name) for name in self.seconds]
        values = list(self.seconds.values())
        self.bars_ = self.ax_.barh(
            names, values, **{"color": COLORS[0]} | (bar_kw or {})
        )
        total = sum(values)
        self.ax_.bar_label(
            self.bars_, [_share_words(value, total) for value in values], padding=3
        )
        # Room for the words behind the longest bar.
        self.ax_.margins(x=0.4)
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel="seconds")
        facts = "; ".join(f"{name} {value}" for name, value in self.facts.items())
        lines = [f"{self.name} in {total:.2g} s".strip(), *wrap(facts, _TITLE_WIDTH)]
        self.ax_.set_title("\n".join(lines), fontsize="small", loc="left")
        return self


def _share_words(value: float, total: float) -> str:
    return f"{value:.2g} s" + (f", {value / total:.0%}" if total > 0 else "")


def _facts(estimator: Any) -> dict[str, str]:
    """Numbers of the fit, those that the estimator has."""
    facts = {}
    for attribute, words in (
        ("duality_gap_", "duality gap"),
        ("violation_", "violation"),
        ("n_iter_", "iterations"),
    ):
        if hasattr(estimator, attribute):
            facts[words] = f"{float(getattr(estimator, attribute)):.2g}"
    if hasattr(estimator, "n_support_"):
        facts["support vectors"] = str(int(np.sum(estimator.n_support_)))
    if hasattr(estimator, "region_sizes_"):
        sizes = np.asarray(estimator.region_sizes_)
        low, middle, high = np.quantile(sizes, [0, 0.5, 1])
        facts["regions"] = (
            f"{len(sizes)}, of {low:.0f} to {high:.0f} rows, median {middle:.0f}"
        )
    return facts

"""Tables of probabilities, prediction sets and familiarity."""

from __future__ import annotations

from markdown import load, table
from records import Row

_METHODS = ("ClusteredSVC", "LocalSVC", "AdditiveSVC")


def _rows(method: str) -> list[Row]:
    found = load("probabilities")["rows"]
    return [row for row in found if row["method"] == method]


def probabilities() -> str:
    """Log loss by data set: as fitted, wrapped, averaged; and of boosted trees."""
    trees = {row["data_set"]: row["log_loss"] for row in _rows("LightGBM")}
    lines = [
        [
            row["data_set"],
            f"`{method}`",
            *(
                f"{row[name]:.3f}"
                for name in ("log_loss", "wrapped_log_loss", "averaged_log_loss")
            ),
            *(f"{row[name]:.3f}" for name in ("brier", "wrapped_brier")),
            f"{trees[row['data_set']]:.3f}" if row["data_set"] in trees else "",
            f"{row['seconds']:.2f}",
            f"{row['averaged_seconds']:.2f}",
        ]
        for method in _METHODS
        for row in _rows(method)
    ]
    header = [
        *("data", "method", "log loss", "wrapped", "averaged"),
        *("Brier", "wrapped", "LightGBM's log loss", "fit, CPU s", "averaged, CPU s"),
    ]
    return table(header, lines)


def probability_sets() -> str:
    """Coverage of sets that promise 90 %, and alarms at 1 %, of ClusteredSVC."""
    names = (
        *("coverage", "least_of_region", "least_of_class", "set_size"),
        *("alarms_fresh", "alarms_shifted", "alarms_permuted", "alarms_other"),
    )
    lines = [
        [row["data_set"], *("" if row[name] is None else row[name] for name in names)]
        for row in _rows("ClusteredSVC")
    ]
    header = [
        *("data", "coverage, %", "least of a region", "least of a class"),
        *("classes per set", "alarms, %", "one column moved", "columns permuted"),
        "other data",
    ]
    return table(header, lines)

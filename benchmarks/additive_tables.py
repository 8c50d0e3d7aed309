"""Tables of the additive SVM."""

from __future__ import annotations

from markdown import load, table


def additive() -> str:
    """Accuracy, area under the curve and CPU on raw tables."""
    rows = [
        [
            row["data"],
            f"`{row['loss']}`",
            f"{row['accuracy']:.2f}",
            f"{row['auc']:.4f}",
            f"{row['fit_s']:.2f}",
            ", ".join(f"{C:g}" for C in dict.fromkeys(row["C"])),
        ]
        for row in load("additive")["rows"]
    ]
    header = ["data", "loss", "accuracy, %", "AUC", "fit, CPU s", "C chosen"]
    return table(header, rows)

"""Tables of the local kernel SVMs."""

from __future__ import annotations

from typing import Any

from markdown import goals, load, number, table


def local_accuracy() -> str:
    """Test accuracy on the FastLSVM paper's data."""
    rows = [
        [
            row["task"].replace("_", " "),
            f"{row['rows']:,}",
            _call("LocalSVC", row["parameters"]),
            f"{row['accuracy']:.2f}",
            "-" if row["best_possible"] is None else f"{row['best_possible']:.2f}",
            "-" if row["paper"] is None else f"{row['paper']:.2f}",
            f"{row['models']:,}",
            f"{row['fit_seconds']:.1f}",
            f"{row['predict_seconds']:.1f}",
        ]
        for row in load("local_accuracy")["rows"]
    ]
    header = [
        "task",
        "rows",
        "model",
        "test accuracy, %",
        "best possible",
        "printed in the paper",
        "SVMs",
        "fit, s",
        "predict, s",
    ]
    return table(header, rows)


def local_speed() -> str:
    """List times on Covertype, and the goals."""
    result = load("local_speed")
    rows = [
        [
            f"`{_svc_name(row)}`",
            f"{row['rows']:,}",
            number(row, "accuracy", ".2f"),
            number(row, "fit_seconds", ".1f", "not finished"),
            number(row, "predict_seconds", ".2f"),
            number(row, "fit_memory_mb", "d"),
            number(row, "model_mb", ".0f"),
            number(row, "fit_ratio", ".0f"),
        ]
        for row in result["rows"]
    ]
    header = [
        "model",
        "rows",
        "accuracy, %",
        "fit, s",
        "predict 25,000, s",
        "fit memory, MB",
        "model, MB",
        "fit time / LocalSVC",
    ]
    return "\n\n".join([table(header, rows), goals(result)])


def local_search() -> str:
    """LocalSVCCV and local selection against GridSearchCV."""
    rows = [
        [
            row["task"].replace("_", " "),
            f"`{row['search']}`",
            f"{row['seconds']:.1f}",
            row["chosen"],
            f"{row['test_accuracy']:.2f}",
        ]
        for row in load("local_search")["rows"]
    ]
    return table(["task", "search", "seconds", "chosen", "test accuracy, %"], rows)


def _call(name: str, parameters: dict[str, Any]) -> str:
    values = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return f"`{name}({values})`"


def _svc_name(row: dict[str, Any]) -> str:
    return (
        row["model"]
        if "C" not in row
        else f"SVC(C={row['C']:g}, gamma={row['gamma']:g})"
    )

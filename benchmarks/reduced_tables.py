"""Tables of the exact SVM."""

from __future__ import annotations

from markdown import average, goals, groups, load, number, table


def reduced_accuracy() -> str:
    """Error, rows and passes on the data of the ClusterSVM paper."""
    result = load("reduced_accuracy")
    rows = [
        [
            group[0]["data"],
            group[0]["form"],
            f"{average(group, 'error'):.2f}",
            number(group[0], "printed_error", ".2f"),
            f"{average(group, 'rows'):,.0f}",
            number(group[0], "printed_rows", ",d"),
            max(row["passes"] for row in group),
            "yes" if all(row["exact"] for row in group) else "no",
            f"{average(group, 'seconds'):.2f}",
        ]
        for group in groups(result["rows"], "data", "form")
    ]
    header = [
        "data",
        "form",
        "test error, %",
        "printed",
        "rows",
        "printed",
        "passes",
        "exact",
        "fit, s",
    ]
    return "\n\n".join([table(header, rows), goals(result, "g")])


def reduced_speed() -> str:
    """List times of exact RBF SVMs."""
    result = load("reduced_speed")
    rows = [
        [
            row["task"],
            f"{row['rows']:,}",
            f"`{row['model']}`",
            f"{row['cpu_seconds']:.1f}",
            f"{row['support']:,}",
            number(row, "at_bound", ",d"),
            ", ".join(f"{used:,}" for used in row.get("rows_used", ())) or "-",
        ]
        for row in result["rows"]
    ]
    header = [
        "data",
        "rows",
        "model",
        "fit, s",
        "support vectors",
        "of them at the bound",
        "rows per pass",
    ]
    return "\n\n".join([table(header, rows), goals(result)])

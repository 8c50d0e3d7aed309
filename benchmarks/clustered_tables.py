"""Tables of the clustered and the locally linear SVM."""

from __future__ import annotations

from markdown import goals, load, number, table


def clustered_accuracy() -> str:
    """Test accuracy on the CSVM paper's data."""
    rows = [
        [
            row["task"].replace("_", " "),
            row["assignment"],
            row["n_clusters"],
            "-" if row["components"] == "-" else f"PCA-{row['components']}",
            f"{row['mean']:.2f} ± {row['sd']:.2f}",
            f"{row['fit_seconds']:.2f}",
        ]
        for row in load("clustered_accuracy")["rows"]
    ]
    header = [
        "task",
        "assignment",
        "regions",
        "projection",
        "test accuracy, %",
        "fit, s",
    ]
    return table(header, rows)


def clustered_speed() -> str:
    """List times on MNIST odd/even, and the ratios."""
    result = load("clustered_speed")
    models = [
        [
            f"`{row['model']}`",
            f"{row['accuracy']:.2f}",
            f"{row['fit_seconds']:.2f}",
            f"{1e2 * row['predict_seconds']:.1f}",
        ]
        for row in result["rows"]
    ]
    return "\n\n".join(
        [
            table(["model", "accuracy, %", "fit, s", "predict, µs per row"], models),
            goals(result),
        ]
    )


def clustered_search() -> str:
    """ClusteredSVCCV against GridSearchCV."""
    rows = [
        [
            row["task"].replace("_", " "),
            f"`{row['search']}`",
            f"{row['seconds']:.1f}",
            f"{row['cv_accuracy']:.2f}",
            f"{row['test_accuracy']:.2f}",
        ]
        for row in load("clustered_search")["rows"]
    ]
    return table(
        ["task", "search", "seconds", "CV accuracy, %", "test accuracy, %"], rows
    )


def locally_linear() -> str:
    """Compare the locally linear SVM with its peers on the CSVM paper's data."""
    rows = [
        [
            row["task"].replace("_", " "),
            f"`{row['model']}`",
            f"{row['accuracy']:.2f} ({row['least']:.2f} to {row['most']:.2f})",
            number(row, "printed", ".2f"),
            f"{row['fit_cpu_seconds']:.2f}",
            f"{row['predict_cpu_microseconds']:.1f}",
        ]
        for row in load("locally_linear")["rows"]
    ]
    header = [
        "task",
        "model",
        "test accuracy, %",
        "LLSVM as printed",
        "fit, s",
        "predict, µs per row",
    ]
    return table(header, rows)

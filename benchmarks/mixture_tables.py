"""The README's tables of the mixture of linear SVMs."""

from __future__ import annotations

from markdown import goals, load, table


def mixture_accuracy() -> str:
    """Accuracy on the paper's data, and of the variants."""
    result = load("mixture_accuracy")
    reached = [
        [
            row["task"].replace("_", " "),
            row["rows"] if row["rows"] == "all" else f"{row['rows']:,}",
            row["n_components"],
            f"{row['mean']:.2f} ± {row['sd']:.2f}",
            row["components_left"],
            row["printed"],
            f"{row['fit_cpu_seconds']:.1f}",
        ]
        for row in result["rows"]
    ]
    header = ["task", "rows", "K", "accuracy, %", "K left", "printed, %", "fit, CPU s"]
    tasks = list(dict.fromkeys(row["task"] for row in result["variants"]))
    names = list(dict.fromkeys(row["variant"] for row in result["variants"]))
    found = {(row["variant"], row["task"]): row for row in result["variants"]}
    compared = [
        [
            name,
            *(
                f"{found[name, task]['accuracy']:.2f}"
                f" ({found[name, task]['fit_cpu_seconds']:.0f} s)"
                for task in tasks
            ),
        ]
        for name in names
    ]
    return "\n\n".join(
        [
            table(header, reached),
            "Several classes: test accuracy in percent, CPU seconds of the fit.",
            table(["variant", *tasks], compared),
        ]
    )


def mixture_speed() -> str:
    """CPU seconds beside LinearSVC and SVC."""
    result = load("mixture_speed")
    rows = [
        [
            row["model"],
            f"{row['fit']:.1f}",
            f"{row['gate']:.1f}" if row["steps"] else "",
            f"{row['svm']:.1f}" if row["steps"] else "",
            row["steps"] or "",
            f"{row['predict']:.3f}",
            f"{row['accuracy']:.2f}",
        ]
        for row in result["rows"]
    ]
    header = [
        "model",
        "fit",
        "of it gate",
        "SVMs",
        "EM steps",
        "predict",
        "accuracy, %",
    ]
    return table(header, rows) + "\n\n" + goals(result)

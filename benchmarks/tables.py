"""Write the README's figures from the result files, between their markers.

``python benchmarks/tables.py`` rewrites README.md; with ``--check`` it only tells
whether the README is what the files say.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from markdown import RESULTS, goals, load, table
from mixture_tables import mixture_accuracy, mixture_speed

README = Path(__file__).parents[1] / "README.md"


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


def locally_linear() -> str:
    """Compare the locally linear SVM with its peers on the CSVM paper's data."""
    rows = [
        [
            row["task"].replace("_", " "),
            f"`{row['model']}`",
            f"{row['accuracy']:.2f} ({row['least']:.2f} to {row['most']:.2f})",
            _number(row, "printed", ".2f"),
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


def staged() -> str:
    """List accuracy and cost of the staged SVM and its peers."""
    result = load("staged")
    rows = [
        [
            group[0]["task"].replace("_", " "),
            f"`{group[0]['model']}`",
            _spread(group, "accuracy"),
            _mean(group, "choice_and_fit_cpu_seconds"),
            _stopped(group) or _mean(group, "fit_cpu_seconds"),
            _mean(group, "predict_cpu_microseconds"),
        ]
        for group in _groups(result["rows"], "task", "model")
    ]
    header = ["task", "model", "accuracy, %", "whole fit, s", "fit, s", "µs per row"]
    return "\n\n".join([table(header, rows), goals(result)])


def _mean(rows: list[dict[str, Any]], key: str) -> str:
    if key not in rows[0]:
        return "-"
    return f"{_average(rows, key):.1f}"


def _stopped(rows: list[dict[str, Any]]) -> str:
    seconds = rows[0].get("stopped_after")
    return "" if seconds is None else f"stopped after {seconds:.0f}"


def _spread(rows: list[dict[str, Any]], key: str) -> str:
    if key not in rows[0]:
        return "-"
    values = [row[key] for row in rows]
    if len(values) == 1:
        return f"{values[0]:.2f}"
    mean = sum(values) / len(values)
    return f"{mean:.2f} ({min(values):.2f} to {max(values):.2f})"


def demo() -> str:
    """Show what the demo printed."""
    return "```\n" + (RESULTS / "demo.txt").read_text().strip("\n") + "\n```"


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
            _number(row, "accuracy", ".2f"),
            _number(row, "fit_seconds", ".1f", "not finished"),
            _number(row, "predict_seconds", ".2f"),
            _number(row, "fit_memory_mb", "d"),
            _number(row, "model_mb", ".0f"),
            _number(row, "fit_ratio", ".0f"),
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


def support_accuracy() -> str:
    """Test error on the data of the Support Cluster Machine's paper."""
    rows = [
        [
            group[0]["task"],
            f"`{group[0]['model']}`",
            f"{group[0]['gamma']:g}",
            ", ".join(sorted({f"{row['C']:g}" for row in group})),
            round(sum(row["clusters_per_pair"] for row in group) / len(group)),
            _spread(group, "error"),
            _number(group[0], "printed", ".2f"),
            _number(group[0], "ceiling", "g"),
        ]
        for group in _groups(load("support_accuracy")["rows"], "task", "model", "gamma")
    ]
    header = [
        "task",
        "model",
        "gamma",
        "C",
        "clusters of two classes",
        "test error, %",
        "printed in the paper",
        "goal, at most",
    ]
    return table(header, rows)


def support_speed() -> str:
    """List times of the pairs, the stream and the goals."""
    result = load("support_speed")
    rows = [
        [
            row["model"],
            f"{row['error']:.2f}",
            f"{row['fit_seconds']:.2f}",
            f"{row['predict_seconds']:.2f}",
        ]
        for row in result["rows"]
    ]
    stream = result["stream"]
    words = (
        f"A stream of {stream['rows']:,} rows of ten columns through `partial_fit`: "
        f"{stream['rows_per_second']:,} rows per second, "
        f"{stream['memory_growth_mb']:g} MB of memory more than after the first batch "
        f"of {stream['batch_mb']:g} MB, "
        f"{stream['clusters']} clusters."
    )
    header = ["model", "mean test error, %", "fit, s", "predict, s"]
    return "\n\n".join([table(header, rows), words, goals(result)])


def support_privacy() -> str:
    """Error against epsilon and number of rows."""
    result = load("support_privacy")
    epsilons = dict.fromkeys(row["epsilon"] for row in result["rows"])
    rows = []
    for group in _groups(result["rows"], "cells", "covariance", "rows"):
        found = {row["epsilon"]: row for row in group}
        errors = [_noisy_error(found.get(epsilon)) for epsilon in epsilons]
        first = group[0]
        rows.append(
            [first["cells"], first["covariance"], f"{first['rows']:,}", *errors]
        )
    names = ["no noise" if e is None else f"epsilon {e:g}" for e in epsilons]
    compared = result["baselines"]
    words = (
        f"delta = {result['delta']:g}. To say the larger class for all: "
        f"{compared['larger_class']:.2f}; `SVC` on the public rows alone: "
        f"{compared['svc_on_public_rows']:.2f}."
    )
    header = ["cells", "covariance", "rows", *names]
    return "\n\n".join([table(header, rows), words])


def reduced_accuracy() -> str:
    """Error, rows and passes on the data of the ClusterSVM paper."""
    result = load("reduced_accuracy")
    rows = [
        [
            group[0]["data"],
            group[0]["form"],
            f"{_average(group, 'error'):.2f}",
            _number(group[0], "printed_error", ".2f"),
            f"{_average(group, 'rows'):,.0f}",
            _number(group[0], "printed_rows", ",d"),
            max(row["passes"] for row in group),
            "yes" if all(row["exact"] for row in group) else "no",
            f"{_average(group, 'seconds'):.2f}",
        ]
        for group in _groups(result["rows"], "data", "form")
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
            _number(row, "at_bound", ",d"),
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


def _average(rows: list[dict[str, Any]], key: str) -> float:
    return float(sum(row[key] for row in rows) / len(rows))


def _noisy_error(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    if row["error"] is None:
        return "nothing left"
    failed = f" ({row['failed_draws']} failed)" if row["failed_draws"] else ""
    return f"{row['error']:.2f}{failed}"


def _groups(rows: list[dict[str, Any]], *keys: str) -> list[list[dict[str, Any]]]:
    """Rows that agree in the keys, in the order of the first of them."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return list(groups.values())


def _call(name: str, parameters: dict[str, Any]) -> str:
    values = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return f"`{name}({values})`"


def _svc_name(row: dict[str, Any]) -> str:
    return (
        row["model"]
        if "C" not in row
        else f"SVC(C={row['C']:g}, gamma={row['gamma']:g})"
    )


def _number(row: dict[str, Any], name: str, form: str, missing: str = "-") -> str:
    value = row.get(name)
    return missing if value is None else format(value, form)


SECTIONS = (
    staged,
    clustered_accuracy,
    clustered_speed,
    clustered_search,
    locally_linear,
    local_accuracy,
    local_speed,
    local_search,
    support_accuracy,
    support_speed,
    support_privacy,
    reduced_accuracy,
    reduced_speed,
    mixture_accuracy,
    mixture_speed,
    demo,
)


def filled(text: str) -> str:
    """Replace what stands between the markers."""
    for section in SECTIONS:
        name = section.__name__
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end {name} -->)"
        content = section()
        text, count = re.subn(
            pattern, lambda match, c=content: match[1] + c + match[2], text, flags=re.S
        )
        if count != 1:
            raise ValueError(f"README.md has {count} sections {name!r}, expected 1")
    return text


def main(check: bool) -> int:
    """Rewrite or check the README."""
    current = README.read_text()
    if check:
        return 0 if filled(current) == current else 1
    temporary = README.with_suffix(".tmp")
    temporary.write_text(filled(current))
    temporary.replace(README)
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

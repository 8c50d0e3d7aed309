"""Tables of ONNX graphs against their models."""

from __future__ import annotations

from typing import Any

from markdown import groups, load, table

_DTYPES = ("float32", "float64")


def onnx_parity() -> str:
    """List differences, sizes and times of graphs, over all data sets."""
    models = groups(load("onnx_parity")["rows"], "model")
    labels = ["model"]
    for dtype in _DTYPES:
        labels += [f"test rows, {dtype}", "at borders"]
    costs = ["model", "kB", "one row, µs", "the model's", "a row in a batch, µs"]
    return "\n\n".join(
        [
            table(labels, [[_name(rows), *_differences(rows)] for rows in models]),
            table(
                [*costs, "the model's"],
                [[_name(rows), *_costs(rows)] for rows in models],
            ),
        ]
    )


def _name(rows: list[dict[str, Any]]) -> str:
    return f"`{rows[0]['model']}`"


def _differences(rows: list[dict[str, Any]]) -> list[str]:
    """Rows with another label out of how many, in all data sets together."""
    return [
        f"{_sum(rows, dtype, f'{kind}_differences')} of "
        f"{_sum(rows, dtype, f'{kind}_rows'):,}"
        for dtype in _DTYPES
        for kind in ("test", "border")
    ]


def _sum(rows: list[dict[str, Any]], dtype: str, name: str) -> int:
    return sum(row[name] for row in rows if row["dtype"] == dtype)


def _costs(rows: list[dict[str, Any]]) -> list[str]:
    """Least and most over the data sets, for graphs of float32."""
    own = [row for row in rows if row["dtype"] == "float32"]
    columns = [
        [row["bytes"] / 1000 for row in own],
        [row["one_row_microseconds"] for row in own],
        [row["model_one_row_microseconds"] for row in own],
        *(
            [1000 * row[name] / row["test_rows"] for row in own]
            for name in ("batch_milliseconds", "model_batch_milliseconds")
        ),
    ]
    return [f"{min(column):,.0f} to {max(column):,.0f}" for column in columns]

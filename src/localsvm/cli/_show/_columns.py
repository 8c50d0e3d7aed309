"""The columns that an encoder takes, as commands show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localsvm._text import aligned
from localsvm.data import TableEncoder


def columns_of(encoder: Any) -> list[dict[str, Any]]:
    """Name, kind and number of features of each column; none of other objects."""
    if not isinstance(encoder, TableEncoder):
        return []
    return [
        {"name": column.name, "kind": column.kind, "n_features": column.n_features}
        for column in encoder.columns_
    ]


def column_lines(columns: Sequence[dict[str, Any]]) -> list[str]:
    """Lines of a table of columns."""
    cells = [[str(value) for value in column.values()] for column in columns]
    return aligned([["column", "kind", "features"], *cells], "lr")

"""What is learnt of all columns of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from localsvm.data._columns._column import Column, LearningOptions
from localsvm.data._columns._kinds import KINDS, find_kind, split_kind
from localsvm.data._columns._suspicions import with_doubts
from localsvm.data._frames import absent_columns
from localsvm.exceptions import DataError


def learn_columns(
    names: Sequence[str],
    values: Sequence[Any],
    kinds: Mapping[str, str],
    options: LearningOptions,
) -> tuple[Column, ...]:
    """Learn columns of the given kinds, and of those that are found for the others."""
    columns = []
    for name, each in zip(names, values, strict=True):
        found = kinds.get(name) or find_kind(name, each, options)
        kind, date_format = split_kind(found)
        chosen = replace(options, date_format=date_format)
        column: Column = KINDS[options.encoding][kind].learn(name, each, chosen)
        columns.append(column if name in kinds else with_doubts(each, column))
    return tuple(columns)


def check_kinds(
    given: Mapping[str, str] | None, names: Sequence[str], encoding: str
) -> dict[str, str]:
    """Kinds by column; a DataError if there is no such kind or column."""
    kinds = dict(given or {})
    absent = absent_columns(list(kinds), names)
    if absent:
        raise DataError(
            f"{{remedy}} is not possible: the table {absent}",
            parameter="kinds",
            value={name: kinds[name] for name in kinds if name not in names},
        )
    for name, kind in kinds.items():
        try:
            split_kind(str(kind), encoding)
        except DataError as error:
            raise DataError(
                f"{{remedy}} is not known; {error}.",
                parameter="kinds",
                value={name: kind},
            ) from None
    return kinds

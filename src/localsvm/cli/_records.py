"""Options that belong together, as one parameter of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one option per field of its parameters that are dataclasses.

    Typer knows a parameter per option only; a command with twenty of them reads badly.
    """
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {
        name: kind for name, kind in hints.items() if is_dataclass(kind)
    }

    @wraps(command)
    def call(**values: Any) -> Any:
        for name, kind in records.items():
            parts = {each.name: values.pop(each.name) for each in fields(kind)}
            values[name] = kind(**parts)
        return command(**values)

    parameters = list(_options(command, hints))
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    del call.__wrapped__
    return call


def _options(command: Callable[..., Any], hints: dict[str, Any]) -> Iterator[Parameter]:
    for name, parameter in signature(command).parameters.items():
        kind = hints[name]
        if not is_dataclass(kind):
            yield _keyword(name, parameter.default, kind)
            continue
        parts = get_type_hints(kind, include_extras=True)
        yield from (
            _keyword(each.name, each.default, parts[each.name]) for each in fields(kind)
        )


def _keyword(name: str, default: Any, annotation: Any) -> Parameter:
    kind = Parameter.KEYWORD_ONLY
    return Parameter(name, kind, default=default, annotation=annotation)

"""JSON in, checked, and JSON out."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from localsvm.serve._errors import wrong

_SHOWN = 40


def parse(body: bytes | bytearray) -> dict[str, Any]:
    """Read a JSON object in UTF-8, without the numbers that JSON does not have.

    Raises
    ------
    RequestError
        If it is anything else, or nested too deep.
    """
    try:
        content = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise wrong(
            f"The body is not UTF-8: byte {error.start} is {body[error.start]:#04x}."
        ) from error
    except json.JSONDecodeError as error:
        raise wrong(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column "
            f"{error.colno}."
        ) from error
    except RecursionError as error:
        raise wrong("The body is nested too deep.") from error
    except ValueError as error:  # Python limits the digits of an integer
        raise wrong("The body has an integer of thousands of digits.") from error
    if not isinstance(content, dict):
        raise wrong(f"The body is {kind_of(content)}; expected a JSON object.")
    return content


def dump(content: Any) -> bytes:
    """Write JSON that any reader takes: ASCII, without NaN."""
    return json.dumps(content, allow_nan=False).encode("ascii")


def kind_of(value: Any) -> str:
    """Name the kind of a JSON value, with its article."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}
    return kinds.get(type(value), "a number")


def shown(value: Any) -> str:
    """Show a JSON value in a few characters."""
    if isinstance(value, (dict, list)):
        return kind_of(value)
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return f"an integer of more than {_SHOWN} digits"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def field(content: dict[str, Any], name: str, kind: type, place: str = "") -> Any:
    """Take a field that has to be there.

    Parameters
    ----------
    content : dict
    name : str
    kind : {list, str}
    place : str, default=""
        Where the content stands in the request, for the message.
    """
    where = f"{place}.{name}" if place else name
    expected = "a list" if kind is list else "a string"
    if name not in content:
        raise wrong(f"{where} is missing; expected {expected}.")
    value = content[name]
    if not isinstance(value, kind):
        raise wrong(f"{where} is {shown(value)}; expected {expected}.")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise wrong(
        f"The body has the number {name}, which JSON does not know. A missing value is "
        "null."
    )

"""ARFF files of Weka and OpenML: declared columns, one row per line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localsvm._extras import require
from localsvm.data._frames import duplicates
from localsvm.data._readers._lines import check_text, open_text, what_is_wrong
from localsvm.data._readers._options import Content, ReadOptions
from localsvm.exceptions import DataError

_NAME = r"""(?P<name>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s'"{]+)"""
_ATTRIBUTE = re.compile(rf"@attribute\s+{_NAME}\s*(?P<type>.+)", re.IGNORECASE)
_FIELD = re.compile(
    r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)""", re.DOTALL
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_NUMBERS = ("numeric", "real", "integer")
_PARTS_OF_DATES = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
    "Z": "%z",
    "''": "'",
    "'T'": "T",
}
_PART_OF_DATE = re.compile(r"''|'T'|y+|M+|d+|H+|m+|s+|S+|Z|[a-zA-Z]")
_DATE = "yyyy-MM-dd'T'HH:mm:ss"


@dataclass(frozen=True)
class _Attribute:
    """A declared column: ``type`` is number, string, date or nominal."""

    name: str
    type: str
    levels: tuple[str, ...] = ()
    date: str = ""


@dataclass(frozen=True)
class _Line:
    number: int
    text: str


def read_arff(path: Path, options: ReadOptions) -> Content:
    """Read numbers, nominal values, strings and dates; ``?`` is a missing value."""
    check_text(path, options.encoding)
    with open_text(path, options.encoding) as text:
        try:
            lines = _lines(text)
            attributes = _header(lines)
            rows, numbers = _rows(lines, len(attributes))
        except UnicodeDecodeError as error:
            wrong = what_is_wrong(path, ",", options.encoding)
            raise wrong or DataError(f"is not {options.encoding}.") from error
        except OSError as error:
            raise DataError(f"cannot be read as ARFF: {error}.") from error
    if not rows:
        raise DataError("has no rows after @data.")
    pandas = require("pandas", "cli", "Reading a table")
    columns = zip(attributes, zip(*rows, strict=True), strict=True)
    return Content(
        pandas.DataFrame(
            {
                attribute.name: _column(attribute, fields, numbers)
                for attribute, fields in columns
            }
        )
    )


def _lines(text: Any) -> Iterator[_Line]:
    for number, line in enumerate(text, 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("%"):
            yield _Line(number, stripped)


def _header(lines: Iterator[_Line]) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    for line in lines:
        keyword = line.text.split(maxsplit=1)[0].lower()
        if keyword == "@data":
            _check_attributes(attributes)
            return attributes
        if keyword == "@attribute":
            attributes.append(_attribute(line))
        elif keyword != "@relation":
            raise DataError(
                f"has {line.text[:60]!r} in line {line.number}; expected @relation, "
                "@attribute or @data."
            )
    raise DataError("has no line @data.")


def _check_attributes(attributes: list[_Attribute]) -> None:
    if not attributes:
        raise DataError("has no line @attribute.")
    twice = duplicates([attribute.name for attribute in attributes])
    if twice:
        raise DataError(f"has several columns named {', '.join(map(repr, twice))}.")


def _attribute(line: _Line) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line.text)
    if match is None:
        raise DataError(
            f"has {line.text[:60]!r} in line {line.number}; expected @attribute NAME "
            "TYPE."
        )
    name, declared = _unquote(match["name"]), match["type"].strip()
    word, _, rest = declared.partition(" ")
    if word.lower() in _NUMBERS:
        return _Attribute(name, "number")
    if word.lower() == "string":
        return _Attribute(name, "string")
    if word.lower() == "date":
        return _Attribute(name, "date", date=_unquote(rest.strip()) or _DATE)
    if declared.startswith("{") and declared.endswith("}"):
        levels = tuple(_unquote(each) for each in _split(declared[1:-1]))
        return _Attribute(name, "nominal", levels=levels)
    raise DataError(
        f"declares column {name!r} as {declared[:40]!r} in line {line.number}; "
        "expected numeric, real, integer, string, date or {a, b, c}."
    )


def _rows(
    lines: Iterator[_Line], n_fields: int
) -> tuple[list[list[str | None]], list[int]]:
    """Fields of each row, None where one is missing, and the number of its line."""
    rows, numbers = [], []
    for line in lines:
        if line.text.startswith("{"):
            raise DataError(
                f"has sparse rows, see line {line.number}; expected all values of a "
                "row. Sparse data can be read from svmlight files."
            )
        fields = _split(line.text)
        if len(fields) != n_fields:
            raise DataError(
                f"has {len(fields)} fields in line {line.number}, expected {n_fields}: "
                f"{line.text[:60]!r}."
            )
        rows.append([None if field == "?" else _unquote(field) for field in fields])
        numbers.append(line.number)
    return rows, numbers


def _split(text: str) -> list[str]:
    if "'" not in text and '"' not in text:
        return [field.strip() for field in text.split(",")]
    fields, position = [], 0
    while position <= len(text):
        match = _FIELD.match(text, position)
        if match is None:
            fields.append(text[position:])
            break
        fields.append(match[1])
        if match.end() == len(text) and not match[0].rstrip().endswith(","):
            break
        position = match.end()
    return fields


def _unquote(field: str) -> str:
    if len(field) >= 2 and field[0] in "'\"" and field[-1] == field[0]:
        field = field[1:-1]
    return _ESCAPED.sub(r"\1", field) if "\\" in field else field


def _column(
    attribute: _Attribute, fields: tuple[str | None, ...], numbers: list[int]
) -> Any:
    pandas = require("pandas", "cli", "Reading a table")
    values = pandas.Series(fields)
    if attribute.type == "string":
        return values
    if attribute.type == "nominal":
        levels = pandas.CategoricalDtype(list(attribute.levels))
        parsed = values.where(values.isin(attribute.levels)).astype(levels)
        expected = "one of " + ", ".join(map(repr, attribute.levels[:10]))
    elif attribute.type == "date":
        pattern = _pattern(attribute)
        parsed = pandas.to_datetime(values, format=pattern, errors="coerce")
        expected = f"a date like {attribute.date}"
    else:
        parsed = pandas.to_numeric(values, errors="coerce").astype(float)
        expected = "a number"
    wrong = (parsed.isna() & values.notna()).to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"has {fields[row]!r} in column {attribute.name!r}, line {numbers[row]}; "
            f"expected {expected}."
        )
    return parsed


def _pattern(attribute: _Attribute) -> str:
    """Python's form of a date format of Java."""

    def translate(match: re.Match[str]) -> str:
        if match[0] not in _PARTS_OF_DATES:
            raise DataError(
                f"declares column {attribute.name!r} with the date format "
                f"{attribute.date!r}; {match[0]!r} in it is not known."
            )
        return _PARTS_OF_DATES[match[0]]

    return _PART_OF_DATE.sub(translate, attribute.date.replace("%", "%%"))

"""What a model file knows of a class: its attributes, and how it is made again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from localsvm.state._fields import Field, Sometimes
from localsvm.state._store import Dims, Sink, Source

Fields = Mapping[str, Field | Sometimes]


def _no_check(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    del model, values, dims


def _take_all(values: dict[str, Any]) -> dict[str, Any]:
    return values


def _get_params(value: Any) -> dict[str, Any]:
    return dict(value.get_params(deep=False))


def _with_attributes(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    for name, value in values.items():
        setattr(unfitted, name, value)
    return unfitted


def _named_columns(value: Any) -> int:
    return int(value.n_features_in_)


@dataclass(frozen=True)
class Spec:
    """A class that a model file can hold.

    Attributes
    ----------
    cls : type
    kind : str
        What it can stand in for: "classifier", "transformer", "clusterer", ...
    fields : dict
        Attributes of a fitted object, in the order in which they are read. Empty for
        what is held without its fitted state.
    left_out : frozenset of str
        Attributes that are made again, or that only ``fit`` needs.
    take : callable
        What of the attributes is written.
    check : callable
        Looks at what lies between several attributes: takes an object that has the
        parameters, the values and the lengths.
    make : callable
        Fitted object from one with its parameters alone, the values and the lengths.
    params : callable
        Parameters of an object.
    blank : callable or None
        Makes an object that is to be fitted from the parameters that are no fields;
        None is the class.
    width : callable
        Number of columns that a fitted transformer gives.
    """

    cls: type
    kind: str
    fields: Fields = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    take: Callable[[dict[str, Any]], dict[str, Any]] = _take_all
    check: Callable[[Any, Mapping[str, Any], Dims], None] = _no_check
    make: Callable[[Any, Mapping[str, Any], Dims], Any] = _with_attributes
    params: Callable[[Any], dict[str, Any]] = _get_params
    blank: Callable[..., Any] | None = None
    width: Callable[[Any], int] = _named_columns

    @property
    def name(self) -> str:
        """Name in a file."""
        return self.cls.__name__

    @property
    def is_ours(self) -> bool:
        """Whether it is a class of this library."""
        return self.cls.__module__.startswith("localsvm.")


# What is declared stands above this layer, so whoever knows it all enters it.
_TABLE: dict[str, Spec] = {}


def enter_specs(specs: Iterable[Spec]) -> None:
    """Enter classes into the fixed table of those that a model file may name."""
    _TABLE.update({spec.name: spec for spec in specs})


def find_spec(value: Any) -> Spec | None:
    """Entry of the table for the class of an object; its subclasses have none."""
    spec = named_spec(type(value).__name__)
    return spec if spec is not None and type(value) is spec.cls else None


def named_spec(name: Any) -> Spec | None:
    """Entry of the table under a name."""
    return _TABLE.get(name) if isinstance(name, str) else None


class Record(Field):
    """A plain object of known attributes, which shares the lengths of its owner.

    Parameters
    ----------
    cls : callable
        Made by keyword arguments.
    **fields : Field
        Attributes.
    """

    def __init__(self, cls: Callable[..., Any], /, **fields: Field | Sometimes) -> None:
        self._cls, self._fields = cls, fields

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the attributes."""
        parts = {name: getattr(value, name) for name in self._fields}
        return write_fields(self._fields, parts, place, sink, dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read the attributes and make the object."""
        return self._cls(**read_fields(self._fields, plain, place, source, dims))


class Either(Field):
    """One of several plain objects, told apart by their class."""

    def __init__(self, **kinds: tuple[type | tuple[type, ...], Field]) -> None:
        self._kinds = kinds

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the one that it is."""
        for name, (cls, part) in self._kinds.items():
            if isinstance(value, cls):
                return {name: part.write(value, place, sink, dims)}
        raise TypeError(
            f"{place} is a {type(value).__name__}, which a model file cannot hold."
        )

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read the one that is named."""
        if isinstance(plain, dict) and len(plain) == 1:
            ((name, content),) = plain.items()
            if name in self._kinds:
                return self._kinds[name][1].read(content, place, source, dims)
        expected = ", ".join(self._kinds)
        raise ValueError(f"{place} is {plain!r:.60}; expected one of {expected}.")


class Several(Field):
    """A tuple of objects of one kind, each with lengths of its own.

    Parameters
    ----------
    field : Field
    shared : str
        Names of lengths that they share with their owner.
    """

    def __init__(self, field: Field, *shared: str) -> None:
        self._field, self._shared = field, shared

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write a list."""
        return [
            self._field.write(each, f"{place}[{i}]", sink, self._own(dims))
            for i, each in enumerate(value)
        ]

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read a list."""
        if not isinstance(plain, list):
            raise ValueError(f"{place} is {plain!r:.60}; expected a list.")
        return tuple(
            self._field.read(each, f"{place}[{i}]", source, self._own(dims))
            for i, each in enumerate(plain)
        )

    def _own(self, dims: Dims) -> Dims:
        return Dims(**{name: dims[name] for name in self._shared})


def write_fields(
    fields: Fields, values: Mapping[str, Any], place: str, sink: Sink, dims: Dims
) -> dict[str, Any]:
    """Write attributes by their fields."""
    plain = {}
    for name, item in fields.items():
        if isinstance(item, Sometimes):
            if name not in values:
                continue
            item = item.field
        elif name not in values:
            raise TypeError(f"{place}.{name} is missing: is the model fitted?")
        plain[name] = item.write(values[name], f"{place}.{name}", sink, dims)
    return plain


def read_fields(
    fields: Fields, plain: Any, place: str, source: Source, dims: Dims
) -> dict[str, Any]:
    """Read attributes by their fields; no other ones, and none missing."""
    if not isinstance(plain, dict):
        raise ValueError(f"{place} is {plain!r:.60}; expected an object.")
    for name in plain:
        if name not in fields:
            raise ValueError(
                f"{place} has the attribute {name!r:.60}, which is unknown."
            )
    values = {}
    for name, item in fields.items():
        if isinstance(item, Sometimes):
            if name not in plain:
                continue
            item = item.field
        elif name not in plain:
            raise ValueError(f"{place}.{name} is missing.")
        values[name] = item.read(plain[name], f"{place}.{name}", source, dims)
    return values

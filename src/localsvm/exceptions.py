"""Exceptions of this library that a caller may want to catch.

Each is a subclass of the built-in exception that describes it, so that code that
catches ``ValueError``, ``OSError`` or ``MemoryError`` need not know this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "DataError",
    "FolderInUseError",
    "MissingExtraError",
    "NotEnoughMemoryError",
    "UnreadableBlockError",
]

_REMEDY = "{remedy}"


class DataError(ValueError):
    """Data or files are not as expected, and a parameter may help.

    The parameter and its value are kept apart from the message, so that each interface
    can phrase the remedy in its own way: Python as ``encoding='latin-1'``, the command
    line as an option.

    Parameters
    ----------
    message : str
        What was found and what was expected. ``{remedy}`` in it stands for the setting
        that helps.
    parameter : str, default=None
        Parameter that helps; None if there is none.
    value : object, default=None
        Value to give to the parameter. Several possible values are a tuple.

    Attributes
    ----------
    message : str
        As given, with ``{remedy}`` in it.
    parameter : str or None
    value : object

    Examples
    --------
    >>> from localsvm.exceptions import DataError
    >>> error = DataError("is wide; pass {remedy}.", parameter="encoding", value="u16")
    >>> str(error)
    "is wide; pass encoding='u16'."
    >>> error.phrased(lambda parameter, value: f"--{parameter} {value}")
    'is wide; pass --encoding u16.'
    """

    def __init__(
        self, message: str, *, parameter: str | None = None, value: Any = None
    ) -> None:
        self.message = message
        self.parameter = parameter
        self.value = value
        super().__init__(self.phrased(_as_argument))

    def phrased(self, setting: Callable[[str, Any], str]) -> str:
        """Return the message with the remedy in the words of an interface.

        Parameters
        ----------
        setting : callable
            ``setting(parameter, value)`` returns how one value is set.

        Returns
        -------
        text : str
        """
        if self.parameter is None:
            return self.message
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        remedy = " or ".join(setting(self.parameter, each) for each in values)
        return self.message.replace(_REMEDY, remedy)

    @classmethod
    def about(cls, subject: str, error: ValueError) -> DataError:
        """Put the name of the data before a message, and keep its remedy.

        Parameters
        ----------
        subject : str
            Begins the sentence, for instance the name of a file.
        error : ValueError
            What was raised about its content.

        Returns
        -------
        error : DataError
        """
        if isinstance(error, DataError):
            message = f"{subject} {error.message}"
            return cls(message, parameter=error.parameter, value=error.value)
        return cls(f"{subject} {error}")


class MissingExtraError(ImportError):
    """An optional package is not installed; the message says how to install it."""


class NotEnoughMemoryError(MemoryError):
    """The blocks do not fit into memory; the message shows the sum."""


class UnreadableBlockError(OSError):
    """A block of rows cannot be read; the message names file and row group."""


class FolderInUseError(RuntimeError):
    """Another fit works in the folder; the message names its process."""


def _as_argument(parameter: str, value: Any) -> str:
    return f"{parameter}={value!r}"

"""Exceptions and warnings of this library that a caller may want to catch.

Each is a subclass of the built-in class that describes it, so that code that catches
``ValueError``, ``OSError`` or ``MemoryError`` need not know this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "DataError",
    "DataWarning",
    "FolderInUseError",
    "MissingExtraError",
    "NotEnoughMemoryError",
    "UnreadableBlockError",
]

_REMEDY = "{remedy}"


class _WithRemedy(Exception):  # noqa: N818, of errors and warnings
    """A message with a place for the setting that helps.

    The parameter and its value are kept apart from the message, so that each interface
    can phrase the remedy in its own way.
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


class DataError(_WithRemedy, ValueError):
    """Data or files are not as expected, and a parameter may help.

    The parameter and its value are kept apart from the message, so that each interface
    can phrase the remedy in its own way: Python as ``encoding='latin-1'``, the command
    line as ``--encoding latin-1``.

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

    def about(self, subject: str) -> DataError:
        """Put the name of the data before the message, and keep the remedy.

        Parameters
        ----------
        subject : str
            Begins the sentence, for instance the name of a file.

        Returns
        -------
        error : DataError
        """
        return DataError(
            f"{subject} {self.message}", parameter=self.parameter, value=self.value
        )


class DataWarning(_WithRemedy, UserWarning):
    """Data are usable but suspicious, and a parameter may help.

    Parameters
    ----------
    message : str
        What was found. ``{remedy}`` in it stands for the setting that helps.
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
    """


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

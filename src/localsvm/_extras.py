"""Optional packages: imported when used, and asked for by name when missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from localsvm.exceptions import MissingExtraError


def require(module: str, extra: str, what: str) -> ModuleType:
    """Import an optional module, or say how to install it.

    Parameters
    ----------
    module : str
        Full name, e.g. ``"matplotlib.pyplot"``.
    extra : str
        Extra of this package that installs it.
    what : str
        Who needs it, as the subject of a sentence.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        If the package is not installed. An import that fails inside it is not hidden.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f"{what} needs {package}, which is not installed. Install it with\n"
            f"    pip install 'localsvm[{extra}]'",
            name=package,
        ) from error

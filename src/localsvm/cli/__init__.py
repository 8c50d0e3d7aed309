"""The command ``localsvm``: one file per command."""

from __future__ import annotations

import os
import sys
import threading

_EXTRA = ("typer", "rich")
_INTERRUPTED = 130


def main() -> None:
    """Run the command of this process and exit.

    The exit code is 0 if it is done, 1 if something is wrong with data or files, 2 if
    it was called in a wrong way, and 130 after Ctrl-C.
    """
    try:
        try:
            from localsvm.cli._app import app
        except ModuleNotFoundError as error:
            if error.name not in _EXTRA:
                raise
            sys.exit(
                f"error: The command needs {error.name}, which is not installed. "
                "Install it with\n    pip install 'localsvm[cli]'"
            )
        app()
    except KeyboardInterrupt:
        _leave_at_once()
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            _leave_at_once()
        raise


def _leave_at_once() -> None:
    """Exit without awaiting calls that Ctrl-C has left behind on other threads."""
    sys.stdout.flush()
    sys.stderr.flush()
    if threading.active_count() > 1:
        os._exit(_INTERRUPTED)
    sys.exit(_INTERRUPTED)

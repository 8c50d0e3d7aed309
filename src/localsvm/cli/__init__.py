"""The command ``localsvm``: one file per command."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

_EXTRA = ("typer", "rich")
_INTERRUPTED = 130
_TERMINATED = 143


def main() -> None:
    """Run the command of this process and exit.

    The exit code is 0 if it is done, 1 if something is wrong with data or files, 2 if
    it was called in a wrong way, 130 after Ctrl-C and 143 after SIGTERM.
    """
    signal.signal(signal.SIGTERM, _end)
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
        if end.code in (_INTERRUPTED, _TERMINATED):
            _leave_at_once(end.code)
        raise


def _end(signal_number: int, frame: FrameType | None) -> None:
    """Leave as after Ctrl-C, so that unfinished files are removed."""
    raise SystemExit(_TERMINATED)


def _leave_at_once(code: int = _INTERRUPTED) -> None:
    """Exit without awaiting calls that Ctrl-C has left behind on other threads."""
    sys.stdout.flush()
    sys.stderr.flush()
    if threading.active_count() > 1:
        os._exit(code)
    sys.exit(code)

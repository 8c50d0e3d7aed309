"""The command ``localsvm``: one file per command."""

from __future__ import annotations

import sys

_EXTRA = ("typer", "rich")


def main() -> None:
    """Run the command of this process and exit: 0 done, 1 failed, 2 misused."""
    try:
        from localsvm.cli._app import app
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        sys.exit(
            f"The command needs {error.name}, which is not installed. Install it with\n"
            "    pip install 'localsvm[cli]'"
        )
    app()

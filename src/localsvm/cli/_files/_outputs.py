"""Files that a command writes."""

from __future__ import annotations

import os
from pathlib import Path

from localsvm.cli._group import misuse


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a file that cannot be written, or must not, before the work begins."""
    if path.is_dir():
        misuse(f"{path} is a folder; expected the name of a file to write.")
    if path.exists() and not path.is_file():
        return  # a device or a FIFO, which is written in place
    if path.exists() and not force:
        misuse(f"{path} exists. Give another name, or --force to replace it.")
    if not path.parent.is_dir():
        misuse(f"{path} cannot be written: there is no folder {path.parent}. Make it.")
    if not os.access(path.parent, os.W_OK):
        misuse(f"{path} cannot be written: the folder {path.parent} is read-only.")


def size_of(path: Path) -> str:
    """Length of a file in words."""
    n_bytes = path.stat().st_size
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"

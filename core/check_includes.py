"""Fail for C++ files that do not include what they use: ``check_includes.py FILE...``.

A header counts as a file of its own. Headers of nanobind and Python stand for others,
so that they are not judged.
"""

import os
import platform
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanobind

CORE = Path(__file__).parent
TOOL = Path(sys.executable).with_name("clang-include-cleaner")
FOLDERS = (CORE / "include", nanobind.include_dir(), sysconfig.get_path("include"))
FLAGS = [
    *("-x", "c++", "-std=c++20", "-DLOCALSVM_ISA=baseline"),
    "-Wno-pragma-once-outside-header",
    *(f"-I{folder}" for folder in FOLDERS),
    *(["-DLOCALSVM_X86"] if platform.machine() in ("x86_64", "AMD64") else []),
]
OPTIONS = ["--print=changes", r"--ignore-headers=nanobind/.*,pyerrors\.h"]


def changes(path: str) -> str:
    """Includes to add (+) and to remove (-), or what the compiler refuses."""
    command = [str(TOOL), *OPTIONS, path, "--", *FLAGS]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    failed = f"exit code {run.returncode}\n" if run.returncode else ""
    return failed + run.stdout + run.stderr


if __name__ == "__main__":
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(sys.argv[1:], pool.map(changes, sys.argv[1:]), strict=True))
    wrong = {path: text for path, text in found.items() if text}
    sys.exit("\n".join(f"{path}:\n{text}" for path, text in wrong.items()) or 0)

"""The papers' data sets: loaded, or a reason why their test does not run."""

import os
from pathlib import Path
from typing import NoReturn

import pytest


def missing(reason) -> NoReturn:
    """Skip the test, or fail where the data sets are promised."""
    if os.environ.get("LOCALSVM_REQUIRE_DATA") == "1":
        pytest.fail(f"LOCALSVM_REQUIRE_DATA is 1, but: {reason}", pytrace=False)
    pytest.skip(str(reason))


def loaded(load, *args, **options):
    """What ``load`` returns, unless a data set is missing."""
    try:
        return load(*args, **options)
    except FileNotFoundError as reason:
        missing(reason)


def raw_file(name) -> Path:
    """Path of a raw table."""
    path = Path(os.environ.get("LOCALSVM_DATA", "")) / name
    if path.is_file():
        return path
    missing(f"{name} was not found; set LOCALSVM_DATA to its folder")


def adult_table() -> Path:
    """Path of the whole table Adult."""
    return raw_file("adult_raw.csv.gz")

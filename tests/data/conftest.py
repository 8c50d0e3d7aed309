"""Fixtures for the data sets: real ones if present, and a place without any."""

import functools

import pytest

from data_sets import adult_table, loaded
from localsvm.data import load_benchmark, load_task


@pytest.fixture
def real_benchmark():
    return functools.partial(loaded, load_benchmark)


@pytest.fixture
def real_task():
    return functools.partial(loaded, load_task)


@pytest.fixture
def npz_folder(tmp_path, monkeypatch):
    """The only folder where npz files are looked for; empty at first."""
    folder = tmp_path / "inner" / "npz"
    folder.mkdir(parents=True)
    monkeypatch.setenv("LOCALSVM_DATA", str(folder))
    return folder


@pytest.fixture
def adult_raw():
    """Path of the whole table Adult."""
    return adult_table()

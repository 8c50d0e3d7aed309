"""Fixtures for the data sets: real ones if present, and a place without any."""

import os
from pathlib import Path

import pytest

from localsvm.data import _openml, load_benchmark, load_task
from localsvm.data._readers import _openml as _openml_reader


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("tests do not use the network")

    monkeypatch.setattr(_openml, "fetch_openml", refuse)
    monkeypatch.setattr(_openml_reader, "fetch_openml", refuse)


def _or_skip(load):
    def load_or_skip(name, **options):
        try:
            return load(name, **options)
        except FileNotFoundError as error:
            pytest.skip(str(error))

    return load_or_skip


@pytest.fixture
def real_benchmark():
    return _or_skip(load_benchmark)


@pytest.fixture
def real_task():
    return _or_skip(load_task)


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
    path = Path(os.environ.get("LOCALSVM_DATA", "")) / "adult_raw.csv.gz"
    if path.is_file():
        return path
    pytest.skip("adult_raw.csv.gz was not found; set LOCALSVM_DATA to its folder")

"""A small table, a model of it, and the command."""

import shutil
from functools import partial

import pytest
from typer.testing import CliRunner

from localsvm.cli._app import app
from localsvm.cli._files import _rows
from localsvm.data import read_batches, sample_path
from people_data import make_people


def run(*arguments, **options):
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, words, prog_name="localsvm", **options)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """Folder with people.csv, of which a model people.lsvm was fitted; and others."""
    folder = tmp_path_factory.mktemp("workshop")
    make_people(300).to_csv(folder / "people.csv", index=False)
    make_people(100, seed=1).to_csv(folder / "others.csv", index=False)
    shutil.copy(sample_path("adult"), folder / "adult.csv.gz")
    result = run(
        *("fit", folder / "people.csv", "--target", "happy", "--method", "clustered"),
        *("--param", "n_regions=4", "-o", folder / "people.lsvm", "--quiet"),
    )
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def call(workshop, tmp_path, monkeypatch):
    """Call the command in a copy of the workshop."""
    for path in workshop.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return run


@pytest.fixture
def streamed(monkeypatch):
    """Every file is long enough for batches."""
    short = partial(read_batches, whole_below=0, batch_rows=70)
    monkeypatch.setattr(_rows, "read_batches", short)

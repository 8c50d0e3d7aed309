"""Files that are not written over."""

import os
from pathlib import Path

import pytest
import typer

from localsvm.cli._files._outputs import check_output


def words_of(path, force=False):
    with pytest.raises(typer.TyperException) as raised:
        check_output(path, force=force)
    assert raised.value.exit_code == 2
    return raised.value.message


def test_new_files_and_forced_ones_are_fine(tmp_path):
    path = tmp_path / "model.lsvm"
    check_output(path, force=False)
    path.touch()
    check_output(path, force=True)


def test_an_existing_file_is_kept(tmp_path):
    path = tmp_path / "model.lsvm"
    path.touch()
    assert words_of(path) == (
        f"{path} exists. Give another name, or --force to replace it."
    )


def test_what_is_not_replaced_needs_no_force(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    check_output(tmp_path / "fifo", force=False)
    check_output(Path(os.devnull), force=False)


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_is_no_file(tmp_path, force):
    assert "is a folder" in words_of(tmp_path, force)


def test_a_missing_folder_is_named(tmp_path):
    folder = tmp_path / "no"
    assert f"there is no folder {folder}" in words_of(folder / "model.lsvm")


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "is read-only" in words_of(tmp_path / "model.lsvm")

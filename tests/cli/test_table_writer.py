"""Tables written in batches."""

import io
from pathlib import Path

import pandas as pd
import pytest
import typer

from localsvm.cli._files._table_writer import check_table_output, table_writer

BATCHES = [
    pd.DataFrame({"row": [0, 1], "label": ["yes", "größer, kleiner"]}),
    pd.DataFrame({"row": [2], "label": [None]}),
]
READERS = {
    "out.csv": pd.read_csv,
    "out.csv.gz": pd.read_csv,
    "out.tsv": lambda path: pd.read_csv(path, sep="\t"),
    "out.parquet": pd.read_parquet,
}


@pytest.mark.parametrize("name", READERS)
def test_batches_become_one_table(tmp_path, name):
    path = tmp_path / name
    check_table_output(path, force=False)
    with table_writer(path) as write:
        for batch in BATCHES:
            write(batch)
        assert not path.exists()
    read = READERS[name](path)
    assert read["row"].tolist() == [0, 1, 2]
    assert read["label"].tolist()[:2] == ["yes", "größer, kleiner"]
    assert read["label"].isna().tolist() == [False, False, True]
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("n_batches", [0, 1])
def test_nothing_is_left_of_a_table_that_fails(tmp_path, name, n_batches):
    def fail():
        with table_writer(tmp_path / name) as write:
            for batch in BATCHES[:n_batches]:
                write(batch)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_standard_output_is_csv(capfdbinary):
    check_table_output(Path("-"), force=False)
    with table_writer(Path("-")) as write:
        write(BATCHES[0])
    out, _ = capfdbinary.readouterr()
    assert out == 'row,label\n0,yes\n1,"größer, kleiner"\n'.encode()


def test_other_names_are_misuse(tmp_path):
    for name in ("out.xlsx", "out", "out.gz"):
        with pytest.raises(typer.TyperException) as raised:
            check_table_output(tmp_path / name, force=True)
        assert raised.value.exit_code == 2
        assert "expected a name that ends in .csv" in raised.value.message


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_is_spared_what_it_would_obey(monkeypatch, terminal):
    stream = io.BytesIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(typer, "get_binary_stream", lambda name: stream)
    with table_writer(Path("-")) as write:
        write(pd.DataFrame({"label": ["\x1b[2J"]}))
    assert (b"\x1b" in stream.getvalue()) == (not terminal)

"""What the guides show runs: Python page by page, commands as far as their options."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from localsvm import ClusteredSVC
from localsvm.cluster import SampledKMeans, summarize_classes

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [*sorted((DOCS / "guide").glob("*.md")), DOCS / "start.md"]
NEEDS_EXTRA = {"scale": "dask.dataframe", "files": "skl2onnx", "tables": "pandas"}


def blocks(page, languages):
    """Code blocks in one of the languages."""
    text = page.read_text("utf-8")
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.S | re.M)
    return [code for language, code in found if language in languages]


def commands(page):
    """Lines of shell blocks that call the command, continued lines joined."""
    for block in blocks(page, ("", "console", "bash", "sh")):
        for line in block.replace("\\\n", " ").splitlines():
            command = line.removeprefix("$ ")
            if command.startswith("localsvm "):
                yield shlex.split(command, comments=True)[1:]


def write_rows(X, y):
    """Parquet: a file and a folder of two."""
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame = frame.assign(label=y)
    frame.to_parquet("rows.parquet")
    Path("rows").mkdir()
    for part in range(2):
        frame.iloc[part::2].to_parquet(f"rows/{part}.parquet")


def names_of_the_reader():
    """What a page takes for granted."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = ClusteredSVC(4, random_state=0).fit(X, y)
    clusters = SampledKMeans(5, random_state=0)
    return {
        **{"X": X, "y": y, "X_train": X, "y_train": y, "X_test": X[:100]},
        **{"y_test": y[:100], "queries": X[:5], "row": X[0], "model": model},
        "batches": [(X[part::4], y[part::4]) for part in range(4)],
        "read": lambda number: (X[number::100], y[number::100]),
        "summary": summarize_classes(clusters, X, y),
    }


with_python = [
    page for page in PAGES if blocks(page, ("python",)) and page.stem != "choosing"
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", with_python, ids=lambda page: page.stem)
def test_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    if page.stem in NEEDS_EXTRA:
        pytest.importorskip(NEEDS_EXTRA[page.stem])
    monkeypatch.chdir(tmp_path)
    names = names_of_the_reader()
    write_rows(names["X"], names["y"])
    if page.stem == "explain":  # columns are fixed by their names
        table = pd.DataFrame(names["X"], columns=["age", "sex", "hours"])
        model = ClusteredSVC(4, random_state=0).fit(table, names["y"])
        names |= {"model": model, "row": table.iloc[0], "X_test": table[:100]}
    if page.stem == "additive":
        codes = {"job": names["y"], "town": names["y"][::-1]}
        names["X"] = pd.DataFrame({"age": names["X"][:, 0], **codes})
    for block in blocks(page, ("python",)):
        exec(compile(block, f"{page.name}: {block[:40]!r}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_are_well_formed(page):
    typer = pytest.importorskip("typer")
    from localsvm.cli._app import app
    from localsvm.cli._old_names import in_new_names

    whole = typer.main.get_command(app)
    for words in commands(page):
        assert in_new_names(words) == (words, []), "a name of an earlier release"
        command, rest = whole, words
        context = typer.Context(whole, info_name="localsvm")
        while hasattr(command, "listed") and rest and not rest[0].startswith("-"):
            command, rest = command.get_command(context, rest[0]), rest[1:]
            assert command is not None, words
        if rest and not {"--help", "--version"} & {*rest}:
            assert command.make_context("command", list(rest)).params


def test_pages_have_commands_and_python():
    assert sum(len(list(commands(page))) for page in PAGES) > 10
    assert len(with_python) > 10


def test_choosing_prints_what_was_chosen(capsys):
    page = DOCS / "guide" / "choosing.md"
    for block in blocks(page, ("python",)):
        exec(block, {})
        assert "C'" in capsys.readouterr().out

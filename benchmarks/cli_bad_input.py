"""What the command line answers to bad input: run for real, written as a page.

``python benchmarks/cli_bad_input.py`` rewrites ``docs/cli-bad-input.md``.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from localsvm._plain_file import replace_file
from localsvm.cli._app import app

PAGE = Path(__file__).parents[1] / "docs" / "cli-bad-input.md"
_START = """# What the command line answers to bad input

Every answer is one line on standard error and an exit code: 1 if something is wrong
with data or files, 2 if the command was called in a wrong way. Nothing is written then.
`python benchmarks/cli_bad_input.py` writes this page: it runs each command. The tests
compare it with what the commands say. Numbers of bytes are shown as N.
"""
_HEADING = "| input | command | answer | code |\n| --- | --- | --- | --- |"
_FIT = "-t happy -o new.lsvm"
_SHARE = "federated share people.csv --recipe recipe.lsvm --name a -o b.scm"
# They depend on how long a fit took, and on the last bits of numbers.
_CHANGING = (
    (r"[0-9a-f]{12}\.\.\.", "..."),
    (r"\d+ bytes, but only \d+", "N bytes, but only N"),
)


@dataclass(frozen=True)
class Case:
    """A mistake and a command in which it is made.

    Parameters
    ----------
    mistake, command : str
    has_words_of_others : bool, default=False
        Whether the answer depends on the version of another library.
    """

    mistake: str
    command: str
    has_words_of_others: bool = False


@dataclass(frozen=True)
class Answer:
    """What a command wrote, and how it ended."""

    stdout: str
    stderr: str
    exit_code: int
    new_files: tuple[str, ...]


CASES = {
    "Files": (
        Case("a file that is not there", f"fit peple.csv {_FIT}"),
        Case("a folder", f"fit folder {_FIT}"),
        Case("an empty file", f"fit empty.csv {_FIT}"),
        Case("names of columns and no rows", f"fit header.csv {_FIT}"),
        Case("a spreadsheet", f"fit table.xlsx {_FIT}"),
        Case("a damaged gzip file", f"fit damaged.csv.gz {_FIT}", True),
        Case("a Parquet file that was cut off", f"fit cut.parquet {_FIT}", True),
        Case("letters of another encoding", f"fit latin.csv {_FIT}"),
        Case("a line with a field too many", f"fit ragged.csv {_FIT}"),
        Case("two possible delimiters", f"fit delimiters.csv {_FIT}"),
        Case("two columns of one name", f"fit twice.csv {_FIT}"),
        Case("svmlight with words in it", "fit words.svm -o new.lsvm"),
    ),
    "Columns and values": (
        Case("a misspelt target", "fit people.csv -t hapy -o new.lsvm"),
        Case("no target", "fit people.csv -o new.lsvm"),
        Case("a label that is missing", f"fit unlabelled.csv {_FIT}"),
        Case("a single class", f"fit single.csv {_FIT}"),
        Case("numbers instead of classes", "fit people.csv -t income -o new.lsvm"),
        Case("a key instead of classes", "fit keys.csv -t key -o new.lsvm"),
        Case("an infinite number", f"fit infinite.csv {_FIT}"),
        Case("columns that tell nothing", f"fit constant.csv {_FIT}"),
        Case("a value that no row has", f"fit people.csv {_FIT} --where town=Rome"),
        Case("a misspelt column of rows", f"fit people.csv {_FIT} --where twn=Ulm"),
        Case("an unknown column to drop", f"fit people.csv {_FIT} --drop colour"),
        Case("a column too few for a model", "predict people.lsvm narrow.csv"),
        Case("a word among the numbers", "predict people.lsvm word.csv"),
        Case("labels unknown to the model", "evaluate people.lsvm other.csv"),
        Case("the rows of the fit as a test", "evaluate people.lsvm people.csv"),
        Case(
            "a report on the rows of the fit", "report people.lsvm people.csv -o r.html"
        ),
        Case(
            "a test table of training rows", f"fit people.csv {_FIT} --test people.csv"
        ),
        Case("a row that is not there", "explain people.lsvm people.csv --row 300"),
    ),
    "Options": (
        Case("an unknown command", "fitt people.csv", True),
        Case("an unknown option", f"fit people.csv {_FIT} --penalty 3", True),
        Case("an unknown method", f"fit people.csv {_FIT} -m forest", True),
        Case("an unknown parameter", f"fit people.csv {_FIT} -m reduced --param D=3"),
        Case("a negative penalty", f"fit people.csv {_FIT} -m reduced --param C=-1"),
        Case(
            "an unknown kind of column",
            f"fit people.csv {_FIT} --column-type age=colour",
        ),
        Case("a part above all", f"fit people.csv {_FIT} --test-size 1.5", True),
        Case("an output that exists", "fit people.csv -t happy -o people.lsvm"),
        Case("no folder for the output", "fit people.csv -t happy -o no/new.lsvm"),
        Case("an output of unknown kind", "predict people.lsvm people.csv -o a.xlsx"),
        Case("a cost without classes", "predict people.lsvm people.csv --cost yes=3"),
    ),
    "Model files": (
        Case("a table as a model", "evaluate people.csv people.csv"),
        Case("a model that was cut off", "predict cut.lsvm people.csv"),
        Case("a model with a changed byte", "predict changed.lsvm people.csv"),
        Case("a model of a newer version", "info newer.lsvm"),
        Case("a recipe as a model", "serve recipe.lsvm"),
    ),
    "Parties": (
        Case("noise without its parameters", f"{_SHARE} --privacy dp"),
        Case("a model as a recipe", _SHARE.replace("recipe.l", "people.l")),
        Case("a second release of the rows", f"{_SHARE} --ledger ledger.json"),
        Case("a party twice", "federated merge a.scm again.scm -o new.lsvm"),
        Case(
            "a share that cannot be",
            "federated merge a.scm -o new.lsvm --max-share 0.5",
        ),
    ),
}


def answer_all() -> dict[Case, Answer]:
    """Run every command in a folder with files to fail on."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write_files()
        return {case: _answer(case) for cases in CASES.values() for case in cases}


def page(answers: dict[Case, Answer]) -> str:
    """Markdown of all answers."""
    return "\n".join([_START, *_sections(answers)])


def _sections(answers: dict[Case, Answer]) -> Iterator[str]:
    for title, cases in CASES.items():
        yield f"## {title}\n\n{_HEADING}"
        yield from (_line(case, answers[case]) for case in cases)
        yield ""


def _line(case: Case, found: Answer) -> str:
    text = found.stderr.strip().replace("`", "'").replace("|", "\\|")
    for pattern, shown in _CHANGING:
        text = re.sub(pattern, shown, text)
    return (
        f"| {case.mistake} | `localsvm {case.command}` | `{text}` | {found.exit_code} |"
    )


def _answer(case: Case) -> Answer:
    before = set(os.listdir())
    words = shlex.split(case.command)
    result = CliRunner().invoke(
        app, words, prog_name="localsvm", catch_exceptions=False
    )
    new = tuple(sorted(set(os.listdir()) - before))
    return Answer(result.stdout, result.stderr, result.exit_code, new)


def _write_files() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 300)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], 300)
    income = rng.normal(50, 15, 300).round(1)
    happy = np.where(age + income > 100, "yes", "no")
    people = pd.DataFrame({"age": age, "income": income, "town": town, "happy": happy})
    people.to_csv("people.csv", index=False)
    _write_tables(people)
    _write_models()


def _write_tables(people: pd.DataFrame) -> None:
    text = people.to_csv(index=False)
    lines = text.splitlines()
    Path("folder").mkdir()
    Path("empty.csv").touch()
    Path("header.csv").write_text(lines[0] + "\n")
    Path("table.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    Path("damaged.csv.gz").write_bytes(b"\x1f\x8b\x08\x00" + bytes(100))
    people.to_parquet("cut.parquet")
    Path("cut.parquet").write_bytes(Path("cut.parquet").read_bytes()[:500])
    people.assign(town="Köln").to_csv("latin.csv", index=False, encoding="latin-1")
    Path("ragged.csv").write_text("\n".join([*lines[:7], lines[7] + ",5", *lines[8:]]))
    Path("delimiters.csv").write_text("age;a,happy\n1;2,5\n")
    Path("twice.csv").write_text(text.replace("income", "age", 1))
    Path("words.svm").write_text("1 1:0.5 2:x\n0 1:0.2\n")
    gaps = people["happy"].where(people.index != 4)
    people.assign(happy=gaps).to_csv("unlabelled.csv", index=False)
    people.assign(happy="yes").to_csv("single.csv", index=False)
    people.assign(key=range(300)).to_csv("keys.csv", index=False)
    ages = people["age"].astype(float).where(people.index != 3, np.inf)
    people.assign(age=ages).to_csv("infinite.csv", index=False)
    same = people.assign(age=1, income=2, town="Ulm")
    same.to_csv("constant.csv", index=False)
    people.drop(columns="income").to_csv("narrow.csv", index=False)
    people.astype({"age": object}).replace({"age": {people["age"][5]: "old"}}).to_csv(
        "word.csv", index=False
    )
    people.assign(happy="perhaps").to_csv("other.csv", index=False)


def _write_models() -> None:
    for command in (
        "fit people.csv -t happy -m clustered -o people.lsvm -q",
        "federated recipe people.csv -t happy -o recipe.lsvm -q",
        f"{_SHARE.replace('b.scm', 'a.scm')} -q --ledger ledger.json",
    ):
        result = CliRunner().invoke(app, shlex.split(command), catch_exceptions=False)
        if result.exit_code:
            raise RuntimeError(f"{command}: {result.stderr}")
    Path("again.scm").write_bytes(Path("a.scm").read_bytes())
    whole = Path("people.lsvm").read_bytes()
    Path("cut.lsvm").write_bytes(whole[: len(whole) // 2])
    Path("changed.lsvm").write_bytes(whole[:-9] + b"x" + whole[-8:])
    Path("newer.lsvm").write_bytes(whole.replace(b"version 2", b"version 9", 1))


if __name__ == "__main__":
    replace_file(PAGE, [page(answer_all()).encode()])

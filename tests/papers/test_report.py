import io
import json
import re
from pathlib import Path

import pytest
from benchmarks.environment import cpu_model
from papers._report import draw_picture, write_report
from papers._text import UNEXPLAINED, note

from papers import (
    Cell,
    Paper,
    Printed,
    Size,
    Store,
    _report as report_module,
    fill_table,
    list_papers,
    run_experiments,
)
from papers_data import toy, toy_runs

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "papers"
COMMITTED = Store(PAGES / "records")


def draw(results):
    from papers._figures import Curve, draw_curves

    values = {float(r.run.seed): [r.value("scores.accuracy")] for r in results}
    return draw_curves({"toy": [Curve("ours", values)]}, xlabel="x", ylabel="y")


@pytest.fixture
def toy_report(tmp_path, monkeypatch):
    """Pages of a paper with one experiment, whose text would break HTML."""
    cells = {
        ("a < b", "blobs"): Cell("ours", printed=Printed(90.0, 1.0, "90.00±1.00")),
        ("CVM", "blobs"): Cell("CVM", printed=Printed(9.0, text="9.0"), absent="x & y"),
    }
    experiment = toy(toy_runs(2), cells=cells, draw=draw, remarks="One.\n\nTwo.")
    paper = Paper("toy", "A toy & more", "Nobody.", (experiment,))
    monkeypatch.setattr(report_module, "list_papers", lambda: [paper])
    store = Store(tmp_path / "records")
    run_experiments([experiment], Size.SMOKE, store, stream=io.StringIO())
    return write_report(tmp_path / "out", Size.SMOKE, store)


def test_report_has_all_pages(toy_report):
    names = [
        path.relative_to(toy_report[0].parents[1]).as_posix() for path in toy_report
    ]
    assert sorted(names) == [
        "README.md",
        "figures/toy-table1.png",
        "index.html",
        "toy.md",
    ]
    assert not list(toy_report[0].parents[1].rglob("*.tmp"))


def test_page_is_self_contained(toy_report):
    html = next(p for p in toy_report if p.name == "index.html").read_text()
    assert "data:image/png;base64," in html
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html)
    assert "a &lt; b" in html
    assert "A toy &amp; more" in html


@pytest.mark.parametrize("name", ["index.html", "toy.md"])
def test_every_cell_has_printed_value_ours_and_difference(toy_report, name):
    text = next(path for path in toy_report if path.name == name).read_text()
    for expected in ("90.00±1.00", "100.00±0.00", "+10.00", UNEXPLAINED, "9.0", "Two."):
        assert expected in text
    assert "X & y." in text.replace("&amp;", "&")


@pytest.mark.parametrize("name", ["index.html", "toy.md"])
def test_pages_say_where_the_records_were_made(toy_report, name):
    text = next(path for path in toy_report if path.name == name).read_text()
    assert f", {cpu_model()}. " in text.replace(".</p>", ". ")


def test_pages_of_old_records_do_not(toy_report, tmp_path):
    store = Store(tmp_path / "records")
    for path in store.folder.rglob("*.jsonl"):
        records = map(json.loads, path.read_text().splitlines())
        old = [{k: v for k, v in r.items() if k != "environment"} for r in records]
        path.write_text("".join(json.dumps(record) + "\n" for record in old))
    files = write_report(tmp_path / "out", Size.SMOKE, store)
    pages = [path.read_text() for path in files if path.suffix in (".md", ".html")]
    assert not any("Measured at" in page for page in pages)


def test_the_same_records_give_the_same_files(toy_report, tmp_path):
    before = {path: path.read_bytes() for path in toy_report}
    write_report(tmp_path / "out", Size.SMOKE, Store(tmp_path / "records"))
    assert all(path.read_bytes() == content for path, content in before.items())


def test_no_picture_without_records(tmp_path):
    experiment = toy(toy_runs(2), draw=draw)
    assert draw_picture(experiment, Size.SMOKE, Store(tmp_path)) is None


EXPERIMENTS = [
    experiment for paper in list_papers() for experiment in paper.experiments
]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_committed_results_that_differ_are_explained(experiment):
    filled = fill_table(experiment, Size.STANDARD, COMMITTED)
    for place, result in filled.items():
        scale = experiment.table.of_row(place[0])
        assert UNEXPLAINED not in note(result, scale), place


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_committed_records_are_those_of_the_definitions(experiment):
    stored = set(COMMITTED.read(experiment.store_id, Size.STANDARD))
    users = [e for e in EXPERIMENTS if e.store_id == experiment.store_id]
    wanted = {key for user in users for key in user.distinct_runs(Size.STANDARD)}
    assert stored <= wanted, "run `python -m papers run --prune`"


def test_committed_pages_show_the_committed_records(tmp_path):
    write_report(tmp_path, Size.STANDARD, COMMITTED)
    for path in tmp_path.glob("*.md"):
        message = "run `make papers-report`"
        assert (PAGES / path.name).read_text() == path.read_text(), message
    for path in (tmp_path / "figures").iterdir():
        assert (PAGES / "figures" / path.name).is_file()

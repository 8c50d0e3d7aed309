import sys

import pytest
from papers.__main__ import app
from typer.testing import CliRunner

from papers import Paper, _registry, _report, list_papers
from papers_data import toy, toy_runs

ALL = list_papers()


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        return CliRunner().invoke(app, list(arguments))

    return call


@pytest.fixture
def set_paper(monkeypatch):
    """Let the command know one toy paper with the given runs."""

    def set_paper(runs, **options):
        papers = [Paper("toy", "A toy", "Nobody.", (toy(runs, **options),))]
        monkeypatch.setattr(_registry, "_PAPERS", tuple(papers))
        monkeypatch.setattr(_report, "list_papers", lambda: papers)
        monkeypatch.setattr("papers.__main__.list_papers", lambda: papers)

    return set_paper


def test_list_names_every_experiment(call):
    result = call("list")
    assert result.exit_code == 0
    for paper in ALL:
        assert paper.citation in result.output
        for experiment in paper.experiments:
            assert experiment.id in result.output


def test_run_show_and_report(call, set_paper, tmp_path):
    set_paper(toy_runs(2))
    result = call("run", "toy/table1", "--size", "smoke")
    assert result.exit_code == 0
    assert "2 runs done, 0 were done before" in result.output
    assert (tmp_path / "papers-records/toy/table1.smoke.jsonl").is_file()
    assert "0 runs done, 2 were done before" in call("run", "--size", "smoke").output
    shown = call("show", "toy", "--size", "smoke")
    assert shown.exit_code == 0
    assert "100.00±0.00" in shown.output
    written = call("report", "--size", "smoke", "--out", "pages")
    assert written.exit_code == 0
    assert (tmp_path / "pages/index.html").is_file()
    assert (tmp_path / "pages/toy.md").is_file()


def test_store_and_jobs_are_options(call, set_paper, tmp_path):
    set_paper(toy_runs(2))
    result = call("run", "--size", "full", "--store", "here", "--jobs", "2")
    assert result.exit_code == 0
    assert (tmp_path / "here/toy/table1.full.jsonl").is_file()


def test_failing_runs_give_code_1_and_are_named(call, set_paper):
    set_paper([*toy_runs(1, fails=True), *toy_runs(1)])
    result = call("run", "--size", "smoke")
    assert result.exit_code == 1
    assert "failed: toy/table1 [ours, seed 0]: RuntimeError" in result.output
    assert "1 runs done" in result.output


@pytest.mark.parametrize("command", ["run", "show"])
def test_unknown_ids_name_the_known_ones(call, command):
    result = call(command, "csvm/table9")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: Unknown experiment 'csvm/table9'")
    assert "csvm/table2" in result.stderr


@pytest.mark.parametrize(
    "arguments", [("run", "--size", "huge"), ("run", "--jobs", "0"), ("nothing",)]
)
def test_misuse_gives_code_2(call, arguments):
    assert call(*arguments).exit_code == 2


def test_without_command_the_help_is_shown(call):
    result = call()
    assert result.exit_code == 2
    assert "report" in result.stderr


def test_damaged_records_give_code_1_and_their_place(call, set_paper, tmp_path):
    set_paper(toy_runs(1))
    path = tmp_path / "papers-records/toy/table1.smoke.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("nonsense\n")
    for command in ("run", "show", "report"):
        result = call(command, "--size", "smoke")
        assert result.exit_code == 1
        assert "table1.smoke.jsonl, line 1" in result.output


def test_prune_drops_records_of_old_definitions(call, set_paper, tmp_path):
    set_paper(toy_runs(2))
    call("run", "--size", "smoke")
    set_paper(toy_runs(1))
    result = call("run", "--size", "smoke", "--prune")
    assert result.exit_code == 0
    assert "1 records of old definitions dropped" in result.output
    text = (tmp_path / "papers-records/toy/table1.smoke.jsonl").read_text()
    assert len(text.splitlines()) == 1


def test_missing_extra_of_the_report_gives_the_install_command(
    call, set_paper, monkeypatch
):
    set_paper(toy_runs(1))
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = call("report")
    assert result.exit_code == 1
    assert "pip install 'localsvm[report]'" in result.output


def test_figures_are_drawn_where_asked(call, tmp_path):
    assert call("run", "csvm/figure1", "--size", "smoke").exit_code == 0
    result = call("show", "csvm/figure1", "--size", "smoke", "--figures", "pictures")
    assert result.exit_code == 0
    picture = tmp_path / "pictures/csvm-figure1.png"
    assert picture.read_bytes().startswith(b"\x89PNG")

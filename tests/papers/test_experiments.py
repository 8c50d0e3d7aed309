"""Every registered experiment, run at size smoke and shown."""

import json

import pytest
from papers._report import draw_picture
from papers._text import table_lines

from data_sets import missing
from papers import Size, Store, fill_table, list_papers, run_experiments

EXPERIMENTS = [
    experiment for paper in list_papers() for experiment in paper.experiments
]
OWN_RECORDS = [e for e in EXPERIMENTS if e.records_of is None]


@pytest.fixture(scope="session")
def smoke_store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("records"))


def run_or_skip(experiment, store):
    summary = run_experiments([experiment], Size.SMOKE, store)
    if any("FileNotFoundError" in failure for failure in summary.failed):
        missing(summary.failed[0])
    return summary


@pytest.mark.parametrize("experiment", OWN_RECORDS, ids=lambda e: e.id)
def test_smoke_run(experiment, smoke_store):
    summary = run_or_skip(experiment, smoke_store)
    assert summary.failed == []
    path = smoke_store.path(experiment.id, Size.SMOKE)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    runs = experiment.distinct_runs(Size.SMOKE)
    available = {key for key, run in runs.items() if run.is_available()}
    assert {record["key"] for record in records} == available
    assert len(records) == len(available)
    for record in records:
        assert set(record["cpu_seconds"]) >= {"prepare", "fit", "predict"}
        assert set(record["versions"]) >= {"python", "numpy", "scikit-learn"}
        assert set(record["environment"]) >= {"commit", "dirty", "cpu", "cores", "blas"}


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_smoke_records_are_shown(experiment, smoke_store):
    run_or_skip(experiment, smoke_store)
    filled = fill_table(experiment, Size.SMOKE, smoke_store)
    assert experiment.draw or any(cell.values for cell in filled.values())
    assert list(table_lines(experiment, Size.SMOKE, smoke_store))
    picture = draw_picture(experiment, Size.SMOKE, smoke_store)
    assert (picture is not None) == (experiment.draw is not None)


@pytest.mark.parametrize("size", Size)
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_no_cell_is_left_out_silently(experiment, size):
    groups = {run.group for run in experiment.runs(size)}
    assert groups
    for place, cell in (experiment.table.cells if experiment.table else {}).items():
        reason = cell.absent or experiment.cuts.get(size)
        assert cell.group in groups or reason, f"{place} has neither runs nor a reason"
        assert not (cell.absent and cell.group in groups)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_every_run_is_shown(experiment):
    if experiment.table is None:
        return
    shown = {cell.group for cell in experiment.table.cells.values()}
    for size in Size:
        assert {run.group for run in experiment.runs(size)} <= shown


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_ids_name_paper_and_records(experiment):
    paper, _, name = experiment.id.partition("/")
    assert paper in {known.id for known in list_papers()}
    assert name
    assert experiment.store_id in {known.id for known in OWN_RECORDS}


def test_ids_are_distinct():
    ids = [experiment.id for experiment in EXPERIMENTS]
    assert len(ids) == len(set(ids))

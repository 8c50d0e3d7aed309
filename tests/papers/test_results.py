import io
from dataclasses import replace

import pytest
from papers._results import CellResult
from papers._text import comparison, note, table_lines

from papers import (
    Cell,
    Method,
    Part,
    Printed,
    Size,
    Store,
    Table,
    fill_table,
    read_printed,
    run_experiments,
)
from papers_data import threshold_method, toy, toy_runs

PLACE = ("threshold", "blobs")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def record(run, accuracy, **more):
    return {"key": run.key, "scores": {"accuracy": accuracy}, **more}


def write(store, *records, name="toy/table1"):
    with store.writer(name, Size.SMOKE) as writer:
        for item in records:
            writer.append(item)


def cell_of(experiment, store):
    return fill_table(experiment, Size.SMOKE, store)[PLACE]


def test_cells_are_made_from_records_alone(store, tmp_path):
    trace = tmp_path / "trace"
    runs = toy_runs(2, trace=str(trace))
    write(store, record(runs[0], 12.0), record(runs[1], 14.0))
    cell = cell_of(toy(runs), store)
    assert cell.mean == 13.0
    assert cell.spread == pytest.approx(2**0.5)
    assert cell.difference == -86.0
    assert not trace.exists()


def test_runs_that_are_different_problems_have_no_spread(store):
    runs = toy_runs(2)
    write(store, record(runs[0], 12.0), record(runs[1], 14.0))
    experiment = toy(runs)
    apart = replace(experiment, table=replace(experiment.table, repeated=False))
    cell = cell_of(apart, store)
    assert (cell.mean, cell.spread) == (13.0, None)


def test_records_of_other_definitions_are_not_shown(store):
    runs = toy_runs(1)
    write(store, record(toy_runs(1, threshold=0.5)[0], 1.0), record(runs[0], 12.0))
    assert cell_of(toy(runs), store).values == (12.0,)


def test_records_are_shown_in_their_group_of_today(store):
    (run,) = toy_runs(1, group="renamed")
    write(store, record(run, 12.0, group="ours"))
    cells = {PLACE: Cell("renamed")}
    assert cell_of(toy([run], cells=cells), store).values == (12.0,)


def test_one_repetition_has_no_spread(store):
    runs = toy_runs(2)
    write(store, record(runs[0], 12.0))
    cell = cell_of(toy(runs), store)
    assert cell.spread is None
    assert "1 of 2 runs." in note(cell, toy(runs).table)


@pytest.mark.parametrize(("take", "expected"), [("min", 12.0), ("max", 16.0)])
def test_least_or_most_of_the_repetitions(take, expected, store):
    runs = toy_runs(3)
    write(store, *map(record, runs, (12.0, 16.0, 13.0)))
    cells = {PLACE: Cell("ours", take=take, printed=Printed(99.0))}
    cell = cell_of(toy(runs, cells=cells), store)
    assert cell.mean == expected
    assert cell.spread is None
    assert cell.difference == expected - 99.0
    assert "runs" not in note(cell, toy(runs).table)


def test_scores_are_added_up(store):
    (run,) = toy_runs(1)
    times = {"fit": 1.5, "predict": 2.0}
    write(store, {"key": run.key, "cpu_seconds": times})
    score = ("cpu_seconds.fit", "cpu_seconds.predict")
    cells = {PLACE: Cell("ours", score)}
    assert cell_of(toy([run], cells=cells), store).values == (3.5,)


def test_a_record_without_the_score_gives_no_value(store):
    (run,) = toy_runs(1)
    write(store, {"key": run.key, "scores": {}})
    assert cell_of(toy([run]), store).values == ()


def test_missing_cells_say_why(store):
    runs = toy_runs(1)
    cells = {
        PLACE: Cell("ours"),
        ("CVM", "blobs"): Cell("CVM", absent="printed only"),
        ("large", "blobs"): Cell("large"),
        ("MSVM", "blobs"): Cell("MSVM"),
    }
    part = Part("localsvm.NoSuchSVC")
    runs.append(replace(runs[0], group="MSVM", method=Method("MSVM", part)))
    experiment = toy(runs, cells=cells, cuts={Size.SMOKE: "too slow"})
    filled = fill_table(experiment, Size.SMOKE, store)
    assert [cell.missing for cell in filled.values()] == [
        "not run yet at size smoke",
        "printed only",
        "not run at size smoke: too slow",
        "pending: localsvm.NoSuchSVC is not there yet",
    ]
    text = "\n".join(table_lines(experiment, Size.SMOKE, store))
    assert "Printed only." in text
    assert "Not run at size smoke: too slow." in text


@pytest.mark.parametrize(
    ("values", "printed", "differs"),
    [
        ((95.0,), Printed(95.4), False),
        ((95.0,), Printed(95.6), True),
        ((94.0, 96.0), Printed(96.3), False),
        ((95.0,), Printed(96.0, 1.1), False),
        ((95.0,), Printed(96.0, 0.9), True),
        ((), Printed(96.0), False),
        ((95.0,), None, False),
    ],
)
def test_cells_differ_beyond_tolerance_and_spread(values, printed, differs):
    result = CellResult(Cell("g", printed=printed), values, len(values), "")
    assert result.differs(Table({}, tolerance=0.5)) is differs
    assert not result.differs(Table({}, ratio=True))


@pytest.mark.parametrize(
    ("ours", "text"), [(95.999, "0.00"), (96.001, "0.00"), (97, "+1.00"), (95, "-1.00")]
)
def test_differences_have_a_sign_and_zero_has_plus(ours, text):
    result = CellResult(Cell("g", printed=Printed(96.0)), (ours,), 1, "")
    assert comparison(result, Table({})) == (text if text[0] in "+-" else f"+{text}")


def test_notes_are_shown_where_cells_differ():
    cell = Cell("g", printed=Printed(96.0), note="Other rows.")
    assert note(CellResult(cell, (90.0,), 1, ""), Table({})) == "Other rows."
    assert note(CellResult(cell, (96.0,), 1, ""), Table({})) == ""
    assert (
        note(CellResult(cell, (96.0,), 1, ""), Table({}, ratio=True)) == "Other rows."
    )
    unknown = replace(cell, note="")
    assert "not known" in note(CellResult(unknown, (90.0,), 1, ""), Table({}))


def test_quotient_of_a_printed_zero_is_none():
    result = CellResult(Cell("g", printed=Printed(0.0)), (1.0,), 1, "")
    assert result.quotient is None


def test_reason_of_a_missing_cell_ends_with_one_period(store):
    cuts = {Size.SMOKE: "Two tasks. Too slow."}
    experiment = toy(toy_runs(1), cells={PLACE: Cell("large")}, cuts=cuts)
    result = fill_table(experiment, Size.SMOKE, store)[PLACE]
    text = "Not run at size smoke: Two tasks. Too slow."
    assert note(result, experiment.table) == text


def test_speed_up_is_that_of_runs_with_the_same_seed(store):
    ours, base = toy_runs(3), toy_runs(3, group="base", threshold=0.5)
    for run, seconds in zip([*ours, *base[1:]], (2, 4, 0, 8, 9), strict=True):
        write(store, {"key": run.key, "cpu_seconds": {"fit": seconds}})
    cells = {PLACE: Cell("ours", ("cpu_seconds.fit",), baseline="base")}
    assert cell_of(toy([*ours, *base], cells=cells), store).values == (2.0,)


def test_rows_of_a_table_have_their_own_scale(store):
    runs = toy_runs(1)
    write(store, record(runs[0], 95.0))
    cells = {
        (row, "blobs"): Cell("ours", printed=Printed(190.0, text="190"))
        for row in ("time", "rows", "other")
    }
    scales = {"time": {"ratio": True}, "rows": {"digits": 0, "tolerance": 100.0}}
    experiment = toy(runs, cells=cells)
    experiment = replace(experiment, table=Table(cells, scales=scales))
    time, rows, other = list(table_lines(experiment, Size.SMOKE, store))[2:]
    assert "0.5 times" in time
    assert rows.split() == ["rows", "blobs", "190", "95", "-95"]
    assert "-95.00" in other
    assert "not known" in other


def test_printed_tables_are_read_by_row_and_column():
    table = read_printed("""
             | A     | B
        one  | 1.5   | -
        two  | 3±0.5 | -4 +- 1.25
    """)
    assert table["one", "A"] == Printed(1.5, None, "1.5")
    assert table["one", "B"] is None
    assert table["two", "A"] == Printed(3.0, 0.5, "3±0.5")
    assert table["two", "B"] == Printed(-4.0, 1.25, "-4 +- 1.25")


@pytest.mark.parametrize(
    ("line", "message"),
    [("one | 1", "has 1 values; expected 2"), ("one | 1 | x", "'x' is no printed")],
)
def test_bad_printed_tables_are_refused(line, message):
    with pytest.raises(ValueError, match=message):
        read_printed(f"| A | B\n{line}")


def test_record_says_how_it_was_made(store):
    runs = toy_runs(1, grid={"threshold": (0.0, 0.5)})
    run_experiments([toy(runs)], Size.SMOKE, store, stream=io.StringIO())
    (made,) = store.read("toy/table1", Size.SMOKE).values()
    assert made["method"] == threshold_method().name
    assert made["chosen"] == {"threshold": 0.0}
    assert made["run"]["data"]["load"] == "papers_data.blobs"
    assert set(made["seconds"]) == {"prepare", "select", "fit", "predict"}
    assert set(made["cpu_seconds"]) == set(made["seconds"])
    assert made["rows"] == [40, 1, 40]

"""``localsvm tune``: the best of all methods within a time budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from localsvm.cli import _options as options
from localsvm.cli._fitting import encoder_of, make_encoder, tell_rows
from localsvm.cli._methods import AUTO, Method
from localsvm.cli._notes import training_notes, where_it_is
from localsvm.cli._outputs import check_output
from localsvm.cli._rows import as_strings, check_classes, column_kinds, read_labelled
from localsvm.cli._screen import Screen, to_plain
from localsvm.cli._seen import sketch_of
from localsvm.cli._watch import Watch, watching
from localsvm.estimators import DEFAULT_METHOD
from localsvm.export import save
from localsvm.tune import RaceResult, Trial, race

_SHOWN_TRIALS = 15

_Budget = Annotated[
    float, typer.Option("--time-budget", min=0.1, help="Seconds for all of it.")
]
_Methods = Annotated[
    list[Method] | None,
    typer.Option("--method", "-m", help="Methods that take part; repeatable."),
]
_TestSize = Annotated[
    float,
    typer.Option(
        "--test-size",
        min=0.01,
        max=0.5,
        help="Part of the rows that is held out.",
    ),
]


def tune(
    data: options.DataArgument,
    out: options.OutOption,
    target: options.TargetOption = None,
    time_budget: _Budget = 60.0,
    methods: _Methods = None,
    where: options.WhereOption = None,
    drop: options.DropOption = None,
    kind: options.KindOption = None,
    test_size: _TestSize = 0.2,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = 1,
    read: options.ReadOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Race all methods and their parameters on growing parts of the rows.

    The winner is scored on rows that nothing was chosen by, then fitted to all rows and
    written to a file. What was tried is shown.
    """
    screen = Screen(as_json, quiet)
    check_output(out, force=force)
    kinds = column_kinds(kind or [])
    rows = read_labelled(
        data,
        target=target,
        where=where,
        drop=drop or [],
        read=read or [],
        strings=as_strings(kinds),
    )
    check_classes(rows, target)
    encoder = make_encoder(rows, kinds)
    tell_rows(rows, screen)
    with watching(screen, "Racing", time_budget) as watch:
        result = race(
            rows.X,
            rows.y,
            encoder=encoder,
            time_budget=time_budget,
            methods=_names(methods),
            random_state=seed,
            n_jobs=jobs,
            test_size=test_size,
            on_progress=_Teller(watch).tell,
        )
    notes = training_notes(rows, target=target, seed=seed, where=where, read=read)
    notes["held_out"] = _held_out(result)
    model = result.best_estimator_
    # Rows that the race chose by are no longer new, even if the last fit left them out.
    save(model, out, notes=notes, fitted_rows=sketch_of(rows, encoder_of(model)))
    document = {"model": out, **result.to_dict(), "notes": notes}
    screen.show(to_plain(document), _text(result, out, data))


def _names(methods: list[Method] | None) -> list[str] | None:
    if not methods:
        return None
    return [DEFAULT_METHOD.name if each is AUTO else each.value for each in methods]


def _held_out(result: RaceResult) -> dict[str, Any]:
    accuracy = result.score.to_dict()
    n_rows = accuracy.pop("n_rows")
    return {"n_rows": n_rows, "confidence_level": 0.95, "accuracy": accuracy}


def _text(result: RaceResult, out: Path, data: str) -> str:
    tried = result.table(max_rows=_SHOWN_TRIALS)
    return "\n".join([tried, "", str(result), "", *where_it_is(out, data)])


class _Teller:
    """Says how many trials there were, and how good the best was."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._n_trials = 0
        self._best = 0.0

    def tell(self, trial: Trial) -> None:
        self._n_trials += 1
        self._best = max(self._best, trial.score or 0.0)
        self._watch.say(
            f"{self._n_trials} trials, best {self._best:.4f}, last {trial.method} on "
            f"{trial.n_rows:,} rows"
        )
        self._watch.advance(trial.seconds)

"""``localsvm compare``: a method beside well-known ones, on the user's rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.base import clone

from localsvm.cli import _options as options
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import (
    as_strings,
    check_classes,
    column_kinds,
    read_labelled,
)
from localsvm.cli._files._split import split_rows
from localsvm.cli._group import misuse
from localsvm.cli._methods import Method, make_estimator
from localsvm.cli._model._fitting import (
    final_step,
    fit_on_all,
    make_encoder,
    make_model,
)
from localsvm.cli._model._models import load_model
from localsvm.cli._model._seen import leave_out
from localsvm.cli._show._peers import compare_models, peer_lines
from localsvm.cli._show._screen import Screen

_What = Annotated[
    str,
    typer.Argument(
        metavar="MODEL|METHOD",
        help="Model file, whose parameters a new fit uses; or a method of `fit`.",
    ),
]
_MaxTime = Annotated[
    float,
    typer.Option(
        "--max-time",
        min=0.1,
        help="CPU-time limit per classifier in seconds.",
        rich_help_panel=options.RUN,
    ),
]
_Sample = Annotated[
    int,
    typer.Option(
        "--sample",
        min=10,
        help="Largest number of rows that SVC is fitted to.",
        rich_help_panel=options.RUN,
    ),
]


def compare(
    what: _What,
    data: options.DataArgument,
    target: options.TargetOption = None,
    test: options.TestOption = None,
    test_size: options.TestSizeOption = 0.2,
    where: options.WhereOption = None,
    drop: options.DropOption = None,
    column_type: options.ColumnTypeOption = None,
    sample: _Sample = 20_000,
    max_time: _MaxTime = 30.0,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = options.ALL_CORES,
    read: Reading = AS_FOUND,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Compare a model with LinearSVC, SVC and gradient boosting on the same rows.

    All are fitted to the same rows and scored on the others. The other classifiers
    have scikit-learn's default parameters.
    """
    screen = Screen("compare", as_json, quiet)
    estimator, kinds, reading = _competitor(what, column_type or [], seed, jobs)
    reading |= {"target": target or reading["target"]}
    reading["read"] = [*reading["read"], *read.noted()]
    rows = read_labelled(data, drop=drop or [], **reading | {"where": where})
    check_classes(rows, reading["target"])
    encoder = make_encoder(rows, kinds, estimator)
    if test is not None:
        train, kept = rows, leave_out(rows, read_labelled(test, **reading), encoder)
        screen.say(f"{test}: {kept.headline}")
        unseen = kept.table
    elif test_size:
        train, unseen = split_rows(rows, test_size, seed)
    else:
        misuse(
            "--test-size 0: the comparison needs held-out rows, or a table as --test."
        )
    model = make_model(estimator, encoder)
    if Path(what).exists():
        screen.say(
            f"The parameters are those of {what}. If they were chosen on some of these "
            "rows, its score is too good."
        )
    seconds = fit_on_all(model, train, screen).cpu_seconds
    limits = {
        "fit_seconds": seconds,
        "sample": sample,
        "max_time": max_time,
        "random_state": seed,
    }
    peers = compare_models(model, train, unseen, screen, **limits)
    document = {"data": data, "peers": [peer.to_dict() for peer in peers]}
    screen.show(document, "\n".join(peer_lines(peers)))


def _competitor(
    what: str, kind: Sequence[str], seed: int, jobs: int
) -> tuple[Any, dict[str, str], dict[str, Any]]:
    """Estimator, kinds of columns, and how to read rows."""
    kinds = column_kinds(kind)
    if what in list(Method):
        estimator = make_estimator(Method(what), [], seed=seed, jobs=jobs)
        reading = {"target": None, "read": [], "strings": as_strings(kinds)}
        return estimator, kinds, reading
    if not Path(what).exists():
        names = ", ".join(Method)
        misuse(f"{what}: no such model file, and no method; expected one of {names}.")
    loaded = load_model(Path(what))
    estimator = clone(final_step(loaded.fitted)).set_params(n_jobs=jobs)
    if loaded.encoder is not None:
        kinds = (loaded.encoder.kinds or {}) | kinds
    reading = loaded.reading()
    return estimator, kinds, {"target": loaded.target, **reading}

"""``localsvm federated share``: clusters of a party's rows, for a model of all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from localsvm import federated
from localsvm._extras import require
from localsvm.cli import _options as options
from localsvm.cli._commands.federated.protection import BY_SIZE, Privacy, Protection
from localsvm.cli._commands.federated.recipe import Recipe, load_recipe
from localsvm.cli._files._outputs import check_output, size_of
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import naming, read_labelled
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching

_Recipe = Annotated[
    Path,
    typer.Option(
        "--recipe",
        help="Encoding of the rows, the same for all parties.",
        rich_help_panel=options.DATA,
    ),
]
_Name = Annotated[
    str,
    typer.Option(
        "--name",
        help="Name of the party. The output has it.",
        rich_help_panel=options.OUTPUT,
    ),
]
_Clusters = Annotated[
    int,
    typer.Option(
        "--clusters",
        min=1,
        help="Largest number of clusters per class.",
        rich_help_panel=options.MODEL,
    ),
]
_Ledger = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        help="File that records the releases of these rows, and limits them.",
        rich_help_panel=options.OUTPUT,
    ),
]


def share(
    data: options.DataArgument,
    recipe: _Recipe,
    name: _Name,
    out: options.OutOption,
    target: options.TargetOption = None,
    where: options.WhereOption = None,
    clusters: _Clusters = 200,
    protection: Protection = BY_SIZE,
    ledger: _Ledger = None,
    seed: options.SeedOption = 0,
    read: Reading = AS_FOUND,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Summarise the rows of a party as clusters that may leave it.

    Rows stay here; `merge` learns a model from the files of all parties. Clusters are
    data about people: the output states what they protect. Only dp is a guarantee.
    """
    screen = Screen("federated share", as_json, quiet)
    check_output(out, force=force)
    protection.check()
    agreed = load_recipe(recipe)
    level = protection.level(agreed)
    how = {
        "read": [*agreed.read, *read.noted()],
        "strings": agreed.strings,
        "keep": list(getattr(agreed.encoder, "feature_names_in_", [])),
    }
    rows = read_labelled(data, target=target or agreed.target, where=where, **how)
    party = federated.Party(
        name,
        n_clusters=clusters,
        centers=protection.public_centers(agreed, seed, how),
        classes=agreed.labels if protection.privacy is Privacy.DP else None,
        ledger=_ledger(ledger),
        random_state=seed,
    )
    with naming(data):
        encoded = _encoded(agreed, rows.X)
    with watching(screen, f"Summarising {rows.X.shape[0]:,} rows"):
        shared = party.summarize(encoded, rows.y, level)
    shared.save(out)
    if ledger is None:
        screen.say("No --ledger: nothing prevents a second release of these rows.")
    document = {
        "summary": out,
        "bytes": out.stat().st_size,
        "n_clusters": shared.summary.n_clusters,
        "parties": [record.to_plain() for record in shared.parties],
    }
    text = f"{shared}\n\nAll that leaves: {out} ({size_of(out)})."
    screen.show(document, text)


def _encoded(agreed: Recipe, X: Any) -> Any:
    """Encode rows, under the names of their features, which others can compare."""
    frame = require("pandas", "cli", "localsvm federated share").DataFrame
    names = agreed.encoder.get_feature_names_out()
    return frame(agreed.encoder.transform(X), columns=names)


def _ledger(path: Path | None) -> federated.Ledger:
    ledger = federated.Ledger()
    if path is None:
        return ledger
    try:
        ledger.save(path)
    except FileExistsError:
        return federated.Ledger.load(path)
    return ledger

"""``localsvm share``: clusters of a party's rows, for others to learn from."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from localsvm import federated
from localsvm._extras import require
from localsvm.cli import _options as options
from localsvm.cli._group import misuse
from localsvm.cli._outputs import check_output, size_of
from localsvm.cli._recipe import Recipe, load_recipe
from localsvm.cli._rows import naming, read_labelled, read_rows
from localsvm.cli._screen import Screen
from localsvm.cli._watch import watching
from localsvm.cluster import SampledKMeans


class Privacy(StrEnum):
    """Levels of privacy."""

    MIN_SIZE = "min-size"
    NONE = "none"
    DP = "dp"


_Recipe = Annotated[
    Path, typer.Option("--recipe", help="How rows are encoded; the same for all.")
]
_Name = Annotated[str, typer.Option("--name", help="Of the party; it leaves.")]
_Privacy = Annotated[Privacy, typer.Option("--privacy", help="What protects the rows.")]
_MinRows = Annotated[
    int,
    typer.Option("--min-rows", min=2, help="min-size: fewest rows that share a value."),
]
_RoundTo = Annotated[
    int, typer.Option("--round-to", min=1, help="min-size: counts are multiples of it.")
]
_Epsilon = Annotated[
    float | None, typer.Option("--epsilon", help="dp: privacy loss; 1 is usual.")
]
_Delta = Annotated[
    float | None, typer.Option("--delta", help="dp: chance of more; below 1 / rows.")
]
_Bounds = Annotated[
    str | None,
    typer.Option(
        "--bounds",
        metavar="LOW,HIGH",
        help="dp: of encoded features, such as -3,3; values beyond are moved there. "
        "By default the recipe gives them.",
    ),
]
_Centers = Annotated[
    int | None,
    typer.Option(
        "--centers", min=1, help="dp: number of public centres; the same seed for all."
    ),
]
_Public = Annotated[
    str | None,
    typer.Option(
        "--public",
        metavar="DATA",
        help="Public rows whose k-means centres are taken; without, they are random.",
    ),
]
_Clusters = Annotated[
    int, typer.Option("--clusters", min=1, help="Most clusters of a class.")
]
_Ledger = Annotated[
    Path | None,
    typer.Option("--ledger", help="File that counts releases of these rows."),
]


def share(
    data: options.DataArgument,
    recipe: _Recipe,
    name: _Name,
    out: options.OutOption,
    target: options.TargetOption = None,
    privacy: _Privacy = Privacy.MIN_SIZE,
    min_rows: _MinRows = 10,
    round_to: _RoundTo = 5,
    epsilon: _Epsilon = None,
    delta: _Delta = None,
    bounds: _Bounds = None,
    centers: _Centers = None,
    public: _Public = None,
    clusters: _Clusters = 200,
    ledger: _Ledger = None,
    where: options.WhereOption = None,
    read: options.ReadOption = None,
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Summarise rows as clusters that may leave, and write them to a file.

    Rows stay here; `merge` makes a model of the files of all parties. Clusters are data
    about people: what is shown says what they protect. Only dp is a guarantee.
    """
    screen = Screen(as_json, quiet)
    check_output(out, force=force)
    if privacy is Privacy.DP and (epsilon is None or delta is None):
        misuse("--privacy dp needs --epsilon and --delta.")
    if privacy is Privacy.DP and centers is None:
        misuse("--privacy dp needs --centers: the number of public centres.")
    agreed = load_recipe(recipe)
    box = agreed.bounds if bounds is None else _parse_bounds(bounds)
    level = _level(privacy, min_rows, round_to, (epsilon, delta, box))
    column = target or agreed.target
    how = {
        "read": [*agreed.read, *(read or [])],
        "strings": agreed.strings,
        "keep": list(getattr(agreed.encoder, "feature_names_in_", [])),
    }
    rows = read_labelled(data, target=column, where=where, **how)
    party = federated.Party(
        name,
        n_clusters=clusters,
        centers=_centers(agreed, centers, public, box, seed, how),
        classes=agreed.labels if privacy is Privacy.DP else None,
        ledger=_ledger(ledger),
        random_state=seed,
    )
    with naming(data):
        encoded = _encoded(agreed, rows.X)
    with watching(screen, f"Summarising {rows.X.shape[0]:,} rows"):
        shared = party.summarize(encoded, rows.y, level)
    shared.save(out)
    if ledger is None:
        screen.say("No --ledger: nothing will hinder a second release of these rows.")
    document = {
        "summary": out,
        "bytes": out.stat().st_size,
        "n_clusters": shared.summary.n_clusters,
        "parties": [record.to_plain() for record in shared.parties],
    }
    text = f"{shared}\n\nAll that leaves: {out} ({size_of(out)})."
    screen.show(document, text)


def _level(
    privacy: Privacy,
    min_rows: int,
    round_to: int,
    noise: tuple[Any, Any, tuple[Any, Any]],
) -> Any:
    if privacy is Privacy.NONE:
        return federated.none()
    if privacy is Privacy.MIN_SIZE:
        return federated.min_size(min_rows, round_to)
    try:
        return federated.dp(*noise)
    except ValueError as error:
        return misuse(str(error))


def _parse_bounds(text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        misuse(f"--bounds {text}: expected two numbers, for instance --bounds=-3,3.")
    return low, high


def _centers(
    agreed: Recipe,
    n_centers: int | None,
    public: str | None,
    bounds: tuple[Any, Any],
    seed: int,
    how: dict[str, Any],
) -> NDArray[np.float64] | None:
    """Centres that do not depend on the rows of the party."""
    if n_centers is None:
        return None
    if public is not None:
        encoded = agreed.encoder.transform(read_rows(public, **how).X)
        found = SampledKMeans(n_centers, random_state=seed).fit(encoded)
        return np.asarray(found.cluster_centers_, dtype=np.float64)
    n_features = len(agreed.encoder.get_feature_names_out())
    return federated.random_centers(bounds, n_centers, n_features=n_features, seed=seed)


def _encoded(agreed: Recipe, X: Any) -> Any:
    """Encode rows, under the names of their features, which others can compare."""
    frame = require("pandas", "cli", "localsvm share").DataFrame
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

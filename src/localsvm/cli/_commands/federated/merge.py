"""``localsvm federated merge``: a model of what several parties shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.pipeline import Pipeline

import localsvm
from localsvm import federated
from localsvm.cli import _options as options
from localsvm.cli._commands.federated.recipe import Recipe, load_recipe
from localsvm.cli._files._outputs import check_output, size_of
from localsvm.cli._methods import Method, make_estimator
from localsvm.cli._model._fitting import MODEL_STEP, TABLE_STEP
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching
from localsvm.exceptions import DataError
from localsvm.export import save
from localsvm.federated import SharedSummary

_Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Files written by `share`."),
]
_RecipeOption = Annotated[
    Path | None,
    typer.Option(
        "--recipe",
        help="Recipe of the parties. With it the model takes tables in their raw form.",
        rich_help_panel=options.MODEL,
    ),
]
_MaxShare = Annotated[
    float | None,
    typer.Option(
        "--max-share",
        min=0.0,
        max=1.0,
        help="Largest weight of one party, a guard against claims of rows that do not "
        "exist.",
        rich_help_panel=options.MODEL,
    ),
]


def merge(
    files: _Files,
    out: options.OutOption,
    recipe: _RecipeOption = None,
    max_share: _MaxShare = None,
    param: options.ParamOption = None,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = options.ALL_CORES,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Learn one model from the clusters of several parties."""
    screen = Screen("federated merge", as_json, quiet)
    check_output(out, force=force)
    estimator = make_estimator(
        Method("support-cluster"), param or [], seed=seed, jobs=jobs
    )
    agreed = None if recipe is None else load_recipe(recipe)
    shared = federated.merge(
        [SharedSummary.load(f) for f in files], max_share=max_share
    )
    with watching(screen, f"Learning from {shared.summary.n_clusters:,} clusters"):
        model = _learn(estimator, shared, agreed, param or [])
    notes = {
        "created_by": f"localsvm {localsvm.__version__}",
        "parties": [record.name for record in shared.parties],
        "n_rows": float(shared.summary.weight.sum()),
        "target": None if agreed is None else agreed.target,
        "read": [] if agreed is None else agreed.read,
        "seed": seed,
    }
    save(model, out, notes=notes)
    document = {
        "model": out,
        "bytes": out.stat().st_size,
        "n_clusters": shared.summary.n_clusters,
        "parties": [record.to_plain() for record in shared.parties],
        "notes": notes,
    }
    screen.show(document, f"{shared}\n\nModel: {out} ({size_of(out)}).")


def _learn(
    estimator: Any,
    shared: SharedSummary,
    agreed: Recipe | None,
    settings: Sequence[str],
) -> Any:
    if not any(each.startswith("covariance=") for each in settings):
        estimator.set_params(covariance=shared.summary.covariance_type)
    if agreed is None:
        return estimator.fit_summaries(shared)
    _check_columns(shared, agreed)
    # The encoder before it gives arrays, which have no names.
    nameless = replace(shared.summary, feature_names=None)
    estimator.fit_summaries(nameless)
    return Pipeline([(TABLE_STEP, agreed.encoder), (MODEL_STEP, estimator)])


def _check_columns(shared: SharedSummary, agreed: Recipe) -> None:
    names = list(agreed.encoder.get_feature_names_out())
    found = list(shared.summary.feature_names or [])
    if names != found:
        other = next(
            (pair for pair in zip(names, found, strict=False) if pair[0] != pair[1]),
            (f"{len(names)} features", f"{len(found)}"),
        )
        raise DataError(
            "The parties did not use this recipe: it gives the feature "
            f"{other[0]!r} where their summaries have {other[1]!r}."
        )

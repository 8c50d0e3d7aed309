"""``localsvm evaluate``: scores of a model on labelled rows."""

from __future__ import annotations

from localsvm.cli import _options as options
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import read_labelled
from localsvm.cli._model._fitting import score, scores_text
from localsvm.cli._model._models import load_model
from localsvm.cli._model._seen import choose_rows
from localsvm.cli._show._screen import Screen


def evaluate(
    model: options.ModelArgument,
    data: options.DataArgument,
    target: options.TargetOption = None,
    where: options.WhereOption = None,
    training_rows: options.TrainingRowsOption = False,
    read: Reading = AS_FOUND,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Score a model on labelled rows, with confidence intervals.

    Rows that the model was fitted to are recognised and left out. The column of the
    classes is that of the fit unless --target names another.
    """
    screen = Screen("evaluate", as_json, quiet)
    loaded = load_model(model)
    table = read_labelled(
        data, target=target or loaded.target, **loaded.reading(where, read.noted())
    )
    rows = choose_rows(loaded, table, training_rows=training_rows)
    scores = score(loaded.fitted, rows.table, screen)
    document = {"rows": rows.to_dict(), "model": model, "data": data}
    screen.show(
        document | scores.to_dict(), f"{rows.headline}\n\n{scores_text(scores)}"
    )

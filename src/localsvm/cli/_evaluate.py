"""``localsvm evaluate``: scores of a model on labelled rows."""

from __future__ import annotations

from localsvm.cli import _options as options
from localsvm.cli._fitting import score
from localsvm.cli._models import load_model
from localsvm.cli._rows import read_labelled
from localsvm.cli._screen import Screen


def evaluate(
    model: options.ModelArgument,
    data: options.DataArgument,
    target: options.TargetOption = None,
    where: options.WhereOption = None,
    read: options.ReadOption = None,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Score a model on labelled rows, with confidence intervals.

    Take rows that the model was not fitted to. The column of the classes is that of
    the fit unless --target names another.
    """
    screen = Screen(as_json, quiet)
    loaded = load_model(model)
    table = read_labelled(
        data, target=target or loaded.target, **loaded.reading(where, read)
    )
    scores = score(loaded.fitted, table, screen)
    screen.show({"model": model, "data": data, **scores.to_dict()}, str(scores))

"""How to use the model elsewhere."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from localsvm.inspect._report._text import clean

_LONGEST = 200


@dataclass(frozen=True)
class Snippet:
    """A few lines to copy."""

    title: str
    code: str


def show_usage(model_path: str | os.PathLike[str] | None) -> list[Snippet]:
    """Write down how to load the model in Python, in a shell and in a server.

    Parameters
    ----------
    model_path : path or None
        The model file; its folder is not shown. None says how to write one first.
    """
    name = clean(Path(model_path or "model.lsvm").name, _LONGEST)
    save = f"localsvm.save(model, {name!r})  # where it was fitted\n"
    save = "" if model_path else save
    file = shlex.quote(name)
    served = shlex.quote(Path(name).stem)
    return [
        Snippet(
            "Python",
            f"import localsvm\n\n{save}model = localsvm.load({name!r})\n"
            "model.predict(rows)  # rows with the columns above",
        ),
        Snippet(
            "Command line",
            f"localsvm predict {file} rows.csv --out predictions.csv\n"
            f"localsvm explain {file} rows.csv --row 0\n"
            f"localsvm evaluate {file} labelled_rows.csv",
        ),
        Snippet(
            "Server",
            f"localsvm serve {file}\n"
            f"curl http://127.0.0.1:8000/v2/models/{served}  # what it takes\n"
            "# Open http://127.0.0.1:8000 in a browser to try a row.",
        ),
    ]

"""The report on a model, written as one HTML file."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from sklearn.utils import check_consistent_length

from localsvm._extras import require
from localsvm._progress import stage
from localsvm._replaced_file import replace_file
from localsvm.data import RowSketch
from localsvm.inspect._quality._peers import PeerScore
from localsvm.inspect._quality._scores import check_scorable
from localsvm.inspect._report._compose import Given, compose_page
from localsvm.inspect._report._page import Page
from localsvm.inspect._report._svg import style
from localsvm.inspect._report._text import number, percent, plural

_NEED = "A report"


def write_report(  # noqa: PLR0913 - all but four have defaults and are keywords
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    X_train: Any = None,
    y_train: Any = None,
    fitted_rows: RowSketch | None = None,
    title: str | None = None,
    peers: bool | Sequence[PeerScore] = True,
    notes: str | Mapping[str, Any] | None = None,
    model_path: str | os.PathLike[str] | None = None,
) -> Path:
    """Write what there is to know of a model into one HTML file.

    The file is complete: it loads nothing from elsewhere, needs no JavaScript but for
    sorting its tables, can be read on a phone and printed.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        An estimator of this library shows its regions; of other classifiers, and of
        those without regions, those sections are left out.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows that the model was not fitted on. If some were, as far as that is known
        from ``X_train`` or ``fitted_rows``, the page says so at its top.
    y : array-like of shape (n_samples,)
        Their labels.
    path : path
        File to write; one of that name is replaced at once or not at all.
    X_train : {array-like, sparse matrix, data frame}, default=None
        Rows that the model was fitted on, to describe them and to fit the peers.
    y_train : array-like, default=None
        Their labels.
    fitted_rows : RowSketch, default=None
        Record of the rows that the model was fitted on, as
        :func:`~localsvm.export.load_file` finds it in a model file; None takes that of
        ``X_train`` and ``y_train``.
    title : str, default=None
        None names the method and the number of rows.
    peers : bool or list of PeerScore, default=True
        Whether to compare with other classifiers, which needs the training rows; or
        what :func:`compare_peers` gave.
    notes : str or mapping, default=None
        What else to say: paragraphs, or names with values.
    model_path : path, default=None
        The model file, for the lines that show how to load it.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ImportError
        If jinja2 or matplotlib is missing: ``pip install 'localsvm[report]'``.

    See Also
    --------
    score_model, compare_peers, region_table, explain : Parts of the report.

    Notes
    -----
    Costs a few predictions of all rows, and the fits of the peers, which are bounded by
    half a minute each. The page stays below three megabytes: of many regions, columns
    and classes the first are shown, and it says how many are not. The numbers are in
    the page as JSON, too.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import write_report
    >>> X, y = make_xor(600, random_state=0)
    >>> model = ClusteredSVC(n_regions=4, random_state=0).fit(X[:400], y[:400])
    >>> file = write_report(model, X[400:], y[400:], mkdtemp() + "/report.html")
    >>> file.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    require("jinja2", "report", _NEED)
    check_scorable(model)
    _check_training_rows(X_train, y_train)
    check_consistent_length(X, y)
    train = None if X_train is None else (X_train, y_train)
    given = Given(model, (X, y), train, fitted_rows, title, peers, notes, model_path)
    with style():
        page = compose_page(given, _now())
    with stage("write"):
        replace_file(path, [_render(page)])
    return Path(path)


def _render(page: Page) -> bytes:
    jinja2 = require("jinja2", "report", _NEED)
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("localsvm.inspect._report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    # For what this package wrote itself: style, script, and pictures by matplotlib,
    # which escapes the names in them.
    templates.filters["trusted"] = require("markupsafe", "report", _NEED).Markup
    templates.filters |= {
        "plural": plural,
        "number": number,
        "percent": percent,
        "plain": lambda value: f"{value:.12g}".replace("inf", "Infinity"),
    }
    css, js = (
        templates.loader.get_source(templates, name)[0]
        for name in ("report.css", "report.js")
    )
    text: str = templates.get_template("report.html.jinja").render(
        page=page,
        css=css,
        js=js,
        script_hash=f"sha256-{b64encode(sha256(js.encode()).digest()).decode()}",
    )
    return (text.lstrip() + "\n").encode("utf-8", errors="replace")


def _check_training_rows(X_train: Any, y_train: Any) -> None:
    if (X_train is None) != (y_train is None):
        found = "y_train" if X_train is None else "X_train"
        raise ValueError(
            f"found only {found}; expected X_train and y_train, or neither of them."
        )
    if X_train is not None:
        check_consistent_length(X_train, y_train)


def _now() -> str:
    return datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC")

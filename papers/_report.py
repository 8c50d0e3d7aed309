"""The report: one HTML page, and Markdown pages with pictures."""

from __future__ import annotations

import os
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

from localsvm._extras import require
from localsvm._replaced_file import replace_file
from papers._experiment import Experiment, Size
from papers._pages import make_page, picture_name
from papers._registry import list_papers
from papers._results import results_of
from papers._store import Store

_DPI = 120


def write_report(
    folder: str | os.PathLike[str], size: Size, store: Store
) -> list[Path]:
    """Write the report of all papers, from records alone.

    Parameters
    ----------
    folder : path
        Gets ``index.html`` with everything in it, ``README.md``, ``<paper>.md`` and
        ``figures/``.
    size : Size
    store : Store

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ImportError
        If jinja2 or matplotlib is missing: they are in the extra ``report``.
    """
    jinja2 = require("jinja2", "report", "The report of the papers")
    papers = list_papers()
    pictures = {
        picture_name(experiment): picture
        for paper in papers
        for experiment in paper.experiments
        if (picture := draw_picture(experiment, size, store)) is not None
    }
    pages = [make_page(paper, size, store, list(pictures)) for paper in papers]
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("papers"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=lambda name: bool(name) and str(name).endswith(".html.jinja"),
    )
    html_template = templates.get_template("report.html.jinja")
    inline = {name: b64encode(picture).decode() for name, picture in pictures.items()}
    files: dict[str, bytes] = dict(pictures)
    files["index.html"] = html_template.render(pages=pages, inline=inline).encode()
    files["README.md"] = _markdown(templates, "index.md.jinja", pages=pages)
    for page in pages:
        name = f"{page.paper.id}.md"
        files[name] = _markdown(templates, "paper.md.jinja", page=page)
    return [_write(Path(folder) / name, content) for name, content in files.items()]


def draw_picture(experiment: Experiment, size: Size, store: Store) -> bytes | None:
    """Draw the figure of an experiment as PNG; None without figure or records."""
    results = results_of(experiment, size, store)
    if experiment.draw is None or not results:
        return None
    figure = experiment.draw(results)
    content = BytesIO()
    # Without the name of the program the same records give the same file.
    figure.savefig(content, format="png", dpi=_DPI, metadata={"Software": None})
    return content.getvalue()


def _markdown(templates: Any, name: str, **values: Any) -> bytes:
    text: str = templates.get_template(name).render(**values)
    return (text.rstrip() + "\n").encode()


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [content])
    return path

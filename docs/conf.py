"""Sphinx configuration: guides in Markdown, API from docstrings, examples run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import localsvm

HERE = Path(__file__).parent
SCIKIT_LEARN_NAMES = (
    "accuracy_score",
    "df_output_transform",
    "meta-estimator",
    "metadata_routing",
    "sphx_glr_auto_examples_miscellaneous_plot_set_output.py",
)

project = "localsvm"
author = "the localsvm developers"
copyright = author
version = release = localsvm.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "papers/records", "papers/figures"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

html_theme = "pydata_sphinx_theme"
html_title = f"localsvm {release}"
html_static_path: list[str] = []
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"inherited-members": True}
numpydoc_show_class_members = True
numpydoc_show_inherited_class_members = True
numpydoc_class_members_toctree = False
numpydoc_attributes_as_param_list = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"demo\.py",
    "abort_on_example_error": True,
    "min_reported_time": 1e9,
    "show_memory": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "plot_gallery": True,
}


def write_command_reference(_app: object) -> None:
    """Describe all commands as their ``--help`` does."""
    out = HERE / "commands.md"
    subprocess.run(
        [
            *(sys.executable, "-m", "typer", "localsvm.cli._app", "utils", "docs"),
            *("--name", "localsvm", "--title", "Commands", "--output", str(out)),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def mark_anchors(_app: object, docname: str, source: list[str]) -> None:
    """Turn the anchors of the papers' pages, made for code hosts, into targets."""
    if docname.startswith("papers/"):
        source[0] = re.sub(r'<a id="([\w-]+)"></a>', r"(\1)=", source[0])


def quote_foreign_name(_app: object, _env: object, node: Any, content: Any) -> Any:
    """Show what scikit-learn's inherited docstrings refer to without a link."""
    return content if node.get("reftarget") in SCIKIT_LEARN_NAMES else None


def setup(app: Any) -> None:
    """Write the generated pages first; see to what other pages refer to."""
    app.connect("builder-inited", write_command_reference, priority=1)
    app.connect("source-read", mark_anchors)
    app.connect("missing-reference", quote_foreign_name)

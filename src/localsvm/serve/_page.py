"""A page to try a row: one document that queries only this server."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

from localsvm.serve._served import ServedModel

_SOURCE = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
_PLACE = "{{MODEL}}"


def make_page(served: ServedModel) -> bytes:
    """Write the page with what it has to know of the model."""
    known = {
        "name": served.name,
        "columns": [column.to_dict() for column in served.builder.columns],
        "classes": served.classes,
    }
    # A name may hold what would end the script.
    text = json.dumps(known).replace("<", "\\u003c")
    return _SOURCE.replace(_PLACE, text).encode("utf-8")


def _policy() -> str:
    """Let the page's own script and style run, and nothing else."""
    sources = {
        "script-src": _hash_of("<script>", "</script>"),
        "style-src": _hash_of("<style>", "</style>"),
        "connect-src": "'self'",
        "img-src": "data:",
    }
    parts = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]
    parts += ["frame-ancestors 'none'"]
    return "; ".join([*parts, *(f"{key} {value}" for key, value in sources.items())])


def _hash_of(start: str, end: str) -> str:
    found = re.search(f"{start}(.*?){end}", _SOURCE, re.DOTALL)
    assert found is not None
    digest = hashlib.sha256(found[1].encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


PAGE_HEADERS = {
    "content-security-policy": _policy(),
    "referrer-policy": "no-referrer",
}

"""Write tables of README and documentation from result files and the registry.

``python benchmarks/tables.py`` rewrites what stands between markers in the pages; with
``--check`` it only tells whether the pages are what the files say.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from additive_tables import additive
from clustered_tables import (
    clustered_accuracy,
    clustered_search,
    clustered_speed,
    locally_linear,
)
from local_tables import local_accuracy, local_search, local_speed
from markdown import with_source
from method_tables import methods_api, methods_blocks, methods_which
from mixture_tables import mixture_accuracy, mixture_speed
from onnx_tables import onnx_parity
from peers_tables import (
    peers_accuracy,
    peers_auc,
    peers_cost,
    peers_raw,
    peers_summary,
)
from probabilities_tables import probabilities, probability_sets
from reduced_tables import reduced_accuracy, reduced_speed
from scale_tables import scale_check, scale_out, scale_paper, scale_workers
from serve_tables import serve_load
from staged_tables import adult_story, demo, staged, staged_summary
from support_tables import (
    support_accuracy,
    support_parties,
    support_privacy,
    support_speed,
)

ROOT = Path(__file__).parents[1]
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "start.md",
    ROOT / "docs" / "benchmarks.md",
    ROOT / "docs" / "guide" / "how_far.md",
    ROOT / "docs" / "guide" / "parties.md",
    ROOT / "docs" / "guide" / "scale.md",
    ROOT / "docs" / "guide" / "which.md",
    ROOT / "docs" / "api" / "index.md",
)
SECTIONS = (
    additive,
    probabilities,
    probability_sets,
    staged,
    staged_summary,
    peers_summary,
    peers_raw,
    peers_accuracy,
    peers_auc,
    peers_cost,
    clustered_accuracy,
    clustered_speed,
    clustered_search,
    locally_linear,
    local_accuracy,
    local_speed,
    local_search,
    support_accuracy,
    support_speed,
    support_parties,
    support_privacy,
    reduced_accuracy,
    reduced_speed,
    mixture_accuracy,
    mixture_speed,
    onnx_parity,
    demo,
    adult_story,
    serve_load,
    scale_out,
    scale_workers,
    scale_check,
    scale_paper,
    methods_which,
    methods_blocks,
    methods_api,
)


def filled(text: str, places: Counter[str]) -> str:
    """Replace what stands between the markers, and count the markers found."""
    for section in SECTIONS:
        name = section.__name__
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end {name} -->)"
        content = with_source(section)
        text, count = re.subn(
            pattern, lambda match, c=content: match[1] + c + match[2], text, flags=re.S
        )
        places[name] += count
    return text


def main(check: bool) -> int:
    """Rewrite or check the pages; every section stands in one of them."""
    places: Counter[str] = Counter()
    texts = {page: filled(page.read_text(), places) for page in PAGES}
    for name, count in places.items():
        if count != 1:
            raise ValueError(f"The pages have {count} sections {name!r}, expected 1")
    changed = {page: text for page, text in texts.items() if page.read_text() != text}
    if check:
        return 1 if changed else 0
    for page, text in changed.items():
        temporary = page.with_suffix(".tmp")
        temporary.write_text(text)
        temporary.replace(page)
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

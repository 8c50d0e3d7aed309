"""Everything that the page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from localsvm.inspect._report._certificate import Certificate
from localsvm.inspect._report._data_section import DataSection
from localsvm.inspect._report._drawn import Drawn
from localsvm.inspect._report._examples import Example
from localsvm.inspect._report._method_section import MethodSection
from localsvm.inspect._report._region_section import RegionSection
from localsvm.inspect._report._score_section import PeerLine, ScoreSection
from localsvm.inspect._report._svg import Picture
from localsvm.inspect._report._usage import Snippet

_SECTIONS = {
    "summary": "Summary",
    "data": "Data",
    "method": "Method",
    "scores": "Scores",
    "peers": "Other classifiers",
    "map": "Map of the regions",
    "regions": "Regions",
    "weights": "Weights by region",
    "errors": "Errors by region",
    "effects": "Effects of the columns",
    "calibration": "Calibration",
    "fit": "Fit",
    "examples": "Examples",
    "load": "Use it",
}
_OF_REGIONS = ("map", "weights", "errors")


@dataclass(frozen=True)
class Tile:
    """A number that a reader sees first."""

    name: str
    value: str
    detail: str


@dataclass(frozen=True)
class Page:
    """What the templates read; its parts are described where they are made."""

    title: str
    subtitle: str
    rows: str
    are_new: bool
    version: str
    written_at: str
    tiles: list[Tile]
    findings: list[str]
    note_paragraphs: list[str]
    note_entries: dict[str, str]
    data: DataSection
    method: MethodSection
    level: str
    scores: ScoreSection
    peers: list[PeerLine]
    peer_picture: Picture | None
    why_no_peers: str
    regions: RegionSection | None
    why_no_regions: str
    error_picture: Picture | None
    certificate: Certificate
    examples: list[Example]
    why_no_examples: str
    snippets: list[Snippet]
    drawn: dict[str, Drawn]
    document: dict[str, Any]

    @property
    def has_steps(self) -> bool:
        """Whether the rows are changed before the classifier gets them."""
        return len(self.method.steps) > 1

    @property
    def contents(self) -> list[tuple[str, str]]:
        """Sections: their ids and titles; one line stands for those of regions."""
        return [
            pair
            for pair in _SECTIONS.items()
            if (self.regions is not None or pair[0] not in _OF_REGIONS)
            and (pair[0] != "effects" or "effects" in self.drawn)
        ]

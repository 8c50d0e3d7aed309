"""The picture of a report in the docs: a desk, a phone, a phone at night.

``python benchmarks/report_picture.py`` runs the first commands of docs/start.md, opens
the report in Chromium and writes docs/images/report.png.
"""

from __future__ import annotations

import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from adult_story import tell
from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
_HEIGHT, _GAP = 1240, 24
_GROUND = "#e8ebf0"
# Width of the window, section at its top, colours.
_VIEWS = ((1100, "body", "light"), (390, "#peers", "light"), (390, "#examples", "dark"))


def take(report: Path) -> list[Any]:
    """Take a picture of the report in each window."""
    pictures = []
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for width, section, scheme in _VIEWS:
            page = browser.new_page(
                viewport={"width": width, "height": _HEIGHT}, color_scheme=scheme
            )
            page.goto(report.as_uri())
            page.locator(section).evaluate("part => part.scrollIntoView()")
            pictures.append(Image.open(BytesIO(page.screenshot())))
        browser.close()
    return pictures


def join(pictures: list[Any]) -> Any:
    """Put pictures side by side."""
    width = sum(each.width + _GAP for each in pictures) + _GAP
    whole = Image.new("RGB", (width, _HEIGHT + 2 * _GAP), _GROUND)
    left = _GAP
    for each in pictures:
        whole.paste(each, (left, _GAP))
        left += each.width + _GAP
    return whole.quantize(128)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        tell(folder)
        join(take(Path(folder) / "report.html")).save(PICTURE, optimize=True)

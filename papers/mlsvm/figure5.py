"""Figure 5: maps of a hyperspectral image by three classifiers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers._definition import Run
from papers._experiment import Experiment, Size
from papers._figures import COLORS, new_figure
from papers._results import Result
from papers.mlsvm.image import NO_LABEL, SHAPE, read_image, read_map
from papers.mlsvm.table5 import SHOWN, SMOKE_CUTS, STANDARD_CUTS, image_runs

_SOYBEAN, _WRONG = COLORS[0], COLORS[1]
_OTHER = "#EDEDED"
_UNLABELLED = "#FFFFFF"


def _runs(size: Size) -> list[Run]:
    return [run for run in image_runs(size) if run.seed == 0]


def _draw(results: Sequence[Result]) -> Any:
    records = {result.run.group: result.record for result in results}
    panels: dict[str, NDArray[Any]] = {}
    labels = np.full(SHAPE, NO_LABEL, dtype=np.uint8)
    for record in records.values():
        if image := read_image(record):
            panels["false colours"], labels = image
            panels["labels"] = _paint(labels, labels)
    for name in SHOWN:
        if name in records:
            panels[name] = _paint(read_map(records[name]), labels)
    figure, axes = new_figure(len(panels), width=3.1, height=3.3)
    for ax, (title, picture) in zip(axes, panels.items(), strict=True):
        ax.imshow(picture, interpolation="nearest")
        ax.set_title(title, fontsize=10)
        ax.set_axis_off()
    _legend(figure)
    return figure


def _paint(predicted: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Colour pixels by their class; those with another label are wrong."""
    picture = np.empty((*predicted.shape, 3))
    picture[:] = _rgb(_OTHER)
    picture[predicted == 1] = _rgb(_SOYBEAN)
    picture[predicted == NO_LABEL] = _rgb(_UNLABELLED)
    picture[(labels != NO_LABEL) & (predicted != labels)] = _rgb(_WRONG)
    return picture


def _rgb(color: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(color)


def _legend(figure: Any) -> None:
    from matplotlib.patches import Patch

    shown = {"soybeans": _SOYBEAN, "all else": _OTHER, "wrong where labelled": _WRONG}
    figure.legend(
        [Patch(facecolor=color, edgecolor="#888888") for color in shown.values()],
        list(shown),
        loc="outside lower center",
        ncols=3,
        frameon=False,
    )


FIGURE5 = Experiment(
    id="mlsvm/figure5",
    title="Figure 5: maps of a hyperspectral image",
    shows=(
        "The first partition of Table V: the image in false colours (vegetation red), "
        "the labels, and what each classifier says of every pixel. Half of the labelled "
        "pixels are training pixels. The paper shows its own images of people."
    ),
    runs=_runs,
    cuts={Size.SMOKE: SMOKE_CUTS, Size.STANDARD: STANDARD_CUTS},
    draw=_draw,
    records_of="mlsvm/table5",
)

"""Two linear SVMs, one per region, solve what one linear SVM cannot.

Figure 1 of Gu and Han (2013), "Clustered support vector machines": four Gaussians,
opposite ones of the same class. Run with a path to save the picture elsewhere.
"""

import os
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from sklearn.svm import SVC, LinearSVC

from localsvm import ClusteredSVC
from localsvm.data import make_xor
from localsvm.inspect import RegionMapDisplay

DEFAULT_PATH = Path(__file__).parents[1] / "docs" / "images" / "xor.png"


def draw_panel(ax: Any, title: str, model: Any) -> RegionMapDisplay:
    X, y = make_xor(400, random_state=0)
    X_test, y_test = make_xor(4000, random_state=1)
    model.fit(X, y)
    display = RegionMapDisplay.from_estimator(model, X, y, ax=ax, grid_resolution=600)
    accuracy = model.score(X_test, y_test)
    ax.set_title(f"{title}\ntest accuracy {100 * accuracy:.1f} %", fontsize=11)
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_color("0.7")
    return display


def draw_figure() -> Any:
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 4.5), layout="constrained")
    panels = {
        "LinearSVC": LinearSVC(random_state=0),
        "SVC, RBF kernel": SVC(kernel="rbf"),
        "ClusteredSVC, 2 regions": ClusteredSVC(
            n_clusters=2, assignment="hard", random_state=0
        ),
    }
    for ax, (title, model) in zip(axes, panels.items(), strict=True):
        display = draw_panel(ax, title, model)
    add_legend(figure, display)
    return figure


def add_legend(figure: Any, display: RegionMapDisplay) -> None:
    handles = {f"class {rows.get_label()}": rows for rows in display.rows_}
    handles["decision boundary"] = Line2D([], [], color="black", linewidth=2)
    handles["region border"] = display.borders_
    handles["region centre"] = display.centers_
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=len(handles),
        frameon=False,
    )


def save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".tmp")
    figure.savefig(unfinished, format="png", dpi=120, bbox_inches="tight")
    os.replace(unfinished, path)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_PATH
    save(draw_figure(), target)
    print(f"Saved {target}")

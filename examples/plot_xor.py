"""
Two linear SVMs solve XOR
=========================

Figure 1 of Gu and Han (2013), "Clustered support vector machines": four Gaussians,
opposite ones of the same class. One linear SVM cannot tell them apart; two, one per
region, can. Run with a path to save the picture there.
"""

import sys

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from sklearn.svm import SVC, LinearSVC

from localsvm import ClusteredSVC
from localsvm.data import make_xor
from localsvm.inspect import RegionMapDisplay

X, y = make_xor(400, random_state=0)
X_test, y_test = make_xor(4000, random_state=1)
panels = {
    "LinearSVC": LinearSVC(random_state=0),
    "SVC, RBF kernel": SVC(kernel="rbf"),
    "ClusteredSVC, 2 regions": ClusteredSVC(n_regions=2, n_nearest=1, random_state=0),
}

figure, axes = plt.subplots(1, 3, figsize=(10.5, 4.5), layout="constrained")
for ax, (title, model) in zip(axes, panels.items(), strict=True):
    model.fit(X, y)
    display = RegionMapDisplay.from_estimator(model, X, y, ax=ax, grid_resolution=600)
    accuracy = 100 * model.score(X_test, y_test)
    ax.set_title(f"{title}\ntest accuracy {accuracy:.1f} %", fontsize=11)
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_color("0.7")

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
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120, bbox_inches="tight")
    print(f"Saved {sys.argv[1]}")
plt.show()

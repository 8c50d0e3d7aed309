"""
Easy rows and hard rows
=======================

:class:`~localsvm.StagedSVC` answers rows far from the boundary by linear SVMs of their
region and those near it by kernel SVMs. Which rows are which is decided by
leave-one-out margins; here it is drawn.
"""

import matplotlib.pyplot as plt

from localsvm import StagedSVC
from localsvm.data import make_2spiral

X, y = make_2spiral(6000, random_state=0)
model = StagedSVC(threshold=1.0, random_state=0).fit(X, y)
first, second = model.stage_shares_
print(f"{100 * first:.0f} % of the rows are answered by the first stage.")
print(f"Chosen: {model.best_params_}")

# %%
# What was tried on held-out rows, the first lines of it:
for question, error in list(
    zip(model.selection_["question"], model.selection_["error"], strict=True)
)[:5]:
    print(f"{question:12} error {error:.3f}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, colors, title in (
    (axes[0], y, "class"),
    (axes[1], model.stage(X), "stage that answers"),
):
    points = ax.scatter(*X.T, c=colors, s=6, cmap="viridis")
    ax.legend(*points.legend_elements(), title=title, loc="upper right")
    ax.set(xticks=[], yticks=[])
plt.show()

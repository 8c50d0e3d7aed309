"""
Learning together without sharing rows
======================================

Three parties summarise their rows as Gaussian clusters of at least six rows, the
summaries are merged, and a support cluster machine learns from them. Below: what left
each party, and the model that all of them get.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from sklearn.inspection import DecisionBoundaryDisplay

from localsvm import SupportClusterSVC
from localsvm.data import make_two_spirals
from localsvm.federated import Party, merge, min_size

X, y = make_two_spirals(1800, random_state=0)
X_test, y_test = make_two_spirals(4000, random_state=1)
shared = [
    Party(name, n_clusters=60).summarize(X[part::3], y[part::3], min_size(3))
    for part, name in enumerate(("north", "south", "west"))
]
print(shared[0])

# %%
whole = merge(shared)
model = SupportClusterSVC(gamma=0.5).fit_summaries(whole)
alone = SupportClusterSVC(gamma=0.5).fit_summaries(shared[0])
print(f"north alone {100 * alone.score(X_test, y_test):.1f} %")
print(f"together    {100 * model.score(X_test, y_test):.1f} %")

# %%
figure, ax = plt.subplots(figsize=(6, 6), layout="constrained")
DecisionBoundaryDisplay.from_estimator(
    model, X, ax=ax, response_method="predict", alpha=0.3
)
summary = whole.summary
for mean, variance, label in zip(
    summary.mean, summary.covariance, summary.label, strict=True
):
    width, height = 2 * np.sqrt(variance)
    color = "C0" if label == y.min() else "C1"
    ax.add_patch(Ellipse(tuple(mean), width, height, color=color, alpha=0.6))
ax.set_title(f"{summary.n_clusters} clusters of three parties")
plt.show()

"""
All methods on one problem
==========================

The decision boundaries of all classifiers on two noisy spirals, with their defaults,
drawn by scikit-learn's own display.
"""

import matplotlib.pyplot as plt
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import LinearSVC

from localsvm import (
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.data import make_two_spirals
from localsvm.estimators import LocallyLinearSVC, NeighborSVC

X, y = make_two_spirals(1000, random_state=0)
X_test, y_test = make_two_spirals(4000, random_state=1)
models = [
    LinearSVC(random_state=0),
    ReducedSVC(),
    ClusteredSVC(random_state=0),
    LocallyLinearSVC(random_state=0),
    MixtureSVC(n_regions=20, C=10, random_state=0),
    SupportClusterSVC(gamma=0.5, random_state=0),
    LocalSVC(random_state=0),
    NeighborSVC(random_state=0),
    StagedSVC(random_state=0),
]

figure, axes = plt.subplots(3, 3, figsize=(10, 10.5), layout="constrained")
for ax, model in zip(axes.flat, models, strict=True):
    model.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, ax=ax, response_method="predict", grid_resolution=100, alpha=0.4
    )
    ax.scatter(*X.T, c=y, s=3, cmap="viridis")
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{type(model).__name__} {100 * model.score(X_test, y_test):.1f} %")
plt.show()

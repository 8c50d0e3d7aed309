"""
Which columns matter
====================

Only two of ten columns tell the classes apart. :class:`~localsvm.GradientMetric` finds
them from the gradients of local linear SVMs; nearest neighbours gain as much from it as
local SVMs do.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from localsvm import GradientMetric, LocalSVC

rng = np.random.default_rng(0)
X = rng.standard_normal((4000, 10))
y = (np.sin(2 * X[:, 0]) * X[:, 1] > 0).astype(int)
train, test = slice(0, 3000), slice(3000, None)

metric = GradientMetric(random_state=0)
models = {
    "neighbours": KNeighborsClassifier(15),
    "metric + neighbours": make_pipeline(metric, KNeighborsClassifier(15)),
    "LocalSVC": LocalSVC(random_state=0),
    "metric + LocalSVC": LocalSVC(metric=metric, random_state=0),
}
scores = {
    name: model.fit(X[train], y[train]).score(X[test], y[test])
    for name, model in models.items()
}

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].bar(range(10), metric.fit(X[train], y[train]).importances_)
axes[0].set(xlabel="column", title="share in the squared gradient")
axes[1].barh(list(scores), list(scores.values()))
axes[1].set(xlim=(0.5, 1), title="test accuracy")
plt.show()

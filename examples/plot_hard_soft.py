"""
Hard and soft regions
=====================

With hard regions each row is decided by one linear SVM, and the boundary breaks where
regions meet. With soft ones a row mixes the SVMs of its nearest few regions.
"""

import matplotlib.pyplot as plt

from localsvm import ClusteredSVC
from localsvm.data import make_two_spirals
from localsvm.inspect import RegionMapDisplay

X, y = make_two_spirals(1500, random_state=0)
X_test, y_test = make_two_spirals(4000, random_state=1)

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, name, n_nearest in zip(axes, ("hard", "soft"), (1, 8), strict=True):
    model = ClusteredSVC(n_regions=60, n_nearest=n_nearest, random_state=0)
    model.fit(X, y)
    RegionMapDisplay.from_estimator(model, X, y, ax=ax, row_kw={"s": 5})
    accuracy = 100 * model.score(X_test, y_test)
    ax.set_title(f"{name} regions, test accuracy {accuracy:.1f} %")
plt.show()

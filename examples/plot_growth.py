"""
How the cost grows
==================

Seconds to fit against the number of rows: a kernel SVM grows like their square
or faster, local ones almost linearly, at a better accuracy here.
"""

import time

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from localsvm import ClusteredSVC, LocalSVC
from localsvm.data import make_2spiral

sizes = (1000, 2000, 4000, 8000)
X_test, y_test = make_2spiral(4000, random_state=1)
models = {
    "SVC(C=10, gamma=300)": SVC(C=10, gamma=300),
    "LinearSVC": LinearSVC(random_state=0),
    "ClusteredSVC": ClusteredSVC(random_state=0),
    "LocalSVC": LocalSVC(random_state=0),
}

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, classifier in models.items():
    model = make_pipeline(StandardScaler(), classifier)
    seconds, scores = [], []
    for size in sizes:
        X, y = make_2spiral(size, random_state=0)
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
        scores.append(model.score(X_test, y_test))
    axes[0].loglog(sizes, seconds, marker="o", label=name)
    axes[1].semilogx(sizes, scores, marker="o", label=name)
axes[0].set(xlabel="rows", ylabel="seconds to fit")
axes[1].set(xlabel="rows", ylabel="test accuracy")
axes[0].legend()
plt.show()

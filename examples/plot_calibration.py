"""
Probabilities that can be trusted
=================================

Only a mixture has probabilities of its own. Every other classifier gets them from
scikit-learn's ``CalibratedClassifierCV``; the picture says how often an answer of some
confidence is right.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV

from localsvm import ClusteredSVC, MixtureSVC
from localsvm.data import make_2spiral
from localsvm.inspect import ReliabilityDisplay

X, y = make_2spiral(4000, random_state=0)
X_test, y_test = make_2spiral(10_000, random_state=1)
models = {
    "MixtureSVC, its own": MixtureSVC(30, C=10, random_state=0),
    "ClusteredSVC, calibrated": CalibratedClassifierCV(
        ClusteredSVC(200, random_state=0), ensemble=False
    ),
    "ClusteredSVC, by its margin": ClusteredSVC(200, random_state=0),
}

figure, axes = plt.subplots(1, 3, figsize=(13, 4.5), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    ReliabilityDisplay.from_estimator(model, X_test, y_test, ax=ax)
    ax.set_title(f"{name}\ntest accuracy {model.score(X_test, y_test):.3f}")
plt.show()

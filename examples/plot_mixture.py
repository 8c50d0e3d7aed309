"""
A mixture that learns who answers where
=======================================

The gates of :class:`~localsvm.MixtureSVC` after EM, and how likelihood and accuracy rose.
"""

import matplotlib.pyplot as plt
import numpy as np

from localsvm import MixtureSVC
from localsvm.data import make_circle_in_square

X, y = make_circle_in_square(1500, random_state=0)
model = MixtureSVC(n_components=8, C=10, random_state=0).fit(X, y)
print(f"{model.n_components_} components are left after {model.n_iter_} EM steps.")

# %%
axis = np.linspace(X.min(), X.max(), 150)
grid = np.column_stack([a.ravel() for a in np.meshgrid(axis, axis)])
winner = model.gates(grid).argmax(axis=1).reshape(150, 150)
share = model.predict_proba(grid)[:, 1].reshape(150, 150)

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
axes[0].pcolormesh(axis, axis, winner, cmap="tab20")
axes[0].set_title("component with the largest gate")
mesh = axes[1].pcolormesh(axis, axis, share, cmap="RdBu_r", vmin=0, vmax=1)
axes[1].set_title("probability of class 1")
figure.colorbar(mesh, ax=axes[1])
axes[2].plot(model.history_["log_likelihood"], label="log-likelihood")
axes[2].set(xlabel="EM step", ylabel="log-likelihood")
twin = axes[2].twinx()
twin.plot(model.history_["accuracy"], color="C1", label="training accuracy")
axes[2].legend(loc="lower right")
twin.legend(loc="center right")
plt.show()

"""
A mixture that learns who answers where
=======================================

The gates of :class:`~localsvm.MixtureSVC` after EM, and how likelihood and accuracy
rose.
"""

import matplotlib.pyplot as plt
import numpy as np

from localsvm import MixtureSVC
from localsvm.data import make_two_spirals

X, y = make_two_spirals(1500, random_state=0)
model = MixtureSVC(n_regions=20, C=10, random_state=0).fit(X, y)
print(f"{model.n_regions_} components are left after {model.em_step_} EM steps.")

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
axes[2].plot(model.history_["log_likelihood"], color="C0")
axes[2].set(xlabel="EM step")
axes[2].set_ylabel("log-likelihood", color="C0")
twin = axes[2].twinx()
twin.plot(model.history_["accuracy"], color="C1")
twin.set_ylabel("training accuracy", color="C1")
plt.show()

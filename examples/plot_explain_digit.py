"""
Why is this a five?
===================

Every prediction of a clustered SVM is one linear function of the row, so each pixel has
a contribution to it, and the digit can be drawn in the colours of its reasons.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from localsvm import ClusteredSVC
from localsvm.inspect import explain

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
model = ClusteredSVC(random_state=0).fit(X_train, y_train)
print(f"Test accuracy {model.score(X_test, y_test):.3f}")

# %%
# One row in words, and then four of them as pictures: red speaks for the class.
row = int(np.flatnonzero(y_test == 5)[0])
names = [f"row {i + 1} column {j + 1}" for i in range(8) for j in range(8)]
print(explain(model, X_test[row], feature_names=names))

# %%
figure, axes = plt.subplots(2, 4, figsize=(10, 5.2), layout="constrained")
for (above, below), digit in zip(axes.T, (2, 3, 5, 8), strict=True):
    image = X_test[np.flatnonzero(y_test == digit)[0]]
    explanation = explain(model, image)
    above.imshow(image.reshape(8, 8), cmap="gray_r")
    above.set_title(f"predicted {explanation.predicted_class}")
    limit = np.abs(explanation.contributions).max()
    below.imshow(
        explanation.contributions.reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit
    )
    for ax in (above, below):
        ax.set_axis_off()
plt.show()

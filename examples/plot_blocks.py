"""
Rows that do not fit into memory
================================

The same estimator, the same answer, from rows on the disk: a folder of Parquet files is
read block by block, under a memory limit that is checked before the fit starts.
The model is that of the fit in memory to the solver's tolerance, and the state of a fit
that is interrupted is kept.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from localsvm import ClusteredSVC
from localsvm.data import make_two_spirals
from localsvm.engine import NotEnoughMemoryError, options

X, y = make_two_spirals(20_000, random_state=0)
X_test, y_test = make_two_spirals(4000, random_state=1)

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rows"
path.mkdir()
for number in range(5):
    part = slice(4000 * number, 4000 * (number + 1))
    table = pd.DataFrame({"a": X[part, 0], "b": X[part, 1], "side": y[part]})
    table.to_parquet(path / f"{number}.parquet", index=False)

# %%
# ``fit`` takes the folder and the name of the label's column. ``block_rows`` is how
# many rows are read at once.

model = ClusteredSVC(n_regions=50, random_state=0)
with options(block_rows=4000, checkpoint=Path(folder.name) / "state"):
    model.fit(path, "side")
in_memory = ClusteredSVC(n_regions=50, random_state=0).fit(X, y)
print(f"{model.n_iter_} passes, relative duality gap {model.duality_gap_:.1e}")

# %%
# What does not fit is refused, with the sum, before anything is read.

try:
    with options(memory_limit="100MB", block_rows=4000):
        ClusteredSVC().fit(path, "side")
except NotEnoughMemoryError as error:
    print(str(error).replace(str(path), "rows"))

# %%
# Both models decide alike.

query = pd.DataFrame(X_test, columns=["a", "b"])
decisions = model.decision_function(query), in_memory.decision_function(X_test)
figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.scatter(*decisions, c=y_test, s=4, cmap="viridis")
ax.axline((0, 0), slope=1, color="grey", linewidth=0.8)
ax.set(xlabel="decision of the fit over blocks", ylabel="of the fit in memory")
plt.show()
folder.cleanup()

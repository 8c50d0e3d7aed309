"""
A table of mixed columns, region by region
==========================================

Two thousand people of the Adult census, as raw as they come: numbers, categories and
missing values. The encoder makes numbers of them, a clustered SVM finds regions, and
each region has reasons of its own.
"""

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline

from localsvm import ClusteredSVC
from localsvm.data import TableEncoder, read_table, sample_path
from localsvm.inspect import RegionWeightsDisplay, explain, region_table

train = read_table(sample_path("adult"), target="income", where="split=train")
test = read_table(sample_path("adult"), target="income", where="split=test")
model = make_pipeline(
    TableEncoder(), ClusteredSVC(6, n_nearest=1, global_reg=10, random_state=0)
)
model.fit(train.X, train.y)
print(f"Test accuracy {model.score(test.X, test.y):.3f}")

# %%
# Who lives where, and how well the SVM of each region does on people it has not seen:
print(region_table(model, test.X, test.y))

# %%
# Why one of them is predicted as they are:
print(explain(model, test.X.iloc[3]))

# %%
# The same column may speak for opposite classes in two regions:
RegionWeightsDisplay.from_estimator(model, n_features=12)
plt.show()

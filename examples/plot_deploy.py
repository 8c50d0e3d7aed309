"""
From a fit to a file that runs anywhere
=======================================

A pipeline is written as a model file, which is plain data, and as an ONNX graph, which
needs neither Python nor this library; both answer as the pipeline does. How the fit
spent its time is drawn at the end.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import localsvm
from localsvm.export import describe_file, write_onnx
from localsvm.inspect import FitReportDisplay

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = make_pipeline(MinMaxScaler(), localsvm.StagedSVC(random_state=0))
model.fit(X_train, y_train)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "digits.lsvm"
    localsvm.save(model, path, notes={"data": "digits of scikit-learn"})
    description = describe_file(path)
    print(description.steps, description.notes, f"{description.n_bytes} bytes")
    loaded = localsvm.load(path)
    write_onnx(model, path.with_suffix(".onnx"))
    session = onnxruntime.InferenceSession(path.with_suffix(".onnx"))

# %%
labels = session.run(["label"], {"X": X_test})[0]
print("ONNX labels equal:", np.array_equal(labels, model.predict(X_test)))
print(
    "Loaded model bit-equal:",
    np.array_equal(loaded.decision_function(X_test), model.decision_function(X_test)),
)

# %%
FitReportDisplay.from_estimator(model[-1])
plt.show()

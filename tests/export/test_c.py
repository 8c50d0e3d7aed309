"""C source of models: the estimator's labels, from a strict compiler's program."""

import shutil
import subprocess

import numpy as np
import pytest
from onnx_borders import border_rows

from localsvm import AdditiveSVC, ClusteredSVC, LocalSVC
from localsvm.export import to_c, write_c
from model_file_data import fitted

COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")

STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic")
WRITTEN = (
    *("additive", "additive-categories"),
    *("soft", "soft-classes", "soft-bool", "soft-bytes", "soft-floats", "soft-csr"),
    *("soft-named", "joint", "hard", "hard-kmeans", "hard-sampled", "clustered-cv"),
    *("anchors", "coordinates", "local", "local-center", "local-grid", "local-cv"),
    *("reduced-linear",),
    *("staged", "staged-quantile", "staged-ranks", "staged-cells", "staged-sum"),
    *("staged-sum-codes",),
)
REFUSED = {
    "neighbor": "NeighborSVC cannot be written as C",
    "mixture": "MixtureSVC cannot be written as C",
    "clusters": "SupportClusterSVC cannot be written as C",
    "reduced": "kernel='rbf' cannot be written as C",
    "hard-pddp": "clusterer=PDDP cannot be written as C",
    "mapped": "metric=Pipeline cannot be written as C",
    "local-csr": "sparse rows cannot be written as C",
    "local-shrink": "global_model cannot be written as C",
    "local-poly": "(?s)neighbors=KernelNeighbors.* cannot be written as C",
    "table": "not the steps TableEncoder, ClusteredSVC",
}
MAIN = """
#include <stdio.h>
#include "model.h"
int main(void)
{
    double row[MODEL_N_FEATURES], scores[MODEL_N_SCORES];
    size_t j;
    while (fread(row, sizeof row[0], MODEL_N_FEATURES, stdin) == MODEL_N_FEATURES) {
        model_scores(row, scores);
        printf("%d", model_predict(row));
        for (j = 0; j < MODEL_N_SCORES; ++j) printf(" %.17g", scores[j]);
        printf("\\n");
    }
    return 0;
}
"""


@pytest.fixture
def answers(tmp_path):
    """Compile a model and return what its program says of rows."""

    def run(model, X):
        write_c(model, tmp_path / "model.h")
        (tmp_path / "main.c").write_text(MAIN)
        program = tmp_path / "program"
        command = [COMPILER, *STRICT, "main.c", "-o", str(program), "-lm"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        rows = np.ascontiguousarray(X, dtype=np.float64).tobytes()
        told = subprocess.run([program], input=rows, capture_output=True, check=True)
        values = np.array([line.split() for line in told.stdout.splitlines()], float)
        return model.classes_[values[:, 0].astype(int)], values[:, 1:]

    return run


def queries_for(model, n_rows=300):
    rng = np.random.default_rng(1)
    X = 1.5 * rng.standard_normal((n_rows, model.n_features_in_))
    X[::3] = np.rint(X[::3])
    if model._allows_nan:
        X[::7, 0] = np.nan
    return X


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("case", WRITTEN)
def test_a_program_answers_as_the_model(case, answers):
    model = fitted(case)
    X = queries_for(model)
    complete = np.nan_to_num(X)
    beside = border_rows(model.predict, complete, 40, (1e-3, 1e-6, 1e-9))
    assert len(beside) > 50
    rows = np.concatenate([X, beside])
    labels, scores = answers(model, rows)
    np.testing.assert_array_equal(labels, model.predict(rows))
    expected = model.decision_function(rows).reshape(len(rows), -1)
    np.testing.assert_allclose(scores, expected, 1e-10, 1e-10)


@pytest.mark.parametrize("kernel", ["linear", "laplace", "poly"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_every_kernel_and_votes_are_written(kernel, n_classes, answers):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.digitize(X[:, 0] * X[:, 1], np.linspace(-0.5, 0.5, n_classes - 1))
    parameters = {"degree": 1, "coef0": 1.5} if kernel == "poly" else {}
    model = LocalSVC(30, kernel=kernel, route="center", random_state=0, **parameters)
    model.fit(X, y)
    rows = rng.standard_normal((200, 3))
    labels, scores = answers(model, rows)
    np.testing.assert_array_equal(labels, model.predict(rows))
    expected = model.decision_function(rows).reshape(len(rows), -1)
    np.testing.assert_allclose(scores, expected, 1e-9, 1e-9)


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_named(case, tmp_path):
    with pytest.raises(TypeError, match=REFUSED[case]):
        write_c(fitted(case), tmp_path / "model.h")
    assert not list(tmp_path.iterdir())


def test_labels_are_written_as_they_are(answers, tmp_path):
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 10)
    texts = np.array(["a", 'b"\\', "größe??", ""])[X[:, 0].astype(int)]
    source = to_c(AdditiveSVC(C=1.0, random_state=0).fit(X, texts), name="texts")
    assert r'{"", "a", "b\042\134", "gr\303\266\303\237e\077\077"}' in source
    assert "TEXTS_N_CLASSES 4" in source
    small = ClusteredSVC(2, random_state=0).fit(X, X[:, 0].round())
    assert "static const double model_labels[4] = {0.0, 1.0, 2.0, 3.0};" in to_c(small)
    flags = ClusteredSVC(2, random_state=0).fit(X, X[:, 0] > 1)
    assert "static const long long model_labels[2] = {0, 1};" in to_c(flags)


@pytest.mark.parametrize("name", ["", "1a", "a-b", "größe", "a b"])
def test_names_are_those_of_c(name):
    with pytest.raises(ValueError, match="name must begin with a letter"):
        to_c(fitted("soft"), name=name)

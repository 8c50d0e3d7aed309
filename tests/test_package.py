"""The package as a whole: public names, stub, documentation, sizes."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.decomposition import PCA

import localsvm
from localsvm import AdditiveSVC, StagedSVC, _core
from localsvm.cluster import KernelNeighbors, ShortListNeighbors
from localsvm.estimators import CostClassifier
from localsvm.kernels import Kernel

MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(localsvm.__path__, "localsvm.")
]
# Layers that serve the estimators, not users.
INTERNAL = (
    *("localsvm.rows", "localsvm.passes", "localsvm.state"),
    "localsvm.cluster.state",
)
PUBLIC = [
    getattr(module, name)
    for module in (localsvm, *MODULES)
    if "._" not in module.__name__ and not module.__name__.startswith(INTERNAL)
    for name in getattr(module, "__all__", ())
    if not isinstance(getattr(module, name), float)  # constants have none
]
ARGUMENTS = {
    CostClassifier: (AdditiveSVC(), [[0, 1], [2, 0]]),
    KernelNeighbors: (Kernel("poly"),),
    ShortListNeighbors: (PCA(2),),
}


def test_submodules_are_imported_when_they_are_used():
    code = (
        "import sys, localsvm; late = ('localsvm.inspect', 'localsvm.serve'); "
        "assert not set(late) & set(sys.modules); "
        "localsvm.inspect.explain, localsvm.serve.create_app; "
        "assert set(late) <= set(sys.modules); "
        "assert {'inspect', 'serve', 'StagedSVC'} <= set(dir(localsvm))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'NeighborSVC'"):
        localsvm.NeighborSVC  # noqa: B018


def test_state_is_imported_when_a_file_is_read():
    code = (
        "import sys, localsvm, localsvm.estimators, localsvm.cluster, localsvm.data; "
        "assert not [name for name in sys.modules if name.startswith('localsvm.') "
        "and name.endswith('state')]; "
        "localsvm.load(sys.argv[1]); "
        "assert 'localsvm.estimators._staged.state' in sys.modules"
    )
    golden = Path(__file__).parent / "export" / "golden"
    path = min(golden.glob("soft-classes-*.lsvm"))
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


WITH_EXAMPLES = [
    module
    for module in MODULES
    if module is not _core and ">>> " in Path(module.__file__).read_text("utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES, ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("item", PUBLIC, ids=lambda item: item.__name__)
def test_public_names_have_docstrings(item):
    assert inspect.getdoc(item), f"{item.__name__} has no docstring"


@pytest.mark.parametrize(
    "estimator",
    [item for item in PUBLIC if inspect.isclass(item) and hasattr(item, "fit")],
    ids=lambda item: item.__name__,
)
def test_documented_attributes_exist(estimator):
    import re

    import numpy as np

    text = inspect.getdoc(estimator).split("Attributes\n----------\n")[1]
    text = re.split(r"\n\n[A-Z][A-Za-z ]+\n-+\n", text)[0]
    header = re.findall(r"^(\w[^\n]*_[^\n]*)$", text.replace("\\\n", ""), re.M)
    names = {name for line in header for name in re.findall(r"\b(\w+_)\b", line)}
    X = np.random.default_rng(0).standard_normal((60, 2))
    given = {"join": "switch"} if estimator is StagedSVC else {}
    model = estimator(*ARGUMENTS.get(estimator, ()), **given)
    model.fit(X, (X[:, 0] > 0).astype(int))
    model.feature_names_in_ = None
    assert names
    for name in names:
        assert hasattr(model, name), f"{estimator.__name__} has no {name}"


def test_stub_is_that_of_the_compiled_core():
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_core)
    generator.put(_core)
    stub = Path(localsvm.__file__).with_name("_core.pyi").read_text()
    assert generator.get() == stub, "run `make stub`"


def test_files_stay_small_enough_to_read():
    root = Path(__file__).parents[1]
    sources = [*root.glob("src/**/*.py"), *root.glob("core/**/*.?pp")]
    assert sources
    long = {p.name: n for p in sources if (n := len(p.read_text().splitlines())) > 450}
    assert not long


def test_pages_show_the_committed_results():
    root = Path(__file__).parents[1]
    check = [sys.executable, str(root / "benchmarks" / "tables.py"), "--check"]
    message = "run `python benchmarks/tables.py`"
    assert subprocess.run(check).returncode == 0, message


def test_child_processes_of_the_tests_hear_ctrl_c():
    ask = "import signal; print(signal.getsignal(signal.SIGINT).__name__)"
    child = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, timeout=60
    )
    assert child.stdout == "default_int_handler\n", child.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_tests_in_the_background_hear_ctrl_c_as_well():
    """A shell without job control starts background jobs deaf to SIGINT."""
    itself = f"{__file__}::test_child_processes_of_the_tests_hear_ctrl_c"
    pytest_itself = f"'{sys.executable}' -m pytest -q -p no:cacheprovider '{itself}'"
    run = subprocess.run(
        ["sh", "-c", f"{pytest_itself} & wait $!"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout

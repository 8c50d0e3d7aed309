"""The shape of the sources: sizes of folders and files, borders, types."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "localsvm"
STUB = ROOT / "_core.pyi"
HOUSE = ("estimators", "passes", "engine", "cluster", "solvers", "state", "rows")
FOLDERS = sorted(
    folder
    for name in HOUSE
    for folder in (ROOT / name, *(ROOT / name).rglob("*/"))
    if folder.name != "__pycache__"
)
MODULES = [module for folder in FOLDERS for module in sorted(folder.glob("*.py"))]
ROOMS = sorted({module.parent for module in ROOT.rglob("*.py")})
MOST_FILES, MOST_FILES_IN_HOUSE, MOST_LINES, MOST_ARGUMENTS = 14, 12, 400, 8


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def functions(path):
    """Functions of a module and methods of its classes; none that is inside another."""
    tree = ast.parse(path.read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for node in (tree, *classes):
        for item in node.body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node, item


def arguments(function, owner):
    """Arguments but for self and cls."""
    own = function.args
    named = [*own.posonlyargs, *own.args, *own.kwonlyargs]
    decorators = {getattr(item, "id", None) for item in function.decorator_list}
    is_bound = isinstance(owner, ast.ClassDef) and "staticmethod" not in decorators
    return [*named[is_bound:], *filter(None, (own.vararg, own.kwarg))]


def imported(path):
    """Names of all localsvm modules that a file imports from, as tuples."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")
            yield from ((*module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)


def foreign_private(path, root=ROOT):
    """Names of modules that are private to a folder where the file is not."""
    home = ("localsvm", *path.relative_to(root).parts[:-1])
    for names in imported(path):
        if names[0] != "localsvm":
            continue
        private = [
            place
            for place, name in enumerate(names)
            # Names of the package itself serve all folders.
            if place > 1 and name.startswith("_") and not name.startswith("__")
        ]
        if private and home[: private[0]] != names[: private[0]]:
            yield ".".join(names)


def test_the_house_is_there():
    assert {folder.parent for folder in FOLDERS} > {ROOT}
    assert len(MODULES) > 100
    assert {*FOLDERS, ROOT, ROOT / "cli", ROOT / "inspect"} < {*ROOMS}


@pytest.mark.parametrize("folder", ROOMS, ids=name_of)
def test_folders_hold_few_files(folder):
    files = [module.name for module in folder.glob("*.py")]
    most = MOST_FILES_IN_HOUSE if folder in FOLDERS else MOST_FILES
    assert len(files) <= most, sorted(files)


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_modules_are_short(folder):
    lines = {
        module.name: len(module.read_text().splitlines())
        for module in folder.glob("*.py")
    }
    assert not {name: n for name, n in lines.items() if n > MOST_LINES}


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_public_functions_are_typed(folder):
    untyped = [
        f"{module.name}:{function.lineno} {function.name}"
        for module in folder.glob("*.py")
        for owner, function in functions(module)
        if not function.name.startswith("_")
        and not (
            function.returns is not None
            and all(item.annotation for item in arguments(function, owner))
        )
    ]
    assert not untyped


def test_no_folder_imports_private_modules_of_another():
    found = {
        name_of(module): names
        for module in sorted(ROOT.rglob("*.py"))
        if (names := sorted(set(foreign_private(module))))
    }
    assert not found


def test_the_border_guard_sees_a_private_import(tmp_path):
    (tmp_path / "passes").mkdir()
    module = tmp_path / "passes" / "_survey.py"
    module.write_text(
        "from localsvm import _core\n"
        "from localsvm._checks import real\n"
        "from localsvm.passes._clusterer import learn\n"
        "from localsvm.rows import Rows, _records\n"
        "from localsvm.rows._folds import split_folds\n"
        "import localsvm.engine._blocks\n"
    )
    assert sorted(foreign_private(module, tmp_path)) == [
        "localsvm.engine._blocks",
        "localsvm.rows._folds.split_folds",
        "localsvm.rows._records",
    ]


def written_outside(path):
    """Attributes that a module sets on objects that it did not make itself."""
    for scope in ast.walk(ast.parse(path.read_text())):
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        assigned = [node for node in ast.walk(scope) if isinstance(node, ast.Assign)]
        made = {
            target.id
            for node in assigned
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(scope):
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                for place in getattr(target, "elts", [target]):
                    if not (
                        isinstance(place, ast.Attribute)
                        and isinstance(place.ctx, ast.Store)
                    ):
                        continue
                    owner = ast.unparse(place.value)
                    # scikit-learn hands out tags to be changed.
                    if owner.split(".")[0] not in {"self", "cls", "tags", *made}:
                        yield ast.unparse(place)


def test_nobody_writes_attributes_of_another_object():
    # `state.py` builds the objects of a model file. The others: a variable of the
    # thread, the iterate of the interior point method, and a new view of a CSR matrix.
    allowed = {"_thread.cancel", "state.plane", "state.pairs", "X.indices", "X.indptr"}
    found = {
        name_of(module): names
        for module in MODULES
        if module.name != "state.py" and "state" not in module.parent.name
        if (names := sorted(set(written_outside(module)) - allowed))
    }
    assert not found


def test_the_guard_of_attributes_sees_one_that_is_written(tmp_path):
    module = tmp_path / "fit.py"
    module.write_text(
        "def fit(model, rows):\n"
        "    fresh = make(rows)\n"
        "    fresh.n_rows = 1\n"
        "    model.coef_, model.parts[0].size = 1, 2\n"
        "    model.n_iter_ += 1\n"
    )
    assert sorted(written_outside(module)) == [
        "model.coef_",
        "model.n_iter_",
        "model.parts[0].size",
    ]


def test_bound_functions_take_few_arguments():
    bound = list(functions(STUB))
    assert len(bound) > 50
    assert not {
        (getattr(owner, "name", ""), function.name): len(arguments(function, owner))
        for owner, function in bound
        if len(arguments(function, owner)) > MOST_ARGUMENTS
    }


def test_bound_functions_return_records_or_arrays():
    plain = ("dict", "tuple", "object", "Any")
    assert not {
        function.name
        for _, function in functions(STUB)
        if any(
            isinstance(node, ast.Name) and node.id in plain
            for node in ast.walk(outer_type(function.returns))
        )
    }


def outer_type(annotation):
    """What stands before the shape in Annotated[array, dict(shape=...)]."""
    if isinstance(annotation, ast.Subscript) and isinstance(
        annotation.slice, ast.Tuple
    ):
        return annotation.slice.elts[0]
    return annotation

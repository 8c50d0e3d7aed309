"""Optional packages."""

import ast
import math
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from localsvm._extras import require
from localsvm.exceptions import MissingExtraError


def test_a_module_that_is_there_is_returned():
    assert require("math", "plot", "A display") is math


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.part"])
def test_a_missing_package_is_asked_for_by_name(module):
    with pytest.raises(MissingExtraError) as raised:
        require(module, "plot", "A display")
    assert str(raised.value) == (
        "A display needs no_such_package, which is not installed. Install it with\n"
        "    pip install 'localsvm[plot]'"
    )
    assert raised.value.name == "no_such_package"


def test_a_package_that_fails_to_import_another_is_not_hidden(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_package") as raised:
        require("broken_package", "plot", "A display")
    assert "pip install" not in str(raised.value)


ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
# What comes with a package.
IMPLIED = {"dask": {"distributed", "pandas"}, "jinja2": {"markupsafe"}}


def packages_of(extra):
    """Packages that an extra installs, those of extras in it too."""
    found = set()
    for requirement in EXTRAS[extra]:
        name, inner = re.match(r"([\w-]+)(?:\[([\w,-]+)\])?", requirement).groups()
        if name == "localsvm":
            found |= set().union(*map(packages_of, inner.split(",")))
        else:
            found |= {name, *IMPLIED.get(name, ())}
    return found


def required():
    """Package and extra of every call of ``require`` in the library."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require":
                module, extra = (getattr(a, "value", None) for a in node.args[:2])
                if module is not None and extra is not None:
                    yield module.partition(".")[0], extra


def test_an_extra_installs_what_it_is_asked_for():
    calls = set(required())
    assert {("pandas", "tables"), ("starlette", "serve")} <= calls
    assert not {call for call in calls if call[0] not in packages_of(call[1])}


def test_the_extra_of_tables_is_no_command_line():
    """A user of the library who lacks pandas is not told to install typer."""
    assert packages_of("tables") == {"pandas", "pyarrow"}
    assert packages_of("cli") > packages_of("tables")
    by_folder = {
        path
        for folder in ("data", "inspect", "serve")
        for path in (ROOT / "src" / "localsvm" / folder).rglob("*.py")
        if '"cli"' in path.read_text()
    }
    assert not by_folder


@pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
def test_a_table_names_its_extra(missing):
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name.partition('.')[0] == '{missing}':\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from localsvm.data import read_table, sample_path\n"
        "read_table(sample_path(), target='income')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'localsvm[tables]'" in done.stderr.splitlines()[-1]


def test_all_is_all():
    others = set(EXTRAS) - {"all"}
    assert packages_of("all") == set().union(*map(packages_of, others))


def test_development_tools_are_no_extras():
    assert not {"test", "lint", "dev", "docs", "bench"} & set(EXTRAS)
    assert {"test", "lint", "dev", "docs", "bench"} == set(PROJECT["dependency-groups"])

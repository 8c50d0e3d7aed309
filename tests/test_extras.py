"""Optional packages."""

import math

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

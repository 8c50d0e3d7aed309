"""Results as JSON and as text."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import localsvm
from localsvm.cli._show._screen import Screen, pairs, to_plain


@dataclass
class Score:
    value: float
    names: tuple[str, ...]


def test_plain_forms():
    given = {
        np.int64(1): np.array([1.5, np.nan]),
        "path": Path("a"),
        "score": Score(np.float32(0.5), ("b",)),
        "set": {3},
        "inf": float("inf"),
        "flag": np.True_,
    }
    assert to_plain(given) == {
        "1": [1.5, None],
        "path": "a",
        "score": {"value": 0.5, "names": ["b"]},
        "set": [3],
        "inf": None,
        "flag": True,
    }


def test_unknown_objects_are_refused():
    with pytest.raises(TypeError, match="object has no form in JSON"):
        to_plain(object())


def test_json_is_one_document_and_messages_go_elsewhere(capsys):
    screen = Screen("fit", as_json=True, quiet=False)
    screen.say("working")
    screen.show({"größe": 1}, "text")
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "schema": 1,
        "localsvm": localsvm.__version__,
        "command": "fit",
        "größe": 1,
    }
    assert "größe" in out
    assert err == "working\n"


def test_quiet_leaves_the_result(capsys):
    screen = Screen("fit", as_json=False, quiet=True)
    screen.say("working")
    screen.show({"a": 1}, "text")
    assert capsys.readouterr() == ("text\n", "")


def test_pairs_align():
    assert pairs({"a": 1, "bbb": "x"}) == ["a    1", "bbb  x"]

"""The commands of the guide, sent as they are printed."""

import re
import shlex
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sklearn.pipeline import Pipeline

from localsvm import ClusteredSVC
from localsvm.data import TableEncoder, read_table, sample_path
from serve_data import client_of

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "serve.md"
COMMANDS = re.findall(r"^curl .*$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def income():
    table = read_table(sample_path("adult"), target="income")
    steps = [("table", TableEncoder()), ("model", ClusteredSVC(random_state=0))]
    return client_of(Pipeline(steps).fit(table.X, table.y), name="income")


@pytest.mark.parametrize("command", COMMANDS)
def test_curl(income, command):
    arguments = shlex.split(command)[1:]
    (url,) = [each for each in arguments if each.startswith("http://127.0.0.1:8000/")]
    method, body = "GET", b""
    if "-d" in arguments:
        assert arguments[:2] == ["-X", "POST"]
        method, body = "POST", arguments[arguments.index("-d") + 1].encode()
    answer = income.request(method, urlsplit(url).path, content=body)
    assert answer.status_code == 200, answer.text
    if url.endswith("/infer"):
        assert set(answer.json()["outputs"][0]["data"]) <= {"<=50K", ">50K"}
    if url.endswith("/explain"):
        (found,) = answer.json()["explanations"]
        assert {"age", "education"} <= {each["name"] for each in found["columns"]}


def test_the_guide_has_commands():
    assert {urlsplit(shlex.split(each)[-1]).path for each in COMMANDS[:1]} == {
        "/v2/models/income"
    }
    assert len(COMMANDS) == 3

"""What commands print with ``--json``: entries, types, counts and words, and the page.

Fractions depend on libraries and machines; other tests compare them with the library.
"""

import json

import pytest
from cli_json import COMMANDS, PAGE, answer_all, golden, page

from localsvm.cli._app import COMMANDS as LISTED
from localsvm.cli._lazy import Group

# They depend on versions, time or machine.
CHANGING = {"bytes", "when", "localsvm", "created_by", "written_by", "promise"}


@pytest.fixture(scope="module")
def answers():
    return answer_all()


def shape(value):
    """The document without what changes from run to run."""
    if isinstance(value, dict):
        return {
            key: type(item).__name__ if key in CHANGING else shape(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "float" if isinstance(value, float) else value


@pytest.mark.parametrize("name", COMMANDS)
def test_the_document_is_the_golden_one(answers, name):
    message = "run `python benchmarks/cli_json.py`; see `schema` in docs/cli-json.md"
    assert shape(answers[name]) == shape(golden()[name]), message


def test_every_command_has_a_golden_file():
    have = {answer.get("command") for answer in golden().values()}
    listed = {
        f"{each.name} {part.name}" if part is not each else each.name
        for each in LISTED
        for part in (each.commands if isinstance(each, Group) else (each,))
    }
    assert listed - have == {"serve", "demo"}  # test_demo has the entries of demo


def test_the_page_shows_the_golden_files():
    assert PAGE.read_text("utf-8") == page(golden()), "run benchmarks/cli_json.py"


def test_an_error_is_an_object_beside_messages(call):
    result = call("fit", "people.csv", "-t", "hapy", "-o", "new.lsvm", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    found = json.loads(result.stderr.splitlines()[-1])
    assert found["error"].startswith("people.csv has no column 'hapy'")
    assert found["exit_code"] == 1
    misused = call("fit", "people.csv", "-o", "new.lsvm", "--json", "--param", "C")
    assert misused.exit_code == json.loads(misused.stderr)["exit_code"] == 2


def test_counts_are_whole_numbers(answers):
    scores = answers["evaluate"]
    counts = [each["n_rows"] for each in scores["classes"]]
    counts += [count for row in scores["confusion"] for count in row]
    counts += answers["explain"]["rows"][0]["region_class_counts"].values()
    for region in answers["info"]["regions"]:
        counts += [region["size"], *region["class_counts"].values()]
    assert {type(count) for count in counts} == {int}

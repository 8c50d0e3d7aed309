"""Requests that cannot be answered: the status, and the field that is named."""

import json

import pytest

from serve_data import client_of, people_model, person_tensors, tensor, xor_model

INFER = "/v2/models/model/infer"


@pytest.fixture(scope="module")
def xor():
    return client_of(xor_model(), max_rows=1000)


@pytest.fixture(scope="module")
def table():
    return client_of(people_model(), max_rows=1000)


def with_input(**changed):
    good = {"name": "X", "shape": [1, 2], "datatype": "FP64", "data": [1.0, 2.0]}
    return {"inputs": [{**good, **changed}]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "inputs is missing; expected a list."),
        ({"inputs": {}}, "inputs is an object; expected a list."),
        ({"inputs": []}, "inputs is empty; expected at least one tensor."),
        ({"inputs": [7]}, "inputs[0] is a number; expected an object."),
        ({"inputs": [{}]}, "inputs[0].name is missing; expected a string."),
        (with_input(name=3), "inputs[0].name is 3; expected a string."),
        (with_input(name="Y"), 'inputs[0].name is "Y", which the model does not have'),
        (with_input(shape="2"), 'inputs[0].shape is "2"; expected a list.'),
        (with_input(shape=[]), "inputs[0].shape is []; expected [rows] or [rows, "),
        (with_input(shape=[1, 1, 2]), "inputs[0].shape is [1, 1, 2]; expected"),
        (with_input(shape=[-1, 2]), "inputs[0].shape is [-1, 2]; expected"),
        (with_input(shape=[True, 2]), "inputs[0].shape is [true, 2]; expected"),
        (with_input(shape=[1.0, 2]), "inputs[0].shape is [1.0, 2]; expected"),
        (
            with_input(datatype="FLOAT"),
            'inputs[0].datatype is "FLOAT"; expected one of',
        ),
        (with_input(data=None), "inputs[0].data is null; expected a list."),
        (
            with_input(shape=[2, 3], data=[1] * 5),
            "inputs[0].data has 5 values; shape [2, 3] needs 6.",
        ),
        (
            with_input(shape=[2, 2], data=[[1, 2], [3]]),
            "inputs[0].data[1] has 1 values; shape [2, 2] needs 2.",
        ),
        (
            with_input(shape=[2, 2], data=[[1, 2]]),
            "inputs[0].data has 1 rows; shape [2, 2] needs 2.",
        ),
        (
            with_input(shape=[2, 2], data=[[1, 2], 3]),
            "inputs[0].data[1] is 3; expected a list, as before.",
        ),
        (
            with_input(data=[1, [2]]),
            "inputs[0].data[1] is a list; expected FP64.",
        ),
        (with_input(data=[1, "2"]), 'inputs[0].data[1] is "2"; expected FP64.'),
        (with_input(data=[1, True]), "inputs[0].data[1] is true; expected FP64."),
        (with_input(data=[1, None]), "inputs[0].data[1] is null; expected a number."),
        (
            with_input(datatype="INT8", data=[1, 2.5]),
            "inputs[0].data[1] is 2.5; expected INT8.",
        ),
        (
            with_input(datatype="INT8", data=[1, 200]),
            "inputs[0].data[1] is 200; expected INT8, from -128 to 127.",
        ),
        (
            with_input(datatype="FP32", data=[1, 1e39]),
            "inputs[0].data[1] is 1e+39, beyond the range of FP32.",
        ),
        (
            with_input(datatype="BYTES", data=["1", "2"]),
            "inputs[0].datatype is BYTES; expected numbers, e.g. FP64.",
        ),
        (
            with_input(datatype="BOOL", data=[True, False]),
            "inputs[0].datatype is BOOL; expected numbers, e.g. FP64.",
        ),
        (
            with_input(shape=[1, 3], data=[1, 2, 3]),
            "inputs[0].shape is [1, 3]; expected [rows, 2], one per column of the ",
        ),
        (with_input(data=[1, 10**400]), "inputs[0].data has an integer beyond"),
        ({**with_input(), "id": 5}, "id is 5; expected a string."),
        ({**with_input(), "outputs": 5}, "outputs is 5; expected a list."),
        ({**with_input(), "outputs": [5]}, "outputs[0] is 5; expected an object."),
        (
            {**with_input(), "outputs": [{"name": "age"}]},
            'outputs[0].name is "age"; expected one of label, scores, '
            "probabilities, familiarity.",
        ),
        (
            {**with_input(), "outputs": [{"name": "label"}, {"name": "label"}]},
            'outputs[1].name is "label" once more.',
        ),
        ({**with_input(), "id": "7" * 1001}, "id has 1001 characters; expected at "),
        (
            {"inputs": [tensor("x0", [1.0])]},
            "inputs has no tensor 'x1'.",
        ),
        (
            {"inputs": [tensor("x0", [1.0]), tensor("x0", [1.0])]},
            "inputs[1].name is 'x0' once more.",
        ),
        (
            {"inputs": [tensor("x0", [1.0]), tensor("x1", [1.0, 2.0])]},
            "inputs[1].shape is [2]; expected [1] or [1, 1], a column",
        ),
        (
            with_input(shape=[2, 2], data=[1, 1, 1e308, -1e308]),
            "Row 1 has values too large: its scores are not finite.",
        ),
    ],
)
def test_the_field_is_named(xor, content, message):
    answer = xor.post(INFER, content)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "The body is not JSON: Expecting value at line 1, column 1."),
        (b'{"inputs": [}', "The body is not JSON: Expecting value at line 1"),
        (b"\xff\xfe", "The body is not UTF-8: byte 0 is 0xff."),
        (b"[1]", "The body is a list; expected a JSON object."),
        (b"null", "The body is null; expected a JSON object."),
        (b'{"a": NaN}', "The body has the number NaN, which JSON does not know."),
        (b'{"a": -Infinity}', "The body has the number -Infinity"),
        (b'{"a": ' + b"9" * 5000 + b"}", "The body has an integer of thousands of"),
        (b"[" * 100_000, "The body is nested too deep."),
        (b'{"a":' * 100_000, "The body is nested too deep."),
    ],
)
@pytest.mark.parametrize("path", [INFER, "/explain"])
def test_bodies_that_are_no_objects(xor, path, body, message):
    answer = xor.post(path, body)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(message)


def test_a_number_beyond_all_floats_is_infinite_and_refused(xor):
    body = json.dumps(with_input()).replace("2.0", "1e999").encode()
    answer = xor.post(INFER, body)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("inputs[0].data[1] is Infinity, beyond")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"age": "old"}, 'inputs[0].data[0] is "old"; expected FP64.'),
        ({"member": "maybe"}, 'inputs[2].data[0] is "maybe"; expected BOOL.'),
        ({"moved": "soon"}, "The model refuses the rows: "),
        (
            {"town": "\ud800"},
            "inputs[1].data has half of a surrogate pair in a string.",
        ),
    ],
)
def test_values_of_a_table(table, changed, message):
    inputs = person_tensors(**changed)
    answer = table.infer(*inputs)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(message)


def test_columns_of_a_table(table):
    inputs = person_tensors()
    inputs[0]["datatype"], inputs[0]["data"] = "BYTES", ["40"]
    answer = table.infer(*inputs)
    assert "column 'age' is of numbers, expected e.g. FP64" in answer.json()["error"]
    inputs[0]["name"] = "agee"
    assert "did you mean 'age'?" in table.infer(*inputs).json()["error"]
    (unknown,) = person_tensors(planet="mars")[-1:]
    missing = table.infer(unknown).json()["error"]
    assert missing.startswith("inputs has no tensor 'age', 'town', ")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v2/models/other", 404),
        ("GET", "/v2/models/other/ready", 404),
        ("POST", "/v2/models/other/infer", 404),
        ("GET", "/v2/models/model/versions/2", 404),
        ("POST", "/v2/models/model/versions/2/infer", 404),
        ("GET", "/nothing", 404),
        ("GET", "/docs", 404),
        ("GET", "/openapi.json", 404),
        ("GET", INFER, 405),
        ("POST", "/v2", 405),
        ("DELETE", "/v2/models/model", 405),
        ("GET", "/explain", 405),
        ("POST", "/", 405),
    ],
)
def test_wrong_addresses_and_methods(xor, method, path, status):
    answer = xor.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert status != 405 or answer.headers["allow"]


def test_a_long_or_strange_model_name_is_cut_and_escaped(xor):
    answer = xor.get("/v2/models/" + "a" * 3000)
    assert answer.status_code == 404
    assert len(answer.text) < 300
    answer = xor.get("/v2/models/%3Cscript%3E%ff")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"

"""Garbage: whatever comes, the answer is an error that tells no secrets."""

import asyncio
import json

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, strategies as st

from examples import examples
from serve_data import client_of, people_model, person_tensors, tensor, xor_model

PATHS = ["/v2/models/model/infer", "/explain"]
CLIENTS = {"xor": client_of(xor_model()), "people": client_of(people_model())}
EASY = examples(60, suppress_health_check=list(HealthCheck))

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["X", "x0", "age", "FP64", "BYTES", "label"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["inputs", "rows", "name", "shape", "datatype", "data", "id", "outputs"]
            )
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


def is_clean(answer):
    assert answer.status_code in (200, 400, 413), (answer.status_code, answer.text)
    assert "Traceback" not in answer.text
    assert ".py" not in answer.text
    content = json.loads(answer.content)
    assert answer.status_code == 200 or list(content) == ["error"]


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("path", PATHS)
@EASY
@given(body=st.binary(max_size=200))
def test_bytes(name, path, body):
    is_clean(CLIENTS[name].post(path, body))


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("path", PATHS)
@EASY
@given(content=JSON)
def test_json(name, path, content):
    is_clean(CLIENTS[name].post(path, json.dumps(content).encode()))


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)


@EASY
@given(
    name=st.sampled_from(["X", "x0", "x1", "", "Y"]),
    datatype=st.sampled_from(["FP64", "FP16", "INT8", "UINT64", "BOOL", "BYTES", "?"]),
    shape=st.lists(st.integers(-1, 4), max_size=3),
    data=st.lists(VALUES | st.lists(VALUES, max_size=3), max_size=6),
)
def test_tensors(name, datatype, shape, data):
    content = {"name": name, "datatype": datatype, "shape": shape, "data": data}
    body = json.dumps({"inputs": [content]}).encode()
    is_clean(CLIENTS["xor"].post(PATHS[0], body))


@EASY
@given(
    changed=st.dictionaries(st.sampled_from(["age", "town", "moved", "note"]), VALUES)
)
def test_values_of_tables(changed):
    person = {
        "age": 1,
        "town": "Ulm",
        "member": True,
        "moved": "2020-01-01",
        "note": "",
    }
    row = json.dumps({"rows": [{**person, **changed}]}).encode()
    is_clean(CLIENTS["people"].post("/explain", row))
    for each in person_tensors(**changed):
        each["datatype"] = "BYTES" if each["name"] != "age" else "FP64"
    body = json.dumps({"inputs": person_tensors(**changed)}).encode()
    is_clean(CLIENTS["people"].post(PATHS[0], body))


@pytest.mark.parametrize("name", CLIENTS)
def test_requests_with_flipped_bytes(name):
    client = CLIENTS[name]
    inputs = [tensor("X", [[1.0, 2.0]])] if name == "xor" else person_tensors()
    good = json.dumps({"id": "7", "inputs": inputs}).encode()
    rng = np.random.default_rng(0)

    async def ask_all():
        transport = httpx.ASGITransport(client.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://s") as http:
            for _ in range(300):
                body = bytearray(good)
                for place in rng.integers(0, len(body), rng.integers(1, 4)):
                    body[place] = rng.integers(0, 256)
                is_clean(await http.post(PATHS[0], content=bytes(body)))

    asyncio.run(ask_all())

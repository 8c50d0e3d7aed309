"""Limits of size, number and time, and errors of the server itself."""

import asyncio
import logging

import numpy as np
import pytest

from localsvm.serve import create_app
from localsvm.serve._bodies import BodyReader
from localsvm.serve._errors import RequestError
from serve_data import Client, Gate, client_of, tensor, xor_model

INFER = "/v2/models/model/infer"


async def read_body(request, max_body, timeout):
    async with BodyReader(max_body, 8 * max_body, timeout).read(request) as body:
        return body


def rows(n=1):
    return tensor("X", np.zeros((n, 2)))


def test_a_body_that_is_told_to_be_too_long_is_not_read():
    app = create_app(xor_model(), max_body=1000)
    read = []

    async def body():
        read.append(1)
        yield b"x" * 4001

    answer = Client(app).request(
        "POST", INFER, content=body(), headers={"content-length": "4001"}
    )
    assert answer.status_code == 413
    assert answer.json() == {"error": "The body is longer than 1000 bytes."}
    assert answer.headers["connection"] == "close"
    assert read == []


@pytest.mark.parametrize("told", [None, "10", "abc", "-5", "9" * 5000])
def test_a_body_is_counted_whatever_its_length_is_said_to_be(told):
    headers = {} if told is None else {"content-length": told}
    sent = []

    class Request:
        def __init__(self):
            self.headers = headers

        async def stream(self):
            for _ in range(100):
                sent.append(100)
                yield b"x" * 100

    with pytest.raises(RequestError) as raised:
        asyncio.run(read_body(Request(), 1000, 5.0))
    assert raised.value.status == 413
    assert sum(sent) <= 4100


def test_the_rest_of_a_body_that_is_a_little_too_long_is_read_and_dropped():
    ended = []

    class Request:
        headers = {"content-length": "1100"}  # noqa: RUF012

        async def stream(self):
            for _ in range(11):
                yield b"x" * 100
            ended.append(True)

    with pytest.raises(RequestError) as raised:
        asyncio.run(read_body(Request(), 1000, 5.0))
    assert raised.value.status == 413
    assert ended


def test_a_body_of_just_the_size_is_read():
    class Request:
        headers: dict = {}  # noqa: RUF012

        async def stream(self):
            for _ in range(10):
                yield b"x" * 100

    assert len(asyncio.run(read_body(Request(), 1000, 5.0))) == 1000


def test_a_body_that_does_not_come_is_not_waited_for():
    class Request:
        headers: dict = {}  # noqa: RUF012

        async def stream(self):
            yield b"{"
            await asyncio.sleep(60)

    with pytest.raises(RequestError) as raised:
        asyncio.run(read_body(Request(), 1000, 0.05))
    assert raised.value.status == 408


@pytest.mark.parametrize(
    "headers",
    [{"content-encoding": "gzip"}, {"inference-header-content-length": "10"}],
)
def test_compressed_and_binary_bodies_are_refused(headers):
    answer = client_of(xor_model()).request(
        "POST", INFER, content=b"{}", headers=headers
    )
    assert answer.status_code == 415


def test_too_many_rows():
    client = client_of(xor_model(), max_rows=10)
    assert client.infer(rows(10)).status_code == 200
    answer = client.infer(rows(11))
    assert answer.status_code == 413
    assert answer.json()["error"] == (
        "inputs[0].shape has 11 rows; expected at most 10 a request."
    )
    answer = client.post("/explain", {"rows": [[0, 0]] * 11})
    assert answer.status_code == 413
    assert "rows has 11 rows; expected at most 10" in answer.json()["error"]


def test_a_promised_number_of_rows_is_refused_before_anything_is_made():
    claimed = {**rows(), "shape": [10**15, 2]}
    assert client_of(xor_model()).infer(claimed).status_code == 413


def test_an_answer_that_would_be_too_long_is_not_computed():
    model = Gate()
    client = client_of(model, max_body=10_000)
    model.classes_ = np.array(["a" * 2000, "b"])
    answer = client.infer({**rows(), "shape": [100, 2], "data": [0] * 200})
    assert answer.status_code == 413
    assert answer.json()["error"] == (
        "The answer has up to 200400 bytes; expected at most 40000. Send at most 19 "
        "rows a request, or ask for fewer outputs."
    )
    assert model.n_asked == 0


def test_stalled_bodies_make_room_for_those_that_arrive():
    reader = BodyReader(100, 250, timeout=20.0)

    class Request:
        headers: dict = {}  # noqa: RUF012

        def __init__(self, chunk, ends):
            self.chunk, self.ends = chunk, ends

        async def stream(self):
            yield self.chunk
            await self.ends.wait()

    async def hold(chunk, ends, done):
        async with reader.read(Request(chunk, ends)) as body:
            done.append(len(body))

    async def live():
        ends, done = asyncio.Event(), []
        stalled = [
            asyncio.create_task(hold(b"x" * n, ends, done)) for n in (100, 60, 80)
        ]
        await asyncio.sleep(0.01)
        assert reader.n_held == 240
        at_once = asyncio.Event()
        at_once.set()
        await hold(b"y" * 90, at_once, done)
        assert done == [90]
        with pytest.raises(RequestError) as refused:
            await stalled[0]
        assert refused.value.status == 503
        ends.set()
        await asyncio.gather(*stalled[1:])
        return done

    assert asyncio.run(live()) == [90, 60, 80]
    assert reader.n_held == 0


def test_an_error_of_the_server_tells_a_number_and_no_more(caplog):
    client = client_of(Gate(error=RuntimeError("secret /home/me")))
    with caplog.at_level(logging.ERROR, "localsvm.serve"):
        answer = client.infer(rows())
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    number = answer.json()["error"].rstrip(".").split()[-1]
    (record,) = [r for r in caplog.records if r.name == "localsvm.serve"]
    assert number in record.getMessage()
    assert "secret /home/me" in caplog.text


def test_what_a_model_says_of_its_rows_is_told():
    answer = client_of(Gate(error=ValueError("column 'a' is wrong"))).infer(rows())
    assert answer.status_code == 400
    assert answer.json()["error"] == "The model refuses the rows: column 'a' is wrong"

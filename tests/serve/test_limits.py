"""Limits of size, number and time, and errors of the server itself."""

import asyncio
import logging
import threading
import time

import httpx
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from localsvm.serve import create_app
from localsvm.serve._bodies import read_body
from localsvm.serve._errors import RequestError
from serve_data import Client, client_of, tensor, xor_model

INFER = "/v2/models/model/infer"


class Gate(ClassifierMixin, BaseEstimator):
    """Answers when it is let; fails if it is told to."""

    def __init__(self, error=None):
        self.error = error
        self.open = threading.Event()
        self.n_asked = 0
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = 2

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        self.n_asked += 1
        if self.error is not None:
            raise self.error
        assert self.open.wait(20)
        return np.zeros(len(X), dtype=int)


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


def test_what_takes_too_long_is_answered_and_keeps_its_place_until_it_ends():
    model = Gate()
    client = client_of(model, timeout=0.2, n_threads=1)
    answer = client.infer(rows())
    assert answer.status_code == 503
    assert answer.json()["error"].startswith("The request took longer than 0.2 s")
    assert answer.headers["retry-after"] == "1"
    # The thread is taken: the next one is not even begun.
    assert client.infer(rows()).status_code == 503
    assert model.n_asked == 1
    model.open.set()
    assert _eventually(lambda: client.infer(rows()).status_code == 200)
    assert model.n_asked >= 2


def test_a_full_queue_is_told_at_once():
    model = Gate()
    client = client_of(model, timeout=20.0, n_threads=1)

    async def flood():
        transport = httpx.ASGITransport(client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://s") as http:
            body = {"inputs": [rows()]}
            tasks = [
                asyncio.create_task(http.post(INFER, json=body)) for _ in range(30)
            ]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            early = [task.result().status_code for task in done]
            model.open.set()
            return early, [(await task).status_code for task in tasks]

    early, codes = asyncio.run(flood())
    assert set(early) == {503}
    # One runs, sixteen wait.
    assert sorted(codes) == [200] * 17 + [503] * 13


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


def test_many_at_once_get_the_answers_of_their_own_rows():
    client = client_of(xor_model(), n_threads=4)
    rng = np.random.default_rng(0)
    several = [rng.standard_normal((n, 2)) * 3 for n in rng.integers(1, 40, 60)]

    async def ask(http, X):
        answer = await http.post(INFER, json={"inputs": [tensor("X", X)]})
        return {o["name"]: np.array(o["data"]) for o in answer.json()["outputs"]}

    async def ask_all():
        transport = httpx.ASGITransport(client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://s") as http:
            return await asyncio.gather(*(ask(http, X) for X in several))

    for X, found in zip(several, asyncio.run(ask_all()), strict=True):
        assert np.array_equal(found["label"], xor_model().predict(X))
        assert np.array_equal(found["scores"], xor_model().decision_function(X))


def test_the_end_of_the_application_waits_for_running_work():
    model = Gate()
    app = create_app(model, n_threads=1, timeout=20.0)

    async def live():
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://s") as http,
        ):
            task = asyncio.create_task(http.post(INFER, json={"inputs": [rows()]}))
            while not model.n_asked:
                await asyncio.sleep(0.01)
            model.open.set()
            assert (await task).status_code == 200
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://s") as http:
            return await http.post(INFER, json={"inputs": [rows()]})

    answer = asyncio.run(live())
    assert answer.status_code == 503
    assert answer.json()["error"] == "The server is shutting down."


def _eventually(condition):
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.02)
    return False

"""The work of requests: threads, blocks, and its end with the request."""

import asyncio
import json
import threading
import time

import httpx
import numpy as np
import pytest

from localsvm.serve import create_app
from localsvm.serve._errors import RequestError
from localsvm.serve._workers import Workers
from serve_data import Client, Gate, client_of, tensor, xor_model

INFER = "/v2/models/model/infer"


def rows(n=1):
    return tensor("X", np.zeros((n, 2)))


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


class Blocks(Gate):
    """Waits within each block until a further one is let through."""

    def __init__(self):
        super().__init__()
        self.sizes = []
        self.let = threading.Semaphore(0)

    def predict(self, X):
        self.sizes.append(len(X))
        assert self.let.acquire(timeout=20)
        return np.zeros(len(X), dtype=int)


def test_rows_are_predicted_in_blocks_with_one_answer():
    model = Blocks()
    for _ in range(3):
        model.let.release()
    (label,) = client_of(model).infer(rows(600)).json()["outputs"]
    assert model.sizes == [256, 256, 88]
    assert label["shape"] == [600]
    assert label["data"] == [0] * 600


def test_blocks_give_the_answer_of_all_rows_at_once():
    X = np.random.default_rng(0).standard_normal((1000, 2))
    label, scores, _ = client_of(xor_model()).infer(tensor("X", X)).json()["outputs"]
    assert np.array_equal(label["data"], xor_model().predict(X))
    assert np.array_equal(scores["data"], xor_model().decision_function(X))


def test_a_place_in_a_later_block_is_told():
    X = np.zeros((600, 2))
    X[500] = [1e308, -1e308]
    answer = client_of(xor_model()).infer(tensor("X", X))
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Row 500 has values too large")


def test_work_ends_after_the_block_in_which_its_time_is_out():
    model = Blocks()
    client = client_of(model, timeout=0.2, n_threads=1)
    assert client.infer(rows(600)).status_code == 503
    assert model.sizes == [256]
    for _ in range(3):
        model.let.release()
    assert _eventually(lambda: client.infer(rows(1)).status_code == 200)
    assert model.sizes[0] == 256
    assert set(model.sizes[1:]) == {1}


def test_work_ends_when_its_client_has_gone():
    model = Blocks()
    app = create_app(model, timeout=20.0, n_threads=1)
    body = json.dumps({"inputs": [rows(600)]}).encode()
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def leave():
        async def receive():
            if messages:
                return messages.pop()
            while not model.sizes:
                await asyncio.sleep(0.01)
            return {"type": "http.disconnect"}

        async def send(message):
            pass

        scope = {
            "type": "http",
            "method": "POST",
            "path": INFER,
            "query_string": b"",
            "headers": [],
        }
        await app(scope, receive, send)

    asyncio.run(leave())
    model.let.release()
    model.let.release()
    assert _eventually(lambda: Client(app).infer(rows(1)).status_code == 200)
    assert model.sizes == [256, 1]


def test_a_large_request_leaves_a_thread_to_small_ones():
    model = Gate()
    client = client_of(model, n_threads=2, timeout=20.0)
    padding = {"parameters": {"padding": "x" * 200_000}}

    async def ask():
        transport = httpx.ASGITransport(client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://s") as http:

            def post(more):
                body = {"inputs": [rows()], **more}
                return asyncio.create_task(http.post(INFER, json=body))

            large = [post(padding) for _ in range(3)]
            while model.n_asked < 1:
                await asyncio.sleep(0.01)
            small = post({})
            while model.n_asked < 2:
                await asyncio.sleep(0.01)
            model.open.set()
            return [(await each).status_code for each in (*large, small)]

    assert asyncio.run(ask()) == [200] * 4


def test_a_block_that_does_not_end_does_not_hold_up_the_end():
    workers = Workers(1, 1, timeout=20.0)
    begun, forever = threading.Event(), threading.Event()

    def block(check):
        begun.set()
        forever.wait(20)
        return b""

    async def live():
        never = asyncio.get_running_loop().create_future()
        running = asyncio.create_task(workers.run(block, lambda: never, is_large=False))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        workers.stop()
        with pytest.raises(RequestError, match="shutting down"):
            await running
        return workers.close(0.05)

    assert asyncio.run(live()) is False
    forever.set()
    assert workers.close(20) is True


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

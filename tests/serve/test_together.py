"""Small requests that wait are answered by the same predictions."""

import asyncio
import json
import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from localsvm.serve import _served
from localsvm.serve._errors import RequestError
from localsvm.serve._served import ServedModel
from localsvm.serve._workers import Joint, RequestEndedError, Workers
from serve_data import people_model, tensor, xor_model

LIMITS = {"name": "model", "max_rows": 100, "max_answer": 100_000}


def body(*inputs, **more):
    return bytearray(json.dumps({"inputs": list(inputs), **more}).encode())


def matrix(*rows, datatype="FP64"):
    return tensor("X", [list(row) for row in rows], datatype)


def nothing():
    pass


def alone(served, request):
    try:
        return json.loads(served.infer(request, nothing))
    except RequestError as error:
        return error.status, error.message


def together(served, requests):
    found = served.infer_together(requests, nothing)
    return [
        json.loads(each) if isinstance(each, bytes) else (each.status, each.message)
        for each in found
    ]


def assert_same(found, expected):
    """Scores may differ in the last bits: sums of several rows have another order."""
    if isinstance(expected, tuple):
        assert found == expected
        return
    outputs = [answer.pop("outputs") for answer in (found, expected)]
    assert found == expected
    for mine, other in zip(*outputs, strict=True):
        data = mine.pop("data"), other.pop("data")
        assert mine == other
        if mine["datatype"] == "FP64":
            np.testing.assert_allclose(*data, rtol=1e-12)
        else:
            assert data[0] == data[1]


def test_arrays_are_answered_as_alone(monkeypatch):
    served = ServedModel(xor_model(), **LIMITS)
    requests = [
        body(matrix([1, 2]), id="a"),
        body(matrix([3, -2], [0.5, 0.1])),
        body(matrix([1, -2]), outputs=[{"name": "label"}]),
        body(matrix([1, 2, 3])),
        bytearray(b"{"),
        body(matrix([1, 2], datatype="FP32")),
        body(matrix([-1, 2]), outputs=[{"name": "label"}]),
        body(matrix([1e300, 1e300])),
        body(matrix([4, 4])),
    ]
    expected = [alone(served, each) for each in requests]
    assert [each[0] for each in expected if isinstance(each, tuple)] == [400] * 2
    sizes = []
    monkeypatch.setattr(
        _served,
        "joined",
        lambda Xs, own=_served.joined: sizes.append(len(Xs)) or own(Xs),
    )
    for one, other in zip(together(served, requests), expected, strict=True):
        assert_same(one, other)
    assert sizes == [4, 2]


def test_rows_of_tables_are_answered_as_alone():
    served = ServedModel(people_model(), **LIMITS)
    choices = {
        "age": ("FP64", [40.0, 25.5, None]),
        "town": ("BYTES", ["Ulm", "Bonn", None, "Rome", ""]),
        "member": ("BOOL", [True, False, None]),
        "moved": ("BYTES", ["2021-05-06", None, "never"]),
        "note": ("BYTES", ["red old", None, "else"]),
    }
    rng = np.random.default_rng(0)
    requests = []
    for _ in range(40):
        names = rng.permutation(list(choices))[: rng.integers(2, 6)]
        inputs = []
        for name in map(str, names):
            datatype, values = choices[name]
            data = [values[n] for n in rng.integers(len(values), size=2)]
            kept = {"name": name, "shape": [2], "datatype": datatype, "data": data}
            inputs.append(kept)
        requests.append(body(*inputs))
    requests.append(body(tensor("planet", ["mars", "venus"], "BYTES")))
    expected = [alone(served, each) for each in requests]
    n_wrong = sum(isinstance(each, tuple) for each in expected)
    assert 0 < n_wrong < 30
    for one, other in zip(together(served, requests), expected, strict=True):
        assert_same(one, other)


class Picky(ClassifierMixin, BaseEstimator):
    """Predicts the sign of a number, but not of 13 and 14."""

    classes_ = np.array([0, 1])
    n_features_in_ = 1

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        if (X == 13).any():
            raise ValueError("13 is refused")
        if (X == 14).any():
            raise KeyError("a mistake")
        return (X[:, 0] > 0).astype(int)


def test_what_one_request_breaks_is_its_own():
    served = ServedModel(Picky(), **LIMITS)
    requests = [body(matrix([value])) for value in (1, 13, -1, 14, 2)]
    _, mistake, _ = served.infer_together(requests[2:], nothing)
    assert isinstance(mistake, KeyError)
    found = served.infer_together(requests, nothing)
    assert isinstance(found[3], KeyError)
    assert (found[1].status, "13 is refused" in found[1].message) == (400, True)
    labels = [json.loads(found[n])["outputs"][0]["data"] for n in (0, 2, 4)]
    assert labels == [[1], [0], [1]]


def test_the_work_ends_when_nobody_waits():
    served = ServedModel(Picky(), **LIMITS)

    def ended():
        raise RequestEndedError

    with pytest.raises(RequestEndedError):
        served.infer_together([body(matrix([1])), body(matrix([2]))], ended)


def test_what_waits_is_joined_and_who_has_gone_is_left_out():
    workers = Workers(1, 100, timeout=20.0)
    begun, go_on, groups = threading.Event(), threading.Event(), []

    def block(check):
        begun.set()
        assert go_on.wait(20)
        return b"first"

    def join(items, check):
        check()
        groups.append(list(items))
        return [ValueError(item) if item == 3 else b"%d" % item for item in items]

    def other(items, check):
        raise AssertionError("one item is done alone")

    async def live():
        loop = asyncio.get_running_loop()
        never = loop.create_future

        def ask(do, item):
            alone = workers.run(lambda check: b"alone", never, False, Joint(do, item))
            return asyncio.create_task(alone)

        first = asyncio.create_task(workers.run(block, never, False))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        tasks = [ask(join, n) for n in range(20)]
        lone = ask(other, 0)
        await asyncio.sleep(0.1)
        tasks[5].cancel()
        await asyncio.sleep(0.01)
        go_on.set()
        assert await first == b"first"
        assert await lone == b"alone"
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(live())
    there = [n for n in range(20) if n != 5]
    assert groups == [there[:16], there[16:]]
    assert isinstance(found[3], ValueError)
    assert isinstance(found[5], asyncio.CancelledError)
    assert [found[n] for n in there if n != 3] == [b"%d" % n for n in there if n != 3]
    assert workers.close(20)

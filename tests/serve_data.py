"""Models to serve, and a client that asks an application without a network."""

import asyncio
import functools
import json
import threading

import httpx
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from localsvm import ClusteredSVC, MixtureSVC
from localsvm.data import TableEncoder, make_xor
from localsvm.serve import create_app


class Client:
    """Asks one application, one request at a time."""

    def __init__(self, app):
        self.app = app

    def request(self, method, path, **options):
        return asyncio.run(self.send(method, path, **options))

    async def send(self, method, path, **options):
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://server"
        ) as client:
            return await client.request(method, path, **options)

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, content):
        """Post an object as JSON, or bytes as they are."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.request("POST", path, content=body)

    def infer(self, *inputs, **more):
        path = "/v2/models/model/infer"
        return self.post(path, {"inputs": list(inputs), **more})


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


def tensor(name, data, datatype="FP64", shape=None):
    data = np.asarray(data, dtype=object if datatype == "BYTES" else None)
    shape = list(data.shape) if shape is None else shape
    return {"name": name, "shape": shape, "datatype": datatype, "data": data.tolist()}


@functools.cache
def xor_model():
    """Two classes 0 and 1 of two columns without names."""
    X, y = make_xor(400, random_state=0)
    return ClusteredSVC(n_regions=4, random_state=0).fit(X, y)


@functools.cache
def trees_model():
    """Three named classes of named columns, with probabilities."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    X = rng.standard_normal((240, 3)) * [1, 10, 100] + np.c_[y, 20 * y, 0 * y]
    frame = pd.DataFrame(X, columns=["height", "girth", "age"])
    labels = np.array(["ash", "birch", "cedar"])[y]
    model = MixtureSVC(n_regions=2, random_state=0)
    return make_pipeline(StandardScaler(), model).fit(frame, labels)


def people():
    """A table of every kind of column, with values missing."""
    rng = np.random.default_rng(0)
    n = 300
    town = rng.choice(["Bonn", "Kiel", "Ulm"], n)
    age = rng.integers(18, 80, n).astype(float)
    moved = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    words = np.array(["red", "green", "blue", "heavy", "light", "old", "new", "round"])
    texts = [" ".join(rng.choice(words, 4)) + f" {i}" for i in range(n)]
    happy = np.where((age > 50) == (town == "Ulm"), "yes", "no")
    age[::17] = np.nan
    table = pd.DataFrame(
        {
            "age": age,
            "town": town,
            "member": rng.integers(0, 2, n).astype(bool),
            "moved": moved,
            "note": texts,
            "planet": "earth",
        }
    )
    return table, happy


@functools.cache
def people_model():
    """A pipeline that takes the raw table."""
    table, happy = people()
    encoder = TableEncoder(kinds={"note": "text"})
    model = ClusteredSVC(n_regions=6, random_state=0)
    return Pipeline([("table", encoder), ("model", model)]).fit(table, happy)


PERSON = {
    "age": 40,
    "town": "Ulm",
    "member": True,
    "moved": "2021-05-06",
    "note": "red old heavy round",
}


def person_tensors(**changed):
    """Tensors of one person, or of several by lists."""
    datatypes = {"age": "FP64", "member": "BOOL"}
    columns = {**PERSON, **changed}
    return [
        tensor(
            name,
            value if isinstance(value, list) else [value],
            datatypes.get(name, "BYTES"),
        )
        for name, value in columns.items()
    ]


def client_of(model, **limits):
    return Client(create_app(model, **limits))

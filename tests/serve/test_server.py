"""A real server on the loopback address."""

import concurrent.futures
import json
import socket
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

import localsvm
from localsvm.serve import run
from localsvm.serve._running._run import _is_loopback, _name_of
from serve_data import tensor, xor_model
from served_process import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "xor model.lsvm"
    localsvm.save(xor_model(), path)
    with serving(path) as running:
        yield running


INFER = "/v2/models/xor-model/infer"


def raw(server, request):
    """Send bytes and read all that comes back."""
    address = urlsplit(server.address)
    with socket.create_connection((address.hostname, address.port), 20) as connection:
        connection.sendall(request)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    return received


def request_with(body, *headers):
    lines = [f"POST {INFER} HTTP/1.1", "Host: x", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def test_a_loaded_model_answers_as_the_saved_one(server):
    X = np.random.default_rng(0).standard_normal((30, 2))
    answer = httpx.post(server.address + INFER, json={"inputs": [tensor("X", X)]})
    label, scores, _ = (output["data"] for output in answer.json()["outputs"])
    assert np.array_equal(label, xor_model().predict(X))
    assert np.array_equal(scores, xor_model().decision_function(X))
    assert "server" not in answer.headers


def test_several_clients_at_once(server):
    def ask(seed):
        X = np.random.default_rng(seed).standard_normal((20, 2))
        content = {"inputs": [tensor("X", X)], "id": str(seed)}
        answer = httpx.post(server.address + INFER, json=content).json()
        assert answer["id"] == str(seed)
        return np.array_equal(answer["outputs"][0]["data"], xor_model().predict(X))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(40)))


def test_long_bodies_with_and_without_a_length(server):
    def chunks():
        for _ in range(300):
            yield b" " * 1000

    for content in (b" " * 200_000, chunks()):
        answer = httpx.post(server.address + INFER, content=content)
        assert answer.status_code == 413


def test_a_length_that_lies(server):
    body = json.dumps({"inputs": [tensor("X", [[1.0, 2.0]])]}).encode()
    short = raw(server, request_with(body, "Content-Length: 10"))
    assert short.startswith(b"HTTP/1.1 400")
    assert b"The body is not JSON" in short
    long = raw(server, request_with(body, "Content-Length: 90000"))
    assert long.startswith(b"HTTP/1.1 408")
    huge = raw(server, request_with(b"", "Content-Length: 99999999999999999999"))
    assert huge.startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/9.9\r\nConnection: close\r\n\r\n",
        request_with(b"", "Content-Length: -1"),
        request_with(b"zz\r\n", "Transfer-Encoding: chunked"),
        b"GET /"
        + b"a" * 100_000
        + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_and_the_server_lives(server, request_bytes):
    received = raw(server, request_bytes)
    assert received.split(b"\r\n")[0].split(b" ")[1:2] != [b"200"]
    assert b"Traceback" not in received
    assert httpx.get(server.address + "/v2/health/live").status_code == 200


def test_a_client_that_leaves_in_the_middle(server):
    address = urlsplit(server.address)
    for _ in range(5):
        with socket.create_connection((address.hostname, address.port), 20) as client:
            client.sendall(request_with(b"{", "Content-Length: 1000"))
    assert httpx.get(server.address + "/v2/health/ready").status_code == 200


def test_it_ends_when_asked_and_has_not_failed(tmp_path):
    path = tmp_path / "model.lsvm"
    localsvm.save(xor_model(), path)
    with serving(path) as running:
        assert httpx.get(running.address + "/v2/models/model/ready").json()["ready"]
        code = running.stop()
    assert code in (0, -15)
    assert "Application shutdown complete." in "".join(running.log)
    assert "Traceback" not in "".join(running.log)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    path = tmp_path / "model.lsvm"
    path.write_bytes(b"import os\n")
    with pytest.raises(ValueError, match=r"model\.lsvm"):
        run(path)
    with pytest.raises(FileNotFoundError):
        run(tmp_path / "none.lsvm")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.lsvm", "a"), ("my model ä.lsvm", "my-model--"), ("v1.2.lsvm", "v1.2")],
)
def test_names_of_files_in_addresses(tmp_path, name, expected):
    assert _name_of(tmp_path / name) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)],
)
def test_who_can_reach_a_host(host, expected):
    assert _is_loopback(host) is expected

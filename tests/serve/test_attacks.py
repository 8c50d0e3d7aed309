"""Attacks on a real server: others are answered, memory stays bounded, and it ends.

Every attack has a fixed number of connections and bytes, and ends by itself. An idle
machine answers others within a second; a loaded one may take ``SLOWER`` times as long.
"""

import contextlib
import json
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

import localsvm
from localsvm.estimators import NeighborSVC
from serve_data import tensor, xor_model
from served_process import serving

SLOWER = 20
SHUTDOWN_SECONDS = 10
INFER = "/v2/models/model/infer"
MEGABYTE = 2**20
ONE_ROW = {"inputs": [tensor("X", [[1.0, 2.0]])]}

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    localsvm.save(xor_model(), path / "model.lsvm")
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 20)), rng.integers(0, 2, 3000)
    # An SVM of 400 noisy rows for each row that is predicted: minutes for thousands.
    slow = NeighborSVC(n_neighbors=400, C=100.0).fit(X, y)
    (path / "slow").mkdir()
    localsvm.save(slow, path / "slow" / "model.lsvm")
    return path


@pytest.fixture(scope="module")
def server(folder):
    """One server for many attacks, with the limits of a user who sets none."""
    with serving(folder / "model.lsvm", timeout=30.0) as running:
        assert_answers_others(running)
        yield running


@pytest.fixture(scope="module")
def impatient(folder):
    """One with short times, and without a limit per address."""
    limits = {"timeout": 4.0, "max_body": MEGABYTE, "max_per_address": 0}
    with serving(folder / "model.lsvm", **limits) as running:
        assert_answers_others(running)
        yield running


def assert_answers_others(server):
    """A prediction, and whether the server lives, each on a new connection."""
    for _ in range(3):
        start = time.monotonic()
        answer = httpx.post(server.address + INFER, json=ONE_ROW, timeout=SLOWER)
        assert answer.status_code == 200, answer.text
        assert httpx.get(server.address + "/v2/health/live", timeout=SLOWER).is_success
        assert time.monotonic() - start < SLOWER


def head_of(length, *more):
    lines = [f"POST {INFER} HTTP/1.1", "Host: x", f"Content-Length: {length}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


@contextlib.contextmanager
def sockets(server, n, first=b"", source=None):
    """Connections that have sent some bytes."""
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(n):
            opened.append(stack.enter_context(server.connect(source)))
            send(opened[-1], first)
        yield opened


def send(connection, data):
    """Send what the server takes; it may have closed the connection."""
    with contextlib.suppress(OSError):
        connection.sendall(data)


def rest(connection):
    """All that comes until the server closes the connection."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(65536):
            received += chunk
    return received


def post(server, body, path=INFER):
    return httpx.post(server.address + path, content=body, timeout=60)


@linux
def test_an_output_asked_for_many_times_is_refused_before_it_is_computed(server):
    rows = tensor("X", np.zeros((10_000, 2)))
    before = server.reset_peak()
    content = {"inputs": [rows], "outputs": [{"name": "scores"}] * 60_000}
    answer = post(server, json.dumps(content).encode())
    assert answer.status_code == 400
    assert answer.json()["error"] == 'outputs[1].name is "scores" once more.'
    assert server.peak_megabytes() - before < 100
    assert_answers_others(server)


@pytest.mark.parametrize("first", [b"", b"GET /v2/health/live HTTP/1.1\r\nHost:"])
@pytest.mark.parametrize("name", ["server", "impatient"])
def test_idle_connections_and_half_heads_keep_nobody_out(name, first, request):
    attacked = request.getfixturevalue(name)
    with sockets(attacked, 300, first):
        assert_answers_others(attacked)


def test_a_head_has_a_time_limit_even_if_it_comes_byte_by_byte(impatient):
    with sockets(impatient, 1, b"GET /v2 HTTP/1.1\r\nX: ") as (slow,):
        slow.settimeout(0.1)
        end = time.monotonic() + SLOWER
        received = b""
        while not received and time.monotonic() < end:
            send(slow, b"a")
            with contextlib.suppress(TimeoutError):
                received = rest(slow)
    assert received.startswith(b"HTTP/1.1 408")
    assert b"The request did not arrive within 4 s." in received


def test_a_head_has_a_time_limit_after_an_answer_too(impatient):
    whole = b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n"
    with sockets(impatient, 1, whole + b"GET /v2") as (slow,):
        received = rest(slow)
    assert received.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in received


def test_a_body_that_nobody_wants_is_not_read_for_ever(impatient):
    head = b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n"
    with sockets(impatient, 1, head) as (slow,):
        slow.settimeout(0.1)
        received, end = b"", time.monotonic() + SLOWER
        closed = False
        while not closed and time.monotonic() < end:
            try:
                slow.sendall(b"a")
                chunk = slow.recv(65536)
                received, closed = received + chunk, not chunk
            except TimeoutError:
                continue
            except ConnectionError:
                closed = True
    assert received.startswith(b"HTTP/1.1 404")
    assert closed


def test_slow_bodies_keep_nobody_out_and_have_a_time_limit(impatient):
    with sockets(impatient, 300, head_of(1000)) as slow:
        for _ in range(3):
            for each in slow:
                send(each, b" ")
        assert_answers_others(impatient)
        answers = [rest(each) for each in slow]
    assert all(answer.startswith(b"HTTP/1.1 408") for answer in answers)


@linux
def test_unfinished_bodies_are_held_within_a_bound(server):
    assert_answers_others(server)
    before = server.reset_peak()
    size = 8 * MEGABYTE - 1000
    with sockets(server, 60, head_of(8 * MEGABYTE)) as slow:
        for each in slow:
            each.settimeout(SLOWER)
            send(each, b" " * size)
        assert_answers_others(server)
        # Eight bodies, what is in buffers, and Python's memory of those refused.
        assert server.peak_megabytes() - before < 150


@linux
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"a":' * 100_000, "The body is nested too deep."),
        (b"[" * (8 * MEGABYTE), "The body is nested too deep."),
        (b'{"inputs": [' + b"[]," * 2_700_000 + b"0]}", "inputs[0] is a list;"),
        (
            b"{" + b",".join(b'"%d":0' % n for n in range(700_000)) + b"}",
            "inputs is missing; expected a list.",
        ),
        (b'{"outputs": [' + b'{"":0},' * 1_100_000 + b"0]}", "outputs[0].name is"),
        (
            b'{"rows": [{"' + b"x" * 4_000_000 + b'": 1}]}',
            'rows[0] has the column "xxxx',
        ),
    ],
    ids=["deep", "brackets", "lists", "keys", "objects", "name"],
)
def test_malicious_json(server, body, message):
    path = "/explain" if b"rows" in body[:10] else INFER
    answers = []

    def attack():
        answers.append(post(server, body, path))

    before = server.reset_peak()
    attackers = [threading.Thread(target=attack) for _ in range(3)]
    for each in attackers:
        each.start()
    assert_answers_others(server)
    for each in attackers:
        each.join(60)
    assert {each.status_code for each in answers} == {400}
    assert all(each.json()["error"].startswith(message) for each in answers)
    # The bodies, once more what is on its way, and one at forty times its size.
    assert server.peak_megabytes() - before < 2 * 3 * 8 + 40 * 8


def test_bodies_in_tiny_chunks_are_refused(server):
    head = f"POST {INFER} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with sockets(server, 20, head.encode() + b"1\r\n \r\n" * 100_000) as slow:
        assert_answers_others(server)
        for each in slow:
            assert rest(each)[:12] in (b"", b"HTTP/1.1 400")


def test_more_connections_than_files_keep_nobody_out(folder):
    limits = {"max_per_address": 0, "n_files": 256}
    with serving(folder / "model.lsvm", **limits) as server, sockets(server, 400):
        assert_answers_others(server)
    assert "Too many open files" not in "".join(server.log)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second loopback address")
def test_a_further_connection_of_an_address_takes_the_place_of_its_idlest(folder):
    half, whole = b"GET /v2 HTTP/1.1\r\n", b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n"
    with (
        serving(folder / "model.lsvm", max_per_address=5) as server,
        sockets(server, 3, half, "127.0.0.2") as other,
        sockets(server, 5, half) as crowd,
        sockets(server, 1, whole) as (newest,),
    ):
        assert newest.recv(100).startswith(b"HTTP/1.1 200")
        assert rest(crowd[0])[:12] in (b"", b"HTTP/1.1 503")
        for each in (*other, *crowd[1:]):
            each.settimeout(0.05)
            with pytest.raises(TimeoutError):
                each.recv(1)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /" + b"a" * MEGABYTE + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 40_000 + b"\r\n",
    ],
    ids=["target", "value", "lines"],
)
def test_long_heads_are_refused(server, request_bytes):
    for _ in range(20):
        with sockets(server, 1, request_bytes) as (connection,):
            assert rest(connection)[:12] in (b"", b"HTTP/1.1 400")
    assert_answers_others(server)


def test_a_client_that_does_not_read_is_not_kept(impatient):
    n_asked, page = 5000, httpx.get(impatient.address + "/").content
    with sockets(impatient, 3) as deaf:
        for each in deaf:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            send(each, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * n_asked)
        time.sleep(12)
        assert_answers_others(impatient)
        n_read = [len(rest(each)) for each in deaf]
    assert max(n_read) < n_asked * len(page)


def heavy_request():
    rows = np.random.default_rng(0).standard_normal((10_000, 20)).round(3)
    body = json.dumps({"inputs": [tensor("X", rows)]}).encode()
    return head_of(len(body)) + body


def cpu_seconds(server):
    stat = Path(f"/proc/{server.process.pid}/stat").read_text()
    fields = stat.rsplit(")")[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


@linux
def test_work_ends_when_its_client_has_gone(folder):
    with serving(folder / "slow" / "model.lsvm", timeout=600.0) as server:
        with sockets(server, 8, heavy_request()):
            start = cpu_seconds(server)
            assert eventually(lambda: cpu_seconds(server) > start + 2)
        assert seconds_until_idle(server) < 15
        assert httpx.get(server.address + "/v2/health/live").status_code == 200


@linux
def test_work_ends_when_its_time_is_out(folder):
    with serving(folder / "slow" / "model.lsvm", timeout=2.0) as server:
        with sockets(server, 4, heavy_request()) as connections:
            for each in connections:
                assert each.recv(100).startswith(b"HTTP/1.1 503")
        assert seconds_until_idle(server) < 15


def seconds_until_idle(server):
    """Seconds of CPU; the requests have half a minute each."""
    start = cpu_seconds(server)
    last, now = None, start
    while last is None or now - last > 0.1:
        assert now - start < 100
        time.sleep(1)
        last, now = now, cpu_seconds(server)
    return now - start


def eventually(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("state", ["arriving", "computing"])
def test_it_ends_in_ten_seconds_in_every_state(folder, state):
    unfinished = [
        b"",
        b"GET / HTTP/1.1\r\nHost:",
        b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\nGET",
        b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{",
        head_of(1000) + b"{",
        head_of(8 * MEGABYTE) + b" " * MEGABYTE,
    ]
    kinds = unfinished if state == "arriving" else [heavy_request()]
    slow = folder / "slow" / "model.lsvm"
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serving(slow, timeout=600.0, max_per_address=0))
        for first in kinds:
            stack.enter_context(sockets(server, 120 // len(kinds), first))
        time.sleep(0.5)
        assert ends_in_time(server)
    assert "Traceback" not in "".join(server.log)
    assert "Application shutdown complete." in "".join(server.log)


def test_it_ends_in_ten_seconds_during_a_flood(folder):
    stop = threading.Event()

    def flood(server):
        while not stop.is_set():
            with contextlib.suppress(OSError), sockets(server, 4, heavy_request()):
                time.sleep(0.01)

    with serving(folder / "slow" / "model.lsvm") as server:
        threads = [threading.Thread(target=flood, args=(server,)) for _ in range(4)]
        for each in threads:
            each.start()
        time.sleep(1)
        try:
            assert ends_in_time(server)
        finally:
            stop.set()
            for each in threads:
                each.join()


def ends_in_time(server):
    start = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(60)
    server.stop()
    assert code in (0, -signal.SIGTERM)
    return time.monotonic() - start < 2 * SHUTDOWN_SECONDS

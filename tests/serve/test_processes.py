"""Several processes at one address."""

import contextlib
import os
import signal
import time
from pathlib import Path

import httpx
import pytest

import localsvm
from localsvm.serve import run
from serve_data import tensor, xor_model
from served_process import serving

PATIENCE = 30


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.lsvm"
    localsvm.save(xor_model(), path)
    return path


def workers_of(server):
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return set(map(int, children))


def connections_of(pid):
    """Sockets that a process holds."""
    found = 0
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found += os.readlink(each).startswith("socket:")
    return found


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def ready(server):
    try:
        return httpx.get(server.address + "/v2/health/ready").status_code == 200
    except httpx.TransportError:
        return False


def ask(server):
    X = tensor("X", [[1.0, 2.0]])
    address = server.address + "/v2/models/model/infer"
    return httpx.post(address, json={"inputs": [X]}).json()["outputs"][0]["data"]


def test_processes_share_an_address_and_end_when_asked(path):
    with serving(path, workers=2) as server:
        wait_until(lambda: ready(server))
        workers = workers_of(server)
        assert len(workers) == 2
        idle = {pid: connections_of(pid) for pid in workers}
        with contextlib.ExitStack() as stack:
            for _ in range(24):
                client = stack.enter_context(httpx.Client(base_url=server.address))
                assert client.get("/v2/health/live").json() == {"live": True}
            held = [connections_of(pid) - idle[pid] for pid in workers]
        assert min(held) > 2
        assert ask(server) == xor_model().predict([[1.0, 2.0]]).tolist()
        start = time.monotonic()
        assert server.stop() in (0, -15)
        assert time.monotonic() - start < 10
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
        assert "Traceback" not in "".join(server.log)


def test_one_that_dies_is_replaced(path):
    with serving(path, workers=2) as server:
        wait_until(lambda: ready(server))
        time.sleep(2.5)  # one that dies at once is not replaced
        before = workers_of(server)
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: len(workers_of(server) - {min(before)}) == 2)
        assert max(before) in workers_of(server)
        wait_until(lambda: ready(server))
        assert ask(server) == xor_model().predict([[1.0, 2.0]]).tolist()
        assert server.stop() in (0, -15)


def test_they_end_with_the_process_that_began_them(path):
    with serving(path, workers=2) as server:
        wait_until(lambda: ready(server))
        workers = workers_of(server)
        server.process.kill()
        server.process.wait(PATIENCE)
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_an_address_that_is_taken_is_told(path):
    with serving(path) as server:
        port = int(server.address.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            run(path, port=port, workers=2)


@pytest.mark.parametrize("workers", [0, -1, True])
def test_the_number_is_checked(path, workers):
    with pytest.raises(ValueError, match="workers should be at least 1"):
        run(path, workers=workers)

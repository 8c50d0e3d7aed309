"""Real servers on the loopback address, in a process of their own or on a thread."""

import contextlib
import json
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

_PROGRAM = """
import json
import resource
import sys
from localsvm.serve import run
limits = json.loads(sys.argv[2])
if "n_files" in limits:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits.pop("n_files"), hard))
run(sys.argv[1], port=0, **limits)
"""
_SMALL = {"max_body": 100_000, "max_rows": 1000, "timeout": 5.0}
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
_PATIENCE = 60


class ServerProcess:
    """Serves a model file at a free port; ``log`` holds the lines it has written.

    ``limits`` are those of ``run``, and ``n_files`` that the process may open.
    """

    def __init__(self, path, **limits):
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(path), json.dumps(limits or _SMALL)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log = []
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.address = self._find_address()

    def stop(self):
        """Ask it to end; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(_PATIENCE)
        self._reader.join(_PATIENCE)
        return code

    def peak_megabytes(self):
        """Most memory that it has held so far (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def reset_peak(self):
        """Forget the peak so far; megabytes that it holds now (Linux)."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        return self.peak_megabytes()

    def connect(self, source=None):
        """Open a socket; ``source`` is the client's address."""
        address = urlsplit(self.address)
        origin = None if source is None else (source, 0)
        return socket.create_connection(
            (address.hostname, address.port), _PATIENCE, origin
        )

    def _read(self):
        for line in self.process.stdout:
            self.log.append(line)
            self._lines.put(line)
        self._lines.put(None)

    def _find_address(self):
        while (line := self._lines.get(timeout=_PATIENCE)) is not None:
            found = _ADDRESS.search(line)
            if found:
                return found[0]
        raise RuntimeError("".join(self.log))


@contextlib.contextmanager
def serving(path, **limits):
    server = ServerProcess(path, **limits)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait(_PATIENCE)


@contextlib.contextmanager
def serving_on_thread(app):
    """Serve an application at a free port; its address."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + _PATIENCE
    while not server.started and time.monotonic() < end:
        time.sleep(0.01)
    (listener,) = server.servers[0].sockets
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_PATIENCE)

"""The server under load and under garbage, on the loopback address of this machine.

A model of Adult's raw table (a table encoder and a staged SVM) and one of its numbers
(a clustered SVM) are saved, and each is served by a process of its own. Clients are
coroutines of this process, one connection each; every setting runs for some seconds
after a warm-up. Clients and server share the machine's cores, so the figures are those
of both. Under garbage, 30 % of the requests are broken: bytes, JSON of another form,
wrong tensors, bodies beyond the limit, unknown models.

``python benchmarks/serve_load.py [--seconds S]`` writes results/serve_load.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from records import save, show
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import localsvm
from localsvm import ClusteredSVC, StagedSVC
from localsvm.data import TableEncoder, load_benchmark, read_table, sample_path

NAME = "serve_load"
COMMAND = "python benchmarks/serve_load.py"
CONNECTIONS = (1, 8, 32)
ROWS = (1, 100)
GARBAGE_SHARE = 0.3
MAX_BODY = 1_000_000
TRAINING_ROWS = 10_000
INFER = "/v2/models/model/infer"
PROGRAM = """
import sys
from localsvm.serve import run
run(sys.argv[1], port=0, name="model", max_body=int(sys.argv[2]))
"""


@dataclass
class Tally:
    """What came back, and after how long."""

    seconds: list[float] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    wrong: int = 0
    broken: int = 0

    def row(self, spent: float) -> dict[str, Any]:
        """Figures of all answers; latencies of those to good requests."""
        p50, p99 = np.percentile(self.seconds, [50, 99]) * 1000
        return {
            "requests_per_second": round(sum(self.codes.values()) / spent, 1),
            "p50_ms": round(float(p50), 2),
            "p99_ms": round(float(p99), 2),
            "codes": {str(code): n for code, n in sorted(self.codes.items())},
            "wrong_answers": self.wrong,
            "broken_connections": self.broken,
        }


@dataclass(frozen=True)
class Question:
    """A request, and the code that has to come back."""

    path: str
    body: bytes
    code: int
    label: Any = None

    @property
    def request(self) -> bytes:
        """All bytes to send."""
        head = f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\n"
        length = f"Content-Length: {len(self.body)}\r\n\r\n"
        return (head + length).encode() + self.body


@dataclass
class Server:
    """A server in a process of its own."""

    address: str
    process: subprocess.Popen[str]

    def memory_mb(self) -> float:
        """Memory that it and its workers hold now (Linux)."""
        total = 0
        for pid in self._processes():
            status = Path(f"/proc/{pid}/status").read_text()
            total += int(status.split("VmRSS:")[1].split()[0])
        return round(total / 1024, 1)

    def cpu_seconds(self) -> float:
        """CPU time that it and its workers have used (Linux)."""
        ticks = 0
        for pid in self._processes():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def _processes(self) -> list[int]:
        """Ids of the server and of the processes that it has started."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, children)]


def main() -> None:
    """Measure every setting once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    seconds = parser.parse_args().seconds
    rows = []
    for name, make in (("table", table_model), ("numbers", number_model)):
        model, questions = make()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.lsvm"
            localsvm.save(model, path)
            with serve(path) as server:
                rows += measure(name, server, questions, seconds)
    show([{k: v for k, v in row.items() if k != "codes"} for row in rows])
    save(
        NAME,
        COMMAND,
        rows,
        data=["adult", sample_path("adult")],
        seconds_per_setting=seconds,
        garbage_share=GARBAGE_SHARE,
    )


def measure(
    name: str, server: Server, questions: dict[int, list[Question]], seconds: float
) -> list[dict[str, Any]]:
    """Rows of one model: every setting, clean and with garbage."""
    rows = []
    for garbage in (False, True):
        for n_rows in ROWS:
            for connections in CONNECTIONS:
                good = questions[n_rows]
                asyncio.run(load(server, good, connections, garbage, seconds / 5))
                before, cpu = server.memory_mb(), server.cpu_seconds()
                tally, spent = asyncio.run(
                    load(server, good, connections, garbage, seconds)
                )
                cpu = server.cpu_seconds() - cpu
                row = {
                    "model": name,
                    "garbage": garbage,
                    "rows": n_rows,
                    "connections": connections,
                    **tally.row(spent),
                    "server_cpu_ms": round(1000 * cpu / tally.codes.total(), 3),
                    "memory_mb_before": before,
                    "memory_mb_after": server.memory_mb(),
                }
                print(row, flush=True)
                rows.append(row)
    return rows


async def load(
    server: Server,
    good: list[Question],
    connections: int,
    garbage: bool,
    seconds: float,
) -> tuple[Tally, float]:
    """Ask from all connections until the time is out."""
    tally = Tally()
    start = time.perf_counter()
    clients = [
        Client(server, good, garbage, np.random.default_rng(seed), tally)
        for seed in range(connections)
    ]
    await asyncio.gather(*(client.ask_until(start + seconds) for client in clients))
    return tally, time.perf_counter() - start


@dataclass
class Client:
    """One connection, opened again when the server has closed it."""

    server: Server
    good: list[Question]
    garbage: bool
    rng: np.random.Generator
    tally: Tally
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask_until(self, end: float) -> None:
        """Ask a question after the other."""
        while time.perf_counter() < end:
            is_bad = self.garbage and self.rng.uniform() < GARBAGE_SHARE
            question = self.good[self.rng.integers(len(self.good))]
            if is_bad:
                question = bad_question(self.rng, question.body)
            start = time.perf_counter()
            try:
                code, body = await self.ask(question)
            except (OSError, EOFError):
                self.tally.broken += 1
                self._streams = None
                continue
            if not is_bad:
                self.tally.seconds.append(time.perf_counter() - start)
            self.tally.codes[code] += 1
            self.tally.wrong += not is_right(question, code, body)
        if self._streams is not None:
            self._streams[1].close()

    async def ask(self, question: Question) -> tuple[int, bytes]:
        """Send a request; the code and the body of the answer."""
        if self._streams is None:
            address = urlsplit(self.server.address)
            self._streams = await asyncio.open_connection(
                address.hostname, address.port
            )
        reader, writer = self._streams
        writer.write(question.request)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        if b"connection: close" in head:
            writer.close()
            self._streams = None
        return int(head.split(b" ")[1]), body


def is_right(question: Question, code: int, body: bytes) -> bool:
    """Whether it is the answer that had to come; 503 says that the server is busy."""
    if code == 503:
        return True
    if code != question.code:
        return False
    answer = json.loads(body)
    if code != 200:
        return list(answer) == ["error"]
    return bool(answer["outputs"][0]["data"] == question.label)


def bad_question(rng: np.random.Generator, body: bytes) -> Question:
    """Make one of several kinds of garbage."""
    kinds = [
        Question(INFER, rng.bytes(200), 400),
        Question(INFER, b"[" * 5000, 400),
        Question(INFER, body[:-10], 400),
        Question(INFER, body.replace(b'"shape": [', b'"shape": [7, '), 400),
        Question(INFER, b" " * (MAX_BODY + 1), 413),
        Question("/v2/models/other/infer", body, 404),
    ]
    return kinds[rng.integers(len(kinds))]


def table_model() -> tuple[Any, dict[int, list[Question]]]:
    """Fit the raw table of Adult, numbers and categories."""
    table = read_table(sample_path("adult"), target="income")
    encoder, model = TableEncoder(), StagedSVC(random_state=0)
    pipeline = Pipeline([("table", encoder), ("model", model)]).fit(table.X, table.y)
    return pipeline, {
        n: [table_question(pipeline, table.X, n, seed) for seed in range(20)]
        for n in ROWS
    }


def table_question(model: Any, X: Any, n_rows: int, seed: int) -> Question:
    """Random rows, one tensor per column."""
    part = X.sample(n_rows, random_state=seed)
    inputs = []
    for name in part.columns:
        numbers = part[name].dtype.kind in "if"
        values = part[name].astype(object).where(part[name].notna(), None).tolist()
        datatype = "FP64" if numbers else "BYTES"
        inputs.append(
            {"name": name, "shape": [n_rows], "datatype": datatype, "data": values}
        )
    return question(inputs, model.predict(part))


def number_model() -> tuple[Any, dict[int, list[Question]]]:
    """Fit the numbers of Adult, one matrix."""
    data = load_benchmark("adult")
    X, y = data.X_train[:TRAINING_ROWS], data.y_train[:TRAINING_ROWS]
    steps = [("scale", StandardScaler()), ("model", ClusteredSVC(random_state=0))]
    pipeline = Pipeline(steps).fit(X, y)
    questions = {}
    for n_rows in ROWS:
        rng = np.random.default_rng(0)
        parts = [
            data.X_test[rng.integers(0, len(data.X_test), n_rows)] for _ in range(20)
        ]
        questions[n_rows] = [matrix_question(pipeline, part) for part in parts]
    return pipeline, questions


def matrix_question(model: Any, X: Any) -> Question:
    """Rows as one tensor."""
    X = np.asarray(X, dtype=np.float32)
    content = {"name": "X", "shape": list(X.shape), "datatype": "FP32"}
    return question([{**content, "data": X.ravel().tolist()}], model.predict(X))


def question(inputs: list[dict[str, Any]], labels: Any) -> Question:
    """Good request with the labels that have to come back."""
    body = json.dumps({"inputs": inputs}).encode()
    return Question(INFER, body, 200, np.asarray(labels).tolist())


@contextmanager
def serve(path: Path) -> Iterator[Server]:
    """Start a server at a free port; end it in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path), str(MAX_BODY)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        yield Server(_address(process), process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return found[0]
    raise RuntimeError("The server did not start.")


if __name__ == "__main__":
    main()

"""Connections without a network: who is ended when there are too many."""

import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from localsvm.serve._guard import ConnectionLimits, GuardedProtocol, _address_of

LIMITS = {
    "max_connections": 4,
    "max_per_address": 0,
    "head_timeout": 100.0,
    "read_timeout": 100.0,
    "max_unsent": 1000,
}
WHOLE = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n{"


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self, host, n_unsent=0):
        super().__init__({"peername": (host, 1), "sockname": ("127.0.0.1", 2)})
        self.written, self.n_unsent = b"", n_unsent
        self.is_closed = self.is_aborted = False

    def write(self, data):
        self.written += data

    def close(self):
        self.is_closed = True

    def abort(self):
        self.is_aborted = True

    def pause_reading(self):
        pass

    def is_closing(self):
        return self.is_closed or self.is_aborted

    def get_write_buffer_size(self):
        return self.n_unsent


class Crowd:
    """Connections of one server."""

    def __init__(self, **limits):
        self.limits = ConnectionLimits(**{**LIMITS, **limits})
        self.config = uvicorn.Config(_wait_for_ever, log_level="critical")
        self.state = ServerState()

    def connect(self, host="127.0.0.1", data=b"", n_unsent=0):
        transport = Transport(host, n_unsent)
        protocol = GuardedProtocol(
            self.config, self.state, {}, asyncio.get_running_loop(), limits=self.limits
        )
        protocol.connection_made(transport)
        if data and not transport.is_closing():
            protocol.data_received(data)
        return protocol, transport

    async def close(self):
        for task in self.state.tasks:
            task.cancel()
        await asyncio.gather(*self.state.tasks, return_exceptions=True)


async def _wait_for_ever(scope, receive, send):
    await asyncio.Event().wait()


def test_a_new_connection_takes_the_place_of_the_idlest():
    async def live():
        crowd = Crowd()
        _, working = crowd.connect(data=WHOLE)
        _, half = crowd.connect(data=b"GET / HTTP/1.1\r\n")
        _, arriving = crowd.connect(data=WHOLE[:-1])
        _, silent = crowd.connect()
        ended = [half, arriving, silent]
        for n in range(3):
            _, new = crowd.connect(data=WHOLE)
            assert [each.is_closed for each in ended] == [i <= n for i in range(3)]
            assert not new.is_closed
            assert not working.is_closed
        assert half.written.startswith(b"HTTP/1.1 503")
        assert arriving.written.startswith(b"HTTP/1.1 503")
        assert silent.written == b""
        _, refused = crowd.connect()
        assert refused.is_closed
        assert b"too many connections" in refused.written
        await crowd.close()

    asyncio.run(live())


def test_an_address_that_only_works_is_told():
    async def live():
        crowd = Crowd(max_per_address=2)
        both = [crowd.connect(data=WHOLE)[1] for _ in range(2)]
        _, other = crowd.connect("127.0.0.2")
        _, third = crowd.connect()
        assert third.written.startswith(b"HTTP/1.1 429 Too Many Requests")
        assert b"127.0.0.1 has 2 connections already." in third.written
        assert not any(each.is_closed for each in (*both, other))
        await crowd.close()

    asyncio.run(live())


def test_the_slowest_readers_are_ended_when_too_much_is_unsent():
    async def live():
        crowd = Crowd()
        readers = [crowd.connect(n_unsent=400) for _ in range(3)]
        for protocol, _ in readers:
            protocol.pause_writing()
        assert [each.is_aborted for _, each in readers] == [True, False, False]
        await crowd.close()

    asyncio.run(live())


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_body_in_chunks_of_a_few_bytes_is_refused(size):
    async def live():
        crowd = Crowd()
        head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        protocol, transport = crowd.connect(data=head)
        chunk = b"%x\r\n%b\r\n" % (size, b"a" * size)
        n_read = 0
        while n_read < 2**18 and not transport.is_closing():
            protocol.data_received(chunk * (2**16 // len(chunk)))
            n_read += 2**16
        await crowd.close()
        return transport

    transport = asyncio.run(live())
    assert transport.is_closed == (size < 100)
    assert transport.written[:12] == (b"HTTP/1.1 400" if size < 100 else b"")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1:2", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("localhost", "localhost"),
    ],
)
def test_what_counts_as_one_address(host, expected):
    assert _address_of((host, 80)) == expected


def test_a_unix_socket_has_no_address():
    assert _address_of(None) is None

"""``localsvm serve``: what reaches the server."""

import socket

import pytest

from localsvm.cli._commands import serve as _serve


@pytest.fixture
def asked(monkeypatch):
    """What the server is asked to do."""
    calls = []
    monkeypatch.setattr(
        _serve, "run", lambda path, **options: calls.append((str(path), options))
    )
    return calls


def test_limits_reach_the_server(call, asked):
    result = call(
        *("serve", "people.lsvm", "--host", "localhost", "--port", "0", "--name", "a"),
        *("--max-body", "2", "--max-rows", "50", "--timeout", "1.5"),
        *("--max-per-address", "0", "--workers", "3", "--access-log"),
    )
    assert result.exit_code == 0, result.output
    assert "Serving people.lsvm at http://localhost:0" in result.stderr
    ((path, options),) = asked
    assert path == "people.lsvm"
    assert options == {
        "host": "localhost",
        "port": 0,
        "name": "a",
        "max_body": 2 * 2**20,
        "max_rows": 50,
        "timeout": 1.5,
        "max_per_address": 0,
        "workers": 3,
        "access_log": True,
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("people.lsvm", "--port", "70000"), 2),
        (("people.lsvm", "--max-rows", "0"), 2),
        (("people.lsvm", "--workers", "0"), 2),
        (("no.lsvm",), 1),
        (("people.csv",), 1),
    ],
)
def test_what_is_wrong_is_said_before_it_starts(call, asked, arguments, code):
    result = call("serve", *arguments)
    assert result.exit_code == code
    assert result.stderr.startswith("error: ")
    assert asked == []


def test_an_address_that_is_taken_is_told(call, asked):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = call("serve", "people.lsvm", "--port", port)
    assert result.exit_code == 1
    assert f"error: cannot listen at 127.0.0.1:{port}: " in result.stderr
    assert asked == []

import io

import pytest
from papers._progress import PlainProgress, show_progress

from papers import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def follow(stream, total=2):
    with show_progress(total, stream) as progress:
        for number in range(total):
            progress.started(f"run [{number}]")
            progress.finished(f"run [{number}]", "done")
    return progress, stream.getvalue()


def test_a_terminal_gets_a_bar():
    progress, text = follow(Terminal())
    assert not isinstance(progress, PlainProgress)
    assert "2/2" in text
    assert "run [1]: done" in text


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_lines_without_terminal_or_rich(stream, monkeypatch):
    monkeypatch.setattr(_progress, "find_spec", lambda name: None)
    progress, text = follow(stream())
    assert isinstance(progress, PlainProgress)
    assert text == "[1/2] run [0]: done\n[2/2] run [1]: done\n"

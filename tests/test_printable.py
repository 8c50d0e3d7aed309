import json

import pytest

from localsvm._printable import printable


@pytest.mark.parametrize(
    "character",
    ["\x1b", "\r", "\x00", "\b", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028"],
)
def test_what_a_terminal_obeys_is_written_out(character):
    found = printable(f"a{character}b")
    assert found == f"a\\u{ord(character):04x}b"
    assert json.loads(f'"{found}"') == f"a{character}b"


def test_half_a_character_can_be_printed():
    assert printable("a\ud800b").encode() == b"a\\ud800b"


def test_all_else_stays():
    text = "tab\tline\nümlaut Größe 北京 नमस्ते \u200d 👩‍🔬 \\u001b"
    assert printable(text) == text

import hashlib
import json
import os
import tracemalloc

import numpy as np
import pytest

from localsvm import _plain_file
from localsvm._plain_file import parse_json, read_plain_file, write_plain_file

HEADER = {"name": "é\n", "numbers": [1, 2.5, None, True]}
ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.array([-1, 2**62]),
    "c": np.zeros((0, 4), dtype=np.float32),
    "d": np.array([3, -4], dtype=np.int32),
    "e": np.array([255], dtype=np.uint8),
}


def write(path, header=HEADER, arrays=ARRAYS, version=1):
    write_plain_file(path, "test", version, header, arrays)


def read(path):
    return read_plain_file(path, "test", 3)


def write_raw(path, whole, payload=b""):
    """Any JSON and any bytes, with the right length and checksum."""
    text = whole if isinstance(whole, bytes) else json.dumps(whole).encode()
    start = f"localsvm test version 1, header {len(text)} bytes".encode()
    digest = hashlib.sha256(start + text + payload).hexdigest()
    path.write_bytes(start + f", sha256 {digest}\n".encode() + text + payload)


def one_array(shape, dtype="<f8", offset=0):
    place = {"dtype": dtype, "shape": shape, "offset": offset}
    return {"header": {}, "arrays": {"a": place}}


def test_what_is_written_is_read(tmp_path):
    write(tmp_path / "f")
    header, arrays = read(tmp_path / "f")
    assert header == HEADER
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype
        assert arrays[name].flags.writeable


@pytest.mark.parametrize(
    "view", [lambda a: a[:, ::2], lambda a: a.T, np.asfortranarray]
)
def test_arrays_of_any_layout_are_stored(tmp_path, view):
    array = view(np.arange(12.0).reshape(3, 4))
    write(tmp_path / "f", arrays={"a": array, "big": array.astype(">f8")})
    _, arrays = read(tmp_path / "f")
    np.testing.assert_array_equal(arrays["a"], array)
    np.testing.assert_array_equal(arrays["big"], array)


def test_the_first_line_tells_a_person_what_it_is(tmp_path):
    write(tmp_path / "f", version=2)
    line = (tmp_path / "f").read_bytes().split(b"\n")[0]
    assert line.startswith(b"localsvm test version 2, header ")


def test_equal_content_gives_equal_files(tmp_path):
    write(tmp_path / "f")
    write(tmp_path / "g")
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    write(tmp_path / "f")
    old = (tmp_path / "f").read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                write(tmp_path / "f", header={"new": 1})
    assert (tmp_path / "f").read_bytes() == old
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize(
    "array", [np.array(["a"]), np.array([1 + 1j]), np.array([None])]
)
def test_other_types_are_not_written(tmp_path, array):
    with pytest.raises(ValueError, match="'a' has dtype"):
        write(tmp_path / "f", arrays={"a": array})
    assert os.listdir(tmp_path) == []


def test_numbers_that_json_lacks_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "f", header={"x": float("nan")})


def test_headers_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(_plain_file, "LONGEST_HEADER", 100)
    with pytest.raises(ValueError, match="at most 100"):
        write(tmp_path / "f", header={"x": "a" * 100})
    write_raw(tmp_path / "f", {"header": {"x": "a" * 100}, "arrays": {}})
    with pytest.raises(ValueError, match="expected at most 100"):
        read(tmp_path / "f")


def test_every_truncation_is_refused(tmp_path):
    write(tmp_path / "f")
    whole = (tmp_path / "f").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cut: .*(truncated|only the start)"):
            read(tmp_path / "cut")


@pytest.mark.parametrize("flip", [0x01, 0x20, 0xFF])
def test_every_flipped_byte_is_noticed(tmp_path, flip):
    write(tmp_path / "f", version=2)
    whole = (tmp_path / "f").read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= flip
        (tmp_path / "flipped").write_bytes(changed)
        with pytest.raises(ValueError, match="flipped: "):
            read(tmp_path / "flipped")


def test_more_bytes_than_expected_are_refused(tmp_path):
    write(tmp_path / "f")
    with open(tmp_path / "f", "ab") as file:
        file.write(b"xyz")
    with pytest.raises(ValueError, match="3 bytes more"):
        read(tmp_path / "f")


def test_a_newer_version_says_so(tmp_path):
    write(tmp_path / "f", version=4)
    with pytest.raises(ValueError, match=r"version 4 .* versions 1 to 3\. Update"):
        read(tmp_path / "f")


def test_another_format_says_so(tmp_path):
    write_plain_file(tmp_path / "f", "other", 1, {}, {})
    with pytest.raises(ValueError, match="is a localsvm other file; expected a test"):
        read(tmp_path / "f")


@pytest.mark.parametrize("content", [b"", b"\x80\x04\x95", b"PK\x03\x04", b"\n" * 300])
def test_other_files_are_not_believed(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(ValueError, match="not a localsvm test file"):
        read(tmp_path / "f")


def test_a_device_is_no_file_to_read():
    with pytest.raises(ValueError, match="/dev/zero: is not a regular file"):
        read("/dev/zero")


@pytest.mark.parametrize(
    ("whole", "words"),
    [
        (one_array([2**40]), "take 8796093022208 bytes, but only 8"),
        (one_array([2**31, 2**31]), "only 8"),
        (one_array([2**62, 2**62, 2**62]), "only 8"),
        (one_array([0, 2**62]), "8 bytes more"),
        (one_array([2]), "take 16 bytes, but only 8"),
        (one_array([]), None),
        (one_array([1] * 9), "at most 8 integers"),
        (one_array([-1]), "integers >= 0"),
        (one_array([True]), "integers >= 0"),
        (one_array([1.0]), "integers >= 0"),
        (one_array("1"), "integers >= 0"),
        (one_array(None), "integers >= 0"),
        (one_array([1], dtype="|O"), "has dtype"),
        (one_array([1], dtype=">f8"), "has dtype"),
        (one_array([1], dtype=["<f8"]), "has dtype"),
        (one_array([1], offset=8), "starts at 8; expected 0"),
        (one_array([1], offset=False), "starts at False"),
        ({"header": {}, "arrays": {"a": []}}, "dtype, shape and offset"),
        ({"header": {}, "arrays": {"a": {"dtype": "<f8"}}}, "dtype, shape and offset"),
        ({"header": {}, "arrays": []}, "arrays = "),
        ({"header": 1, "arrays": {}}, "header = 1"),
        ({"arrays": {}}, "header = None"),
        ([], "expected an object"),
        ("text", "expected an object"),
        (b'{"header": ', "JSON cannot be read"),
        (b"\xff\xfe", "JSON cannot be read"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"9" * 10_000, "more than 64 bits"),
        (b"[NaN]", "NaN is not a number"),
        (b"[1e999]", "too large"),
    ],
)
def test_hostile_headers_are_refused_and_take_no_memory(tmp_path, whole, words):
    write_raw(tmp_path / "f", whole, payload=b"\0" * 8)
    tracemalloc.start()
    try:
        if words is None:
            read(tmp_path / "f")
        else:
            with pytest.raises(ValueError, match=f"f: .*{words}"):
                read(tmp_path / "f")
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_an_empty_array_with_an_endless_axis_is_refused(tmp_path):
    write_raw(tmp_path / "f", one_array([0, 2**62, 2**62]))
    with pytest.raises(ValueError, match="f: "):
        read(tmp_path / "f")


def test_integers_of_64_bits_are_kept():
    assert parse_json(b"[-9223372036854775808, 9223372036854775807]") == [
        -(2**63),
        2**63 - 1,
    ]
    with pytest.raises(ValueError, match="64 bits"):
        parse_json(b"9223372036854775808")

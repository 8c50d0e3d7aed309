import json

import pytest

from papers import Size, Store

PLACE = ("toy/table1", Size.SMOKE)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "records")


def append(store, *keys):
    with store.writer(*PLACE) as writer:
        for key in keys:
            writer.append({"key": key, "value": len(key)})


def test_records_are_read_by_their_keys(store):
    append(store, "a", "bb")
    append(store, "ccc")
    assert {key: r["value"] for key, r in store.read(*PLACE).items()} == {
        "a": 1,
        "bb": 2,
        "ccc": 3,
    }


def test_a_store_without_file_is_empty(store):
    assert store.read(*PLACE) == {}
    assert not store.folder.exists()


def test_each_size_has_its_file(store):
    append(store, "a")
    assert store.read("toy/table1", Size.FULL) == {}
    assert store.path(*PLACE) == store.folder / "toy" / "table1.smoke.jsonl"


@pytest.mark.parametrize("torn", [b'{"key": "bb", "val', b'{"key": "bb"}', b"\xff"])
def test_a_torn_last_line_is_ignored_and_overwritten(store, torn):
    append(store, "a")
    path = store.path(*PLACE)
    path.write_bytes(path.read_bytes() + torn)
    assert list(store.read(*PLACE)) == ["a"]
    append(store, "ccc")
    assert list(store.read(*PLACE)) == ["a", "ccc"]
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == [
        "a",
        "ccc",
    ]


@pytest.mark.parametrize("line", ["no json", "[1]", '{"value": 1}'])
def test_a_bad_line_is_named_with_its_file(store, line):
    append(store, "a")
    path = store.path(*PLACE)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValueError, match=r"table1\.smoke\.jsonl, line 2"):
        store.read(*PLACE)


def test_only_one_process_writes_a_file(store):
    with (
        store.writer(*PLACE),
        pytest.raises(BlockingIOError, match="another process"),
        store.writer(*PLACE),
    ):
        pass
    append(store, "a")


def test_a_record_is_on_disk_before_the_next_run(store):
    with store.writer(*PLACE) as writer:
        writer.append({"key": "a"})
        assert list(store.read(*PLACE)) == ["a"]


def test_infinite_numbers_are_refused(store):
    with store.writer(*PLACE) as writer, pytest.raises(ValueError, match="JSON"):
        writer.append({"key": "a", "value": float("inf")})
    assert store.read(*PLACE) == {}


def test_records_of_other_definitions_can_be_dropped(store):
    append(store, "a", "bb", "ccc")
    assert store.keep_only(*PLACE, {"a": 0, "ccc": 0, "new": 0}) == 1
    assert list(store.read(*PLACE)) == ["a", "ccc"]

"""Stores keep arrays whole, in memory and in folders alike; records survive a file."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from localsvm.engine import Blocks, FolderStore, MemoryStore, Record
from localsvm.rows import Rows


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else FolderStore(tmp_path)


def test_arrays_come_back_as_they_were(store):
    dense, rows = np.arange(6.0).reshape(2, 3), sparse.csr_array(np.eye(3))
    store.put("block-0", {"X": rows, "weight": dense, "names": np.array(["a", "bc"])})
    found = store.get("block-0")
    np.testing.assert_array_equal(found["weight"], dense)
    np.testing.assert_array_equal(found["X"].toarray(), np.eye(3))
    assert found["names"].tolist() == ["a", "bc"]
    assert set(found) == {"X", "weight", "names"}
    assert store.has("block-0")
    assert not store.has("block-1")


def test_a_key_is_written_once(store):
    store.put("a", {"values": np.zeros(2)})
    store.put("a", {"values": np.ones(2)})
    assert store.get("a")["values"].tolist() == [0.0, 0.0]
    store.drop("a")
    store.drop("a")
    assert not store.has("a")


def test_a_failed_write_leaves_nothing(store, tmp_path):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), store.creating("a", (2,)):
        fail()
    assert not store.has("a")
    assert not list(tmp_path.iterdir())


def test_revised_values_get_a_key_of_their_own(store):
    with store.creating("duals-0", (2, 3)) as values:
        values[:, 1] = 5.0
    with store.revising("duals-0", "duals-1") as values:
        values[0, 0] = -1.0
    assert store.get("duals-0")["values"].tolist() == [[0, 5, 0], [0, 5, 0]]
    assert store.get("duals-1", mapped=True)["values"].tolist() == [
        [-1, 5, 0],
        [0, 5, 0],
    ]


def test_only_large_arrays_stay_on_the_disk(tmp_path):
    store, large = FolderStore(tmp_path), np.arange(100_000.0)
    store.put("a", {"small": large[:10], "large": large})
    found, whole = store.get("a", mapped=True), store.get("a")
    assert isinstance(found["large"].base, np.memmap)
    assert not isinstance(found["small"].base, np.memmap)
    assert not isinstance(whole["large"].base, np.memmap)
    np.testing.assert_array_equal(found["large"], large)
    np.testing.assert_array_equal(found["small"], large[:10])


def test_a_folder_is_seen_by_other_processes(tmp_path):
    store = FolderStore(tmp_path)
    store.put("a", {"values": np.ones(1)})
    assert pickle.loads(pickle.dumps(store)).get("a")["values"].tolist() == [1.0]


@dataclass(frozen=True)
class Inner(Record):
    total: float


@dataclass(frozen=True)
class Outer(Record):
    counts: np.ndarray
    n_rows: int
    inner: Inner
    rows: object
    extra: np.ndarray | None = None

    def merge(self, other):
        return Outer(
            self.counts + other.counts,
            self.n_rows + other.n_rows,
            Inner(self.inner.total + other.inner.total),
            self.rows,
        )


@pytest.mark.parametrize("rows", [np.eye(2), sparse.csr_array(np.eye(2))])
def test_records_survive_a_checkpoint(rows):
    record = Outer(np.arange(3), 7, Inner(2.5), rows)
    found = Outer.from_arrays(record.as_arrays())
    assert (found.n_rows, found.inner, found.extra) == (7, Inner(2.5), None)
    assert isinstance(found.n_rows, int)
    np.testing.assert_array_equal(found.counts, [0, 1, 2])
    assert sparse.issparse(found.rows) == sparse.issparse(rows)
    assert (found.rows != rows).sum() == 0


def test_a_record_without_merge_says_so():
    with pytest.raises(NotImplementedError, match="Inner cannot be merged"):
        Inner(1.0).merge(Inner(2.0))


def count(block) -> Outer:
    return Outer(np.ones(3), block.n_rows, Inner(1.0), block.rows(None).X)


def test_rows_in_memory_are_one_block():
    rows = Rows.weighted(np.eye(4), np.zeros(4, dtype=np.int32), np.ones(4), 2)
    blocks = Blocks.in_memory(rows, 2)
    found = blocks.reduce(count, stage="count")
    assert (blocks.n_blocks, blocks.n_rows, found.n_rows) == (1, 4, 4)
    assert found.rows is rows.X
    assert isinstance(blocks.store, MemoryStore)
    assert blocks.is_in_memory

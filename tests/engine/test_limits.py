"""Memory is checked before the start; options and states."""

import numpy as np
import pytest

from engine_data import ROWS, local_client, make_rows, write_parquet
from localsvm import SupportClusterSVC
from localsvm.engine import Checkpoint, MemoryNeed, NotEnoughMemoryError, options
from localsvm.engine._drivers import ThreadDriver
from localsvm.engine._memory import (
    MemoryRoom,
    format_bytes,
    resident_bytes,
    tasks_that_fit,
)
from localsvm.engine._options import current_options, parse_bytes
from localsvm.engine._sources._source import Batches, Source, open_batches
from localsvm.engine._sources._spool import spool


def test_sum_of_the_memory_is_in_the_message(tmp_path):
    X, y, _ = make_rows(dtype=np.float32)
    path = write_parquet(tmp_path / "rows.parquet", X, y)
    message = (
        r"rows\.parquet, row group 0\) needs 39\.3 kB = 96 rows x \(4 columns x 4 "
        r"bytes x 6 copies \+ 100 bytes\) \+ 20\.5 kB, but 0 B are left: memory_limit "
        r"of 1 kB"
    )
    with (
        options(memory_limit=1000, block_rows=ROWS),
        pytest.raises(NotEnoughMemoryError, match=message),
    ):
        SupportClusterSVC(n_clusters=5, covariance="none").fit(path, "label")


def test_a_kernel_matrix_that_does_not_fit_is_refused():
    X = np.random.default_rng(0).standard_normal((6000, 2))
    batches = [(X, (X[:, 0] > 0).astype(int))]
    message = r"matrix of [56],\d{3} clusters needs .* rows x \([\d,]+ bytes\), but"
    room = resident_bytes() + 100_000_000
    with (
        options(memory_limit=room),
        pytest.raises(NotEnoughMemoryError, match=message),
    ):
        SupportClusterSVC(n_clusters=3000).fit(Batches(batches.__getitem__, 1))


def test_a_worker_that_is_too_small_is_refused(tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *make_rows()[:2])
    with (
        local_client(1) as client,
        options(client=client, memory_limit="250MB"),
        pytest.raises(NotEnoughMemoryError, match="worker's memory limit of 250 MB"),
    ):
        SupportClusterSVC().fit(path, "label")


def test_as_many_threads_as_fit(tmp_path):
    source = spool([(np.ones((1000, 10)), np.arange(1000) % 2)], tmp_path)
    need = MemoryNeed(2.0, bytes_per_row=40.0, fixed=1000.0)
    assert need.of(1000, 10, 8) == 201_000
    assert tasks_that_fit(source, need, MemoryRoom(700_000, 50_000, "x")) == 3
    driver = ThreadDriver(8)
    driver.use_threads(3)
    assert driver.n_threads == 3


def test_unknown_sizes_are_taken_to_fit():
    source = open_batches(Batches(lambda number: (np.ones((2, 2)), [0, 1]), 3))
    assert source.largest_part is None
    assert source.n_rows is None
    assert tasks_that_fit(source, MemoryNeed(1.0), MemoryRoom(1, 0, "x")) > 1


@pytest.mark.parametrize(
    ("text", "size"),
    [(5, 5), ("2GB", 2 * 10**9), ("1.5 MiB", 1572864), ("7", 7), ("3k", 3000)],
)
def test_sizes_are_read(text, size):
    assert parse_bytes(text) == size


def test_wrong_options_are_refused():
    for wrong in ("2 gigs", 0, -1, "GB"):
        with pytest.raises(ValueError, match="memory_limit="):
            parse_bytes(wrong)
    with pytest.raises(ValueError, match="n_workers must be"), options(n_workers=0):
        pass


def test_inner_options_add_to_outer_ones():
    with options(memory_limit=5):
        with options(block_rows=3):
            assert current_options().memory_limit == 5
            assert current_options().block_rows == 3
        assert current_options().block_rows == 100_000
    assert current_options().memory_limit is None


def test_bytes_are_written_in_words():
    assert [format_bytes(n) for n in (12, 1500, 2e9, 3e15)] == [
        "12 B",
        "1.5 kB",
        "2 GB",
        "3e+03 TB",
    ]


STATE = {
    "sums": np.array([[1.5, -2.0]]),
    "narrow": np.array([1.5], np.float32),
    "hashes": np.array([2**64 - 1, 3], np.uint64),
    "bytes": np.array([-128, 127], np.int8),
    "shorts": np.array([-(2**15), 2**15 - 1], np.int16),
    "counts": np.array([2**16 - 1], np.uint16),
    "parts": np.array([2**32 - 1], np.uint32),
    "halves": np.array(0.5, np.float16),
    "others": np.array([1, 2], ">i4"),
    "days": np.array(["2020-01-01"], "M8[D]"),
    "flags": np.array([True, False]),
    "names": np.array(["ä", "bc"]),
    "count": np.array(7),
    "nothing": np.empty((0, 3)),
}


def test_states_come_back_as_they_were(tmp_path):
    Checkpoint(tmp_path, {"a": "b"}, 0.0).save("x", STATE)
    found = Checkpoint(tmp_path, {"a": "b"}, 0.0).load("x")
    assert found.keys() == STATE.keys()
    for name, array in STATE.items():
        assert found[name].dtype.kind == array.dtype.kind
        assert found[name].shape == array.shape
        assert found[name].dtype.itemsize >= array.dtype.itemsize
        np.testing.assert_array_equal(found[name], array)


def test_states_of_another_fit_are_refused(tmp_path):
    Checkpoint(tmp_path, {"C": "1.0"}, 0.0)
    with pytest.raises(ValueError, match=r"its C was '1\.0', now it is '2\.0'"):
        Checkpoint(tmp_path, {"C": "2.0"}, 0.0)


def test_states_are_not_written_too_often(tmp_path):
    checkpoint = Checkpoint(tmp_path, {}, 1000.0)
    assert not checkpoint.save("x", STATE)
    assert checkpoint.load("x") is None
    assert checkpoint.save("x", STATE, now=True)
    checkpoint.clear()
    assert checkpoint.load("x") is None


def test_a_source_knows_its_largest_part(tmp_path):
    rows = [(np.ones((n, 2)), np.arange(n) % 2) for n in (3, 9, 5)]
    source = spool(rows, tmp_path)
    assert isinstance(source, Source)
    assert source.largest_part.place == "batch 1"
    assert source.n_rows == 17
